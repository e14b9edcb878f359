"""A studio that really listens, and a browser that really looks at it."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.studio.requests import COOKIE, Keys

BROWSER = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no browser is installed: apt-get install chromium")
PATIENCE = 60_000
"""Milliseconds that a page has for anything, on a machine that is busy with other tests."""


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

    @property
    def ours(self) -> dict[str, str]:
        """What a page of the studio sends with whatever changes something."""
        keys = Keys(token=self.token)
        return {"X-Sfumato": keys.header, "Origin": self.address, "Content-Type": "application/json"}

    @contextmanager
    def asked(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> Iterator[http.client.HTTPResponse]:
        """The answer to a request; headers are added to the cookie, or take its place."""
        link = http.client.HTTPConnection(self.address.removeprefix("http://"), timeout=60)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(link):
            link.request(method, path, body=body, headers={"Cookie": f"{COOKIE}={self.token}", **sent})
            with closing(link.getresponse()) as answer:
                yield answer

    def told(self, method: str, path: str, body: Any = None) -> Any:
        """What a page of the studio is answered."""
        sent = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        with self.asked(method, path, sent, **self.ours) as answer:
            return json.loads(answer.read())

    def events(self, project: str) -> bytes:
        """What a search tells, from its beginning to its end."""
        with self.asked("GET", f"/api/p/{project}/progress") as answer:
            return answer.read()

    def begin(self, table: bytes, name: str = "people.csv") -> str:
        """A project for a table that is sent; its name."""
        return str(self.told("PUT", f"/api/upload?name={name}", table)["go"]).split("/")[2]

    def plan(self, project: str) -> Path:
        return self.folder / "sfumato-studio" / project / "plan.toml"

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


@pytest.fixture(scope="session")
def table() -> bytes:
    """Six hundred people as a file."""
    return sf.datasets.census(600, seed=3).select("age", "sex", "education", "race", "income").write_csv().encode()


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory, table: bytes) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("served")
    (folder / "people.csv").write_bytes(table)
    running = begin(folder)
    yield running
    running.kill()


@pytest.fixture
def project(studio: Running, table: bytes) -> str:
    """A fresh project, as an upload begins it."""
    return studio.begin(table)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser for one module: as long as it is open, its event loop runs in the thread of the tests."""
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
             "--disable-sync", "--no-first-run"]  # fmt: skip
    with sync_playwright() as kit:
        browser = kit.chromium.launch(executable_path=BROWSER, args=flags)
        yield browser
        browser.close()


@dataclass(slots=True)
class Seen:
    """A page, and what it did beside showing itself."""

    page: Any
    address: str
    faults: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)

    def go(self, path: str) -> Any:
        """A page of the studio, with everything that it asks for."""
        self.page.goto(f"{self.address}/{path}")
        return self.still()

    def still(self) -> Any:
        """The page when it has all that it asked for."""
        self.page.wait_for_load_state("load")
        self.page.wait_for_selector("body:not(.busy)")
        return self.page

    def follow(self, words: str, url: str) -> Any:
        """The page that a link or a button leads to."""
        self.page.get_by_text(words).click()
        self.page.wait_for_url(url)
        return self.still()

    def search(self, project: str, number: int = 1) -> Any:
        """The page of the result that a search comes to."""
        self.go(f"p/{project}/search").click("#go")
        self.page.wait_for_url(f"**/result/{number}")
        return self.still()


@pytest.fixture
def seen(chromium: Any, studio: Running) -> Iterator[Seen]:
    context = chromium.new_context(viewport={"width": 1400, "height": 900})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    found = Seen(page=page, address=studio.address)
    page.on("console", lambda told: found.faults.append(told.text) if told.type == "error" else None)
    page.on("pageerror", lambda error: found.faults.append(str(error)))
    page.on(
        "request",
        lambda asked: None if asked.url.startswith((studio.address, "data:")) else found.elsewhere.append(asked.url),
    )
    page.goto(studio.link)
    yield found
    context.close()


def until(what: Any) -> None:
    """Wait until something is so."""
    end = time.monotonic() + PATIENCE / 1000
    while not what():
        assert time.monotonic() < end, "it did not become so"
        time.sleep(0.05)


def plan_in(page: Any) -> str:
    """The plan as the panel shows it."""
    return str(page.input_value("#plan-text"))
