"""Ways to coarsen an attribute: labels from the declared domain alone, and groups of labels by noisy counts.

A label is what is published. Groups of labels are what tables of several attributes are counted by: labels with few
rows are gathered, so that the noise of such tables stays small. Noisy counts decide that, so it costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes
from sfumato.describe.spans import Ends
from sfumato.describe.taxonomy import TOP, Taxonomy
from sfumato.publish.cut import ColumnCut, cut_of_nodes
from sfumato.publish.noisy_table import Attribute

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bins:
    """One attribute, as it is published."""

    place: int
    """The attribute's place among all."""
    attribute: Attribute
    """Its declared domain."""
    cut: ColumnCut
    """The label of every leaf or cell of the grid."""
    nodes: Codes
    """The node of each label in the attribute's tree; of a number, nothing."""

    @property
    def size(self) -> int:
        """How many labels there are."""
        return len(self.cut.labels)


def binned(place: int, attribute: Attribute, most: int) -> Bins:
    """The finest level of a tree with at most ``most`` labels (else the coarsest), or as many intervals of a range."""
    if attribute.tree is None:
        cut, nodes = interval_cut(attribute, _starts(len(attribute.values), most)), np.zeros(0, np.int32)
    else:
        nodes = _level(attribute.tree, most)
        cut, nodes = cut_of_nodes(attribute.tree, nodes), np.unique(nodes)
    return Bins(place=place, attribute=attribute, cut=cut, nodes=nodes)


def _level(tree: Taxonomy, most: int) -> Codes:
    """For each leaf its node on the deepest level that has few enough; a leaf that lies higher reads as itself."""
    nodes = tree.leaf
    for nodes in _climbs(tree, tree.leaf):
        if len(np.unique(nodes)) <= most:
            break
    return nodes


def _climbs(tree: Taxonomy, nodes: Codes) -> Iterator[Codes]:
    """Nodes as they are on every level, the deepest first, down to the one below the root."""
    depth = np.zeros(len(tree.labels), np.int32)
    for node, above in enumerate(tree.parent.tolist()):
        depth[node] = 0 if above < 0 else depth[above] + 1
    for most in range(int(depth[nodes].max(initial=0)), 0, -1):
        nodes = np.where(depth[nodes] > most, tree.parent[nodes], nodes)
        yield nodes


def steps_of(bins: Bins) -> list[Codes]:
    """Groups of labels that the domain alone makes: levels of a tree; of a number, 1, 2, 4, 8 and 16 neighbours."""
    if bins.attribute.tree is None:
        return [np.arange(bins.size, dtype=np.int32) // wide for wide in (1, 2, 4, 8, 16)]
    levels = _climbs(bins.attribute.tree, bins.nodes)
    return [np.unique(nodes, return_inverse=True)[1].reshape(-1).astype(np.int32) for nodes in levels]


def _starts(cells: int, most: int) -> NDArray[np.int64]:
    """Where intervals begin: at every cell if these are few, else half of them equally far apart, half doubling.

    Intervals that double tell small numbers apart where nearly all are small.
    """
    if cells <= most:
        return np.arange(cells)
    doubling = 2 ** np.arange(1, (cells + 1).bit_length()) - 1
    doubling = doubling[doubling < cells]
    wide = max(most - len(doubling), (most + 1) // 2)
    return np.union1d(np.arange(0, cells, -(-cells // wide)), doubling[: most - wide])


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


def gathered(bins: Bins, counts: Reals, least: float) -> Codes:
    """For each label its group, numbered from 0: groups have about ``least`` rows, as far as noisy counts tell.

    Numbers are gathered with their neighbours. Labels of a tree are gathered with the next siblings that have few rows
    too, and if all of these are few together, with those of the node above.
    """
    if bins.attribute.tree is None:
        return _in_order(counts, least)
    return _climbed(bins.attribute.tree, bins.nodes, counts, least)


def _in_order(counts: Reals, least: float) -> Codes:
    """Neighbours together until they have enough; what remains at the end goes to the last group."""
    found, number, held = np.zeros(len(counts), np.int32), 0, 0.0
    for place, count in enumerate(counts.tolist()):
        found[place] = number
        held += count
        if held >= least:
            number, held = number + 1, 0.0
    return np.minimum(found, max(number - 1, 0)) if held < least else found


def _climbed(tree: Taxonomy, nodes: Codes, counts: Reals, least: float) -> Codes:
    """Labels with enough rows alone; the others with their siblings, and so on upwards."""
    waiting: dict[int, list[int]] = {}
    found, number = np.zeros(len(nodes), np.int32), 0
    places: Sequence[int] = np.argsort(-nodes, kind="stable").tolist()
    own = {int(nodes[place]): place for place in places}
    for node in range(len(tree.labels) - 1, -1, -1):
        held = waiting.pop(node, []) + ([own[node]] if node in own else [])
        if not held:
            continue
        if node == 0 or counts[held].sum() >= least:
            held.sort()
            inner = _in_order(counts[held], least)
            found[held], number = number + inner, number + int(inner.max()) + 1
        else:
            waiting.setdefault(int(tree.parent[node]), []).extend(held)
    return np.unique(found, return_inverse=True)[1].reshape(-1).astype(np.int32)
