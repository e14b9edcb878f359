"""An attribute of sets: its values are sets of nodes, and specializing a node makes a partition for every subset."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes
from sfumato.describe.taxonomy import Taxonomy
from sfumato.ground.errors import ParameterError
from sfumato.publish.diffgen.class_tables import Table, class_table, names
from sfumato.publish.diffgen.node_column import below, place_of_leaf
from sfumato.publish.noisy_table import Attribute, PrivateTable

MOST_CHILDREN = 40
"""The subsets of so many nodes can be numbered; a tree with wider nodes needs nodes in between."""
Masks = NDArray[np.int64]


class SetColumn:
    """The sets of nodes of one tree. The root also stands for the empty set, which is called by no name."""

    def __init__(self, attribute: Attribute, tree: Taxonomy, table: PrivateTable) -> None:
        """Every set is the root."""
        wide = next((node for node, found in enumerate(tree.children) if len(found) > MOST_CHILDREN), None)
        if wide is not None:
            raise ParameterError(
                f"attributes must have trees of sets with at most {MOST_CHILDREN} nodes below a node, but "
                f"{attribute.name!r} has {len(tree.children[wide])} below {tree.labels[wide]!r}; put nodes in between"
            )
        if attribute.starts is None:
            raise ParameterError(f"attributes must say where each set starts; {attribute.name!r} does not")
        self.attribute, self.tree, self.private = attribute, tree, table
        self.starts = attribute.starts
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

    def masks(self, node: int) -> Masks:
        """For each record, the child nodes that cover some of its items, as bits."""
        child = place_of_leaf(self.tree, self.below(node))
        bits = np.where(child >= 0, np.int64(1) << np.maximum(child, 0).astype(np.int64), 0)
        items = np.append(bits[self.attribute.codes], 0)
        if len(self.starts) < 2:
            return np.zeros(0, np.int64)
        found = np.bitwise_or.reduceat(items, self.starts[:-1])
        return np.where(np.diff(self.starts) > 0, found, 0)

    def table(self, node: int) -> Table:
        """Child partitions x classes: the records of D_v by the subset of child nodes that they have."""
        masks = self.masks(node)
        inside = (masks > 0) | (node == 0)
        kinds, place = np.unique(masks[inside], return_inverse=True)
        return class_table(
            place.reshape(-1).astype(np.int32), len(kinds), self.private.target[inside], len(self.private.classes)
        )

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
