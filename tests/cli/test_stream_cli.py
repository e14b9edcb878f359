"""``sfumato stream`` on the command line."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.streaming.streams import HEADER, TEXT, digests, lines

STREAM = TEXT.replace('state = "state"\n', "")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.toml").write_text('[input]\npath = "in.csv"\n' + STREAM)
    (tmp_path / "in.csv").write_text(HEADER + "".join(lines(230)))
    return tmp_path


def test_a_stream_from_a_file(run: Callable, place: Path):
    ran = run("stream", "plan.toml")
    assert ran.code == 0, ran
    assert "stream: 220 records read and acknowledged." in ran.out
    assert "make up no whole block: 10 lines; they are read next time" in ran.out
    told = run("stream", "plan.toml", "--status", "--json").json
    assert (told["records"], told["acknowledged"], told["batches"]) == (220, 220, 2)
    assert told["published"] + told["waiting"] == 220
    ran = run("stream", "plan.toml", "--finish", "--json")
    assert (ran.code, ran.json["finished"], ran.json["records"]) == (0, True, 230)
    ran = run("stream", "plan.toml", "--status")
    assert "The stream has ended. Never published" in ran.out
    assert run("verify", "stream").code == 0
    assert run("verify", "stream/batch-000002").code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("--status",), 2, "has no checkpoint"),
        (("--follow", "--finish"), 2, "--follow waits"),
        (("--input", "-", "--follow"), 2, "--follow waits"),
        (("--after", "5"), 2, "--after is for standard input"),
        (("--input", "none.csv"), 2, "no such file"),
        (("--input", "."), 2, "it is a folder"),
        (("--set", "stream.batch=30"), 2, "stream.batch must be a multiple"),
        (("--set", "stream.state=stream/state"), 2, "must not lie inside"),
        (("--set", "privacy.k_anonymity=5"), 2, "privacy.k_anonymity"),
        (("--set", "privacy.indistinguishable_groups=500", "--set", "stream.batch=2000", "--finish"), 3, "of 500"),
    ],
)  # fmt: skip
def test_refusals(run: Callable, place: Path, arguments: tuple[str, ...], code: int, told: str):
    ran = run("stream", "plan.toml", *arguments)
    assert (ran.code, "Traceback" in ran.err) == (code, False), ran
    assert told in ran.err
    assert ran.err.count("sfumato: ") == 1


def test_a_plan_for_something_else(run: Callable, place: Path):
    (place / "table.toml").write_text(STREAM.partition("[privacy]")[0] + "[privacy]\nk_anonymity = 5\n")
    ran = run("stream", "table.toml", "--input", "in.csv")
    assert (ran.code, "a stream is condensed" in ran.err) == (2, True), ran
    ran = run("stream", "table.toml")
    assert "input.path is missing" in ran.err


def test_two_processes_of_one_stream(run: Callable, place: Path):
    from sfumato.streaming.state import opened_state

    with opened_state(place / "stream.state", place / "stream"):
        ran = run("stream", "plan.toml")
    assert (ran.code, "used by another process" in ran.err) == (2, True)


def test_a_pipe_and_a_file_that_grows(place: Path):
    """As a steward runs it: a pipe to its end, and a file that is followed until Ctrl-C."""
    command = [sys.executable, "-m", "sfumato", "stream", "plan.toml"]
    plain = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    fed = (HEADER + "".join(lines(230))).encode()
    ran = subprocess.run(
        [*command, "--input", "-", "-o", "piped"], input=fed, capture_output=True, env=plain, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert b"230 records read" in ran.stdout
    with subprocess.Popen([*command, "--follow"], stderr=subprocess.PIPE, stdout=subprocess.PIPE, env=plain) as child:
        _until((place / "stream" / "batch-000002").exists)
        with (place / "in.csv").open("a") as file:
            file.write("".join(lines(90, seed=2)))
        _until((place / "stream" / "batch-000003").exists)
        seen = digests(place / "stream")
        child.send_signal(2)
        _, err = child.communicate(timeout=60)
    assert child.returncode == 130, err
    assert b"interrupted; nothing was left half-written" in err
    assert digests(place / "stream") == seen


def _until(true: Callable[[], bool]) -> None:
    for _ in range(600):
        if true():
            return
        time.sleep(0.1)
    raise AssertionError("nothing happened for a minute")
