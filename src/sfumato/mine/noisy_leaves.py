"""Differentially private leaves: a declared structure, whose class counts are told with noise.

The structure must not depend on the records: a tree that was learnt from them tells of them by its splits, and no noise
in its leaves covers that. So the structure comes from elsewhere, or splits by named attributes into equal parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from sfumato.budget.events import Event
from sfumato.budget.purse import budgeted, cost_of
from sfumato.describe.domains import Categories
from sfumato.ground.arguments import at_least
from sfumato.ground.brief import Brief
from sfumato.ground.errors import DataError, ParameterError
from sfumato.mine.edge_labels import Attribute, Label
from sfumato.mine.records import Records
from sfumato.mine.tree_checks import MOST_TREE_NODES
from sfumato.mine.tree_document import TreeDocument
from sfumato.mine.tree_routes import leaves_of
from sfumato.noise import counted

COUNTS = "class counts of all leaves"
"""What the budget is spent on."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class NoisyTree(Brief):
    """A tree with noisy counts, and what they cost."""

    tree: TreeDocument
    """The declared structure with noisy counts, none below 0."""
    event: Event
    """What was paid."""
    scale: float
    """The scale of the noise of one count."""
    law: str
    """laplace or gaussian."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyLeaves:
    """Counts the classes in the leaves of a declared structure, with noise, and pays for it.

    Claim: every record is in one count, so one record more or less moves one count by one; the counts are told with
        discrete Laplace noise for epsilon, Gaussian for rho. What is made of noisy counts costs nothing more.
    Does not protect against: a structure that was learnt from the same records.
    """

    epsilon: Fraction | None = None
    """What may be spent, as pure epsilon."""
    rho: Fraction | None = None
    """The same as rho of zCDP; one of both."""
    split_by: tuple[str, ...] = ()
    """Attributes that every path asks for, in this order; where no structure is given."""
    parts: int = 4
    """Into how many equal parts a number is split, at marks of its grid."""

    def __post_init__(self) -> None:
        budgeted(self.epsilon, self.rho)
        at_least("parts", self.parts, 2)
        object.__setattr__(self, "split_by", tuple(self.split_by))
        if len(set(self.split_by)) < len(self.split_by):
            raise ParameterError("split_by must name attributes once each")

    def __call__(self, structure: TreeDocument, records: Records) -> NoisyTree:
        """The structure with noisy counts; records of no declared class are left out."""
        if structure.empty:
            raise DataError("the structure is the empty tree; it has no leaf to count in")
        bare, classes = bare_structure(structure), len(structure.classes)
        kept = records.take(np.flatnonzero(records.codes >= 0))
        reached = leaves_of(bare, kept)
        exact = np.zeros((bare.nodes, classes), np.int64)
        np.add.at(exact, (reached, kept.codes), 1)
        some = bare.leaves
        amount: Any = self.epsilon if self.epsilon is not None else self.rho
        cost = cost_of("epsilon" if self.epsilon is not None else "rho", amount, COUNTS)
        drawn = counted(exact[some], cost)
        counts = np.zeros_like(exact)
        counts[some] = np.maximum(drawn.values, 0)
        return NoisyTree(tree=_counted(bare, counts), event=drawn.event, scale=drawn.scale, law=drawn.law)


def bare_structure(tree: TreeDocument) -> TreeDocument:
    """A tree without any count: nothing of the records that it was once learnt from."""
    none = np.zeros(tree.nodes, np.int64)
    return _counted(tree, np.zeros((tree.nodes, len(tree.classes)), np.int64), hit=none)


def _counted(tree: TreeDocument, counts: Any, hit: Any = None) -> TreeDocument:
    most = counts.max(axis=1) if hit is None else hit
    return TreeDocument(
        attributes=tree.attributes,
        target=tree.target,
        classes=tree.classes,
        parent=tree.parent,
        split=tree.split,
        labels=tree.labels,
        says=np.where(tree.split < 0, counts.argmax(axis=1), -1),
        hit=most,
        miss=counts.sum(axis=1) - most,
        counts=counts,
    )


def complete_structure(
    attributes: Sequence[Attribute], target: str, classes: tuple[str, ...], split_by: Sequence[str], parts: int
) -> TreeDocument:
    """A tree in which every path asks for the named attributes, in order; without any count."""
    place = {one.name: n for n, one in enumerate(attributes)}
    strange = [name for name in split_by if name not in place]
    if strange:
        raise ParameterError(f"split_by must name attributes, not {strange[0]!r}; there are {', '.join(place)}")
    if not split_by:
        raise ParameterError("split_by must name at least one attribute, or a structure must be given")
    parent, split, labels, level = [-1], list[int](), list[Label]([()]), [0]
    for name in split_by:
        pieces = equal_parts(attributes[place[name]], parts)
        if len(parent) + len(level) * len(pieces) > MOST_TREE_NODES:
            raise ParameterError(f"split_by makes more than {MOST_TREE_NODES:,} nodes; name fewer attributes")
        split += [place[name]] * len(level)
        below = []
        for node in level:
            for piece in pieces:
                below.append(len(parent))
                parent.append(node)
                labels.append(piece)
        level = below
    split += [-1] * len(level)
    zero = np.zeros((len(parent), len(classes)), np.int64)
    return TreeDocument(
        attributes=tuple(attributes),
        target=target,
        classes=classes,
        parent=np.array(parent, np.int64),
        split=np.array(split, np.int64),
        labels=tuple(labels),
        says=np.where(np.array(split) < 0, 0, -1),
        hit=zero[:, 0],
        miss=zero[:, 0],
        counts=zero,
    )


def equal_parts(attribute: Attribute, parts: int) -> list[Label]:
    """The values of a category, or equal parts of a range that begin at marks of its grid.

    >>> from sfumato.describe.domains import Numbers
    >>> equal_parts(Attribute(name="age", domain=Numbers(low=0, high=10, grid=1)), 4)
    [((0.0, 2.0),), ((2.0, 5.0),), ((5.0, 8.0),), ((8.0, 10.0),)]
    """
    domain = attribute.domain
    if isinstance(domain, Categories):
        return [(code,) for code in range(len(domain.values))]
    cuts = np.linspace(float(domain.low), float(domain.high), parts + 1)
    if domain.grid is not None:
        cuts = domain.low + np.round((cuts - domain.low) / domain.grid) * domain.grid
    inner = [cut for cut in np.unique(cuts).tolist() if domain.low < cut < domain.high]
    ends = [float(domain.low), *inner, float(domain.high)]
    return [((low, high),) for low, high in pairwise(ends)]
