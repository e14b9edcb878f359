"""Published trees as an attacker finds them: what every leaf tells, and where people follow its paths to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.frame.trials import Limit
from sfumato.ground.brief import Brief

Whole = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ToldTree(Brief):
    """One tree: public shares, and the leaf that each person reaches, which whoever knows their attributes can tell."""

    shares: Reals
    """Leaves x classes: the share of each class; misses whose class is not told are spread evenly."""
    sizes: Whole
    """Records of each leaf."""
    inside: Whole
    """The leaf of every person who is in the data."""
    outside: Whole | None = None
    """The leaf of every person who is not."""
    counts: Whole | None = None
    """Leaves x classes: the records of each class, where the tree shows them."""
    parts: Whole | None = None
    """Where the edge to a person's leaf has several values: which of them the person has; else -1."""

    @property
    def overall(self) -> Reals:
        """The share of each class in the whole tree."""
        total = max(int(self.sizes.sum()), 1)
        return np.asarray((self.shares * self.sizes[:, None]).sum(axis=0) / total)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TreeSubject(Brief):
    """Trees about the same people, and the people."""

    trees: tuple[ToldTree, ...]
    """The trees of the bundle."""
    truth: Whole
    """The class of every person who is in the data."""
    earlier: tuple[ToldTree, ...] = ()
    """Trees about the same people that are public already."""
    outside_truth: Whole | None = None
    """The class of every person who is not in the data."""
    promised: Limit | None = None
    """How surely a leaf may tell a class, by the claims."""
    together: Limit | None = None
    """The same for all trees together, where that is claimed."""
    algorithm: str = ""
    """How the trees were made."""
    claims: tuple[Mapping[str, Any], ...] = ()
    """What is claimed of every leaf: model and parameters."""

    @cached_property
    def every(self) -> tuple[ToldTree, ...]:
        """All trees that are public."""
        return (*self.trees, *self.earlier)

    def without_release(self) -> TreeSubject:
        """The same people behind trees of one leaf, which tell how frequent classes are and nothing else."""
        return replace(self, trees=tuple(map(_one_leaf, self.trees)), earlier=tuple(map(_one_leaf, self.earlier)))


def _one_leaf(tree: ToldTree) -> ToldTree:
    return ToldTree(
        shares=tree.overall[None, :],
        sizes=np.array([tree.sizes.sum()], np.int64),
        inside=np.zeros_like(tree.inside),
        outside=None if tree.outside is None else np.zeros_like(tree.outside),
    )
