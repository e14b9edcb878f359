"""What follows from exact answers, by enumerating every table that agrees with what was told."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise, product

import numpy as np

Told = tuple[str, np.ndarray, float]
"""A kind of figure, whom it is about, and the answer."""
RUN = {"sum": np.sum, "maximum": np.max, "minimum": np.min}


def agreeing(tables: np.ndarray, told: Sequence[Told]) -> np.ndarray:
    """The tables that agree with all answers."""
    for kind, mask, answer in told:
        tables = tables[RUN[kind](tables[:, mask], axis=1) == answer]
    return tables


def sums_follow(masks: Sequence[np.ndarray], k: int) -> bool:
    """Whether the sum of 1 to k - 1 people is the same in all tables that agree with sums.

    Around any table those that agree differ by whole vectors of the kernel. For five people these are made of vectors
    with entries up to 3 (determinants of zeros and ones), so all tables as near as that are enough.
    """
    people = len(masks[0])
    away = np.array(list(product(range(-3, 4), repeat=people)))
    away = agreeing(away, [("sum", mask, 0.0) for mask in masks])
    few = [list(one) for many in range(1, k) for one in combinations(range(people), many)]
    return any((away[:, one].sum(axis=1) == 0).all() for one in few)


def some_answer_tells(told: Sequence[Told], kind: str, mask: np.ndarray) -> bool:
    """Whether some table that agrees with maxima and minima would make the next answer tell a value.

    Only the order of values matters: three numbers between two answers, and beyond them, stand for all others. The
    outermost stand for nothing: no number lies beyond them.
    """
    known = sorted({answer for *_, answer in told}) or [0.0]
    between = {low + (high - low) * part for low, high in pairwise(known) for part in (0.25, 0.5, 0.75)}
    beyond = {known[0] - step for step in (1, 2, 3)} | {known[-1] + step for step in (1, 2, 3)}
    values = sorted({*known, *between, *beyond})
    tables = agreeing(np.array(list(product(values, repeat=len(mask)))), told)
    answers = RUN[kind](tables[:, mask], axis=1)
    for answer in set(answers.tolist()) - {values[0], values[-1]}:
        left = tables[answers == answer]
        if (left == left[0]).all(axis=0).any():
            return True
    return False


def narrowest(masks: Sequence[np.ndarray], bounds: tuple[float, float], means: tuple[float, float]) -> float:
    """The narrowest interval that answers to sums leave anybody, over tables whose pairs have means within some.

    How wide an interval is, is concave in the table, so a corner of all tables is the worst. Corners have values that
    bounds and pairs of people fix, of which those that take two steps are tried.
    """
    from scipy.optimize import linprog

    low, high = bounds
    lines = np.array(masks, float)
    near = {low, high, *means}
    near |= {2 * mean - value for mean in means for value in list(near)}
    values = [value for value in sorted(near) if low <= value <= high]
    tables = np.array(list(product(values, repeat=lines.shape[1])))
    for one, two in combinations(range(lines.shape[1]), 2):
        pair = (tables[:, one] + tables[:, two]) / 2
        tables = tables[(pair >= means[0] - 1e-9) & (pair <= means[1] + 1e-9)]
    found = high - low
    for answers in np.unique(tables @ lines.T, axis=0):
        for person in np.flatnonzero(lines.any(axis=0)):
            aim = np.eye(lines.shape[1])[person]
            ends = [linprog(sign * aim, A_eq=lines, b_eq=answers, bounds=[bounds] * len(aim)) for sign in (1, -1)]
            found = min(found, -ends[1].fun - ends[0].fun)
    return float(found)
