"""Hierarchies of texts and dates: masks, calendar units, ordered groups, or nothing but suppression."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from typing import Literal

from sfumato.describe.domains import Categories, ObservedDomain
from sfumato.describe.hierarchy import Hierarchy, chain
from sfumato.describe.paths import Paths
from sfumato.ground.arguments import at_least, one_of, text
from sfumato.ground.errors import HierarchyError, ParameterError, listed

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
        made = chain(domain, rows, leaf_counts(rows, len(steps)), total=float(len(domain.values)))
        return replace(made, open=not self.levels and self.length is None)

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
