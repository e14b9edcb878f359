"""The algorithms for paths and sets, as a plan names them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import Literal

import numpy as np

from sfumato.ground.arguments import number, one_of, whole
from sfumato.ground.errors import ParameterError, PlanError
from sfumato.ground.work import Work
from sfumato.publish.items.apriori import apriori
from sfumato.publish.items.greedy_suppression import SCORES, Greedy, Score, greedy
from sfumato.publish.items.item_problem import ItemOutcome, ItemProblem
from sfumato.utility.item_utility import frequent_sets

SCOPES = ("global", "local")
WAYS = ("auto", "suppression", "generalization")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """Greedy suppression of items that keeps maximal frequent sequences, after finding all minimal violating ones.

    Claim: no set of known items violates the requirement; with ``scope = "global"`` and without trees, every sequence
        that is kept has its true support.
    How: each step takes the item that removes most violating sequences for the fewest frequent ones. Where trees are
        given, an item is shown as a coarser place or time instead, if that loses fewer frequent sequences; what loses
        fewer in the end is kept, with coarser items or without. With
        ``scope = "local"`` an item is left out only of the records that hold a violating sequence.
    Cost: counting the known sets once; every step is proportional to the sets that it removes.
    Source: Mohammed 2012, chapter 4.
    """

    score: Score = "cheapest"
    """What makes an item the next one: what costs nothing first, then gain per loss, and in the end what was left out
    needlessly is shown again (``cheapest``); or the thesis's Score1 (``ratio``), Score2 (``gain``), Score3 (``loss``).
    """
    support: float = 0.01
    """What is frequent: a share of the records below 1, or a number of records."""
    generalize: Literal["auto", "never"] = "auto"
    """Whether coarser places, times and items are taken where they lose less; they need a hierarchy."""
    scope: Literal["global", "local"] = "global"
    """Whether an item is left out everywhere or only where a violating sequence stands."""

    def __post_init__(self) -> None:
        one_of("score", self.score, SCORES)
        one_of("generalize", self.generalize, ("auto", "never"))
        one_of("scope", self.scope, SCOPES)
        positive_support(self.support)

    def __call__(self, problem: ItemProblem, work: Work) -> ItemOutcome:
        """Search."""
        can_rise = all(model.generalizes for model in problem.models)
        if self.scope == "local" and not can_rise:
            raise PlanError("algorithm.scope: rho-uncertainty is met by leaving items out of all records; use 'global'")
        if self.scope == "local" and any(space.closed for space in problem.spaces):
            raise PlanError(
                "algorithm.scope: columns of a table cannot be left out of single records; use 'global', or drop them"
            )
        how = Greedy(
            score=self.score,
            support=records(self.support, problem.transactions.rows),
            generalize=self.generalize == "auto" and can_rise,
            local=self.scope == "local",
        )
        found = greedy(problem, how, work)
        if any(step.action == "generalize" for step in found.steps) and not any(s.closed for s in problem.spaces):
            other = greedy(problem, replace(how, generalize=False), work)
            found = min(found, other, key=lambda one: _lost(problem, one, how.support))
        return found


def _lost(problem: ItemProblem, found: ItemOutcome, support: int) -> float:
    """How many maximal frequent sets are lost; one with coarser items counts as far as they are blurred."""
    kept = frequent_sets(found.view(problem.transactions), support)
    blur = np.zeros(kept.sets.count)
    of_set = np.repeat(np.arange(kept.sets.count), np.diff(kept.sets.starts))
    shown = found.shown.to[kept.sets.codes]
    np.maximum.at(blur, of_set[shown >= 0], found.shown.penalty[shown[shown >= 0]])
    return float(np.where(kept.kept, blur, 1.0).sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class Sets:
    """Sets of items by generalization along their tree, or by suppression.

    Claim: no set of known items violates the requirement.
    How: by generalization, known sets grow by one item at a time and what is too rare rises in the tree, as little as
        possible; by suppression, as ``trajectory`` does. ``auto`` generalizes where every column has a tree.
    Source: Terrovitis, Mamoulis, Kalnis 2008; Mohammed 2012, chapter 4.
    """

    by: Literal["auto", "suppression", "generalization"] = "auto"
    """How items are hidden."""
    score: Score = "cheapest"
    """For suppression: what makes an item the next one."""
    support: float = 0.01
    """What is frequent: a share of the records below 1, or a number of records."""
    scope: Literal["global", "local"] = "global"
    """For suppression: whether an item is left out everywhere or only where a violating set stands."""

    def __post_init__(self) -> None:
        one_of("by", self.by, WAYS)
        one_of("score", self.score, SCORES)
        one_of("scope", self.scope, SCOPES)
        positive_support(self.support)

    def __call__(self, problem: ItemProblem, work: Work) -> ItemOutcome:
        """Search."""
        treeless = [space.name for space in problem.spaces if all(axis.tree is None for axis in space.axes)]
        rigid = [model.name for model in problem.models if not model.generalizes]
        by = self.by
        if by == "auto":
            by = "suppression" if treeless or rigid or self.scope == "local" else "generalization"
        if by == "suppression":
            never = Trajectory(score=self.score, support=self.support, generalize="never", scope=self.scope)
            return never(problem, work)
        if treeless:
            raise PlanError(
                f"columns.{treeless[0]}.hierarchy is missing; without a tree use algorithm.by = 'suppression'"
            )
        if rigid or self.scope == "local":
            what = rigid[0] if rigid else "scope = 'local'"
            hint = "; algorithm.name = 'top-down-sets' shows items coarser for it" if rigid else ""
            raise PlanError(f"algorithm.by: {what} goes with 'suppression' only{hint}")
        return apriori(problem, work)


def positive_support(value: float) -> None:
    """A share in (0, 1), or a whole number of records from 1 on."""
    if number("support", value) >= 1:
        whole("support", int(value) if float(value).is_integer() else value)
    elif not value > 0:
        raise ParameterError(f"support must be a share above 0, or a number of records, not {value}")


def records(support: float, rows: int) -> int:
    """How many records a frequent set has at least.

    >>> records(0.005, 80_000), records(30, 80_000), records(0.01, 10)
    (400, 30, 1)
    """
    return int(support) if support >= 1 else max(1, ceil(support * rows - 1e-9))
