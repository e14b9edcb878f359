"""An attribute of sets: its values are sets of nodes, and specializing a node makes a partition for every subset."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes
from sfumato.describe.taxonomy import Taxonomy
from sfumato.ground.errors import ParameterError
from sfumato.group.cut_counts import CutCounts, Division
from sfumato.group.keys import Ids
from sfumato.publish.diffgen.class_tables import Candidate, Table, names
from sfumato.publish.diffgen.node_column import below, place_of_leaf
from sfumato.publish.noisy_table import Attribute

MOST_CHILDREN = 40
"""The subsets of so many nodes can be numbered; a tree with wider nodes needs nodes in between."""
Masks = NDArray[np.int64]


class SetColumn:
    """The sets of nodes of one tree. The root also stands for the empty set, which is called by no name."""

    def __init__(self, attribute: Attribute, tree: Taxonomy, place: int, walk: CutCounts) -> None:
        """Every set is the root; ``place`` is that of the column in the walk that is asked about the whole table."""
        wide = next((node for node, found in enumerate(tree.children) if len(found) > MOST_CHILDREN), None)
        if wide is not None:
            raise ParameterError(
                f"attributes must have trees of sets with at most {MOST_CHILDREN} nodes below a node, but "
                f"{attribute.name!r} has {len(tree.children[wide])} below {tree.labels[wide]!r}; put nodes in between"
            )
        self.attribute, self.tree = attribute, tree
        self._place, self._walk = place, walk
        self.names = names(tree)
        self.values: list[tuple[int, ...]] = [(0,)]
        """The nodes of each value, ascending."""
        self._number: dict[tuple[int, ...], int] = {(0,): 0}

    def is_open(self, node: int) -> bool:
        """Whether nodes lie below."""
        return len(self.below(node)) > 0

    def below(self, node: int) -> tuple[int, ...]:
        """The child nodes."""
        return below(self.tree, node)

    def having(self, keys: Codes, node: int) -> NDArray[np.bool_]:
        """Which of some values have a node."""
        return np.array([node in value for value in self.values])[keys]

    def nodes(self, keys: Codes) -> list[int]:
        """The nodes of some values."""
        return sorted({node for value in np.unique(keys).tolist() for node in self.values[value]})

    def division(self, node: int, parts: Ids | None) -> Division:
        """Partitions by the child nodes that cover some of a record's items, as bits."""
        child = self.below(node)
        bits = place_of_leaf(self.tree, child)
        return Division(column=self._place, parts=parts, child_of=bits, children=1 << len(child))

    def masks(self, node: int) -> tuple[int, int]:
        """The first and the last subset of the child nodes that a set can have: none of them only below the root."""
        return (0 if node == 0 else 1), (1 << len(self.below(node))) - 1

    def table(self, at: Candidate) -> Table:
        """Child partitions x classes: the records of D_v by the subset of child nodes that they have."""
        found = self._walk.refine(self.division(at.value, None)).occupied()
        return found.counts if at.value == 0 else found.counts[found.child > 0]

    def values_of(self, old: Codes, masks: Masks, node: int) -> Codes:
        """The values in which a node is replaced by some of its child nodes."""
        child = self.below(node)
        pairs, place = np.unique(np.stack([old.astype(np.int64), masks]), axis=1, return_inverse=True)
        made = [
            self._numbered({*self.values[was]} - {node} | {one for bit, one in enumerate(child) if mask >> bit & 1})
            for was, mask in pairs.T.tolist()
        ]
        return np.array(made, np.int32)[place.reshape(-1)] if made else np.zeros(0, np.int32)

    def _numbered(self, nodes: set[int]) -> int:
        value = tuple(sorted(nodes))
        if value not in self._number:
            self._number[value] = len(self.values)
            self.values.append(value)
        return self._number[value]

    def name(self, value: int) -> str:
        """The nodes, joined."""
        return "|".join(self.names[node] for node in self.values[value])
