"""Where the nodes of a tree stand in a picture, and what is written on them; others draw it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.brief import Brief
from sfumato.mine.edge_labels import label_text
from sfumato.mine.propagation import propagated
from sfumato.mine.tree_document import TreeDocument


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TreeLayout(Brief):
    """A place and words for every node."""

    across: NDArray[np.float64]
    """Leaves stand at 0, 1, 2 and so on from left to right, a node above stands over the middle of its children."""
    down: NDArray[np.int64]
    """How many edges lead to the node."""
    edges: tuple[str, ...]
    """What is written on the edge to each node; nothing at the root."""
    nodes: tuple[str, ...]
    """Class, hit and miss of each node; of inner nodes as they follow from the leaves."""
    width: int
    """How many leaves there are."""


def tree_layout(tree: TreeDocument) -> TreeLayout:
    """The layout of a tree; no two edges cross."""
    across = np.zeros(tree.nodes)
    waiting, many = ([0] if tree.nodes else []), 0
    while waiting:
        node = waiting.pop()
        if tree.split[node] < 0:
            across[node], many = many, many + 1
        waiting += reversed(tree.children[node])
    for node in range(tree.nodes - 1, -1, -1):
        if tree.children[node]:
            ends = across[[tree.children[node][0], tree.children[node][-1]]]
            across[node] = ends.mean()
    told = propagated(tree)
    nodes = zip(told.says.tolist(), told.hit.tolist(), told.miss.tolist(), strict=True)
    return TreeLayout(
        across=across,
        down=tree.depth,
        edges=tuple(
            "" if above < 0 else label_text(tree.attributes[int(tree.split[above])], tree.labels[node])
            for node, above in enumerate(tree.parent.tolist())
        ),
        nodes=tuple(f"{tree.classes[says]} {hit} / {miss}" for says, hit, miss in nodes),
        width=many,
    )
