"""How closely answers and declared bounds tell values: the ends of everybody's interval, by linear programs.

Source: Li, Wang, Wang and Jajodia, Auditing interval-based inference, 2002. Sums are equations, maxima and minima are
bounds of their people; that somebody reaches a maximum is left out, so an interval is at most as wide as is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.errors import DataError
from sfumato.ground.extras import extra
from sfumato.queries.exact.hindsight import Compromise, ToldFigure
from sfumato.queries.exact.person_atoms import Atoms
from sfumato.queries.exact.width_rule import Span

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
