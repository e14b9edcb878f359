"""Hierarchies of numbers: intervals of growing width, given cut points, quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.describe.domains import Numbers, ObservedDomain
from sfumato.describe.hierarchy import Hierarchy, chain
from sfumato.describe.rounding import roundest
from sfumato.describe.spans import Ends, Span
from sfumato.ground.arguments import above, one_of, whole
from sfumato.ground.errors import HierarchyError, ParameterError
from sfumato.ground.shares import exact

Cuts = Sequence[float]


MOST_GROUPS = 100_000
"""No level of quantiles has more groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals:
    """Half-open intervals, each level coarser than the one before; the last interval includes ``high``."""

    widths: tuple[float, ...] = ()
    """The widths of the levels, counted from ``low``; each a multiple of the one before."""
    cuts: tuple[tuple[float, ...], ...] = ()
    """Or, instead of widths, the cut points of each level; each level's among those of the one before."""
    low: float | None = None
    """The declared lower limit; intervals begin at multiples of the widest width when absent."""
    high: float | None = None
    """The declared upper limit; intervals go on without end when absent."""
    outside: Literal["refuse", "clamp"] = "refuse"
    """What to do with values beyond the limits: refuse, or let them fall into the outermost intervals."""

    def __post_init__(self) -> None:
        """Refuse widths and cuts that do not nest."""
        one_of("outside", self.outside, ("refuse", "clamp"))
        if bool(self.widths) == bool(self.cuts):
            raise ParameterError("intervals need either widths or cuts")
        for width in self.widths:
            above("widths", width, 0)
        for narrow, wide in pairwise(self.widths):
            if exact(wide) % exact(narrow) or wide == narrow:
                raise ParameterError(f"widths: {wide:g} must be a larger multiple of {narrow:g}")
        for fine, coarse in pairwise(self.cuts):
            if not set(coarse) < set(fine):
                raise ParameterError(f"cuts: {list(coarse)} must be some of the finer level's {list(fine)}")
        if self.low is not None and self.high is not None:
            Numbers(low=self.low, high=self.high)

    def declared(self) -> Numbers | None:
        """The limits, where both are declared."""
        if self.low is None or self.high is None:
            return None
        return Numbers(low=self.low, high=self.high, grid=self.widths[0] if self.widths else None)

    def build(self, domain: ObservedDomain) -> Hierarchy:
        """Bind to a numeric column; a value outside the limits is refused with its count.

        The label of a value depends on the value and on what was declared: no other row can move it. Where a limit is
        not declared, intervals of a width go on beyond the values, and the outermost ones between cuts are open.
        """
        numbers = _numbers(domain)
        low, high = self._limits(numbers)
        _refuse_outside(domain, numbers, low, high, self.outside)
        declared = self.low is not None and self.high is not None
        fixed = self.outside == "refuse"
        ends = Ends(
            low=low,
            high=high if self.high is not None or self.cuts else inf,
            low_known=bool(self.widths) if self.low is None else fixed,
            high_known=bool(self.widths) if self.high is None else fixed,
        )
        levels = [_by_width(numbers, width, low, high) for width in self.widths] or [
            _by_cuts(numbers, [cut for cut in sorted(set(cuts)) if low < cut < high], low, high) for cuts in self.cuts
        ]
        limits = Numbers(low=low, high=high) if declared else None
        return _intervals(domain, levels, ends, whole=high - low, declared=limits)

    def _limits(self, numbers: NDArray[np.float64]) -> tuple[float, float]:
        """The declared limits, or the ends of the outermost intervals of the widest width, or some beyond all cuts."""
        least, most = float(numbers.min()), float(numbers.max())
        if self.cuts:
            finest = sorted(self.cuts[0])
            low = min(least, finest[0] - 1) if self.low is None else self.low
            high = max(most, finest[-1] + 1) if self.high is None else self.high
            return low, high if high > low else low + 1.0
        step = exact(self.widths[-1])
        low = float(exact(least) // step * step) if self.low is None else self.low
        if self.high is not None:
            return low, self.high if self.high > low else low + float(step)
        return low, float(exact(low) + ((exact(most) - exact(low)) // step + 1) * step)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles:
    """Intervals that hold about equally many rows, merged level by level."""

    groups: tuple[int, ...] = (8, 4, 2)
    """How many groups each level has; each a divisor of the one before."""

    def __post_init__(self) -> None:
        """Refuse groups that do not nest."""
        if not self.groups:
            raise ParameterError("groups must name at least one number of groups")
        for many in self.groups:
            if whole("groups", many) < 2:
                raise ParameterError(f"groups: {many} is less than 2 groups")
            if many > MOST_GROUPS:
                raise ParameterError(f"groups: {many:,} are more than {MOST_GROUPS:,} groups")
        for many, few in pairwise(self.groups):
            if few >= many or many % few:
                raise ParameterError(f"groups: {few} must divide {many} and be smaller")

    def declared(self) -> None:
        """Nothing: the labels are read off the rows."""

    def build(self, domain: ObservedDomain) -> Hierarchy:
        """Bind to a numeric column; the cut points come from its own rows, each rounded as far as its gap allows."""
        numbers = _numbers(domain)
        rows = np.repeat(numbers, domain.counts)
        marks = np.quantile(rows, np.arange(1, self.groups[0]) / self.groups[0], method="higher")
        least, most = float(numbers.min()), float(numbers.max())
        edges = {float(mark): _before(numbers, float(mark)) for mark in marks if mark > least}
        levels = []
        for many in self.groups:
            step = self.groups[0] // many
            cuts = sorted({edges[float(mark)] for mark in marks[step - 1 :: step] if mark > least})
            levels.append(_by_cuts(numbers, cuts, least, most))
        ends = Ends(low=least, high=most, low_known=False, high_known=False)
        return _intervals(domain, levels, ends, whole=most - least)


def _before(numbers: NDArray[np.float64], mark: float) -> float:
    """A round number that parts a value from the ones below it: an edge is nobody's own value, if that can be."""
    return roundest(float(numbers[numbers < mark].max()), mark)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grown:
    """Nothing between the number and the top: the intervals are left to an algorithm that finds its own."""

    low: float | None = None
    """The smallest possible number, if it is public."""
    high: float | None = None
    """The largest possible number, if it is public."""
    grid: float = 1.0
    """Intervals of a differentially private release begin at multiples of this above ``low``."""

    def __post_init__(self) -> None:
        """Refuse an empty range, or half of one."""
        above("grid", self.grid, 0)
        if (self.low is None) != (self.high is None):
            raise ParameterError("low and high are declared together or not at all")
        if self.low is not None and self.high is not None:
            Numbers(low=self.low, high=self.high)

    def declared(self) -> Numbers | None:
        """The limits, where they are declared."""
        if self.low is None or self.high is None:
            return None
        return Numbers(low=self.low, high=self.high, grid=self.grid)

    def build(self, domain: ObservedDomain) -> Hierarchy:
        """Bind to a numeric column; a value outside the limits is refused with its count."""
        numbers = _numbers(domain)
        if self.low is None or self.high is None:
            return chain(domain, [[] for _ in domain.values], [], total=float(len(domain.values)))
        _refuse_outside(domain, numbers, self.low, self.high, "refuse")
        ends = Ends(low=self.low, high=self.high, low_known=True, high_known=True)
        limits = Numbers(low=self.low, high=self.high)
        return _intervals(domain, [], ends, whole=self.high - self.low, declared=limits)


def _numbers(domain: ObservedDomain) -> NDArray[np.float64]:
    if domain.numbers is None or domain.kind == "date":
        raise HierarchyError(
            f"hierarchy of {domain.column!r}: intervals need numbers, but the column is of type {domain.kind}"
        )
    if not len(domain.numbers):
        raise HierarchyError(f"hierarchy of {domain.column!r}: the column has no value but missing ones")
    return domain.numbers


def _refuse_outside(
    domain: ObservedDomain, numbers: NDArray[np.float64], low: float, high: float, outside: str
) -> None:
    beyond = np.flatnonzero((numbers < low) | (numbers > high))
    if len(beyond) and outside == "refuse":
        shown = ", ".join(f"{domain.values[i]!r} ({domain.counts[i]} rows)" for i in beyond[:8])
        raise HierarchyError(
            f"hierarchy of {domain.column!r}: {shown} outside the limits {low:g} to {high:g}; "
            'widen low and high, or (for intervals) set outside = "clamp"'
        )


def _by_width(numbers: NDArray[np.float64], width: float, low: float, high: float) -> list[Span]:
    """The interval of each value, counted from ``low`` in exact decimals; the last one ends at ``high``."""
    start, step = exact(low), exact(width)
    last = max(-((exact(high) - start) // -step) - 1, 0)
    places = [min(max((exact(float(x)) - start) // step, 0), last) for x in numbers]
    spans = {p: (float(start + p * step), high if p == last else float(start + (p + 1) * step)) for p in set(places)}
    return [spans[place] for place in places]


def _by_cuts(numbers: NDArray[np.float64], cuts: Cuts, low: float, high: float) -> list[Span]:
    """The interval of each value between given cut points."""
    edges = [low, *cuts, high]
    return [(edges[p], edges[p + 1]) for p in np.searchsorted(np.asarray(cuts), numbers, side="right")]


def _intervals(
    domain: ObservedDomain, levels: Sequence[list[Span]], ends: Ends, *, whole: float, declared: Numbers | None = None
) -> Hierarchy:
    """Bind the intervals of each level to the values of a column; ``whole`` is the width of the range."""
    integers = domain.kind == "integer"
    rows: list[list[str]] = [[] for _ in domain.values]
    sizes: list[dict[str, float]] = []
    for spans in levels:
        widths: dict[str, float] = {}
        for row, span in zip(rows, spans, strict=True):
            label = ends.label(span)
            row.append(label)
            widths[label] = span[1] - span[0] + (integers and span[1] >= ends.high)
        sizes.append(widths)
    total = whole + (integers and ends.high < inf)
    return chain(domain, rows, sizes, total=total, continuous=not integers, declared=declared)
