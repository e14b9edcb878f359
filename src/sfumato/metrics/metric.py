"""A release as a metric sees it, and what a metric is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.counts.classes import Classes
from sfumato.tables.hierarchy import Hierarchy

Reals = NDArray[np.float64]
Direction = Literal["lower", "higher"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ruler:
    """How much each label of one column hides."""

    sizes: Reals
    """Leaves covered by each label, or its width."""
    steps: Reals
    """How many levels each label lies above its leaves."""
    total: float
    """Leaves of the whole domain, or its width."""
    height: int
    """Levels of the whole hierarchy above its leaves."""
    continuous: bool
    """Whether sizes are widths."""
    covered: Reals | None = None
    """How many rows of the original each label covers, where labels overlap; None where they show them all."""

    @classmethod
    def at(cls, hierarchy: Hierarchy, level: int) -> Ruler:
        """The labels of one level of a hierarchy."""
        sizes = hierarchy.levels[level].sizes
        return cls(
            sizes=sizes,
            steps=np.full(len(sizes), float(level)),
            total=hierarchy.total,
            height=hierarchy.height,
            continuous=hierarchy.continuous,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View:
    """Classes of a recoded table, which of them are suppressed, and a ruler per column."""

    classes: Classes
    """Every class before suppression, so that they hold all rows of the table."""
    suppressed: NDArray[np.bool_]
    """Which classes are suppressed."""
    rulers: tuple[Ruler, ...]
    """One per quasi-identifier."""
    target: str | None = None
    """The class attribute, if there is one."""

    @property
    def suppressed_rows(self) -> int:
        """Rows in suppressed classes."""
        return int(self.classes.sizes[self.suppressed].sum())

    @property
    def published(self) -> int:
        """How many classes are published."""
        return int((~self.suppressed).sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What a node costs, and what that says about its neighbours in the lattice. Lower is better."""

    value: float
    """The loss of this node."""
    coarser: float
    """No node above (and not this one) can lose less."""
    surcharge: float
    """No node below can lose less than its own floor plus this, if rows suppressed here are suppressed there too."""
    rates: Reals | None = None
    """The surcharge of one suppressed row of each class, where it is a sum over suppressed rows."""


class Metric(Protocol):
    """A measure of what a release keeps or loses."""

    name: ClassVar[str]
    """As the plan names it."""
    direction: ClassVar[Direction]
    """Whether lower or higher is better."""
    low: ClassVar[float]
    """The smallest value it can have."""
    high: ClassVar[float]
    """The largest value it can have (may be infinite)."""
    needs: ClassVar[tuple[str, ...]]
    """What it reads beside class sizes: ``target``, ``sizes`` of labels in their domain, ``steps`` of labels above
    their leaves, or an additive measure of the original. A release states the metrics whose needs are public."""

    def measure(self, view: View) -> float:
        """The value for a release."""

    def loss(self, view: View) -> Loss:
        """The value as a loss, with bounds."""

    def floors(self, hierarchies: Sequence[Hierarchy], counts: Sequence[NDArray[np.int64]]) -> list[Reals] | None:
        """Per column and level, what a node loses without suppression: a node's floor is the sum over columns.

        None if a node's loss is not such a sum.
        """


def measures(table: Classes) -> dict[str, Reals]:
    """The additive figures that metrics need of the original cells."""
    bits = np.zeros(table.count)
    for codes, names in zip(table.keys, table.labels, strict=True):
        counts = np.bincount(codes, weights=table.sizes, minlength=len(names))
        bits += np.log2(np.maximum(counts, 1.0))[codes]
    return {"leaf_bits": bits * table.sizes}
