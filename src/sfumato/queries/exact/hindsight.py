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

    def take(self, figure: ToldFigure) -> None:
        """Go one figure further."""
        if figure.kind == "count" or not figure.mask.any():
            return
        if figure.kind in ("sum", "mean"):
            self.sums.add(figure.mask)
        else:
            self.extremes.add(figure.mask, 2 * figure.units, largest=figure.kind == "maximum")
        while (new := self._new(figure.number) & ~self._known).any():
            for row in np.flatnonzero(new).tolist():
                self._note((row,), "value", figure)
                self._learn(row)
        self._sums_of_few(figure)

    def _new(self, number: int) -> Mask:
        """Everybody whose value follows."""
        singles = self._zero() & (self.sums.atoms.sizes == 1)
        people = singles[self.sums.atoms.codes]
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

    def _sums_of_few(self, figure: ToldFigure) -> None:
        """Sets of fewer than k people whose sum follows, without those in a set that is known already."""
        if self._k == 2:
            return
        sizes, gone = self.sums.atoms.sizes, self._known.copy()
        for known_set in self._sets:
            gone[list(known_set)] = True
        used = np.zeros(len(sizes), bool)
        used[self.sums.atoms.codes[gone]] = True
        while len(small := np.flatnonzero((sizes > 0) & (sizes < self._k) & ~used)):
            if undecided(len(small), self._k):
                self.undecided = figure.number if self.undecided is None else self.undecided
                return
            atoms = follows(self.sums.signatures()[:, small], sizes[small], self._k, self.sums.prime)
            if atoms is None:
                return
            used[small[list(atoms)]] = True
            rows = tuple(np.flatnonzero(np.isin(self.sums.atoms.codes, small[list(atoms)])).tolist())
            self._sets.add(rows)
            self._note(rows, "sum", figure)

    def _note(self, rows: tuple[int, ...], what: str, figure: ToldFigure) -> None:
        self.found.append(
            Compromise(rows=tuple(row + 1 for row in rows), what=what, number=figure.number, sql=figure.sql)
        )


# How closely answers and declared bounds tell values: the ends of everybody's interval, by linear programs.
#
# Source: Li, Wang, Wang and Jajodia, Auditing interval-based inference, 2002. Sums are equations, maxima and minima
# are bounds of their people; that somebody reaches a maximum is left out, so an interval is at most as wide as is
# told.


MOST_ATOMS = 2_000
"""So many parts of the people are looked at."""
Reals = NDArray[np.float64]


def narrow(figures: Sequence[ToldFigure], people: int, span: Span, unit: float) -> list[Compromise]:
    """Everybody whose interval becomes narrower than the declared width, and the question from which on it is.

    An interval never widens as more is told, so the question is found by halving.
    """
    known: dict[int, tuple[Reals, Reals]] = {}

    def ends(many: int) -> tuple[Reals, Reals]:
        if many not in known:
            known[many] = intervals(figures[:many], people, span, unit)
        return known[many]

    low, high = ends(len(figures))
    slack = 1e-7 * (span.high - span.low)
    rows_by_interval: dict[tuple[int, float, float], list[int]] = {}
    for row in np.flatnonzero(high - low < span.width - slack).tolist():
        first, last = 0, len(figures)
        while last - first > 1:
            middle = (first + last) // 2
            begin, end = ends(middle)
            narrower = end[row] - begin[row] < span.width - slack
            first, last = (first, middle) if narrower else (middle, last)
        begin, end = ends(last)
        rows_by_interval.setdefault((last - 1, float(begin[row]), float(end[row])), []).append(row + 1)
    return [
        Compromise(rows=(row,), what="interval", number=figures[at].number, sql=figures[at].sql, low=begin, high=end)
        for (at, begin, end), rows in sorted(rows_by_interval.items())
        for row in rows
    ]


def intervals(figures: Sequence[ToldFigure], people: int, span: Span, unit: float) -> tuple[Reals, Reals]:
    """Everybody's lower and upper end."""
    atoms = Atoms(people)
    for figure in figures:
        atoms.apply(atoms.cut(figure.mask))
    parts = len(atoms.sizes)
    if parts > MOST_ATOMS:
        raise DataError(f"the questions divide people into {parts:,} parts; intervals are told for {MOST_ATOMS:,}")
    low, high = np.full(parts, span.low), np.full(parts, span.high)
    lines, totals = [], []
    for figure in figures:
        inside = atoms.within(figure.mask)
        if figure.kind == "maximum":
            high[inside] = np.minimum(high[inside], figure.units * unit)
        elif figure.kind == "minimum":
            low[inside] = np.maximum(low[inside], figure.units * unit)
        elif figure.kind != "count":
            lines.append(inside.astype(np.float64))
            totals.append(figure.units * unit)
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
    solutions = [solve(sign * aim, A_eq=unknowns, b_eq=totals, bounds=limits, method="highs") for sign in (1, -1)]
    if not all(solution.success for solution in solutions):
        raise DataError("no values within the declared bounds agree with the answers; declare wider ones")
    return float(solutions[0].fun), -float(solutions[1].fun)
