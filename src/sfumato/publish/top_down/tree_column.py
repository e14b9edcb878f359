"""A column with a taxonomy: a node is replaced by all its children."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes
from sfumato.describe.hierarchy import Hierarchy
from sfumato.describe.taxonomy import Taxonomy
from sfumato.publish.cut import ColumnCut, cut_of_nodes
from sfumato.publish.top_down.gain import gain
from sfumato.publish.top_down.splits import Counted, Rank, Split, ruler_of
from sfumato.utility.view import Reals, Ruler


class TreeColumn:
    """The current cut through a taxonomy."""

    def __init__(self, hierarchy: Hierarchy, counted: Counted) -> None:
        """Everything at the root."""
        self.hierarchy = hierarchy
        self.tree: Taxonomy = hierarchy.tree()
        self.of_code: Codes = np.zeros(len(self.tree.leaf), np.int32)
        self.values = len(self.tree.labels)
        self._figures = _below(self.tree, counted.figures)
        self._ends = frozenset(self.tree.leaf.tolist())

    def is_open(self, value: int) -> bool:
        """Whether there is anything below; a node that is itself a value of the column stays."""
        return bool(self.tree.children[value]) and value not in self._ends

    def gain(self, value: int) -> float:
        """The information gain of replacing a node."""
        return gain(self._figures[value], self._figures[list(self.tree.children[value])])

    def rank(self, value: int) -> Rank:
        """Of equally good nodes the first by name comes first."""
        return self.tree.labels[value], value

    def split(self, value: int) -> Split:
        """A node and its children."""
        children = np.array(self.tree.children[value], np.int32)
        child_of = np.searchsorted(children, self.tree.leaf, side="right") - 1
        return Split(value=value, values=children, child_of=np.clip(child_of, 0, None).astype(np.int32))

    def retry(self, value: int) -> bool:
        """A node can be replaced in one way only."""
        return False

    def take(self, split: Split) -> None:
        """Replace the node."""
        under = self.of_code == split.value
        self.of_code[under] = split.values[split.child_of[under]]

    def names(self) -> list[str]:
        """What each node is called: as in the cut if it is shown, else by its parent too if two have its name."""
        times = Counter(self.tree.labels)
        above = [self.tree.labels[node] for node in self.tree.parent]
        found = [
            name if times[name] == 1 else f"{name} ({parent})"
            for name, parent in zip(self.tree.labels, above, strict=True)
        ]
        cut = self.cut()
        for node, place in zip(self.of_code.tolist(), cut.of_code.tolist(), strict=True):
            found[node] = cut.labels[place]
        return found

    def cut(self) -> ColumnCut:
        """The labels that are shown."""
        return cut_of_nodes(self.tree, self.of_code)

    def unknown(self) -> NDArray[np.bool_]:
        """Which nodes stand for the missing value."""
        flags = np.zeros(self.values, np.bool_)
        if self.hierarchy.missing is not None:
            flags[self.tree.leaf[self.hierarchy.missing]] = True
        return flags

    def ruler(self) -> Ruler:
        """How much each node hides."""
        return ruler_of(self.hierarchy, self.tree.sizes, self.tree.steps)


def _below(tree: Taxonomy, figures: Reals) -> Reals:
    """Nodes x figures: the sums below each node."""
    own = np.zeros((len(tree.labels) + 1, figures.shape[1]))
    np.add.at(own, tree.leaf + 1, figures)
    upto = np.cumsum(own, axis=0)
    return np.asarray(upto[tree.last + 1] - upto[np.arange(len(tree.labels))])
