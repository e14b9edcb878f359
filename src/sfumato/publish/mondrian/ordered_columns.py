"""What is cut: every value by its place in its column's order, and what a label over several values costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.describe.hierarchy import Hierarchy
from sfumato.group.keys import Ids
from sfumato.publish.order import ranks, spans
from sfumato.publish.problem import Problem
from sfumato.utility.cell_metrics import LossMetric
from sfumato.utility.view import Reals, Ruler

Codes = NDArray[np.int32]
Cost = Callable[[Ruler], Reals]
Yardstick = Literal["hierarchy", "boxes", "means", "widths"]
"""What a group's values cost: by the labels of an output, or by the width of their range."""
Kind = Literal["levels", "range", "values"]
"""Values of a column are priced together by their lowest label, by their range, or by how many they are."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Columns:
    """The values of all columns, numbered through: each column's in their order, after those of the column before."""

    keys: Codes
    """Columns x cells: the value of each cell."""
    labels: Codes
    """Levels x values: the label of each value, by its first value. Low hierarchies repeat their top."""
    prices: Reals
    """Levels x values: what that label costs a row."""
    place: Reals
    """Of each value, where it lies in the range, or what it adds to a set."""
    kinds: tuple[Kind, ...]
    """For each column, how its values are priced together."""
    firsts: Ids
    """For each column, the number of its first value."""
    spans: Ids
    """For each column, how many values it has."""


def columns(problem: Problem, yardstick: Yardstick) -> Columns:
    """The columns of a problem, priced."""
    deepest = max((hierarchy.height for hierarchy in problem.hierarchies), default=0)
    made = [_column(problem, c, yardstick, deepest) for c in range(len(problem.hierarchies))]
    first = np.cumsum([0, *(len(one.place) for one in made)])
    return Columns(
        keys=np.concatenate([one.keys + start for one, start in zip(made, first[:-1], strict=True)], dtype=np.int32),
        labels=np.concatenate(
            [one.labels + start for one, start in zip(made, first[:-1], strict=True)], axis=1, dtype=np.int32
        ),
        prices=np.concatenate([one.prices for one in made], axis=1),
        place=np.concatenate([one.place for one in made]),
        kinds=tuple(kind for one in made for kind in one.kinds),
        firsts=first[:-1],
        spans=np.diff(first),
    )


def _column(problem: Problem, column: int, yardstick: Yardstick, deepest: int) -> Columns:
    hierarchy, rank = problem.hierarchies[column], ranks(problem, column)
    order = np.argsort(rank)
    levels = [min(number, hierarchy.height) for number in range(deepest + 1)]
    cost = _cost(problem, yardstick)
    kind, place = _together(problem, column, yardstick, cost)
    return Columns(
        keys=rank[problem.cells.keys[column]].astype(np.int32)[np.newaxis],
        labels=np.array([_by_first(hierarchy.levels[n].parent[order]) for n in levels]),
        prices=np.array([cost(Ruler.at(hierarchy, n))[hierarchy.levels[n].parent[order]] for n in levels]),
        place=place[order],
        kinds=(kind,),
        firsts=np.zeros(1, np.int64),
        spans=np.array([len(place)]),
    )


def _by_first(labels: Codes) -> Codes:
    """Labels named by the first value that has them."""
    first = np.zeros(int(labels.max()) + 1, np.int32)
    first[labels[::-1]] = np.arange(len(labels), dtype=np.int32)[::-1]
    return first[labels]


def _cost(problem: Problem, yardstick: Yardstick) -> Cost:
    """What labels cost: by the metric, where it adds up cells; otherwise by the loss metric."""
    plain: Any = LossMetric().cost
    cost: Cost = plain if yardstick == "widths" else getattr(problem.metric, "cost", plain)
    return cost


def _together(problem: Problem, column: int, yardstick: Yardstick, cost: Cost) -> tuple[Kind, Reals]:
    """How values are priced together, and what each brings to it, by code."""
    hierarchy, numbers = problem.hierarchies[column], problem.number(column)
    if yardstick == "widths":
        return "range", _along(ranks(problem, column).astype(np.float64) if numbers is None else numbers, 1.0)
    scale = problem.scale(column) if yardstick == "boxes" else numbers
    if scale is not None and yardstick != "hierarchy":
        return "range", _along(scale, _whole(hierarchy, scale, cost))
    if yardstick == "boxes":
        return "values", _each(hierarchy)
    return "levels", np.zeros(len(hierarchy.levels[0].labels))


def _along(numbers: Reals, width: float) -> Reals:
    """Where numbers lie, from 0 to ``width``; a missing one is more than 1 away from all others."""
    known = numbers[~np.isnan(numbers)]
    low, high = (known.min(), known.max()) if len(known) else (0.0, 0.0)
    return np.where(np.isnan(numbers), width + 2.0, (numbers - low) / max(high - low, 1e-300) * width)


def _whole(hierarchy: Hierarchy, numbers: Reals, cost: Cost) -> float:
    """What the range from the smallest to the largest number costs."""
    known = np.flatnonzero(~np.isnan(numbers))
    if not len(known):
        return 0.0
    low, high = known[numbers[known].argmin()], known[numbers[known].argmax()]
    ruler = Ruler(
        sizes=np.array([spans(hierarchy, numbers)(int(low), int(high))]),
        steps=np.array([float(hierarchy.height)]),
        total=hierarchy.total,
        height=hierarchy.height,
        continuous=hierarchy.continuous,
    )
    return float(cost(ruler)[0])


def _each(hierarchy: Hierarchy) -> Reals:
    """What each value adds to a set; a missing one beside others costs everything."""
    place = np.full(len(hierarchy.levels[0].labels), 1.0 / max(hierarchy.total - 1.0, 1.0))
    if hierarchy.missing is not None:
        place[hierarchy.missing] = 2.0
    return place
