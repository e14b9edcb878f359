"""Whole programs, started as a person starts them: what they say when they are stopped, and who is left running."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sfumato as sf
from tests.crash.commands import OPEN, PAID, PRIVATE
from tests.crash.wholeness import leftovers

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(sf.__file__).parents[1])}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    sf.datasets.census(4000, seed=2).select("age", "sex", "occupation").write_csv(tmp_path / "data.csv")
    (tmp_path / "open.toml").write_text(OPEN)
    (tmp_path / "query.toml").write_text(PRIVATE.split("[privacy]")[0])
    (tmp_path / "tmp").mkdir()
    return tmp_path


def started(place: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "sfumato", *arguments],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**ENVIRONMENT, "TMPDIR": str(place / "tmp")},
    )


def until(holds: object, *, seconds: float = 60) -> None:
    """Wait for something that will come; a limit only ends a test that hangs."""
    end = time.monotonic() + seconds
    while not holds():  # type: ignore[operator]
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_whoever_stops_a_release_reads_the_same_and_finds_nothing(place: Path, number: int):
    for _ in range(5):
        running = started(place, "release", "open.toml", "-o", "out", "--json", "--force")
        until(lambda: leftovers(place))  # it has begun to write
        running.send_signal(number)
        out, err = running.communicate(timeout=60)
        if running.returncode:
            break
        shutil.rmtree(place / "out")  # it was quicker than the signal
    assert json.loads(out) == {"error": "interrupted; nothing was left half-written", "exit_code": 130}
    assert (running.returncode, err) == (130, "")
    assert leftovers(place) == []
    assert not (place / "out").exists()


def children(parent: int) -> list[int]:
    """The processes that a process started."""
    return [int(one) for one in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


def working(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are found in /proc, which Linux has")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_processes_of_a_frontier_end_with_it(place: Path, number: int):
    running = started(
        place, "frontier", "open.toml", "-o", "front", "--grid", "privacy.k_anonymity=2,3,4", "--jobs", "2"
    )
    until(lambda: leftovers(place / "tmp") and len(children(running.pid)) >= 3)
    begun = children(running.pid)
    running.send_signal(number)
    _, err = running.communicate(timeout=60)
    assert running.returncode == (-9 if number == signal.SIGKILL else 130), err
    until(lambda: not any(map(working, begun)))
    again = started(place, "frontier", "open.toml", "-o", "front", "--algorithms", "optimal", "--jobs", "1")
    assert again.communicate(timeout=120)[1] == ""
    assert (again.returncode, leftovers(place)) == (0, [])


def test_a_ledger_on_a_full_disk_keeps_every_charge_and_takes_none(place: Path):
    """A limit on the size of written files makes the system refuse in the middle of a transaction."""
    ledger = sf.Ledger.create(place / "ledger.db", total=10)
    ledger.grant("ann", 10)
    size = (place / "ledger.db").stat().st_size
    refused = subprocess.run(
        [sys.executable, "-m", "sfumato", "query", "query.toml", "SELECT COUNT(*)", *PAID],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
        env=ENVIRONMENT,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size // 4, size // 4)),
    )
    assert (refused.returncode, refused.stdout) == (2, refused.stdout), refused
    assert "cannot be changed" in json.loads(refused.stdout)["error"]
    assert sf.Ledger(place / "ledger.db").history() == []
    assert not list(place.glob("ledger.db-*"))
