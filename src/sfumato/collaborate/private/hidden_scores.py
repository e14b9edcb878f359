"""Scores that two parties' records make together, as words of a circuit: Max on joint counts (algorithm 7.6).

Of each child value both parties put in, class by class, how many more records they have than of the last class. The
most frequent class of both together has as many more as the greatest of the sums, or none; adding up the children and
the records of the last class gives the score (equation 6.4). So one sum is spared for each child.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.collaborate.primitives.circuit import ZERO, Bits, Wires
from sfumato.collaborate.primitives.circuit_builder import CircuitBuilder
from sfumato.collaborate.primitives.circuit_words import add, less, select
from sfumato.collaborate.primitives.wire_bits import bits_of
from sfumato.ground.errors import DataError

WIDTH = 32
"""Binary digits of scores and counts."""
MOST = 2**28
"""More records than this no party may have, so that sums of both fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What is public about scores: how many there are, and of what each is made."""

    owners: tuple[int, ...] = ()
    """Where each score is one party's own: whose (0 for the garbler); then there is nothing else."""
    children: tuple[int, ...] = ()
    """Where scores are made of both parties' counts: how many child values each candidate has."""
    classes: int = 1
    """How many classes there are."""

    @property
    def count(self) -> int:
        """How many candidates there are."""
        return len(self.owners) or len(self.children)

    def bits(self, party: int) -> int:
        """How many bits a party puts in."""
        if self.owners:
            return WIDTH * self.owners.count(party)
        return WIDTH * (self.count + sum(self.children) * (self.classes - 1))


def joint_inputs(tables: Sequence[NDArray[np.int64]], prices: Sequence[int]) -> Bits:
    """One's own counts (child values x classes of each candidate) as bits; prices are public, one party takes them."""
    last = np.array([table[:, -1].sum() for table in tables], np.int64) - np.asarray(prices, np.int64)
    more = np.concatenate([(table[:, :-1] - table[:, -1:]).ravel() for table in tables])
    return _bits(np.concatenate([last, more]))


def own_inputs(scores: Sequence[int]) -> Bits:
    """One's own scores as bits."""
    return _bits(np.asarray(scores, np.int64))


def scores_of(build: CircuitBuilder, shape: Shape, ours: Wires, theirs: Wires) -> Wires:
    """Candidates x digits: the scores, signed."""
    left, right = ours.reshape(-1, WIDTH), theirs.reshape(-1, WIDTH)
    if shape.owners:
        mine = np.asarray(shape.owners) == 0
        found = np.empty((shape.count, WIDTH), np.int64)
        found[mine], found[~mine] = left, right
        return found
    summed = add(build, left, right)
    last, rest = summed[: shape.count], summed[shape.count :]
    if shape.classes == 1:
        return last
    more = rest.reshape(-1, shape.classes - 1, WIDTH)
    return add(build, last, _by_candidate(build, shape, _greatest(build, more)))


def _greatest(build: CircuitBuilder, more: Wires) -> Wires:
    """Child values x digits: the greatest of the differences, or 0."""
    sign = more[..., -1:]
    rows = build.and_(more, build.not_(sign))
    while rows.shape[1] > 1:
        half = rows.shape[1] // 2
        first, second = rows[:, :half], rows[:, half : 2 * half]
        better = select(build, less(build, first, second), second, first)
        rows = np.concatenate([better, rows[:, 2 * half :]], axis=1)
    return rows[:, 0]


def _by_candidate(build: CircuitBuilder, shape: Shape, values: Wires) -> Wires:
    """Candidates x digits: sums over each candidate's child values; those that one has fewer are constant 0."""
    many = np.asarray(shape.children)
    padded = np.full((shape.count, int(many.max()), WIDTH), ZERO)
    owner = np.repeat(np.arange(shape.count), many)
    padded[owner, np.arange(len(owner)) - np.repeat(np.cumsum(many) - many, many)] = values
    while padded.shape[1] > 1:
        half = padded.shape[1] // 2
        both = add(build, padded[:, :half], padded[:, half : 2 * half])
        padded = np.concatenate([both, padded[:, 2 * half :]], axis=1)
    return padded[:, 0]


def _bits(numbers: NDArray[np.int64]) -> Bits:
    if numbers.size and np.abs(numbers).max() > MOST:
        raise DataError(f"two parties can choose among scores of up to {MOST:,} records; there are more")
    return bits_of(numbers, WIDTH, signed=True).ravel()
