"""What a past history told: whose value, or which sum of fewer than k people, and from which question on.

Sums by the row space, maxima and minima by who must be at a bound; what one of them tells goes into the other until
nothing new follows. Here values are known, for whoever looks back holds the table.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.queries.exact.exact_sql import ExactKind
from sfumato.queries.exact.extremes import Extremes
from sfumato.queries.exact.kernel_sums import KernelSums
from sfumato.queries.exact.person_atoms import Mask
from sfumato.queries.exact.small_sums import follows, signatures_for, undecided


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ToldFigure:
    """One figure that was told."""

    number: int
    """The number of its question in the history."""
    sql: str
    """The question."""
    kind: ExactKind
    """What was told."""
    mask: Mask
    """Of whom."""
    units: int
    """The answer, in units of the column; of a mean, the sum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compromise:
    """What a history tells about few people."""

    rows: tuple[int, ...]
    """Their rows in the table, the first is 1."""
    what: str
    """What is known: ``value``, ``sum`` or ``interval``."""
    number: int
    """The question from which on it is known."""
    sql: str
    """That question."""
    low: float | None = None
    """Of an interval: where it begins."""
    high: float | None = None
    """Of an interval: where it ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hindsight:
    """What a history told, as far as it can be decided."""

    found: tuple[Compromise, ...]
    """Everybody whom it compromised, each with the first question that did."""
    undecided: int | None = None
    """The first question from which on something could not be decided; none where all was."""


class LookingBack:
    """A history, question by question, with everything that follows."""

    def __init__(self, values: NDArray[np.int64], key: str, *, k: int) -> None:
        self.sums = KernelSums(len(values), key, signatures=signatures_for(k, len(values)))
        self.extremes = Extremes(len(values))
        self.found: list[Compromise] = []
        self.undecided: int | None = None
        self._values, self._k = values, k
        self._known = np.zeros(len(values), bool)
        self._sets: set[tuple[int, ...]] = set()

    def take(self, told: ToldFigure) -> None:
        """Go one figure further."""
        if told.kind == "count" or not told.mask.any():
            return
        if told.kind in ("sum", "mean"):
            self.sums.add(told.mask)
        else:
            self.extremes.add(told.mask, 2 * told.units, largest=told.kind == "maximum")
        while (new := self._new(told.number) & ~self._known).any():
            for row in np.flatnonzero(new).tolist():
                self._note((row,), "value", told)
                self._learn(row)
        self._sums_of_few(told)

    def _new(self, number: int) -> Mask:
        """Everybody whose value follows."""
        found = self._zero() & (self.sums.atoms.sizes == 1)
        people = found[self.sums.atoms.codes]
        if self.extremes.some:
            verdict, forced = self.extremes.known()
            if verdict == "undecided":
                self.undecided = number if self.undecided is None else self.undecided
            people = people | forced
        return np.asarray(people, bool)

    def _learn(self, row: int) -> None:
        """What one half tells, the other half knows too."""
        alone = np.zeros(len(self._values), bool)
        alone[row] = self._known[row] = True
        self.sums.add(alone)
        if self.extremes.people()[row]:
            for largest in (True, False):
                self.extremes.add(alone, 2 * int(self._values[row]), largest=largest)

    def _zero(self) -> Mask:
        return np.asarray((self.sums.signatures() == 0).all(axis=0), bool)

    def _sums_of_few(self, told: ToldFigure) -> None:
        """Sets of fewer than k people whose sum follows, without those in a set that is known already."""
        if self._k == 2:
            return
        sizes, gone = self.sums.atoms.sizes, self._known.copy()
        for one in self._sets:
            gone[list(one)] = True
        used = np.zeros(len(sizes), bool)
        used[self.sums.atoms.codes[gone]] = True
        while len(small := np.flatnonzero((sizes > 0) & (sizes < self._k) & ~used)):
            if undecided(len(small), self._k):
                self.undecided = told.number if self.undecided is None else self.undecided
                return
            atoms = follows(self.sums.signatures()[:, small], sizes[small], self._k, self.sums.prime)
            if atoms is None:
                return
            used[small[list(atoms)]] = True
            rows = tuple(np.flatnonzero(np.isin(self.sums.atoms.codes, small[list(atoms)])).tolist())
            self._sets.add(rows)
            self._note(rows, "sum", told)

    def _note(self, rows: tuple[int, ...], what: str, told: ToldFigure) -> None:
        self.found.append(Compromise(rows=tuple(row + 1 for row in rows), what=what, number=told.number, sql=told.sql))
