"""Public ways to coarsen an attribute: they come from the declared domain alone."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sfumato.describe.spans import Ends
from sfumato.describe.taxonomy import TOP, Taxonomy
from sfumato.publish.cut import ColumnCut, cut_of_nodes
from sfumato.publish.noisy_table import Attribute

WIDTHS = (4, 8, 16, 32)
"""Into about how many intervals of equal width a range is cut."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bins:
    """One attribute, coarsened."""

    place: int
    """The attribute's place among all."""
    attribute: Attribute
    """Its declared domain."""
    cut: ColumnCut
    """The label of every leaf or cell of the grid."""

    @property
    def size(self) -> int:
        """How many labels there are."""
        return len(self.cut.labels)


def binnings(place: int, attribute: Attribute, most: int) -> tuple[Bins, ...]:
    """The ways to coarsen one attribute into at least two and at most ``most`` bins, the finest last.

    If all of them have more, the coarsest one is there; a domain of a single value has none.
    """
    cuts = _levels(attribute.tree) if attribute.tree is not None else _intervals(attribute)
    made: dict[bytes, ColumnCut] = {cut.of_code.tobytes(): cut for cut in cuts if len(cut.labels) > 1}
    found = sorted(made.values(), key=lambda cut: len(cut.labels))
    few = [cut for cut in found if len(cut.labels) <= most]
    return tuple(Bins(place=place, attribute=attribute, cut=cut) for cut in few or found[:1])


def whole(attribute: Attribute) -> ColumnCut:
    """The cut that tells nothing: every value reads ``*``."""
    if attribute.tree is not None:
        return cut_of_nodes(attribute.tree, np.zeros(len(attribute.tree.leaf), np.int32))
    return interval_cut(attribute, np.zeros(1, np.int64))


def _levels(tree: Taxonomy) -> list[ColumnCut]:
    """Cuts at every depth below the root; a leaf that lies higher reads as itself."""
    depth = np.zeros(len(tree.labels), np.int64)
    for node, above in enumerate(tree.parent.tolist()):
        depth[node] = 0 if above < 0 else depth[above] + 1
    nodes = tree.leaf
    cuts = []
    for most in range(int(depth.max()), 0, -1):
        nodes = np.where(depth[nodes] > most, tree.parent[nodes], nodes)
        cuts.append(cut_of_nodes(tree, nodes))
    return cuts


def _intervals(attribute: Attribute) -> list[ColumnCut]:
    """Intervals of equal width, and such that each is twice as wide as the one below it."""
    cells = len(attribute.values)
    wide = [np.arange(0, cells, -(-cells // many)) for many in WIDTHS]
    doubling = 2 ** np.arange((cells + 1).bit_length()) - 1
    return [interval_cut(attribute, starts) for starts in [*wide, doubling[doubling < cells]]]


def interval_cut(attribute: Attribute, starts: NDArray[np.int64]) -> ColumnCut:
    """The cut with an interval from each of some cells of the grid, ascending from 0, up to the next."""
    cells = len(attribute.values)
    bounds = [*starts.tolist(), cells]
    wide = np.diff(bounds)
    ends = Ends(low=attribute.low, high=attribute.high, low_known=True, high_known=True)
    edges = [*(attribute.edge(cell) for cell in starts.tolist()), attribute.high]
    labels = [ends.named(span, first=not n, last=n == len(starts) - 1) for n, span in enumerate(pairwise(edges))]
    return ColumnCut(
        labels=tuple(labels) if len(labels) > 1 else (TOP,),
        of_code=np.repeat(np.arange(len(starts), dtype=np.int32), wide),
        sizes=wide * float(attribute.grid),
        steps=(wide - 1) / max(cells - 1, 1),
        edges=tuple(edges[1:-1]),
    )
