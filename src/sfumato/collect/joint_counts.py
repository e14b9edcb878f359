"""Class counts of regions from joint distributions: every set of columns is reconstructed once for each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sfumato.collect.channels import Evidence, evidence
from sfumato.collect.gini_splits import Node, Split, is_worth, split_of
from sfumato.collect.joint import reconstruct_joint
from sfumato.collect.noise_laws import Reals, Whole
from sfumato.collect.noisy_numbers import NoisyNumber
from sfumato.collect.reconstruct import Stopping

Region = dict[int, tuple[float, float]]
"""For some columns, from where to where."""
_CELLS = (100, 40, 20)
"""Cells of a column by itself, in a pair, and among three: a joint of more cells would be spread too thinly."""
_ENDS = Stopping(limit=0.001)
"""Joints are followed further than single columns."""


@dataclass(slots=True, eq=False)
class JointCounts:
    """Shown answers to several questions, and true classes."""

    questions: Sequence[NoisyNumber]
    """The columns."""
    shown: Sequence[Reals]
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
        question = self.questions[column]
        cells = min(_CELLS[together - 1], question.steps + 1)
        if (column, cells) not in self._seen:
            self._seen[column, cells] = evidence(question, self.shown[column], cells=cells)
        return self._seen[column, cells]

    def within(self, region: Region, column: int) -> tuple[Reals, Reals]:
        """Cells of a column x classes: the counts of a region, from the joint of its columns and this one; its edges.

        Of a cell that lies partly in the region a part counts: all its values are alike.
        """
        columns = tuple(sorted({*region, column}))
        table, edges = self.table(columns), np.zeros(0)
        for axis, one in enumerate(columns):
            found = self.evidence(one, len(columns)).channel.edges
            mine = np.zeros(2) if found is None else found
            edges = mine if one == column else edges
            if one in region:
                low, high = region[one]
                inside = np.clip(np.minimum(mine[1:], high) - np.maximum(mine[:-1], low), 0, None) / np.diff(mine)
                table = np.moveaxis(np.moveaxis(table, axis + 1, -1) * inside, -1, axis + 1)
        others = tuple(axis + 1 for axis, one in enumerate(columns) if one != column)
        return np.asarray(table.sum(axis=others).T), edges


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
        question = self.counts.questions[split.column]
        low, high = region.get(split.column, (float(question.low), float(question.high)))
        parts = [{**region, split.column: part} for part in ((low, split.threshold), (split.threshold, high))]
        return Node(counts=mine, split=split, children=tuple(self.node(part, depth + 1) for part in parts))

    def _best(self, region: Region) -> Split | None:
        """The best split by any column, or by those above where there are as many as a joint can have."""
        found: Split | None = None
        for column in range(len(self.counts.questions)) if len(region) < len(_CELLS) else region:
            table, edges = self.counts.within(region, column)
            one = split_of(table, self.min_leaf)
            if one is not None and (found is None or one[1] > found.gain):
                found = Split(column=column, threshold=float(edges[one[0]]), gain=one[1])
        return found
