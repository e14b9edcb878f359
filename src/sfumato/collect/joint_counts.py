"""Class counts of regions from joint distributions: every set of columns is reconstructed once for each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sfumato.collect.channels import Channel, Evidence
from sfumato.collect.columns_given import Asked, shown_evidence
from sfumato.collect.gini_splits import Node, Split, best_of, is_worth, split_on
from sfumato.collect.joint import reconstruct_joint
from sfumato.collect.noise_laws import Reals, Whole
from sfumato.collect.noisy_numbers import NoisyNumber
from sfumato.collect.reconstruct import Stopping

Region = dict[int, tuple[float, float] | frozenset[int]]
"""For some columns, from where to where; of categories, which cells."""
_CELLS = (100, 40, 20)
"""Cells of a column by itself, in a pair, and among three: a joint of more cells would be spread too thinly."""
_ENDS = Stopping(limit=0.001)
"""Joints are followed further than single columns."""


@dataclass(slots=True, eq=False)
class JointCounts:
    """Shown answers to several questions, and true classes."""

    questions: Sequence[Asked]
    """The columns."""
    shown: Sequence[Any]
    """What each of them shows."""
    classes: Whole
    """The class of every record."""
    many: int
    """How many classes there are."""
    stopping: Stopping | None = None
    """When an iteration ends."""
    _known: dict[tuple[int, ...], Reals] = field(default_factory=dict)
    _seen: dict[tuple[int, int], Evidence] = field(default_factory=dict)

    def table(self, columns: tuple[int, ...]) -> Reals:
        """Classes x cells of these columns: estimated counts."""
        if columns not in self._known:
            seen = [self.evidence(one, len(columns)) for one in columns]
            parts = []
            for one in range(self.many):
                held = np.flatnonzero(self.classes == one)
                some = [each.take(held) for each in seen]
                parts.append(reconstruct_joint(some, stopping=self.stopping or _ENDS).counts)
            self._known[columns] = np.array(parts)
        return self._known[columns]

    def evidence(self, column: int, together: int) -> Evidence:
        """The answers to a question, in as many cells as so many columns together can have."""
        key = column, _CELLS[together - 1] if isinstance(self.questions[column], NoisyNumber) else 0
        if key not in self._seen:
            self._seen[key] = shown_evidence(self.questions[column], self.shown[column], _CELLS[together - 1])
        return self._seen[key]

    def within(self, region: Region, column: int) -> tuple[Reals, Reals | None]:
        """Cells of a column x classes: the counts of a region, from the joint of its columns and this one; its edges.

        Of a cell that lies partly in the region a part counts: all its values are alike.
        """
        columns = tuple(sorted({*region, column}))
        table = self.table(columns)
        for axis, one in enumerate(columns):
            if one in region:
                inside = _inside(self.evidence(one, len(columns)).channel, region[one])
                table = np.moveaxis(np.moveaxis(table, axis + 1, -1) * inside, -1, axis + 1)
        others = tuple(axis + 1 for axis, one in enumerate(columns) if one != column)
        return np.asarray(table.sum(axis=others).T), self.evidence(column, len(columns)).channel.edges


def _inside(channel: Channel, part: tuple[float, float] | frozenset[int]) -> Reals:
    """How much of each cell lies in a part of a column."""
    if channel.edges is None or isinstance(part, frozenset):
        return np.isin(np.arange(channel.cells), list(part)).astype(np.float64)
    low, high = part
    below, above = np.maximum(channel.edges[:-1], low), np.minimum(channel.edges[1:], high)
    return np.asarray(np.clip(above - below, 0, None) / np.diff(channel.edges))


@dataclass(frozen=True, slots=True, kw_only=True)
class JointGrowing:
    """Grows a tree on joint counts alone."""

    counts: JointCounts
    """Where they come from."""
    max_depth: int
    """At most so many splits on a path."""
    min_leaf: int
    """Every leaf stands for at least so many people."""

    def node(self, region: Region, depth: int = 0) -> Node:
        """A node with everything below it."""
        mine = self.counts.within(region, next(iter(region), 0))[0].sum(axis=0)
        if depth >= self.max_depth or not is_worth(mine, self.min_leaf):
            return Node(counts=mine)
        split = self._best(region)
        if split is None:
            return Node(counts=mine)
        return Node(
            counts=mine,
            split=split,
            children=tuple(self.node({**region, split.column: part}, depth + 1) for part in self._parts(region, split)),
        )

    def _parts(self, region: Region, split: Split) -> list[tuple[float, float] | frozenset[int]]:
        """What the two parts of a split hold of its column."""
        question, held = self.counts.questions[split.column], region.get(split.column)
        if isinstance(question, NoisyNumber):
            low, high = held if isinstance(held, tuple) else (float(question.low), float(question.high))
            return [(low, split.threshold), (split.threshold, high)]
        cells = held if isinstance(held, frozenset) else frozenset(range(len(question.values)))
        return [cells & split.chosen, cells - split.chosen]

    def _best(self, region: Region) -> Split | None:
        """The best split by any column, or by those above where there are as many as a joint can have."""
        columns = range(len(self.counts.questions)) if len(region) < len(_CELLS) else region
        return best_of(split_on(column, *self.counts.within(region, column), self.min_leaf) for column in columns)
