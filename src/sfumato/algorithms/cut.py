"""A cut through the tree of one column: every value reads as the one node or interval of the cut above it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sfumato.metrics.metric import Reals, Ruler
from sfumato.tables.hierarchy import Hierarchy
from sfumato.tables.labels import Ends
from sfumato.tables.schema import Numbers
from sfumato.tables.table import Codes
from sfumato.tables.taxonomy import TOP, Taxonomy


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ColumnCut:
    """The labels of a cut, and which of them every value of the column gets."""

    labels: tuple[str, ...]
    """The labels, all different."""
    of_code: Codes
    """For each value of the column (by code), its label."""
    sizes: Reals
    """How many leaves each label covers, or how wide it is."""
    steps: Reals
    """How high each label lies."""
    sets: frozenset[int] = frozenset()
    """Which labels are sets of siblings, and cover no node above these."""
    edges: tuple[float, ...] | None = None
    """Where the cut is one of intervals: the numbers at which a new interval begins, ascending."""

    def ruler(self, hierarchy: Hierarchy) -> Ruler:
        """How much each label hides."""
        return Ruler(
            sizes=self.sizes,
            steps=self.steps,
            total=hierarchy.total,
            height=hierarchy.height,
            continuous=hierarchy.continuous,
        )


def cut_of_nodes(tree: Taxonomy, nodes: Codes) -> ColumnCut:
    """The cut that shows each value (by code) as the given node; nodes of one name are told apart by their parents."""
    used, places = np.unique(nodes, return_inverse=True)
    names = Counter(tree.labels[node] for node in used)
    labels = [
        tree.labels[n] if names[tree.labels[n]] == 1 else f"{tree.labels[n]} ({tree.labels[tree.parent[n]]})"
        for n in used
    ]
    return ColumnCut(
        labels=tuple(labels),
        of_code=places.reshape(-1).astype(np.int32),
        sizes=tree.sizes[used],
        steps=tree.steps[used],
    )


def cut_of_intervals(hierarchy: Hierarchy, numbers: Reals, edges: Sequence[float]) -> ColumnCut:
    """The cut between numbers: an interval begins at each edge. A missing value reads as itself; no edge, all as ``*``.

    ``edges`` ascend and lie above the smallest number and not above the largest.
    """
    known = ~np.isnan(numbers)
    if not len(edges):
        whole = np.zeros(len(numbers), np.int32)
        top, height = np.array([hierarchy.total]), np.array([float(hierarchy.height)])
        return ColumnCut(labels=(TOP,), of_code=whole, sizes=top, steps=height, edges=())
    ends = ends_of(hierarchy, numbers[known])
    bounds = [ends.low, *edges, ends.high]
    labels = [ends.named(span, first=not n, last=n == len(edges)) for n, span in enumerate(pairwise(bounds))]
    places = np.searchsorted(np.asarray(edges, np.float64), numbers, side="right").astype(np.int32)
    sizes = _widths(hierarchy, ends, bounds, places[known])
    if not known.all():
        places = np.where(known, places, np.int32(len(labels)))
        labels.append(hierarchy.levels[0].labels[int(np.flatnonzero(~known)[0])])
        sizes = np.append(sizes, 0.0 if hierarchy.continuous else 1.0)
    steps = _steps(hierarchy, sizes)
    return ColumnCut(labels=tuple(labels), of_code=places, sizes=sizes, steps=steps, edges=tuple(map(float, edges)))


def ends_of(hierarchy: Hierarchy, numbers: Reals) -> Ends:
    """The declared limits, or those of the numbers, which are then not told."""
    if isinstance(hierarchy.declared, Numbers):
        declared = hierarchy.declared
        return Ends(low=declared.low, high=declared.high, low_known=True, high_known=True)
    return Ends(low=float(numbers.min()), high=float(numbers.max()), low_known=False, high_known=False)


def _widths(hierarchy: Hierarchy, ends: Ends, bounds: Sequence[float], places: NDArray[np.int32]) -> Reals:
    """How wide each interval is in a declared range (the last includes its end), else how many values it has."""
    if not isinstance(hierarchy.declared, Numbers):
        return np.bincount(places, minlength=len(bounds) - 1).astype(np.float64)
    widths = np.diff(np.asarray(bounds, np.float64))
    widths[-1] += hierarchy.total - (ends.high - ends.low)
    return widths


def _steps(hierarchy: Hierarchy, sizes: Reals) -> Reals:
    """How high intervals lie: as high as their share of the domain says."""
    leaf = 0.0 if hierarchy.continuous else 1.0
    width = max(hierarchy.total - leaf, 1e-300)
    return np.asarray(hierarchy.height * np.clip((sizes - leaf) / width, 0.0, 1.0))
