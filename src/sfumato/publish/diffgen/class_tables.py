"""What columns of all kinds share."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes
from sfumato.describe.taxonomy import Taxonomy

Table = NDArray[np.int64]


def class_table(codes: Codes, size: int, target: Codes, kinds: int) -> Table:
    """Values x classes: how many records have each."""
    keys = codes.astype(np.int64) * kinds + target
    return np.bincount(keys, minlength=size * kinds).reshape(size, kinds)


def names(tree: Taxonomy) -> list[str]:
    """The name of every node; nodes of one name are told apart by their parents."""
    often = Counter(tree.labels)
    above = [tree.labels[max(node, 0)] for node in tree.parent.tolist()]
    return [label if often[label] == 1 else f"{label} ({up})" for label, up in zip(tree.labels, above, strict=True)]
