"""Build hierarchies: intervals, cut points, quantiles, masks, calendar units and ordered groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from math import inf
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arguments import above, at_least, one_of, text, whole
from sfumato.core.errors import HierarchyError, ParameterError, listed
from sfumato.core.fractions import exact
from sfumato.tables.hierarchy import Hierarchy, chain
from sfumato.tables.hierarchy_files import Paths
from sfumato.tables.labels import Ends, Span, roundest
from sfumato.tables.schema import Categories, Numbers, ObservedDomain

# Hierarchies of numbers: intervals of growing width, given cut points, quantiles.


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
        examples = ", ".join(f"{domain.values[i]!r} ({domain.counts[i]} rows)" for i in beyond[:8])
        raise HierarchyError(
            f"hierarchy of {domain.column!r}: {examples} outside the limits {low:g} to {high:g}; "
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


# Hierarchies of texts and dates: masks, calendar units, ordered groups, or nothing but suppression.


UNITS = ("day", "month", "quarter", "year", "decade")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flat:
    """A value is shown or suppressed; nothing lies between."""

    def declared(self) -> None:
        """Nothing: the labels are read off the rows."""

    def build(self, domain: ObservedDomain) -> Hierarchy:
        """Bind to any column."""
        return chain(domain, [[] for _ in domain.values], [], total=float(len(domain.values)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Mask:
    """One more character is hidden at each level, as in 02139, 0213*, 021**."""

    side: Literal["right", "left"] = "right"
    """Where hiding begins."""
    mark: str = "*"
    """What stands for a hidden character."""
    levels: tuple[int, ...] = ()
    """How many characters each level hides; one by one when empty."""
    length: int | None = None
    """The most characters that a value can have; read off the values when absent, and then not public."""

    def __post_init__(self) -> None:
        """Refuse levels that do not grow."""
        if self.length is not None:
            at_least("length", self.length, 1)
        one_of("from", self.side, ("right", "left"))
        if len(text("mark", self.mark)) != 1:
            raise ParameterError(f"mark must be one character, not {self.mark!r}")
        for hidden in self.levels:
            at_least("levels", hidden, 1)
        if list(self.levels) != sorted(set(self.levels)):
            raise ParameterError(f"levels must grow, not {list(self.levels)}")

    def declared(self) -> None:
        """Nothing: the labels are read off the rows."""

    def build(self, domain: ObservedDomain) -> Hierarchy:
        """Bind to a text column; sizes are numbers of observed values.

        A label depends on its value and level alone, so no other row can change it. Without ``levels`` or ``length``
        the number of levels is that of the longest value: the hierarchy is then ``open``.
        """
        longest = max(map(len, domain.values), default=1)
        self._refuse_longer(domain)
        steps = self.levels or tuple(range(1, longest if self.length is None else self.length))
        rows = [[self._hide(value, hidden) for hidden in steps] for value in domain.values]
        hierarchy = chain(domain, rows, leaf_counts(rows, len(steps)), total=float(len(domain.values)))
        return replace(hierarchy, open=not self.levels and self.length is None)

    def _refuse_longer(self, domain: ObservedDomain) -> None:
        longer = [i for i, value in enumerate(domain.values) if self.length is not None and len(value) > self.length]
        if longer:
            rows = int(domain.counts[longer].sum())
            raise HierarchyError(
                f"hierarchy of {domain.column!r}: {domain.values[longer[0]]!r} is longer than length = {self.length} "
                f"({rows} rows have such values); declare a larger length"
            )

    def _hide(self, value: str, hidden: int) -> str:
        """The value with some characters hidden; values that are hidden wholly look alike, and never like the top."""
        if hidden >= len(value):
            return self.mark * max(hidden, 2)
        if self.side == "right":
            return value[: len(value) - hidden] + self.mark * hidden
        return self.mark * hidden + value[hidden:]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dates:
    """Calendar units, from the day up."""

    levels: tuple[str, ...] = ("month", "quarter", "year", "decade")
    """The units, finest first, among day, month, quarter, year and decade."""

    def __post_init__(self) -> None:
        """Refuse unknown units and units that do not grow."""
        for unit in self.levels:
            one_of("levels", unit, UNITS)
        places = [UNITS.index(unit) for unit in self.levels]
        if places != sorted(set(places)):
            raise ParameterError(f"levels must grow from {UNITS[0]} to {UNITS[-1]}, not {list(self.levels)}")

    def declared(self) -> None:
        """Nothing: the labels are read off the rows."""

    def build(self, domain: ObservedDomain) -> Hierarchy:
        """Bind to a date column; sizes are numbers of days."""
        if domain.kind != "date":
            raise HierarchyError(
                f"hierarchy of {domain.column!r}: calendar units need dates written as YYYY-MM-DD, "
                f"but the column is of type {domain.kind}"
            )
        units = [unit for unit in self.levels if unit != "day"]
        days = [date.fromisoformat(value) for value in domain.values]
        rows = [[_UNIT[unit](day) for unit in units] for day in days]
        span = float((days[-1] - days[0]).days + 1) if days else 1.0
        sizes = [{row[j]: min(_DAYS[unit], span) for row in rows} for j, unit in enumerate(units)]
        return chain(domain, rows, sizes, total=span)


_UNIT: Mapping[str, Callable[[date], str]] = {
    "month": lambda day: f"{day.year:04}-{day.month:02}",
    "quarter": lambda day: f"{day.year:04}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day.year:04}",
    "decade": lambda day: f"{day.year // 10 * 10:04}s",
}
_DAYS: Mapping[str, float] = {"month": 30.4375, "quarter": 91.3125, "year": 365.25, "decade": 3652.5}


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderedGroups:
    """Neighbours in a declared order form groups of growing size."""

    order: tuple[str, ...]
    """Every value, in order."""
    sizes: tuple[int, ...]
    """How many neighbours a group of each level holds; each a multiple of the one before."""

    def __post_init__(self) -> None:
        """Refuse repeated values and sizes that do not nest."""
        twice = sorted({value for value in self.order if self.order.count(value) > 1})
        if twice:
            raise ParameterError(f"order names {listed(twice)} more than once")
        for size in self.sizes:
            at_least("sizes", size, 2)
        for small, large in pairwise(self.sizes):
            if large % small or large == small:
                raise ParameterError(f"sizes: {large} must be a larger multiple of {small}")

    def build(self, domain: ObservedDomain) -> Hierarchy:
        """Bind to a column; a value that the order does not name is refused with its count."""
        return self._paths().build(domain)

    def declared(self) -> Categories:
        """Every value of the order with the labels above it."""
        return self._paths().declared()

    def _paths(self) -> Paths:
        labels = {v: tuple(self._label(place, size) for size in self.sizes) for place, v in enumerate(self.order)}
        return Paths(paths=labels, source="order")

    def _label(self, place: int, size: int) -> str:
        first = place // size * size
        last = min(first + size, len(self.order)) - 1
        return self.order[first] if first == last else f"{self.order[first]} to {self.order[last]}"


def named_groups(groups: Mapping[str, tuple[str, ...]]) -> Paths:
    """One level of named groups.

    >>> named_groups({"school": ("9th", "10th"), "university": ("BSc",)}).paths
    {'9th': ('school',), '10th': ('school',), 'BSc': ('university',)}
    """
    paths: dict[str, tuple[str, ...]] = {}
    for name, values in groups.items():
        if not values:
            raise HierarchyError(f"groups: {name!r} is an empty level")
        for value in values:
            if value in paths:
                raise HierarchyError(f"groups: {value!r} has two parents, {paths[value][0]!r} and {name!r}")
            paths[value] = (name,)
    return Paths(paths=paths, source="groups")


def leaf_counts(rows: list[list[str]], levels: int) -> list[dict[str, float]]:
    """How many values each label of each level stands for."""
    counts: list[dict[str, float]] = [{} for _ in range(levels)]
    for row in rows:
        for level, label in enumerate(row):
            counts[level][label] = counts[level].get(label, 0.0) + 1.0
    return counts
