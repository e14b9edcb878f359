"""A limit on a search counts steps: the same plan and seed release the same rows on a slow and on a fast machine."""

from __future__ import annotations

from itertools import count
from typing import Any

import polars as pl
import pytest

import sfumato as sf

QUASI = ("sex", "race", "marital-status", "education", "occupation")
LIMITED: dict[str, dict[str, Any]] = {
    "k-optimize": {"seconds": 0.1},
    "greedy": {"seconds": 0.0005},
    "local": {"seconds": 0.005},
    "mondrian": {"seconds": 0.004},
    "top-down": {"seconds": 0.002},
    "auto": {"alternatives": 0.05},
    "cell-suppression": {"seconds": 0.0005, "base": "greedy"},
}


def plan(algorithm: str, **options: Any) -> sf.Plan:
    columns = {name: {"role": "quasi", "hierarchy": {"bundled": f"census/{name}"}} for name in QUASI}
    return sf.Plan.parse(
        {
            "columns": {**columns, "income": {"role": "target"}},
            "privacy": {"k_anonymity": 5},
            "utility": {"metric": "loss", "purpose": "least-loss"},
            "algorithm": {"name": algorithm, "seed": 3, **LIMITED[algorithm], **options},
            "attack": {"run": False},
        }
    )


def released(made: sf.Plan, frame: pl.DataFrame, speed: float, patch: pytest.MonkeyPatch) -> sf.Release:
    """A release on a machine whose clock goes on by so much whenever it is read."""
    clock = count()
    patch.setattr("time.process_time", lambda: next(clock) * speed)
    patch.setattr("sfumato.core.run_context.time.monotonic", lambda: next(clock) * speed)
    return sf.release(made, frame)


@pytest.mark.parametrize("algorithm", LIMITED)
def test_the_clock_changes_no_row(algorithm: str, monkeypatch: pytest.MonkeyPatch):
    frame = sf.datasets.census(600, seed=2)
    fast, slow = (released(plan(algorithm), frame, speed, monkeypatch) for speed in (1e-9, 1e-3))
    assert fast.frame.equals(slow.frame)
    assert fast.outcome.effort == slow.outcome.effort
    if algorithm not in ("auto", "cell-suppression"):
        assert fast.outcome.effort["stopped"] == "by the time limit"


def test_more_seconds_are_more_steps():
    frame = sf.datasets.census(600, seed=2)
    checked = [
        sf.release(plan("k-optimize", seconds=seconds), frame).outcome.effort["checked"] for seconds in (0.1, 0.4)
    ]
    assert checked[0] < checked[1]


TREE = {"first": ["a", "b", "c", "d"], "last": ["e", "f", "g"], "private": ["h"]}


@pytest.mark.parametrize("algorithm", ["local-sets", "top-down-sets"])
def test_the_clock_changes_no_set(algorithm: str, monkeypatch: pytest.MonkeyPatch):
    baskets = [" ".join("abcdefgh"[(n * p) % 8] for p in (1, 3, 5)) for n in range(60)]
    rho = {"rho_uncertainty": {"rho": 0.5, "sensitive": ["h"]}}
    privacy = {"km": {"k": 3, "m": 2}} if algorithm == "local-sets" else rho
    tree = {
        "columns": {"basket": {"role": "quasi", "type": "set", "separator": " ", "hierarchy": {"tree": TREE}}},
        "privacy": privacy,
        "algorithm": {"name": algorithm, "seed": 1, "seconds": 0.002},
        "attack": {"run": False},
    }
    frame = pl.DataFrame({"basket": baskets})
    fast, slow = (released(sf.Plan.parse(tree), frame, speed, monkeypatch) for speed in (1e-9, 1e-3))
    assert fast.frame.equals(slow.frame)
