"""Trees and forests a source publishes: pruned (ATP), grown in a requirement (LDM), with noisy leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arguments import at_least
from sfumato.core.errors import DataError, Infeasible, ParameterError
from sfumato.core.randomness import Chance
from sfumato.core.short_repr import Brief
from sfumato.counts.keys import distinct
from sfumato.dp.accounting import budgeted, cost_of
from sfumato.dp.events import Event
from sfumato.dp.noise import counted
from sfumato.mining.attributes import Attribute, Label
from sfumato.mining.leaf_privacy import Leaves, TreeRequirement
from sfumato.mining.prediction import leaves_of
from sfumato.mining.records import Records
from sfumato.mining.tree_document import MOST_TREE_DEPTH, MOST_TREE_NODES, TreeDocument
from sfumato.mining.tree_learning import Category, Criterion, TreeLearner
from sfumato.mining.tree_pruning import Pruned, anonymized
from sfumato.models.model import Verdict
from sfumato.tables.schema import Categories

# Several trees over the same people: what all of them together tell (a forest, or a tree published again).
#
# Who knows a person's attributes follows them to a leaf in every tree. The person is among the records that reach all
# these leaves, so those groups, the meetings of leaves, are judged too, and not the leaves of each tree alone.


Reached = tuple[NDArray[np.int64], int]
"""The leaf of every record in a tree that may ask for other attributes, and how many nodes that tree has."""


def meeting_leaves(trees: Sequence[TreeDocument], records: Records, others: Sequence[Reached] = ()) -> Leaves:
    """The groups of records that reach the same leaf in every tree, with their exact counts."""
    if not trees:
        raise ParameterError("trees must be at least one")
    nonempty = [tree for tree in trees if not tree.empty]
    reached = [leaves_of(tree, records).astype(np.int32) for tree in nonempty]
    reached += [leaves.astype(np.int32) for leaves, _ in others]
    ids, count = distinct(reached, [*(tree.nodes for tree in nonempty), *(many for _, many in others)], records.count)
    classes = len(records.classes)
    counts = np.bincount(ids * classes + records.codes, minlength=count * classes).reshape(-1, classes)
    return Leaves.of_counts(counts)


def judged_together(
    trees: Sequence[TreeDocument], records: Records, requirement: TreeRequirement, others: Sequence[Reached] = ()
) -> Verdict:
    """Whether the trees, published together, still meet a requirement.

    Claim: where it holds, every group of people whom the trees cannot tell apart meets the requirement.
    Needs: the records that the trees were learnt from; only whoever has them can know.
    Does not protect against: what counts of several trees tell when they are subtracted, and other publications.
    """
    return requirement.check(meeting_leaves(trees, records, others))


def kept_together(
    trees: Sequence[TreeDocument], records: Records, requirement: TreeRequirement
) -> tuple[TreeDocument, ...]:
    """The trees, in order, that can be published with those kept; one that breaks the requirement is left out."""
    kept: list[TreeDocument] = []
    for tree in trees:
        if judged_together([*kept, tree], records, requirement).holds:
            kept.append(tree)
    return tuple(kept)


# Trees that a source publishes: learnt and pruned (ATP), or grown within a requirement (LDM); one, or a forest.


MOST_TREES = 100
"""So many trees a forest may have."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Forest(Brief):
    """Trees that meet a requirement each, and all together."""

    found: tuple[Pruned, ...]
    """The trees that are kept, each with what was pruned."""
    empty: int = 0
    """How many trees nothing was left of."""
    broken: int = 0
    """How many trees were left out because they would break the requirement together with those before them."""

    @property
    def trees(self) -> tuple[TreeDocument, ...]:
        """The trees alone."""
        return tuple(member.tree for member in self.found)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrunedTrees:
    """Learns a tree, or a forest, and prunes every tree until all leaves meet the requirement (ATP).

    Claim: every leaf meets the requirement; of a forest, and beside earlier trees, every meeting of leaves too.
    Source: document 004, section 4; a forest's further trees are learnt from half of the attributes each (Ho 1998).
    """

    trees: int = 1
    """How many trees are learnt."""
    criterion: Criterion = "gain-ratio"
    """How attributes are compared."""
    categories: Category = "each"
    """What a category is split into."""
    min_leaf: int = 2
    """How many records two parts of a split must have."""
    max_depth: int = MOST_TREE_DEPTH
    """How many edges may lead to a leaf."""
    confidence: float = 0.25
    """The confidence of the pessimistic pruning before ATP."""

    def __post_init__(self) -> None:
        at_least("trees", self.trees, 1)
        if self.trees > MOST_TREES:
            raise ParameterError(f"trees must be at most {MOST_TREES}, not {self.trees}")
        self.learner(None)

    def learner(self, within: TreeRequirement | None) -> TreeLearner:
        """The learner with these options."""
        return TreeLearner(
            criterion=self.criterion,
            categories=self.categories,
            min_leaf=self.min_leaf,
            max_depth=self.max_depth,
            confidence=self.confidence,
            within=within,
        )

    def one(self, records: Records, requirement: TreeRequirement) -> Pruned:
        """One tree of some records."""
        return anonymized(self.learner(None)(records), requirement, keep_root=True)

    def __call__(
        self, records: Records, requirement: TreeRequirement, chance: Chance, earlier: Sequence[Reached] = ()
    ) -> Forest:
        """The trees of some records; ``earlier`` says where they lead in trees that are public already."""
        return _forest(self, records, requirement, chance, earlier)


@dataclass(frozen=True, slots=True, kw_only=True)
class GrownTrees(PrunedTrees):
    """Grows a tree, or a forest, in which no split has a part that does not meet the requirement (LDM).

    Claim: every leaf meets the requirement; of a forest, and beside earlier trees, every meeting of leaves too.
    Source: Friedman, Wolff and Schuster 2008, as in document 004, section 6.2.
    """

    criterion: Criterion = "gain"
    """How attributes are compared."""

    def one(self, records: Records, requirement: TreeRequirement) -> Pruned:
        """One tree of some records; the empty tree is refused, not found."""
        tree = self.learner(requirement)(records)
        return Pruned(tree=tree, merges=(), leaves_before=len(tree.leaves), failing_before=0)


def _forest(
    how: PrunedTrees, records: Records, requirement: TreeRequirement, chance: Chance, earlier: Sequence[Reached]
) -> Forest:
    """The first tree knows all attributes, every further one a random half.

    A tree that breaks the requirement together with those before it is made shallower, or left out.
    """
    dice, kept, empty, broken = chance.generator(), list[Pruned](), 0, 0
    names = [attribute.name for attribute in records.attributes]
    for number in range(how.trees):
        half = names if not number else dice.permutation(names)[: (len(names) + 1) // 2].tolist()
        candidate = how.one(records.keep(half), requirement)
        if candidate.tree.empty:
            empty += 1
            continue
        meets = partial(_meets, [member.tree for member in kept], records, requirement, earlier)
        fitting = next(_fitting(how, candidate, records, half, requirement, meets), None)
        if fitting is None:
            broken += 1
        else:
            kept.append(fitting)
    if not kept:
        why = "no tree can be published beside the earlier ones" if broken else "the records as one leaf do not meet it"
        raise Infeasible(f"{requirement.name}: {why}, so nothing would be left; ask for less")
    return Forest(found=tuple(kept), empty=empty, broken=broken)


def _fitting(
    how: PrunedTrees,
    candidate: Pruned,
    records: Records,
    names: Sequence[str],
    requirement: TreeRequirement,
    meets: Callable[[TreeDocument], bool],
) -> Iterator[Pruned]:
    """The tree, or shallower ones in its place, that meet the requirement together with others."""
    if candidate.tree.nodes == 1:
        root = replace(candidate, tree=_widened(candidate.tree, records))
        yield from [root] * meets(root.tree)
    for depth in range(int(candidate.tree.depth.max()), 0, -1):
        if depth < int(candidate.tree.depth.max()):
            candidate = replace(how, max_depth=depth).one(records.keep(names), requirement)
        if candidate.tree.empty or candidate.tree.nodes == 1:
            break
        whole = replace(candidate, tree=_widened(candidate.tree, records))
        if meets(whole.tree):
            yield whole


def _meets(
    kept: Sequence[TreeDocument],
    records: Records,
    requirement: TreeRequirement,
    earlier: Sequence[Reached],
    tree: TreeDocument,
) -> bool:
    """Whether a tree meets the requirement beside others; alone it does already."""
    return not (kept or earlier) or judged_together([*kept, tree], records, requirement, earlier).holds


def _widened(tree: TreeDocument, records: Records) -> TreeDocument:
    """The same tree over all attributes of the records, so that every published tree names the same ones."""
    if tree.attributes == records.attributes:
        return tree
    place = {attribute.name: n for n, attribute in enumerate(records.attributes)}
    moved = np.array([*(place[attribute.name] for attribute in tree.attributes), -1], np.int64)
    return replace(tree, attributes=records.attributes, split=moved[tree.split])


# Differentially private leaves: a declared structure, whose class counts are told with noise.
#
# The structure must not depend on the records: a tree that was learnt from them tells of them by its splits, and no
# noise in its leaves covers that. So the structure comes from elsewhere, or splits by named attributes into equal
# parts.


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
    place = {attribute.name: n for n, attribute in enumerate(attributes)}
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

    >>> from sfumato.tables.schema import Numbers
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
