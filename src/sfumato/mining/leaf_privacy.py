"""Privacy of leaves: k-anonymity and l-diversity of a tree, from hit and miss or from exact counts (section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.core.arguments import at_least, between, one_of
from sfumato.core.errors import ParameterError
from sfumato.core.short_repr import Brief
from sfumato.models.model import Verdict, stands

Whole = NDArray[np.int64]
LARGEST = 1e15
"""No c and no l is larger."""
Reals = NDArray[np.float64]
Basis = Literal["hits", "any", "counts"]
"""Where the classes of misses come from: the worst spread over at least l - 1 classes (equation 1), the worst spread
over any number of classes, or exact counts."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Leaves(Brief):
    """What leaves, paths or rules tell about their records."""

    hit: Whole
    """Records of the named class."""
    miss: Whole
    """Records of other classes."""
    counts: Whole | None = None
    """Leaves x classes, where they are known."""

    @classmethod
    def of_hits(cls, hit: ArrayLike, miss: ArrayLike) -> Leaves:
        """Leaves of which hit and miss are known."""
        return cls(hit=np.asarray(hit, np.int64), miss=np.asarray(miss, np.int64))

    @classmethod
    def of_counts(cls, counts: ArrayLike) -> Leaves:
        """Leaves of which the records of every class are known."""
        class_counts = np.asarray(counts, np.int64)
        hit = class_counts.max(axis=1, initial=0)
        return cls(hit=hit, miss=class_counts.sum(axis=1) - hit, counts=class_counts)


class TreeRequirement(Protocol):
    """What every leaf of a published tree must meet."""

    name: ClassVar[str]
    """Its name in the literature."""

    def check(self, leaves: Leaves) -> Verdict:
        """Judge all leaves."""

    def passes(self, leaves: Leaves) -> NDArray[np.bool_]:
        """Which leaves meet it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeKAnonymity:
    """Every leaf holds at least ``k`` records.

    Claim: whoever follows a person to a leaf finds at least ``k`` records there.
    Source: document 004, definition 9.
    Does not protect against: a leaf whose records are all of one class.
    """

    name: ClassVar[str] = "tree-k-anonymity"

    k: int
    """How many records every leaf must hold."""

    def __post_init__(self) -> None:
        at_least("k", self.k, 1)

    def check(self, leaves: Leaves) -> Verdict:
        """Judge each leaf by its records."""
        return Verdict.of(leaves.hit + leaves.miss, self.k, "at least")

    def passes(self, leaves: Leaves) -> NDArray[np.bool_]:
        """Which leaves are large enough."""
        return stands(leaves.hit + leaves.miss, self.k, "at least")


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeRecursiveDiversity:
    """In every leaf the named class is rarer than ``c`` times the tail that begins with the ``l``-th class.

    Claim: hit < c * tail, strictly, where tail counts the records of the l-th most frequent class and of all rarer ones
        in the worst spread of the misses that the basis allows.
    Source: document 004, definition 11 and equation 1; errata 12 and 13.
    Does not protect against: with the basis ``hits``, misses that lie in fewer than l - 1 classes: equation 1 assumes
        that they do not. ``any`` assumes nothing, ``counts`` looks.

    Example:
        >>> leaves = Leaves.of_hits([2, 3, 5, 6], [2, 0, 4, 8])
        >>> TreeRecursiveDiversity(c=3, l=3).check(leaves).failing.tolist()
        [1, 2, 3]
    """

    name: ClassVar[str] = "tree-recursive-l-diversity"

    c: float
    """How many times the tail the named class must stay below; at least 1."""
    l: int
    """Where the tail begins, counted from the most frequent class."""
    basis: Basis = "hits"
    """Where the classes of misses come from."""

    def __post_init__(self) -> None:
        between("c", self.c, 1, LARGEST)
        at_least("l", self.l, 1)
        one_of("basis", self.basis, get_args(Basis))

    def check(self, leaves: Leaves) -> Verdict:
        """Judge each leaf by hit / tail, infinite without a tail."""
        return Verdict.of(self._ratios(leaves), self.c, "below")

    def passes(self, leaves: Leaves) -> NDArray[np.bool_]:
        """Which leaves are diverse enough."""
        return stands(self._ratios(leaves), self.c, "below")

    def _ratios(self, leaves: Leaves) -> Reals:
        tail = self.tails(leaves)
        ratio = np.full(len(tail), np.inf)
        np.divide(leaves.hit, tail, out=ratio, where=(tail > 0) & (leaves.hit > 0))
        return ratio

    def tails(self, leaves: Leaves) -> Whole:
        """The records in the tail of each leaf; 0 where there are too few classes for one."""
        if self.basis == "counts":
            ordered = np.sort(known_counts(leaves), axis=1)[:, ::-1]
            return np.asarray(ordered[:, self.l - 1 :].sum(axis=1), np.int64)
        return worst_tails(leaves.hit, leaves.miss, self.l, spread=self.basis == "hits")


def worst_tails(hit: Whole, miss: Whole, l: int, *, spread: bool = True) -> Whole:
    """The smallest tail of misses over classes that none is larger than hit; 0 where it can be empty.

    With ``spread`` at least l - 1 classes have a miss (equation 1): the first l - 2 of them take hit each, as far as
    the misses go when one is left for the last. Without it nothing is left for the last.

    >>> worst_tails(np.array([2, 2, 5, 6]), np.array([2, 5, 4, 8]), 3).tolist()
    [1, 3, 1, 2]
    """
    if l == 1:
        return np.asarray(hit + miss, np.int64)
    whole = miss - (l - 2) * hit
    return np.asarray(np.where(miss >= l - 1, np.maximum(whole, 1), 0) if spread else np.maximum(whole, 0), np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeSimpleDiversity:
    """In every leaf the named class has at most the share 1 / ``l``.

    Claim: nobody is given a class with more than 1 / ``l`` confidence by the leaf that they reach.
    Source: document 004, definition 13. Its first condition, miss >= l - 1, follows from the second.
    Does not protect against: knowledge that rules classes out.

    Example:
        >>> TreeSimpleDiversity(l=2).passes(Leaves.of_hits([6, 6], [8, 5])).tolist()
        [True, False]
    """

    name: ClassVar[str] = "tree-simple-l-diversity"

    l: float
    """One over the largest share that the named class may have."""

    def __post_init__(self) -> None:
        between("l", self.l, 1, LARGEST)

    def check(self, leaves: Leaves) -> Verdict:
        """Judge each leaf by the share of its class; a leaf without records fails."""
        return Verdict.of(self._shares(leaves), 1 / self.l, "at most")

    def passes(self, leaves: Leaves) -> NDArray[np.bool_]:
        """Which leaves are diverse enough."""
        return stands(self._shares(leaves), 1 / self.l, "at most")

    def _shares(self, leaves: Leaves) -> Reals:
        size = leaves.hit + leaves.miss
        share = np.full(len(size), np.inf)
        np.divide(leaves.hit, size, out=share, where=size > 0)
        return share


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeAllOf:
    """Several requirements at once.

    Claim: every leaf meets each of them.
    Source: document 004, section 3.3.
    Does not protect against: what none of them does.
    """

    name: ClassVar[str] = "tree-all-of"

    parts: tuple[TreeRequirement, ...]
    """The requirements."""

    def __post_init__(self) -> None:
        if not self.parts:
            raise ParameterError("parts must be requirements, at least one")

    def check(self, leaves: Leaves) -> Verdict:
        """The first verdict that does not hold, with all leaves that fail any; else the last one."""
        verdicts = [part.check(leaves) for part in self.parts]
        failing = np.unique(np.concatenate([verdict.failing for verdict in verdicts]))
        verdict = next((verdict for verdict in verdicts if not verdict.holds), verdicts[-1])
        return Verdict(
            holds=not len(failing), reached=verdict.reached, limit=verdict.limit, sense=verdict.sense, failing=failing
        )

    def passes(self, leaves: Leaves) -> NDArray[np.bool_]:
        """Which leaves meet all."""
        return np.asarray(np.logical_and.reduce([part.passes(leaves) for part in self.parts]))


def known_counts(leaves: Leaves) -> Whole:
    """The exact counts, or a refusal where they are not known."""
    if leaves.counts is None:
        raise ParameterError(
            "basis = 'counts' needs leaves with exact class counts; this model tells hit and miss only"
        )
    return leaves.counts


def requirement_of(parts: Sequence[TreeRequirement]) -> TreeRequirement:
    """One requirement from several."""
    return parts[0] if len(parts) == 1 else TreeAllOf(parts=tuple(parts))
