"""Real commands, struck at random moments and at each of their steps."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest

from tests.crash.commands import COMMANDS, begun, cleared, moments, prepared, run, whole
from tests.crash.striking import BLOWS
from tests.crash.warm import Warm
from tests.crash.wholeness import leftovers
from tests.weights import thorough

SEED = 20
OUTSIDE = (99, -signal.SIGTERM)
"""How a child ends that is struck before the command has begun or after it has ended, in a few microseconds."""
MOMENTS, FULL = 80, 1_600
"""Random moments in the profile quick, and in full."""
pytestmark = pytest.mark.xdist_group("moments")


@pytest.fixture(scope="module")
def root(large: Warm, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared(tmp_path_factory.mktemp("crash") / "root", large)


@pytest.mark.slow
def test_blows_at_random_moments(large: Warm, root: Path, tmp_path: Path):
    lasts = {}
    for name, command in COMMANDS.items():
        ran = run(large, begun(root, tmp_path / "whole", command), command.arguments)
        assert ran["code"] == 0, (name, ran)
        whole(tmp_path / "whole", command, ran, "none")
        assert leftovers(tmp_path / "whole") == []
        lasts[name] = ran["seconds"]
        shutil.rmtree(tmp_path / "whole")
    told = []
    for name, blow, part in moments(SEED, FULL if thorough() else MOMENTS):
        place = begun(root, tmp_path / "place", COMMANDS[name])
        ran = run(large, place, COMMANDS[name].arguments, after=part * lasts[name], blow=blow)
        whole(place, COMMANDS[name], ran, blow)
        if blow != "kill":
            told.append(ran["code"])
            assert ran["code"] in (0, 130, *OUTSIDE), ran
            assert leftovers(place) == [], ran
        cleared(place, COMMANDS[name], large)
        shutil.rmtree(place)
    assert told.count(130) > len(told) / 5  # a machine that was busy during the whole run strikes late
    assert sum(code in OUTSIDE for code in told) <= 3 + len(told) / 20


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_blows_at_steps_of_commands(large: Warm, root: Path, tmp_path: Path, name: str):
    """Every step in turn, with the blows in turn; a step that changes nothing on disk has no blow of its own."""
    command = COMMANDS[name]
    steps = int(run(large, begun(root, tmp_path / "whole", command), command.arguments)["steps"])
    assert steps > 1
    for at in range(1, steps + 1, max(1, steps // 5)):
        blow = BLOWS[at % len(BLOWS)]
        place = begun(root, tmp_path / f"{at}", command)
        ran = run(large, place, command.arguments, at=at, blow=blow)
        assert "Traceback" not in ran["err"], ran
        assert ran["code"] in {"kill": (-9,), "int": (130,), "term": (130,)}.get(blow, (0, 1, 2, 3)), ran
        whole(place, command, ran, blow)
        cleared(place, command, large)
