"""A studio that really listens, and a browser that really looks at it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf

BROWSER = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no browser is installed: apt-get install chromium")
patient = pytest.mark.skipif(
    "SFUMATO_PATIENT" not in os.environ,
    reason="a browser waits for whole releases, which takes minutes on a busy machine: set SFUMATO_PATIENT=1",
)


@dataclass(slots=True)
class Running:
    """A studio in a process of its own."""

    folder: Path
    process: subprocess.Popen[str]
    link: str

    @property
    def address(self) -> str:
        return re.match(r"http://[^/]+", self.link)[0]  # type: ignore[index]

    @property
    def token(self) -> str:
        return self.link.partition("token=")[2]

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


def begin(folder: Path, *options: str) -> Running:
    """Start `sfumato studio` and read its link."""
    process = subprocess.Popen(
        [sys.executable, "-m", "sfumato", "studio", str(folder), "--no-open", *options],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    link = process.stdout.readline().strip()
    assert link.startswith("http://127.0.0.1:"), link
    return Running(folder=folder, process=process, link=link)


def people(folder: Path, rows: int = 600) -> Path:
    """A small table in a folder."""
    path = folder / "people.csv"
    sf.datasets.census(rows, seed=3).write_csv(path)
    return path


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("served")
    people(folder)
    running = begin(folder)
    yield running
    running.kill()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
             "--disable-sync", "--no-first-run"]  # fmt: skip
    with sync_playwright() as kit:
        browser = kit.chromium.launch(executable_path=BROWSER, args=flags)
        yield browser
        browser.close()


@dataclass(slots=True)
class Seen:
    """What a page did beside showing itself."""

    page: Any
    faults: list[str]
    elsewhere: list[str]


@pytest.fixture
def seen(chromium: Any, studio: Running) -> Iterator[Seen]:
    context = chromium.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    found = Seen(page=page, faults=[], elsewhere=[])
    page.on("console", lambda told: found.faults.append(told.text) if told.type == "error" else None)
    page.on("pageerror", lambda error: found.faults.append(str(error)))
    page.on(
        "request",
        lambda asked: None if asked.url.startswith((studio.address, "data:")) else found.elsewhere.append(asked.url),
    )
    page.goto(studio.link)
    yield found
    context.close()


def until(what: Any, seconds: float = 15.0) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not become so"
        time.sleep(0.05)
