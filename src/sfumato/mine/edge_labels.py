"""Attributes with their domains, and the labels of edges: a set of values, or a set of intervals (definition 4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.describe.domains import Categories, Numbers
from sfumato.describe.spans import Ends
from sfumato.ground.arguments import text
from sfumato.ground.errors import ParameterError

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
    found: list[tuple[float, float]] = []
    for low, high in parts:
        if found and low <= found[-1][1]:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return tuple(found)


def meeting(one: Label, other: Label) -> Label:
    """What two labels of one attribute have in common, perhaps nothing.

    >>> meeting(((0.0, 5.0),), ((1.0, 2.0), (4.0, 9.0))), meeting((0, 2), (2, 3))
    (((1.0, 2.0), (4.0, 5.0)), (2,))
    """
    if not one or not other:
        return ()
    if isinstance(one[0], int):
        held = set(other)
        return tuple(code for code in one if code in held)
    found, n, m = [], 0, 0
    while n < len(one) and m < len(other):
        (low, high), (start, end) = one[n], other[m]  # type: ignore[misc]
        if max(low, start) < min(high, end):
            found.append((max(low, start), min(high, end)))
        n, m = (n + 1, m) if high <= end else (n, m + 1)
    return tuple(found)


def apart(labels: Iterable[Label]) -> bool:
    """Whether no two labels of one attribute share anything."""
    parts = sorted(part for label in labels for part in label)
    if not parts or isinstance(parts[0], int):
        return len(set(parts)) == len(parts)
    return all(one[1] <= two[0] for one, two in pairwise(parts))  # type: ignore[index]


def label_text(attribute: Attribute, label: Label) -> str:
    """A label as people read it.

    >>> label_text(Attribute(name="age", domain=Numbers(low=0, high=100)), ((20.0, 40.0),))
    'age in [20-40)'
    """
    domain = attribute.domain
    if isinstance(domain, Numbers):
        ends = Ends(low=domain.low, high=domain.high, low_known=True, high_known=True)
        shown = " or ".join(ends.label(span) for span in label)  # type: ignore[arg-type]
        return f"{attribute.name} in {shown}"
    names = [domain.values[code] for code in label]  # type: ignore[index]
    return f"{attribute.name} = {names[0]}" if len(names) == 1 else f"{attribute.name} in {{{', '.join(names)}}}"


def grid_cut(domain: Numbers, cell: float, below: float) -> float:
    """The mark below which a cell of the grid lies, for a cut there.

    Where the domain ends at that mark, the cut lies between it and the largest number ``below`` it.

    >>> ages = Numbers(low=0, high=5, grid=1)
    >>> grid_cut(ages, 3, below=4), grid_cut(ages, 5, below=4)
    (3.0, 4.5)
    """
    cut = float(domain.low + cell * (domain.grid or 1.0))
    return cut if cut < domain.high else (below + float(domain.high)) / 2


def grid_cells(domain: Numbers, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """The cell of the grid that each number lies in, counted from the lower end; the numbers themselves without one."""
    return numbers if domain.grid is None else np.floor((numbers - domain.low) / domain.grid + 1e-9)


def largest_below(domain: Numbers, numbers: NDArray[np.float64]) -> float:
    """The largest of some numbers that is not the upper end of the domain; the lower end where there is none."""
    return float(np.max(numbers, initial=domain.low, where=numbers < domain.high))


def grid_points(domain: Numbers, low: float, high: float) -> tuple[int, int]:
    """The first mark of the grid in an interval, and how many there are; an upper end of the domain belongs to it."""
    step = domain.grid or 1.0
    first = ceil((low - domain.low) / step - 1e-9)
    end = (high - domain.low) / step
    last = floor(end + 1e-9) if high >= domain.high else ceil(end - 1e-9) - 1
    return first, max(last - first + 1, 0)
