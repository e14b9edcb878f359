"""Several trees over the same people: what all of them together tell (a forest, or a tree published again).

Who knows a person's attributes follows them to a leaf in every tree. The person is among the records that reach all
these leaves, so those groups, the meetings of leaves, are judged too, and not the leaves of each tree alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.errors import ParameterError
from sfumato.group.keys import distinct
from sfumato.mine.leaf_privacy import Leaves, TreeRequirement
from sfumato.mine.records import Records
from sfumato.mine.tree_document import TreeDocument
from sfumato.mine.tree_routes import leaves_of
from sfumato.models.verdict import Verdict

Reached = tuple[NDArray[np.int64], int]
"""The leaf of every record in a tree that may ask for other attributes, and how many nodes that tree has."""


def meeting_leaves(trees: Sequence[TreeDocument], records: Records, beside: Sequence[Reached] = ()) -> Leaves:
    """The groups of records that reach the same leaf in every tree, with their exact counts."""
    if not trees:
        raise ParameterError("trees must be at least one")
    shown = [tree for tree in trees if not tree.empty]
    reached = [leaves_of(tree, records).astype(np.int32) for tree in shown]
    reached += [leaves.astype(np.int32) for leaves, _ in beside]
    ids, count = distinct(reached, [*(tree.nodes for tree in shown), *(many for _, many in beside)], records.count)
    classes = len(records.classes)
    counts = np.bincount(ids * classes + records.codes, minlength=count * classes).reshape(-1, classes)
    return Leaves.of_counts(counts)


def judged_together(
    trees: Sequence[TreeDocument], records: Records, requirement: TreeRequirement, beside: Sequence[Reached] = ()
) -> Verdict:
    """Whether the trees, published together, still meet a requirement.

    Claim: where it holds, every group of people whom the trees cannot tell apart meets the requirement.
    Needs: the records that the trees were learnt from; only whoever has them can know.
    Does not protect against: what counts of several trees tell when they are subtracted, and other publications.
    """
    return requirement.check(meeting_leaves(trees, records, beside))


def kept_together(
    trees: Sequence[TreeDocument], records: Records, requirement: TreeRequirement
) -> tuple[TreeDocument, ...]:
    """The trees, in order, that can be published with those kept; one that breaks the requirement is left out."""
    kept: list[TreeDocument] = []
    for tree in trees:
        if judged_together([*kept, tree], records, requirement).holds:
            kept.append(tree)
    return tuple(kept)
