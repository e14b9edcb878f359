"""What a past history disclosed: values, small sums, and everybody's interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.errors import DataError
from sfumato.core.extras import extra
from sfumato.queries.exact.atoms import Atoms, Mask
from sfumato.queries.exact.auditor import Span
from sfumato.queries.exact.extremes import Extremes
from sfumato.queries.exact.sums import KernelSums, follows, signatures_for, undecided
from sfumato.queries.sql import ExactKind

# What a past history told: whose value, or which sum of fewer than k people, and from which question on.
#
# Sums by the row space, maxima and minima by who must be at a bound; what one of them tells goes into the other until
# nothing new follows. Here values are known, for whoever looks back holds the table.


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


# How closely answers and declared bounds tell values: the ends of everybody's interval, by linear programs.
#
# Source: Li, Wang, Wang and Jajodia, Auditing interval-based inference, 2002. Sums are equations, maxima and minima
# are bounds of their people; that somebody reaches a maximum is left out, so an interval is at most as wide as is
# told.


MOST_ATOMS = 2_000
"""So many parts of the people are looked at."""
Reals = NDArray[np.float64]


def narrow(told: Sequence[ToldFigure], people: int, span: Span, unit: float) -> list[Compromise]:
    """Everybody whose interval becomes narrower than the declared width, and the question from which on it is.

    An interval never widens as more is told, so the question is found by halving.
    """
    known: dict[int, tuple[Reals, Reals]] = {}

    def ends(many: int) -> tuple[Reals, Reals]:
        if many not in known:
            known[many] = intervals(told[:many], people, span, unit)
        return known[many]

    low, high = ends(len(told))
    slack = 1e-7 * (span.high - span.low)
    found: dict[tuple[int, float, float], list[int]] = {}
    for row in np.flatnonzero(high - low < span.width - slack).tolist():
        first, last = 0, len(told)
        while last - first > 1:
            middle = (first + last) // 2
            begin, end = ends(middle)
            narrower = end[row] - begin[row] < span.width - slack
            first, last = (first, middle) if narrower else (middle, last)
        begin, end = ends(last)
        found.setdefault((last - 1, float(begin[row]), float(end[row])), []).append(row + 1)
    return [
        Compromise(rows=(row,), what="interval", number=told[at].number, sql=told[at].sql, low=begin, high=end)
        for (at, begin, end), rows in sorted(found.items())
        for row in rows
    ]


def intervals(told: Sequence[ToldFigure], people: int, span: Span, unit: float) -> tuple[Reals, Reals]:
    """Everybody's lower and upper end."""
    atoms = Atoms(people)
    for one in told:
        atoms.apply(atoms.cut(one.mask))
    parts = len(atoms.sizes)
    if parts > MOST_ATOMS:
        raise DataError(f"the questions divide people into {parts:,} parts; intervals are told for {MOST_ATOMS:,}")
    low, high = np.full(parts, span.low), np.full(parts, span.high)
    lines, totals = [], []
    for one in told:
        inside = atoms.within(one.mask)
        if one.kind == "maximum":
            high[inside] = np.minimum(high[inside], one.units * unit)
        elif one.kind == "minimum":
            low[inside] = np.maximum(low[inside], one.units * unit)
        elif one.kind != "count":
            lines.append(inside.astype(np.float64))
            totals.append(one.units * unit)
    begin, end = low.copy(), high.copy()
    for part in np.flatnonzero(np.any(lines, axis=0) & (atoms.sizes > 0)).tolist() if lines else ():
        begin[part], end[part] = _ends(np.array(lines), np.array(totals), (low, high), atoms.sizes, part)
    return begin[atoms.codes], end[atoms.codes]


def _ends(
    lines: Reals, totals: Reals, box: tuple[Reals, Reals], sizes: NDArray[np.int64], part: int
) -> tuple[float, float]:
    """The least and the most that one person of a part can have; the others of the part are one unknown."""
    low, high = box
    many = sizes.copy()
    many[part] -= 1
    unknowns = np.column_stack([lines, lines[:, part]])
    limits = [*zip(many * low, many * high, strict=True), (low[part], high[part])]
    aim = np.zeros(len(limits))
    aim[-1] = 1.0
    solve: Any = extra("scipy.optimize", "an audit of intervals").linprog
    found = [solve(sign * aim, A_eq=unknowns, b_eq=totals, bounds=limits, method="highs") for sign in (1, -1)]
    if not all(one.success for one in found):
        raise DataError("no values within the declared bounds agree with the answers; declare wider ones")
    return float(found[0].fun), -float(found[1].fun)
