"""Trees that a source publishes: learnt and pruned (ATP), or grown within a requirement (LDM); one, or a forest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sfumato.ground.arguments import at_least
from sfumato.ground.brief import Brief
from sfumato.ground.chance import Chance
from sfumato.ground.errors import Infeasible, ParameterError
from sfumato.mine.joint_trees import Reached, judged_together
from sfumato.mine.leaf_privacy import TreeRequirement
from sfumato.mine.records import Records
from sfumato.mine.tree_checks import MOST_TREE_DEPTH
from sfumato.mine.tree_document import TreeDocument
from sfumato.mine.tree_learning import Category, Criterion, TreeLearner
from sfumato.mine.tree_pruning import Pruned, anonymized

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
        return tuple(one.tree for one in self.found)


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
    names = [one.name for one in records.attributes]
    for number in range(how.trees):
        half = names if not number else dice.permutation(names)[: (len(names) + 1) // 2].tolist()
        found = how.one(records.keep(half), requirement)
        if found.tree.empty:
            empty += 1
            continue
        meets = partial(_meets, [one.tree for one in kept], records, requirement, earlier)
        fitting = next(_fitting(how, found, records, half, requirement, meets), None)
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
    found: Pruned,
    records: Records,
    names: Sequence[str],
    requirement: TreeRequirement,
    meets: Callable[[TreeDocument], bool],
) -> Iterator[Pruned]:
    """The tree, or shallower ones in its place, that meet the requirement together with others."""
    if found.tree.nodes == 1:
        root = replace(found, tree=_widened(found.tree, records))
        yield from [root] * meets(root.tree)
    for depth in range(int(found.tree.depth.max()), 0, -1):
        if depth < int(found.tree.depth.max()):
            found = replace(how, max_depth=depth).one(records.keep(names), requirement)
        if found.tree.empty or found.tree.nodes == 1:
            break
        whole = replace(found, tree=_widened(found.tree, records))
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
    place = {one.name: n for n, one in enumerate(records.attributes)}
    moved = np.array([*(place[one.name] for one in tree.attributes), -1], np.int64)
    return replace(tree, attributes=records.attributes, split=moved[tree.split])
