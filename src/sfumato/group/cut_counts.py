"""Counts under a cut, asked step by step: all that a search from the top downwards needs of a table.

The search keeps what is public or counted: the labels of every leaf partition, and its counts. The source alone knows
which record is in which partition. So a table of one's own, an engine, several parties that add up their counts, and
estimated distributions can all be searched alike.

A *source* has no state: ``root`` begins a walk, as often as one likes, and is told what to count. A *walk* starts with
one leaf partition, number 0, that has all records, and follows them downwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes
from sfumato.group.keys import Ids
from sfumato.group.needs import Need

Numbers = NDArray[Any]
"""Counts, none negative: whole numbers, or real ones where they are estimates."""
Figure = tuple[str, tuple[int, ...]]
"""Something that is counted: the records with one of some values (by code) in a column."""
ROWS: Figure = ("", ())
"""All records."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Division:
    """Leaf partitions, and the public children among which the values of one column divide them."""

    column: int
    """The column, by its place."""
    parts: Ids | None
    """The leaf partitions, by number; None: all records as one, also those that are no longer followed."""
    child_of: Codes
    """For each value of the column (by code), which child. Of sets: which bit of the child's number, -1 for none."""
    children: int
    """How many children there are; of sets, two to the number of bits."""

    @property
    def count(self) -> int:
        """How many partitions are divided."""
        return 1 if self.parts is None else len(self.parts)


def by_value(column: int, size: int, parts: Ids | None = None) -> Division:
    """The division by the values of a column themselves."""
    return Division(column=column, parts=parts, child_of=np.arange(size, dtype=np.int32), children=size)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Groups:
    """Partitions that are counted together."""

    of: Codes
    """For each partition of a division, its group."""
    count: int
    """How many groups there are."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Divided:
    """The counts of (partition, child) pairs. Pairs without a record may be left out: sets have 2^m children."""

    division: Division
    """Of what."""
    owner: Ids
    """For each pair, the place of its partition among those divided, ascending."""
    child: Ids
    """For each pair, which child; ascending within a partition."""
    counts: Numbers
    """Pairs x figures."""

    @property
    def keys(self) -> Ids:
        """One number per pair, ascending."""
        return self.owner * np.int64(self.division.children) + self.child

    def dense(self) -> Numbers:
        """Partitions x children x figures."""
        count, children = self.division.count, self.division.children
        found = np.zeros((count * children, self.counts.shape[1]), self.counts.dtype)
        found[self.keys] = self.counts
        return found.reshape(count, children, self.counts.shape[1])

    def occupied(self) -> Divided:
        """Only the pairs in which anything was counted."""
        return self.kept(self.counts.any(axis=1))

    def kept(self, some: NDArray[np.bool_]) -> Divided:
        """Only some of the pairs."""
        if some.all():
            return self
        return Divided(division=self.division, owner=self.owner[some], child=self.child[some], counts=self.counts[some])

    def places(self, count: int) -> Ids:
        """New partition numbers where there are ``count``: the first pair of each keeps its own, the rest are new."""
        first = np.diff(self.owner, prepend=-1) > 0
        parts = np.zeros(1, np.int64) if self.division.parts is None else self.division.parts
        return np.where(first, parts[self.owner], count - 1 + np.cumsum(~first))


class CutCounts(Protocol):
    """One walk: the records, each in one of the leaf partitions or no longer followed."""

    def total(self) -> Numbers:
        """The figures of all records."""

    def histogram(self, asked: Division, groups: Groups | None = None) -> Numbers:
        """Partitions (or groups of them) x children x figures: what is asked for where few children are public."""

    def refine(self, asked: Division) -> Divided:
        """The partitions as they would be divided; nothing changes yet."""

    def apply(self, divided: Divided, places: Ids) -> None:
        """Divide the partitions: a pair becomes the leaf partition of the number at its place.

        -1: its records are no longer followed; nor are those in pairs that are not named.
        """


class JointCuts(CutCounts, Protocol):
    """A walk of a source that gives the joint: a search may look at its cells."""

    def members(self, asked: Division) -> tuple[Codes, Codes]:
        """The cells of the partitions, one partition after the other, and the (partition, child) pair of each."""

    def cell_parts(self) -> Ids:
        """The leaf partition of each cell; -1 if it is no longer followed."""


class CutSource(Protocol):
    """Where walks come from."""

    @property
    def gives(self) -> frozenset[Need]:
        """What it can give beside counts."""

    def root(self, figures: Sequence[Figure]) -> CutCounts:
        """A new walk that counts these figures, with all records in leaf partition 0."""
