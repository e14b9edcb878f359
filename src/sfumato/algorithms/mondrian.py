"""Mondrian: groups are cut in two as long as both parts meet the requirement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from sfumato.algorithms.feasibility import mended, refuse_models, refuse_unreachable
from sfumato.algorithms.labels import Output, recoded
from sfumato.algorithms.mondrian_columns import Yardstick, columns
from sfumato.algorithms.mondrian_cuts import Choose, Cut, Knife, Marks, Rule, Slices, tried_out
from sfumato.algorithms.problem import Grain, Outcome, Problem
from sfumato.core.arguments import one_of
from sfumato.core.errors import ParameterError, PlanError
from sfumato.core.run_context import Work
from sfumato.counts.classes import Classes
from sfumato.counts.keys import Ids, total
from sfumato.models.k_anonymity import KAnonymity, asked_k
from sfumato.models.model import Model, judge

# Round by round, every open group is cut in two; a cut that a model refuses is taken back, and the next one tried.


_CUT = 4
"""Steps to weigh the cuts of one column of one cell."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Groups:
    """Groups of cells, and what it took to find them."""

    ids: Ids
    """The group of each cell."""
    count: int
    """How many groups there are."""
    rounds: int
    """How often the open groups were cut."""
    refused: int
    """How many cuts a model refused."""


def divided(problem: Problem, knife: Knife, order: Ids, ahead: int, work: Work) -> Groups:
    """Cut all cells, in the given order, into groups that cannot be cut any more.

    Groups of at most ``ahead`` rows try cuts out to the end.
    """
    judged = [model for model in problem.models if not isinstance(model, KAnonymity)]
    waiting, done = Slices.of(np.zeros(1, np.int64), np.full(1, len(order))), [order[:0]]
    rounds = refused = 0
    while waiting.count and not work.expired:
        rounds += 1
        work.spend(_CUT * len(problem.hierarchies) * int(waiting.lengths.sum()))
        fresh = waiting.numbers < 0
        moved = order.copy()
        knife(order, moved, waiting)
        small = fresh & waiting.cut
        if ahead and small.any():
            small &= _rows(problem.cells.sizes[order], waiting) <= ahead
            tried_out(knife, order, moved, waiting, small)
        done.append(waiting.ends[0, ~waiting.cut])
        waiting = waiting.take(waiting.cut)
        back = _refused(problem, judged, moved, waiting)
        again = waiting.take(back)
        refused += again.count
        moved[again.places] = order[again.places]
        order, waiting = moved, again + waiting.take(~back).halves()
        work.advance("cut", len(order) - int(waiting.lengths.sum()), len(order))
    starts = np.sort(np.concatenate([*done, waiting.ends[0]]))
    ids = np.empty(len(order), np.int64)
    ids[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
    return Groups(ids=ids, count=len(starts), rounds=rounds, refused=refused)


def _rows(sizes: Ids, groups: Slices) -> Ids:
    """How many rows each group has; ``sizes`` in the cells' order."""
    upto = np.append(0, np.cumsum(sizes))
    return np.asarray(upto[groups.ends[1]] - upto[groups.ends[0]])


def _refused(problem: Problem, models: Sequence[Model], order: Ids, groups: Slices) -> Marks:
    """Which cuts leave a part that some model does not allow."""
    failing = np.zeros(2 * groups.count, np.bool_)
    if models and groups.count:
        places, lengths = groups.places, groups.lengths
        parts = np.full(len(order), -1, np.int64)
        second = places >= np.repeat(groups.ends[2], lengths)
        parts[order[places]] = 2 * np.repeat(np.arange(groups.count), lengths) + second
        classes = _parts(problem.cells, models, parts, 2 * groups.count)
        for model in models:
            failing[judge(model, classes, problem.reading).failing] = True
    return np.asarray(failing[0::2] | failing[1::2])


def _parts(cells: Classes, models: Sequence[Model], parts: Ids, count: int) -> Classes:
    """The parts as classes, with the columns that models look at; cells of no part (-1) only count for the whole."""
    inside = parts >= 0
    wanted = dict.fromkeys(name for model in models for name in model.columns)
    return replace(
        cells,
        quasi=(),
        keys=np.zeros((0, count), np.int32),
        labels=(),
        sizes=total(parts[inside], cells.sizes[inside], count),
        tallies={name: cells.compared(name).merged(parts, count) for name in wanted},
        measures={},
        wild=None,
        population=None,
        people=None if cells.people is None else cells.people.moved(parts),
    )


# Mondrian and its options.


Order = Literal["taxonomy", "ordered"]

_AHEAD = 16
"""Groups of at most so many times k rows try cuts out to the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mondrian:
    """Cut the table into many small groups, and show each group under labels that cover its values.

    Claim: every group meets every model; no group could be cut by one of the cuts asked for with both parts still
        meeting them. With k-anonymity alone, ``order`` ``ordered`` and ``cut`` not ``median``, a group has at most
        m + 2d(k-1) rows, d being the number of columns and m the most copies of one record in it; relaxed, 2k-1.
    How: all groups are cut at once, round by round. Each takes the cut that is best by ``choose``; one that leaves a
        part which a model refuses is taken back, and the next is tried. With ``choose`` ``metric``, small groups try a
        few cuts out to the end.
    Needs: models that judge groups one by one; a class attribute for ``gain``. Where joining can break a model, groups
        that read alike are judged together, and a stricter form of the model is asked for if they fail.
    Cost: rounds times cells times columns; a group that cannot be cut any more is left alone.
    Source: LeFevre, DeWitt, Ramakrishnan 2006: Mondrian (strict and relaxed), workload-aware anonymization (``gain``);
        cuts along taxonomies as in Fung et al. 2005; cuts tried out as in the pilot method, Duin and Voss 1999.
        Document 000, section 20.3.1.3.
    """

    strict: bool = True
    """Whether rows with equal values stay on one side of a cut; otherwise a cut may divide them."""
    cut: Cut = "balanced"
    """Where a column is cut: best balanced (elsewhere if a model refuses that), at the median only, or anywhere."""
    order: Order = "taxonomy"
    """Whether cuts lie between children of a group's label, or between any two values in the column's order."""
    choose: Choose = "metric"
    """The best cut: least loss by the metric, widest column, or highest information gain about the class."""
    output: Output = "hierarchy"
    """How groups are shown: hierarchy values, boxes or means."""

    def __post_init__(self) -> None:
        if not isinstance(self.strict, bool):
            raise ParameterError(f"strict must be true or false, not {self.strict!r}")
        one_of("cut", self.cut, get_args(Cut))
        one_of("order", self.order, get_args(Order))
        one_of("choose", self.choose, get_args(Choose))
        one_of("output", self.output, get_args(Output))
        if not self.strict and self.order == "taxonomy":
            raise ParameterError(
                "strict must be true where cuts follow taxonomies, not False; or use order = 'ordered'"
            )

    @property
    def grain(self) -> Grain:
        """Single rows are told apart where equal ones may be divided."""
        return "cells" if self.strict else "rows"

    def __call__(self, problem: Problem, work: Work) -> Outcome:
        """The groups under their labels."""
        return mended(problem, "mondrian", lambda subproblem: self._cut(subproblem, work))

    def _cut(self, problem: Problem, work: Work) -> Outcome:
        groups = self.groups(problem, work)
        recoding = recoded(problem, groups.ids, groups.count, self.output)
        effort = work.told({"groups": groups.count, "rounds": groups.rounds, "cuts_taken_back": groups.refused})
        return Outcome.of(problem, recoding, np.zeros(problem.cells.count, np.bool_), effort)

    def groups(self, problem: Problem, work: Work) -> Groups:
        """The groups before they get labels."""
        self._refuse(problem)
        refuse_unreachable(replace(problem, limit=0))
        least = asked_k(problem.models)
        rule = Rule(
            ordered=self.order == "ordered",
            relaxed=not self.strict,
            cut="balanced" if self.choose == "width" and self.cut == "any" else self.cut,
            choose=self.choose,
            least=least,
        )
        target = problem.cells.tally(problem.target) if self.choose == "gain" and problem.target else None
        knife = Knife(columns(problem, self._yardstick), problem.cells.sizes, rule, target)
        ahead = _AHEAD * least if self.choose == "metric" else 0
        order = np.arange(problem.cells.count) if self.strict else _by_values(problem)
        return divided(problem, knife, order, ahead, work)

    @property
    def _yardstick(self) -> Yardstick:
        if self.choose == "width":
            return "widths" if self.order == "ordered" else "hierarchy"
        return "boxes" if self.output == "distributions" else self.output

    def _refuse(self, problem: Problem) -> None:
        refuse_models(problem, "mondrian", mended=True)
        if self.choose == "gain" and problem.target is None:
            raise PlanError("algorithm.choose: gain needs a column with role = 'target'; metric and width need none")
        if not self.strict and (problem.cells.sizes != 1).any():
            raise ParameterError("strict must be true for cells of several rows, not False")


def mondrian(problem: Problem, work: Work) -> Outcome:
    """Mondrian as it is without options."""
    return Mondrian()(problem, work)


def _by_values(problem: Problem) -> Ids:
    """Rows by their sensitive values, so that those that a cut divides can be dealt out evenly; then by all others.

    So the order in which the rows stand in the table does not matter: rows that are still equal are alike in all.
    """
    model_columns = (name for model in problem.models for name in model.columns)
    keys = []
    for name in dict.fromkeys([*model_columns, *problem.cells.tallies]):
        tally = problem.cells.tally(name)
        codes = np.zeros(problem.cells.count, np.int64)
        codes[tally.owners] = tally.codes
        keys.append(codes)
    return np.asarray(np.lexsort([*problem.cells.keys[::-1], *keys[::-1]]), np.int64)


# Mondrian: groups are cut in two as long as both parts meet the requirement.


__all__ = ["Mondrian", "mondrian"]
