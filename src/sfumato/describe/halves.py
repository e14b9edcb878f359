"""Nodes in between: a node with many nodes below is halved in the order in which they were declared.

A flat domain of fifty values can be told as a whole, or value by value, and by nothing between. So every node that has
more than four nodes below gets two nodes in between, each with half of them, and so on until no node has more than
four. They are called by their first and last node: ``a … m``. All of it follows from the declared tree alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.describe.taxonomy import Taxonomy

WIDE = 4
"""A node with more nodes below than this is halved."""
_TO = " … "
Run = tuple[int, ...]
"""Neighbours below one node."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Halved:
    """A tree with nodes in between."""

    tree: Taxonomy
    """All nodes, in preorder; every declared node has the name and the values that it had."""
    made: NDArray[np.bool_]
    """Which of them are in between."""


def halved(tree: Taxonomy) -> Halved:
    """The tree with nodes in between.

    A node stays as wide as it is where a name below it occurs twice in the tree: nodes of one name are told apart by
    the node above them. And so does a whole tree in which a name could be that of a node in between.

    >>> from sfumato.describe.taxonomy import taxonomy
    >>> found = halved(taxonomy([(x,) for x in "abcde"], {}, total=5.0, height=1)).tree
    >>> found.labels, found.parent.tolist()
    (('*', 'a … c', 'a', 'b', 'c', 'd … e', 'd', 'e'), [-1, 0, 1, 1, 1, 0, 5, 5])
    """
    often = Counter(tree.labels)
    plain = not any(_TO.strip() in label for label in tree.labels)
    wide = {
        node
        for node, found in enumerate(tree.children)
        if plain and len(found) > WIDE and all(often[tree.labels[one]] == 1 for one in found)
    }
    if not wide:
        return Halved(tree=tree, made=np.zeros(len(tree.labels), bool))
    return _with(tree, _placed(tree, wide))


def _placed(tree: Taxonomy, wide: set[int]) -> list[tuple[Run, int]]:
    """The nodes in preorder, with the place of the node above: runs of nodes; one node alone stands for itself."""
    found: list[tuple[Run, int]] = []
    waiting: list[tuple[Run, int]] = [((0,), -1)]
    while waiting:
        run, above = waiting.pop()
        here = len(found)
        found.append((run, above))
        parts = _halves(run) if len(run) > 1 else _below(tree, run[0], wide)
        waiting.extend((part, here) for part in reversed(parts))
    return found


def _below(tree: Taxonomy, node: int, wide: set[int]) -> list[Run]:
    children = tree.children[node]
    return _halves(children) if node in wide else [(one,) for one in children]


def _halves(run: Run) -> list[Run]:
    """Two halves of many neighbours, each of few."""
    if len(run) <= WIDE:
        return [(one,) for one in run]
    middle = (len(run) + 1) // 2
    return [run[:middle], run[middle:]]


def _with(tree: Taxonomy, nodes: list[tuple[Run, int]]) -> Halved:
    made = np.array([len(run) > 1 for run, _ in nodes])
    place = np.zeros(len(tree.labels), np.int32)
    place[[run[0] for run, _ in nodes if len(run) == 1]] = np.flatnonzero(~made)
    over = [int(tree.parent[run[0]]) for run, _ in nodes]
    steps = [
        (tree.steps[above] + tree.steps[list(run)].max()) / 2 if len(run) > 1 else tree.steps[run[0]]
        for (run, _), above in zip(nodes, over, strict=True)
    ]
    return Halved(
        tree=Taxonomy(
            labels=tuple(
                tree.labels[run[0]] if len(run) == 1 else f"{tree.labels[run[0]]}{_TO}{tree.labels[run[-1]]}"
                for run, _ in nodes
            ),
            parent=np.array([above for _, above in nodes], np.int32),
            steps=np.array(steps, np.float64),
            sizes=np.array([tree.sizes[list(run)].sum() for run, _ in nodes]),
            leaf=place[tree.leaf],
        ),
        made=made,
    )
