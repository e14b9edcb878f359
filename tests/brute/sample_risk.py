"""Risks of a sample, straight from their definitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import exp, lgamma, log


def individual(f: int, weight: float) -> float:
    """The expected 1/F: F - f failures come before the f-th success, and a success has probability f / weight."""
    p = min(f / weight, 1.0)
    if p == 1.0:
        return 1.0 / f
    found, h = 0.0, f
    while True:
        chance = exp(lgamma(h) - lgamma(f) - lgamma(h - f + 1) + f * log(p) + (h - f) * log(1 - p))
        found += chance / h
        h += 1
        if h > f + 60 / p + 1000:
            return found


def risks(rows: Sequence[tuple[str, ...]], weights: Sequence[float]) -> tuple[float, float, float]:
    """The highest simple risk, the highest individual risk, and how many rows are expected to be found again."""
    sizes = Counter(rows)
    sums = {key: sum(w for row, w in zip(rows, weights, strict=True) if row == key) for key in sizes}
    each = {key: individual(sizes[key], max(sums[key], sizes[key])) for key in sizes}
    return max(1 / max(sums[key], sizes[key]) for key in sizes), max(each.values()), sum(each[row] for row in rows)
