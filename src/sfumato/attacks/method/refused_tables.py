"""Who has a value, given that a finer table was refused.

A class of n rows has s rows of a value, and falls into parts of sizes n1, n2, ... that the attacker knows from a
register. If nothing else were known, every choice of s rows would be equally likely. But the parts were not published,
so in one of them the value is too frequent: the attacker strikes out all choices in which every part would have been
allowed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.special import binomial_chances

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Allowed:
    """What holds where every part is allowed."""

    chance: float
    """How likely that is if nothing else is known."""
    expected: Reals
    """For each part: its number of rows with the value, 0 where some part is not allowed, on average."""


@lru_cache(maxsize=4096)
def allowed(sizes: tuple[int, ...], rows: int, most: tuple[int, ...]) -> Allowed:
    """The choices of ``rows`` among parts of these sizes with no more than ``most`` in each.

    Cost: parts times rows squared, at most.

    >>> found = allowed((2, 5), 2, (1, 2))  # two of seven; not both in the first part: 20 of 21 choices
    >>> round(found.chance, 4), found.expected.round(4).tolist()
    (0.9524, [0.4762, 1.4286])
    """
    if min(most) < 0:  # a part with fewer rows than values are asked for: refused, whatever they are
        return Allowed(chance=0.0, expected=np.zeros(len(sizes)))
    share = rows / sum(sizes)
    pieces = [_binomial(size, share, min(top, rows, size)) for size, top in zip(sizes, most, strict=True)]
    before, after = _products(pieces, rows), _products(pieces[::-1], rows)[::-1]
    whole = _binomial(sum(sizes), share, rows)[rows]
    expected = np.zeros(len(sizes))
    for at, piece in enumerate(pieces):
        others = np.convolve(before[at], after[at + 1])[: rows + 1]
        mine = piece * np.arange(len(piece))
        reach = np.arange(max(0, rows + 1 - len(others)), len(mine))
        expected[at] = (mine[reach] * others[rows - reach]).sum() / whole
    last = before[-1]
    return Allowed(chance=float(last[rows] / whole) if len(last) > rows else 0.0, expected=expected)


def belief(sizes: tuple[int, ...], rows: int, found: Allowed, others: float = 1.0) -> Reals | None:
    """The share of each part that has the value, given a refusal; None where it could not have been refused.

    ``others`` is the chance that nothing else, neither another value nor another class, was the reason.

    >>> belief((2, 5), 2, allowed((2, 5), 2, (1, 2))).round(4).tolist()
    [1.0, 0.0]
    """
    refused = 1 - found.chance * others
    if refused < 1e-9:
        return None
    size = np.array(sizes)
    left = rows * size / size.sum() - found.expected * others
    return np.asarray(np.clip(left / refused / size, 0, 1))


def _binomial(size: int, share: float, top: int) -> Reals:
    """How likely 0, 1, ... up to ``top`` of so many rows have the value, each with the same chance."""
    if share <= 0 or share >= 1:
        return np.asarray(np.arange(top + 1) == (size if share > 0 else 0), np.float64)
    return binomial_chances(size, share, top)


def _products(pieces: list[Reals], rows: int) -> list[Reals]:
    """The sums of the first 0, 1, 2, ... parts, as far as they matter."""
    found = [np.ones(1)]
    for piece in pieces:
        found.append(np.convolve(found[-1], piece)[: rows + 1])
    return found
