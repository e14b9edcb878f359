"""Mondrian along the taxonomies: groups are cut in two as long as both parts meet the requirement."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.describe.hierarchy import Hierarchy
from sfumato.ground.errors import PlanError
from sfumato.ground.work import Work
from sfumato.group.keys import Ids, distinct, total, weighed
from sfumato.models.judge import judge
from sfumato.publish.labels import lowest, recoded
from sfumato.publish.lattice.reach import described, refuse_unreachable
from sfumato.publish.problem import Outcome, Problem

_NEVER = -1.0


def mondrian(problem: Problem, work: Work) -> Outcome:
    """Cut the table into many small groups, and give each the lowest labels that cover its values.

    Claim: every group meets every model; no group could be cut in two by the children of one of its labels, at their
        balance point, with both parts still meeting them.
    How: all groups are cut at once, round by round. Each tries the column first that gains most by its cut; a cut that
        leaves a part which a model refuses is taken back, and the next column is tried.
    Needs: models that judge groups one by one and that joining groups cannot break.
    Cost: rounds times (cells times columns); a group that cannot be cut any more is left alone.
    Source: LeFevre, DeWitt, Ramakrishnan 2006; cuts along taxonomies as in Fung et al. 2005; labels by lowest common
        ancestors. Document 000, section 20.3.1.3.
    """
    _refuse_models(problem)
    refuse_unreachable(replace(problem, limit=0))
    cutting = _Cutting(problem)
    rounds = 0
    while cutting.open.any():
        rounds += 1
        cutting.round()
        work.advance("cut", int((~cutting.open).sum()), len(cutting.open))
    made = recoded(problem, cutting.groups, cutting.count)
    suppressed = np.zeros(problem.cells.count, np.bool_)
    return Outcome(
        levels=None,
        recoded=made,
        suppressed=suppressed,
        loss=problem.metric.loss(made.view(problem, suppressed)).value,
        proven=False,
        effort={"groups": cutting.count, "rounds": rounds, "cuts_taken_back": cutting.refused},
    )


def _refuse_models(problem: Problem) -> None:
    for model in problem.models:
        if model.counts_anew or not model.kept_by_merging:
            raise PlanError(
                f"algorithm.name: mondrian judges groups one by one and joins those that read alike, which "
                f"{described(model)} does not allow; use optimal"
            )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Cut:
    """A cut of every group along one column."""

    second: NDArray[np.bool_]
    """Which cells go to the second part."""
    worth: NDArray[np.float64]
    """What each group gains by it; negative where there is nothing to cut."""


class _Cutting:
    """The groups so far, and what each has still to try."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.groups: Ids = np.zeros(problem.cells.count, np.int64)
        self.count = 1
        self.open = np.ones(1, np.bool_)
        self.tried = np.zeros((len(problem.hierarchies), 1), np.bool_)
        self.refused = 0

    def round(self) -> None:
        """Cut every open group along the column that gains most and was not tried; take back what a model refuses."""
        active = np.flatnonzero(self.open[self.groups])
        cuts = [self._cut(c, active) for c in range(len(self.tried))]
        worth = np.array([cut.worth for cut in cuts])
        worth[self.tried] = _NEVER
        best = worth.argmax(axis=0)
        cuttable = self.open & (worth.max(axis=0) > 0)
        second = np.zeros(len(self.groups), np.bool_)
        for column, cut in enumerate(cuts):
            mine = cuttable[self.groups[active]] & (best[self.groups[active]] == column)
            second[active[mine & cut.second]] = True
        self._settle(cuttable, best, second)

    def _settle(self, cuttable: NDArray[np.bool_], best: NDArray[np.int64], second: NDArray[np.bool_]) -> None:
        """Keep the cuts whose both parts pass."""
        number = np.cumsum(cuttable) - 1 + self.count
        parts = np.where(second, number[self.groups], self.groups)
        failing = self._failing(parts, self.count + int(cuttable.sum()))
        back = cuttable & (failing[: self.count] | failing[np.where(cuttable, number, 0)])
        self.refused += int(back.sum())
        self.tried[best[back], np.flatnonzero(back)] = True
        kept = cuttable & ~back
        self.open &= cuttable
        fresh = np.cumsum(kept) - 1 + self.count
        self.groups = np.where(second & kept[self.groups], fresh[self.groups], self.groups)
        self.tried[:, kept] = False
        made = int(kept.sum())
        self.tried = np.concatenate([self.tried, np.zeros((len(self.tried), made), np.bool_)], axis=1)
        self.open = np.append(self.open, np.ones(made, np.bool_))
        self.count += made

    def _failing(self, parts: Ids, count: int) -> NDArray[np.bool_]:
        """Which parts some model refuses."""
        cells = self.problem.cells
        classes = cells.merged(np.zeros((0, count), np.int32), (), parts, count)
        classes = replace(classes, quasi=(), population=None)
        failing = np.zeros(count, np.bool_)
        for model in self.problem.models:
            failing[judge(model, classes, self.problem.reading).failing] = True
        return failing

    def _cut(self, column: int, active: Ids) -> _Cut:
        """Cut each group between children of its label, the frequent ones first, where the parts are most equal."""
        hierarchy = self.problem.hierarchies[column]
        codes, groups = self.problem.cells.keys[column][active], self.groups[active]
        level = lowest(hierarchy, codes, groups, self.count)
        child = _children(hierarchy, codes, level[groups])
        ids, many = distinct((groups.astype(np.int32), child), (self.count, int(child.max(initial=0)) + 1), len(groups))
        rows = total(ids, self.problem.cells.sizes[active], many)
        owner = np.zeros(many, np.int64)
        owner[ids] = groups
        wide, inner = np.zeros(many), np.zeros(many)
        wide[ids], inner[ids] = _widths(hierarchy, codes, level[groups])
        order = np.lexsort((-rows, owner))
        after = np.zeros(many, np.bool_)
        after[order] = _balanced(owner[order], rows[order], self.count)
        return _Cut(second=after[ids], worth=_worth(owner, after, rows, wide, inner, self.count))


def _widths(
    hierarchy: Hierarchy, codes: NDArray[np.int32], level: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each cell, the share of the domain that its group's label covers, and that its child label covers."""
    wide, inner = np.zeros(len(codes)), np.zeros(len(codes))
    for number, labels in enumerate(hierarchy.levels):
        here = level == number
        below = hierarchy.levels[max(number - 1, 0)]
        wide[here] = labels.sizes[labels.parent[codes[here]]]
        inner[here] = below.sizes[below.parent[codes[here]]]
    whole = max(hierarchy.total, 1e-300)
    return wide / whole, inner / whole


def _worth(
    owner: NDArray[np.int64],
    after: NDArray[np.bool_],
    rows: NDArray[np.int64],
    wide: NDArray[np.float64],
    inner: NDArray[np.float64],
    count: int,
) -> NDArray[np.float64]:
    """What each group gains by its cut: a part with one child gets its label; a wide label counts a little too."""
    part = owner * 2 + after
    alone = np.bincount(part, minlength=2 * count) == 1
    gain = np.where(alone[part], rows * (wide - inner), 0.0) + 0.1 * rows * wide
    worth = weighed(owner, gain, count) / np.maximum(total(owner, rows, count), 1)
    return np.where(np.bincount(owner, minlength=count) > 1, worth + 1e-9, _NEVER)


def _children(hierarchy: Hierarchy, codes: NDArray[np.int32], level: NDArray[np.int64]) -> NDArray[np.int32]:
    """For each cell, its label one level below its group's; its own value where the group has one value."""
    child = codes.copy()
    for number in range(1, hierarchy.height):
        here = level == number + 1
        child[here] = hierarchy.levels[number].parent[codes[here]]
    return child


def _balanced(owner: NDArray[np.int64], sizes: NDArray[np.int64], count: int) -> NDArray[np.bool_]:
    """Which children, in their order within each group, come after the cut that parts the rows most equally."""
    whole = total(owner, sizes, count)
    ends = np.cumsum(sizes)
    begins = np.full(count, ends[-1] if len(ends) else 0)
    np.minimum.at(begins, owner, ends - sizes)
    upto = ends - begins[owner]
    last = np.append(owner[1:] != owner[:-1], True)
    uneven = np.where(last, np.inf, np.abs(2.0 * upto - whole[owner]))
    least = np.full(count, np.inf)
    np.minimum.at(least, owner, uneven)
    cut = np.full(count, np.iinfo(np.int64).max)
    chosen = (uneven == least[owner]) & ~last
    np.minimum.at(cut, owner[chosen], upto[chosen])
    return np.asarray(upto > cut[owner])
