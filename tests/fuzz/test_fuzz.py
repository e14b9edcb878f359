"""Every reader stands mutated inputs: it reads or refuses them, within its limits of time and memory."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from random import Random

import pytest

from sfumato.core.errors import SfumatoError
from tests.fuzz import every_command, running, targets
from tests.weights import thorough

INPUTS = 1_200
FULL = 5_000
"""How many inputs are tried in the profiles quick and full; `make test-full` tries 100,000 more afterwards."""
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits on memory are set as Linux sets them")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@pytest.mark.slow
@pytest.mark.xdist_group("fuzz")
def test_no_input_gives_a_traceback_hangs_or_takes_all_memory(folder: Path) -> None:
    inputs = FULL if thorough() else INPUTS
    found = running.run_many(0, inputs, 1, folder)
    assert found.inputs == inputs
    assert set(found.ended) == set(targets.TARGETS)
    assert not found.faults, "\n\n".join(
        f"{one['target']} {one['number']}: {one['detail']}" for one in found.faults[:5]
    )


@pytest.mark.slow
@pytest.mark.xdist_group("fuzz")
def test_the_seeds_themselves_are_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise every mutation would be refused for the same reason, and nothing would be tried."""
    for name in ("changed_bytes", "changed_lines", "changed_tree", "changed_ledger"):
        monkeypatch.setattr(targets, name, lambda value, *_: value)
    stock = targets.stocked(folder / "job-0")
    for name in sorted(set(targets.TARGETS) - {"typed", "outside", "every", "sas"}):
        for number in range(6):
            assert running.one(name, targets.TARGETS[name].make(Random(number), stock), folder / "in") == ("done", "")


@pytest.mark.slow
@pytest.mark.xdist_group("fuzz")
def test_every_command_ends_well_where_no_file_was_changed(tmp_path: Path) -> None:
    for title, (words, files) in every_command.COMMANDS.items():
        place = tmp_path / title.replace(" ", "-")
        shutil.copytree(every_command.scene(), place, symlinks=True)
        assert all((place / name).is_file() for name in files), title
        assert every_command.within(place, words)[0] == 0, title


def test_a_fault_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A target that crashes, and one that hangs, are told from one that refuses."""

    def ends(with_: BaseException) -> str:
        def run(place: Path) -> None:
            raise with_

        monkeypatch.setitem(targets.TARGETS, "bad", targets.Target(1, lambda draw, stock: {}, run))
        return running.one("bad", {}, tmp_path / "in")[0]

    assert ends(SfumatoError("no")) == "refused"
    assert ends(KeyError("data")) == "traceback"
    assert ends(RecursionError()) == "traceback"
    assert ends(MemoryError()) == "memory"
    assert ends(running.Late()) == "late"
    assert ends(SystemExit(2)) == "traceback"
