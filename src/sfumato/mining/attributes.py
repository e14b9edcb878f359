"""Attributes with their domains, and the labels of edges: a set of values, or a set of intervals (definition 4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from math import ceil, floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arguments import text
from sfumato.core.errors import ParameterError
from sfumato.tables.labels import Ends
from sfumato.tables.schema import Categories, Numbers

Values = tuple[int, ...]
"""Values of a category by code, ascending."""
Spans = tuple[tuple[float, float], ...]
"""Intervals of numbers, ascending and apart; each holds its lower end, and its upper one if the domain ends there."""
Label = Values | Spans


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """A column that a model asks for."""

    name: str
    """What it is called."""
    domain: Categories | Numbers
    """What values it may have."""
    declared: bool = False
    """Whether the publisher said the domain; else it was read off the private table."""
    date: bool = False
    """Whether its numbers are days, counted as ``date.toordinal`` does."""

    def __post_init__(self) -> None:
        """Refuse no name, and a grid with more marks than can be told apart."""
        text("name", self.name)
        domain = self.domain
        if isinstance(domain, Numbers) and domain.grid is not None and (domain.high - domain.low) / domain.grid > 2**53:
            raise ParameterError(f"grid must leave at most 2**53 marks between low and high, not {domain.grid:g}")

    @property
    def numeric(self) -> bool:
        """Whether its labels are intervals."""
        return isinstance(self.domain, Numbers)

    @property
    def whole(self) -> Label:
        """The label that says nothing."""
        if isinstance(self.domain, Numbers):
            return ((float(self.domain.low), float(self.domain.high)),)
        return tuple(range(len(self.domain.values)))


def union(labels: Sequence[Label]) -> Label:
    """What several labels of one attribute cover together; intervals that touch become one.

    >>> union([((1.0, 3.0),), ((3.0, 4.0), (6.0, 7.0))]), union([(2,), (0, 1)])
    (((1.0, 4.0), (6.0, 7.0)), (0, 1, 2))
    """
    parts: list[Any] = sorted(part for label in labels for part in label)
    if not parts or isinstance(parts[0], int):
        return tuple(parts)
    spans: list[tuple[float, float]] = []
    for low, high in parts:
        if spans and low <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(high, spans[-1][1]))
        else:
            spans.append((low, high))
    return tuple(spans)


def meeting(label: Label, other: Label) -> Label:
    """What two labels of one attribute have in common, perhaps nothing.

    >>> meeting(((0.0, 5.0),), ((1.0, 2.0), (4.0, 9.0))), meeting((0, 2), (2, 3))
    (((1.0, 2.0), (4.0, 5.0)), (2,))
    """
    if not label or not other:
        return ()
    if isinstance(label[0], int):
        held = set(other)
        return tuple(code for code in label if code in held)
    overlap, n, m = [], 0, 0
    while n < len(label) and m < len(other):
        (low, high), (start, end) = label[n], other[m]  # type: ignore[misc]
        if max(low, start) < min(high, end):
            overlap.append((max(low, start), min(high, end)))
        n, m = (n + 1, m) if high <= end else (n, m + 1)
    return tuple(overlap)


def apart(labels: Iterable[Label]) -> bool:
    """Whether no two labels of one attribute share anything."""
    parts = sorted(part for label in labels for part in label)
    if not parts or isinstance(parts[0], int):
        return len(set(parts)) == len(parts)
    return all(span[1] <= two[0] for span, two in pairwise(parts))  # type: ignore[index]


def label_text(attribute: Attribute, label: Label) -> str:
    """A label as people read it.

    >>> label_text(Attribute(name="age", domain=Numbers(low=0, high=100)), ((20.0, 40.0),))
    'age in [20-40)'
    """
    domain = attribute.domain
    if isinstance(domain, Numbers) and attribute.date:
        text = " or ".join(_days_text(domain, *span) for span in label)  # type: ignore[misc]
        return f"{attribute.name} {text}"
    if isinstance(domain, Numbers):
        ends = Ends(low=domain.low, high=domain.high, low_known=True, high_known=True)
        text = " or ".join(ends.label(span) for span in label)  # type: ignore[arg-type]
        return f"{attribute.name} in {text}"
    names = [domain.values[code] for code in label]  # type: ignore[index]
    return f"{attribute.name} = {names[0]}" if len(names) == 1 else f"{attribute.name} in {{{', '.join(names)}}}"


def day_text(day: float) -> str:
    """The first whole day from a number on.

    >>> day_text(724640.01)
    '1984-12-31'
    """
    return date.fromordinal(min(max(ceil(day), 1), date.max.toordinal())).isoformat()


def _days_text(domain: Numbers, low: float, high: float) -> str:
    """An interval of days; one that begins or ends with the domain has no such bound."""
    since, until = f"from {day_text(low)}", f"before {day_text(high)}"
    if low <= domain.low:
        return until if high < domain.high else "at any time"
    return since if high >= domain.high else f"{since} and {until}"


TOP_PART = 100
"""Where a domain ends at a mark of its grid, the last cell begins a 100th of the grid below that end."""


def grid_cut(domain: Numbers, cell: float) -> float:
    """The number from which on values are in a cell of the grid or above; it depends on the declared grid alone.

    >>> ages = Numbers(low=0, high=90, grid=10)
    >>> grid_cut(ages, 3), grid_cut(ages, 9)
    (30.0, 89.9)
    """
    cut = float(domain.low + cell * (domain.grid or 1.0))
    return cut if cut < _top(domain) else _top(domain)


def grid_cells(domain: Numbers, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """The cell of the grid that each number lies in, counted from the lower end; the numbers themselves without one.

    >>> grid_cells(Numbers(low=0, high=90, grid=10), np.array([9.0, 10.0, 89.0, 89.95, 90.0])).tolist()
    [0.0, 1.0, 8.0, 9.0, 9.0]
    """
    if domain.grid is None:
        return numbers
    cells = np.floor((numbers - domain.low) / domain.grid + 1e-9)
    return np.where(numbers >= _top(domain), np.floor((domain.high - domain.low) / domain.grid + 1e-9), cells)


def _top(domain: Numbers) -> float:
    """Where the cell of the upper end begins, if the end is a mark of the grid; else the end itself.

    The edge of that cell must lie below the end. A cut in the middle between the end and the largest value below it
    would tell this value.
    """
    step = domain.grid or 1.0
    marks = (domain.high - domain.low) / step
    return float(domain.high - step / TOP_PART if abs(marks - round(marks)) < 1e-9 * max(marks, 1) else domain.high)


def grid_points(domain: Numbers, low: float, high: float) -> tuple[int, int]:
    """The first mark of the grid in an interval, and how many there are; an upper end of the domain belongs to it."""
    step = domain.grid or 1.0
    first = ceil((low - domain.low) / step - 1e-9)
    end = (high - domain.low) / step
    last = floor(end + 1e-9) if high >= domain.high else ceil(end - 1e-9) - 1
    return first, max(last - first + 1, 0)
