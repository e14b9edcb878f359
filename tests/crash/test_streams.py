"""Streams that are killed: at many random moments, and at every step that changes the disk."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from sfumato.algorithms.condensation import Moments
from tests.crash.warm import Warm
from tests.crash.wholeness import one_message
from tests.streaming.streams import HEADER, TEXT, digests, lines, manifests, numbers
from tests.streaming.streams import plan as asked
from tests.streaming.streams import state as kept
from tests.weights import thorough

JOB, BAD = "tests.crash.stream_jobs:stream", "tests.crash.stream_jobs:careless"
KILLS = 320 if thorough() else 40
ROWS = 130
"""A batch, and what is left at the end."""


@pytest.fixture(scope="module")
def warm() -> Iterator[Warm]:
    made = Warm("tests.crash.stream_jobs")
    yield made
    made.close()


def begun(place: Path, rows: int = ROWS, *, every: int = 40) -> Path:
    place.mkdir()
    (place / "plan.toml").write_text(TEXT.replace("checkpoint = 40", f"checkpoint = {every}"))
    (place / "in.csv").write_text(HEADER + "".join(lines(rows)))
    return place


def whole(seen: dict[str, str], place: Path) -> dict[str, str]:
    """What is published has not changed, every batch is there with all its files, and nothing else."""
    now = digests(place / "out") if (place / "out").exists() else {}
    assert now.items() >= seen.items(), "a batch was published differently"
    folders = sorted({name.partition("/")[0] for name in now})
    assert folders == [f"batch-{number:06}" for number in range(1, len(folders) + 1)]
    assert all(f"{one}/{name}" in now for one in folders for name in ("data.csv", "manifest.json", "report.html"))
    return now


def counted(place: Path, rows: int) -> None:
    """No record is lost and none is counted twice: published and waiting moments are those of the records read."""
    if not (place / "state" / "checkpoint").exists():
        return
    state = kept(asked(), place)
    assert state.add_up()
    records, made = state.progress.records, state.condenser
    assert records <= rows
    if not state.progress.withheld:
        whole = Moments.of((numbers(lines(rows)[:records]) - made.shift) / made.scale)
        assert int(made.moments.count) == records
        assert made.moments.sums == pytest.approx(whole.sums, abs=1e-6)
        assert made.moments.products == pytest.approx(whole.products, rel=1e-7, abs=1e-5)


@pytest.mark.slow
def test_many_kills_at_random_moments(warm: Warm, tmp_path: Path):
    """Killed again and again, a stream gives byte by byte what it gives undisturbed."""
    rows, draw = 300, random.Random(11)
    ran = warm.run(JOB, begun(tmp_path / "whole", rows))
    assert ran["code"] == 0, ran
    wanted, reach = digests(tmp_path / "whole" / "out"), ran["seconds"] / 3
    kills = runs = 0
    while kills < KILLS:
        place, seen, runs = begun(tmp_path / f"{kills}", rows), dict[str, str](), runs + 1
        ran, before = {"code": -9}, b""
        while ran["code"] == -9:
            blow = {"after": draw.uniform(0.0, reach), "blow": "kill"} if kills < KILLS else {}
            ran = warm.run(JOB, place, **blow)
            assert ran["code"] in (0, -9), ran
            kills += ran["code"] == -9
            seen = whole(seen, place)
            counted(place, rows)
            path = place / "state" / "checkpoint"
            after = path.read_bytes() if path.exists() else b""
            reach *= 1.06 if after == before else 0.85  # on a busy machine a stream must come forward all the same
            before = after
        assert seen == wanted
        shutil.rmtree(place)
    assert runs < KILLS / 2  # most streams were killed more than once


@pytest.mark.slow
def test_a_kill_at_every_step(warm: Warm, tmp_path: Path):
    """What a kill leaves is looked at after every step; the next run is made from every different thing it leaves."""
    ran = warm.run(JOB, begun(tmp_path / "whole", every=100))
    assert ran["code"] == 0, ran
    wanted, steps = digests(tmp_path / "whole" / "out"), int(ran["steps"])
    assert steps > 40
    left: list[tuple[dict[str, str], ...]] = []
    for at in range(1, steps + 1):
        place = begun(tmp_path / f"{at}", every=100)
        assert warm.run(JOB, place, at=at, blow="kill")["code"] == -9
        seen = whole({}, place)
        counted(place, ROWS)
        found = tuple(digests(place / name) if (place / name).exists() else {} for name in ("out", "state"))
        if found not in left:
            left.append(found)
            ran = warm.run(JOB, place)
            assert ran["code"] == 0, ran
            assert whole(seen, place) == wanted
        shutil.rmtree(place)
    assert len(left) > 15


@pytest.mark.parametrize(("blow", "first"), [("full", 2), ("readonly", 9), ("int", 5), ("term", 12)])
def test_other_blows_at_some_steps(warm: Warm, tmp_path: Path, blow: str, first: int):
    """A full disk, one that cannot be written, Ctrl-C: one message, and the next run goes on."""
    steps = int(warm.run(JOB, begun(tmp_path / "whole"))["steps"])
    wanted = digests(tmp_path / "whole" / "out")
    for at in range(first, steps, 17):
        place = begun(tmp_path / f"{at}")
        ran = warm.run(JOB, place, at=at, blow=blow)
        if ran["code"]:
            stopped = blow in ("int", "term")
            one_message(ran, 130 if stopped else 2, "interrupted" if stopped else "cannot be written")
        seen = whole({}, place)
        counted(place, ROWS)
        ran = warm.run(JOB, place)
        assert ran["code"] == 0, ran
        after = whole(seen, place)
        if blow in ("full", "readonly"):
            assert after == wanted
        shown = sum(size * many for one in manifests(place / "out") for size, many in one["recoding"]["sizes"])
        assert ROWS - 5 < shown <= ROWS


def test_a_careless_publisher_is_caught(warm: Warm, tmp_path: Path):
    """What these tests look for is seen where a batch appears before the checkpoint that counts it."""
    caught = 0
    steps = int(warm.run(BAD, begun(tmp_path / "whole"))["steps"])
    for at in range(15, steps, 2):
        place = begun(tmp_path / f"{at}")
        warm.run(BAD, place, at=at, blow="kill")
        try:
            whole({}, place)
        except AssertionError:
            caught += 1
    assert caught >= 2
