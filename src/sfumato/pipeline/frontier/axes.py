"""The axes of a frontier, the Pareto set, and how the releases of one method are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.pipeline.plan.evaluation import Grid, Tree
from sfumato.tables.table import Table

if TYPE_CHECKING:
    from sfumato.pipeline.plan.plan import Plan


# The axes of a frontier, and the Pareto set: the points that nothing beats on both sides.


ACCURACY = "accuracy"
"""The axis of the classifier, beside the catalog's metrics."""
Record = Mapping[str, Any]
Better = Literal["lower", "higher"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One thing that is measured at every point."""

    name: str
    """What it is called in tables."""
    meaning: str
    """What it measures, in one sentence."""
    better: Better
    """Which side is better: more private, or more useful."""
    how: Literal["share", "odds", "count", "number"]
    """How its values are written."""
    read: Callable[[Record], Any]
    """Its value in a record; None where there is none."""

    def value(self, record: Record) -> float | None:
        """The value of a verified point, if it has a finite one."""
        value = self.read(record) if record["status"] == "verified" else None
        return float(value) if isinstance(value, int | float) and isfinite(value) else None


def pareto(privacy: NDArray[np.float64], utility: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which points no other point beats; lower is better on both sides, and equal points stand or fall together.

    One point beats another if it is nowhere worse and somewhere better.

    >>> pareto(np.array([1.0, 2.0, 2.0, 3.0]), np.array([3.0, 1.0, 1.0, 1.0])).tolist()
    [True, True, True, False]
    """
    order = np.lexsort((utility, privacy))
    x, y = privacy[order], utility[order]
    before = np.concatenate([[np.inf], np.minimum.accumulate(y)[:-1]]) if len(y) else y
    first = np.append(True, (x[1:] != x[:-1]) | (y[1:] != y[:-1]))[: len(y)]
    leads = np.where(first, y < before, False)
    kept = np.zeros(len(y), np.bool_)
    kept[order] = leads[np.maximum.accumulate(np.where(first, np.arange(len(y)), 0))]
    return kept


def front(privacy: Axis, utility: Axis, records: Mapping[int, Record]) -> tuple[int, ...]:
    """The numbers of the points in the Pareto set of two axes."""
    pairs = {number: (privacy.value(record), utility.value(record)) for number, record in records.items()}
    known = {number: pair for number, pair in pairs.items() if None not in pair}
    values = np.array(list(known.values()), np.float64).reshape(len(known), 2)
    signs = [1.0 if axis.better == "lower" else -1.0 for axis in (privacy, utility)]
    kept = pareto(values[:, 0] * signs[0], values[:, 1] * signs[1])
    return tuple(number for number, stays in zip(known, kept, strict=True) if stays)


def accuracy_axis() -> Axis:
    """How well a classifier does that learns from the release."""
    meaning = "the share of held-out original rows whose class a classifier trained on the release names rightly"
    return Axis(name=ACCURACY, meaning=meaning, better="higher", how="share", read=lambda record: record["accuracy"])


def groups_axis() -> Axis:
    """How much the release tells apart."""
    meaning = "how many groups of rows the release tells apart"
    return Axis(name="groups", meaning=meaning, better="higher", how="count", read=lambda record: record["classes"])


# How releases of one kind are compared: what is tried by default, what is measured, and on which axes.


class Comparison(Protocol):
    """What a frontier asks of a kind of release."""

    def algorithms(self, plan: Plan) -> tuple[Tree, ...]:
        """What is compared where the plan names no algorithms."""

    def grid(self, plan: Plan) -> Grid:
        """What varies where the plan has no grid."""

    def attack(self, plan: Plan) -> Tree:
        """The [attack] table of every point."""

    def measured(self, release: Any, table: Table) -> dict[str, Any]:
        """Everything that is measured on a release, as JSON has it; no value of the data."""

    def original(self, plan: Plan, table: Table, population: Table | None) -> dict[str, Any]:
        """What the original table itself measures."""

    def privacy(self, records: Sequence[Mapping[str, Any]]) -> tuple[Axis, ...]:
        """The axes of privacy."""

    def utility(self, metrics: Sequence[str], *, target: bool) -> tuple[Axis, ...]:
        """The axes of utility."""

    def refuse_pick(self) -> None:
        """Refuse to make a point's release again where choosing by these figures is not allowed."""
