"""What columns of all kinds share."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.describe.taxonomy import Taxonomy

Table = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A value of the cut of a column, which may be specialized: of sets, a node."""

    column: int
    value: int
    halves: bool = False
    """Whether a node with many nodes below becomes the two nodes in between, else all declared nodes below."""


def names(tree: Taxonomy) -> list[str]:
    """The name of every node; nodes of one name are told apart by their parents."""
    often = Counter(tree.labels)
    above = [tree.labels[max(node, 0)] for node in tree.parent.tolist()]
    return [label if often[label] == 1 else f"{label} ({up})" for label, up in zip(tree.labels, above, strict=True)]
