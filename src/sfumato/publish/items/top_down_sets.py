"""rho-uncertainty by generalization, as a plan names it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.arguments import one_of
from sfumato.ground.errors import PlanError
from sfumato.ground.work import Work
from sfumato.models.rho_uncertainty import RhoUncertainty
from sfumato.publish.items.item_algorithms import positive_support
from sfumato.publish.items.item_problem import ItemOutcome, ItemProblem, shown_records
from sfumato.publish.items.item_space import ItemSpace, refuse_untreed
from sfumato.publish.items.specialized_sets import Specializing

WAYS = ("keep", "price")


@dataclass(frozen=True, slots=True, kw_only=True)
class TopDownSets:
    """Sets of items for rho-uncertainty: items begin at the top of their tree and are shown as fine as rho allows.

    Claim: of the records whose labels cover what somebody knows of a person (at most l original items, sensitive ones
        among them), at most a share rho shows another sensitive item. Every item is shown alike in all records, so a
        set of original items is a set of at most as many labels, and the release is judged on sets of labels. Sensitive
        items are never shown coarser, and no label but the top of the tree lies above one; the top stands for the
        others. An item that is left out tells nothing: who knows only such items is left with everybody.
    How: the node whose children would tell most is replaced by them, if that gains more (NCP) than the labels lose that
        must be left out to break every inference above rho. Only sets with a child are counted. A label that was left
        out may come back, itself or finer. What loses less is kept, this or the items as they are with the same labels
        left out: nothing is lost against suppression by the same choice.
    Cost: for every node that is tried, the sets of up to l labels of the records that have it and a sensitive item.
    Source: Cao, Karras, Raissi, Tan 2010 (TDControl). Keeping sensitive items is ours: leaving them all out is the
        trivial solution, as the authors say.
    """

    secrets: Literal["keep", "price"] = "keep"
    """Whether sensitive items stay unless nothing else breaks an inference, or go where they cost fewer entries."""
    support: float = 0.01
    """What is frequent in the report: a share of the records below 1, or a number of records."""

    def __post_init__(self) -> None:
        one_of("secrets", self.secrets, WAYS)
        positive_support(self.support)

    def __call__(self, problem: ItemProblem, work: Work) -> ItemOutcome:
        """Search."""
        models = _asked(problem)
        sensitive = _sensitive(problem, models)
        found, other = (Specializing(problem, models, sensitive, spare=self.secrets == "keep") for _ in range(2))
        for one in (found, other):
            one.begin()
        found.run(work)
        if other.leaves() and self._worse(found, other):
            found = other
        none = np.empty(0, np.int64)
        shown, now = shown_records(problem, found.cut.cover(), none)
        return ItemOutcome(
            shown=shown, transactions=now, stripped=none, steps=tuple(found.steps), effort=dict(found.effort)
        )

    def _worse(self, one: Specializing, other: Specializing) -> bool:
        """Whether one lost more than the other; where sensitive items are to stay, these first."""
        first, second = ((search.cut.secrets_lost, search.cut.lost) for search in (one, other))
        return first > second if self.secrets == "keep" else first[1] > second[1]


def _asked(problem: ItemProblem) -> list[RhoUncertainty]:
    """The requirements; models of another kind are refused."""
    found = []
    for model in problem.models:
        if not isinstance(model, RhoUncertainty):
            raise PlanError(
                f"algorithm.name: top-down-sets goes with rho_uncertainty only; for {model.name} use "
                "algorithm.name = 'sets'"
            )
        found.append(model)
    return found


def _sensitive(problem: ItemProblem, models: list[RhoUncertainty]) -> NDArray[np.bool_]:
    """Which items are sensitive; columns and trees that cannot guard them are refused."""
    named = {item for model in models for item in model.sensitive}
    sensitive = np.array([label in named for label in problem.transactions.labels], np.bool_)
    for space in problem.spaces:
        own = np.flatnonzero(sensitive[space.begin : space.begin + space.count])
        refuse_untreed(space, "top-down-sets")
        if len(own) and space.closed:
            label = problem.transactions.labels[space.begin + int(own[0])]
            raise PlanError(
                f"privacy.rho_uncertainty.sensitive: {label!r} is a value of a column, which cannot be left out; give "
                "the column the role 'sensitive' and ask for lkc"
            )
        _refuse_company(space, own, sensitive[space.begin : space.begin + space.count])
    return sensitive


def _refuse_company(space: ItemSpace, own: NDArray[np.int64], sensitive: NDArray[np.bool_]) -> None:
    """A label above a sensitive item and others would stand for it too."""
    axis = space.axes[0]
    tree = axis.tree
    if tree is None:
        return
    for item in own.tolist():
        node = int(tree.parent[space.leaves[0][item]])
        while node > 0:
            below = (space.leaves[0] >= node) & (space.leaves[0] <= axis.last[node])
            if (below & ~sensitive).any():
                raise PlanError(
                    f"columns.{space.name}.hierarchy: the sensitive item {axis.values[space.values[0][item]]!r} lies "
                    f"under {tree.labels[node]!r} with items that are not sensitive, and {tree.labels[node]!r} would "
                    "stand for it too; put it right below the top of the tree, or into a branch of sensitive items"
                )
            node = int(tree.parent[node])
