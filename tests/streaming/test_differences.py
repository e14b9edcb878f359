"""Why a record is published once: whoever shows running moments at every batch shows who came between two of them."""

from __future__ import annotations

from copy import deepcopy
from itertools import pairwise

import numpy as np

from sfumato.algorithms.condensation import Condense
from sfumato.core.randomness import Chance
from sfumato.streaming.condenser import DrawnBatch, Records, StreamCondenser

K, COLUMNS = 8, ["a", "b", "c"]


def stream(rows: np.ndarray, *, running: bool) -> list[DrawnBatch]:
    """Means of groups (variance 0) in batches of 10; the known-bad twin shows what groups hold, and empties none."""
    made = StreamCondenser(condense=Condense(k=K, variance=0.0), columns=COLUMNS, worded=[], most=100, seed=1)
    batches = []
    for start in range(0, len(rows), 10):
        made.take(Records(numbers=rows[start : start + 10], words={}))
        batches.append((deepcopy(made) if running else made).harvest())
    return batches


def read_off(batches: list[DrawnBatch], rows: np.ndarray) -> int:
    """The attack: of two batches, take a group's mean times its size from another's that is larger by one.

    What is left is the record that came between them. How many of these guesses are records, to six digits.
    """
    hits = 0
    for before, after in pairwise(batches):
        shown = []
        for one in (before, after):
            means, sizes = np.unique(np.round(one.numbers, 9), axis=0, return_counts=True)
            shown.append((means, sizes))
        (old, many), (new, more) = shown
        for mean, size in zip(new, more, strict=True):
            for was, had in zip(old, many, strict=True):
                if size == had + 1:
                    guess = mean * size - was * had
                    hits += bool((np.abs(rows - guess).max(axis=1) < 1e-5).any())
    return hits


def records() -> np.ndarray:
    draw = Chance(seed=4).generator()
    return np.round(draw.normal(size=(600, 3)) * 10, 3)


def test_running_moments_give_people_away():
    rows = records()
    assert read_off(stream(rows, running=True), rows) > 20


def test_groups_that_are_emptied_give_nobody_away():
    rows = records()
    batches = stream(rows, running=False)
    assert sum(len(one.numbers) for one in batches) > 500
    assert read_off(batches, rows) == 0
