"""Hierarchies of numbers: intervals of growing width, given cut points, quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import floor
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.describe.domains import Numbers, ObservedDomain
from sfumato.describe.hierarchy import Hierarchy, chain
from sfumato.describe.spans import Ends, Span
from sfumato.ground.arguments import above, one_of, whole
from sfumato.ground.errors import HierarchyError, ParameterError
from sfumato.ground.shares import exact

Cuts = Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals:
    """Half-open intervals, each level coarser than the one before; the last interval includes ``high``."""

    widths: tuple[float, ...] = ()
    """The widths of the levels, counted from ``low``; each a multiple of the one before."""
    cuts: tuple[tuple[float, ...], ...] = ()
    """Or, instead of widths, the cut points of each level; each level's among those of the one before."""
    low: float | None = None
    """The declared lower limit; from the data when absent."""
    high: float | None = None
    """The declared upper limit; from the data when absent."""
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
        """Bind to a numeric column; a value outside the limits is refused with its count."""
        numbers = _numbers(domain)
        low, high = self._limits(numbers)
        _refuse_outside(domain, numbers, low, high, self.outside)
        fixed = self.outside == "refuse"
        ends = Ends(
            low=low,
            high=high,
            low_known=fixed and self.low is not None,
            high_known=fixed and self.high is not None,
        )
        levels = [_by_width(numbers, width, low, high) for width in self.widths] or [
            _by_cuts(numbers, [cut for cut in sorted(set(cuts)) if low < cut < high], low, high) for cuts in self.cuts
        ]
        declared = None if self.low is None or self.high is None else Numbers(low=low, high=high)
        return _intervals(domain, levels, ends, declared=declared)

    def _limits(self, numbers: NDArray[np.float64]) -> tuple[float, float]:
        step = self.widths[-1] if self.widths else 1.0
        low = self.low if self.low is not None else floor(numbers.min() / step) * step
        high = self.high if self.high is not None else float(numbers.max())
        return low, high if high > low else low + step


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
        for many, few in pairwise(self.groups):
            if few >= many or many % few:
                raise ParameterError(f"groups: {few} must divide {many} and be smaller")

    def declared(self) -> None:
        """Nothing: the labels are read off the rows."""

    def build(self, domain: ObservedDomain) -> Hierarchy:
        """Bind to a numeric column; the cut points come from its own rows."""
        numbers = _numbers(domain)
        rows = np.repeat(numbers, domain.counts)
        marks = np.quantile(rows, np.arange(1, self.groups[0]) / self.groups[0], method="higher")
        levels = []
        for many in self.groups:
            step = self.groups[0] // many
            cuts = sorted({float(mark) for mark in marks[step - 1 :: step] if numbers.min() < mark})
            levels.append(_by_cuts(numbers, cuts, float(numbers.min()), float(numbers.max())))
        ends = Ends(low=float(numbers.min()), high=float(numbers.max()), low_known=False, high_known=False)
        return _intervals(domain, levels, ends)


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
        return _intervals(domain, [], ends, declared=Numbers(low=self.low, high=self.high))


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
    domain: ObservedDomain, levels: Sequence[list[Span]], ends: Ends, *, declared: Numbers | None = None
) -> Hierarchy:
    """Bind the intervals of each level to the values of a column."""
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
    total = ends.high - ends.low + (1 if integers else 0)
    return chain(domain, rows, sizes, total=total, continuous=not integers, declared=declared)
