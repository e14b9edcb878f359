"""The next run removes what is ours and dead; what is alive or foreign stays, and so do other people's folders."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path

import pytest

from sfumato.core.run_context import unstopped
from sfumato.core.scratch import clear, close_all, scratch, temporary
from tests.crash.stage_jobs import fill
from tests.crash.warm import Warm
from tests.crash.wholeness import leftovers

NAME = ".out.sfumato-abcd1234"


def dead(place: Path, told: object = None, **files: str) -> Path:
    """What a killed process left."""
    folder = place / NAME
    folder.mkdir()
    (folder / "lock").write_text(json.dumps({"program": "sfumato", "pid": 1} if told is None else told))
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return folder


def test_what_is_dead_and_ours_is_removed(tmp_path: Path):
    folder = dead(tmp_path, new="half")
    (folder / "old").mkdir()
    (folder / "old" / "data.csv").write_text("x")
    clear(tmp_path)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / NAME).mkdir()
    clear(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_running_work_stays(tmp_path: Path, small: Warm):
    with scratch(tmp_path, "out") as mine:
        mine.new.write_text("in progress")
        clear(tmp_path)
        assert small.run("tests.crash.stage_jobs:file", tmp_path, "other.csv", "x")["code"] == 0
        assert mine.new.read_text() == "in progress"
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize(
    ("told", "files"),
    [
        (None, {"thesis_txt": "mine"}),
        ({"program": "another"}, {"new": "mine"}),
        ("a text", {"new": "mine"}),
        ([], {"old": "mine"}),
    ],
)
def test_what_is_not_ours_stays(tmp_path: Path, told: object, files: dict[str, str]):
    folder = dead(tmp_path, told, **files)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    clear(tmp_path)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_other_folders_and_links_stay(tmp_path: Path):
    for name in (".out.sfumato-abc", "out.sfumato-abcd1234", ".sfumato-abcd1234", ".out.x1y2z3a4"):
        (tmp_path / name).mkdir()
    (tmp_path / "aim").mkdir()
    (tmp_path / "aim" / "lock").write_text(json.dumps({"program": "sfumato"}))
    (tmp_path / NAME).symlink_to(tmp_path / "aim")
    before = sorted(tmp_path.rglob("*"))
    clear(tmp_path)
    assert sorted(tmp_path.rglob("*")) == before
    clear(tmp_path / "not there")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to somebody else")
def test_other_peoples_folders_stay(tmp_path: Path):
    folder = dead(tmp_path, new="x")
    os.chown(folder, 12345, -1)
    clear(tmp_path)
    assert (folder / "new").exists()


def test_a_note_cannot_move_anything_elsewhere(tmp_path: Path):
    """A folder from an archive of strangers may look like ours: its note names files beside it only."""
    place = tmp_path / "deep"
    place.mkdir()
    folder = dead(place, {"program": "sfumato", "to": "../stolen", "page": None, "made": [1, 1]}, new="n", old="o")
    clear(place)
    assert not (tmp_path / "stolen").exists()
    assert not folder.exists()


def test_a_bundle_that_was_moved_away_comes_back(tmp_path: Path):
    """Killed between the two renames of a system that cannot exchange names."""
    folder = dead(tmp_path, {"program": "sfumato", "to": "out", "page": None, "made": [1, 1]})
    for name in ("old", "new"):
        (folder / name).mkdir()
        fill(folder / name, name)
    clear(tmp_path)
    assert (tmp_path / "out" / "data.csv").read_text() == "old"
    assert leftovers(tmp_path) == []


def test_a_bundle_that_somebody_removed_does_not_come_back(tmp_path: Path):
    """The swap was over: the new one had its place."""
    folder = dead(tmp_path, {"program": "sfumato", "to": "out", "page": None, "made": [1, 1]})
    (folder / "old").mkdir()
    fill(folder / "old", "old")
    clear(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_temporary_folders_of_dead_processes_go_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    dead(tmp_path, new="rows of the original")
    with temporary("frontier") as place:
        assert place.stat().st_mode & 0o077 == 0
        assert len(leftovers(tmp_path)) == 1
    assert leftovers(tmp_path) == []


def test_scratch_folders_that_nobody_closes_go_with_the_command(tmp_path: Path):
    opened = scratch(tmp_path, "out")
    opened.__enter__()
    assert len(leftovers(tmp_path)) == 1
    close_all()
    assert leftovers(tmp_path) == []
    opened.__exit__(None, None, None)


def test_signals_wait_until_the_block_is_over():
    done = []

    def work() -> None:
        with unstopped():
            signal.raise_signal(signal.SIGINT)
            with unstopped():
                signal.raise_signal(signal.SIGINT)
            done.append("all of it")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["all of it"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_other_threads_have_nothing_to_wait_for():
    seen = []

    def work() -> None:
        with unstopped():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]
