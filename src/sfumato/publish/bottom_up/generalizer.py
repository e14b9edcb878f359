"""Bottom-up generalization and its options."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

import numpy as np

from sfumato.ground.arguments import at_least, one_of
from sfumato.ground.errors import ParameterError, PlanError
from sfumato.ground.work import Work
from sfumato.models.steady import MENDED
from sfumato.publish.bottom_up.beam import Beam
from sfumato.publish.bottom_up.climb import Climb, State
from sfumato.publish.bottom_up.column_labels import Parts
from sfumato.publish.bottom_up.escape import Escape
from sfumato.publish.bottom_up.feasibility import Requirement, Table
from sfumato.publish.bottom_up.generalization_cost import Scale, Score
from sfumato.publish.bottom_up.numbers import NumberParts, is_numeric
from sfumato.publish.bottom_up.retracing import Retracing
from sfumato.publish.bottom_up.tea import TeaIndex
from sfumato.publish.bottom_up.trees import TreeParts
from sfumato.publish.bottom_up.vids import PlainVids
from sfumato.publish.lattice.reach import described, refuse_guarded_models, refuse_unreachable
from sfumato.publish.problem import Grain, Outcome, Problem, Recoded
from sfumato.publish.trail import Trail

Mode = Literal["plain", "index", "pruning"]
Asked = Literal["auto", "information-privacy", "information", "loss-privacy", "loss"]
MOST_TRAILS = 64
"""No more trails are followed at once: each keeps an index of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BottomUp:
    """Join labels of a column under their parent, one parent at a time, until every model holds.

    Claim: every class meets every model, nothing is suppressed, and equal values read alike in all rows. Each step is
        the best by its score at that point; no claim is made about the least loss. The modes differ in cost only.
    How: a step makes all children of a node read as that node. It is scored by what it loses about the class divided
        by the rows that the smallest class gains; where no step gains any, by the loss alone. An index knows which
        combinations of labels (vids) have a value and which become one. Only steps by which every smallest vid becomes
        one with another are counted out: no other step can raise the anonymity.
    Needs: models that joining classes cannot break; (e, m)-anonymity and personalized privacy are judged after every
        step, and the first table that meets them is taken. A target for the scores that weigh information.
    Cost: a step costs time in the vids that it generalizes, and in the smallest vids; at most one step per column is
        counted out (two for numbers). There are at most as many steps as inner nodes.
    Source: Wang, Yu, Chakraborty 2004 (document 001); sets, values put out and numbers from its section 7.
    """

    grain: ClassVar[Grain] = "cells"

    score: Asked = "auto"
    """What makes a step better; ``auto`` weighs information where there is a target, else the loss metric."""
    mode: Mode = "pruning"
    """How the anonymity after a step is found: by regrouping everything, by the index, or only where it can rise."""
    partial: bool = False
    """Whether two siblings may be joined before their parent is made."""
    suppress: bool = False
    """Whether single values may be put out, to ``*``."""
    beam: int = 1
    """How many trails are followed at once, at most 64; with several, steps that were not needed are taken back."""
    escapes: int = 0
    """How many random walks are taken from the labels that were found, to leave a local optimum."""
    steps: int | None = None
    """How many steps are taken at least, beyond what the models need."""

    def __post_init__(self) -> None:
        one_of("score", self.score, get_args(Asked))
        one_of("mode", self.mode, get_args(Mode))
        for name in ("partial", "suppress"):
            if not isinstance(getattr(self, name), bool):
                raise ParameterError(f"{name} must be true or false, not {getattr(self, name)!r}")
        at_least("beam", self.beam, 1)
        if self.beam > MOST_TRAILS:
            raise ParameterError(f"beam must be at most {MOST_TRAILS}, not {self.beam}")
        at_least("escapes", self.escapes, 0)
        if self.steps is not None:
            at_least("steps", self.steps, 0)

    def __call__(self, problem: Problem, work: Work) -> Outcome:
        """The labels where the steps ended, and the steps."""
        _refuse(problem, self.steps or 0)
        scale = Scale(score=self._score(problem), rows=problem.cells.rows)
        requirement = Requirement(problem, mixed=self.suppress)
        start = self._start(problem, requirement, scale)
        effort: Counter[str] = Counter()
        anonymity, loss, vids = start.vids.anonymity, start.loss, start.vids.count
        climb = Climb(requirement, scale, work, self.steps or 0, effort)
        found = self._found(climb, start)
        trail = Trail(
            direction="up",
            score=scale.score,
            anonymity=anonymity,
            loss=loss,
            steps=tuple(found.steps),
            enough=found.enough,
        )
        return _outcome(problem, found, trail, self._effort(effort, vids, found, work))

    def _found(self, climb: Climb, start: State) -> State:
        """The paper's trail; or the best of several and of random walks, which is then gone over once more."""
        if self.beam == 1 and not self.escapes:
            return climb.run(start)
        way = Beam(climb, start, self.beam).run()
        if self.escapes:
            way = Escape(climb, start, self.escapes).run(way)
        return Retracing(climb, start).told(way)

    def start(self, problem: Problem) -> State:
        """The table as it is, with every value under its own label."""
        scale = Scale(score=self._score(problem), rows=problem.cells.rows)
        return self._start(problem, Requirement(problem, mixed=self.suppress), scale)

    def _start(self, problem: Problem, requirement: Requirement, scale: Scale) -> State:
        columns = [self._column(problem, place, scale) for place in range(len(problem.hierarchies))]
        keys = [column.now[codes] for column, codes in zip(columns, problem.cells.keys, strict=True)]
        sizes = problem.cells.sizes
        vids: PlainVids | TeaIndex
        if self.mode == "plain":
            vids = PlainVids(columns, keys, sizes, requirement.k)
        else:
            vids = TeaIndex(columns, keys, sizes, requirement.k, pruning=self.mode == "pruning")
        table = Table(columns, vids.anonymity)
        return State(table=table, vids=vids, loss=requirement.loss(table))

    def _column(self, problem: Problem, column: int, scale: Scale) -> Parts:
        if is_numeric(problem, column):
            return NumberParts(problem, column, scale)
        return TreeParts(problem, column, scale, partial=self.partial, suppress=self.suppress)

    def _score(self, problem: Problem) -> Score:
        if self.score == "auto":
            return "loss-privacy" if problem.target is None else "information-privacy"
        if self.score.startswith("information") and problem.target is None:
            raise PlanError(
                f"algorithm.score: {self.score} needs a column with role = 'target'; loss-privacy and loss need none"
            )
        return self.score

    def _effort(self, done: Counter[str], vids: int, found: State, work: Work) -> dict[str, int | float | str]:
        effort: dict[str, int | float | str] = {
            "mode": self.mode,
            "vids": vids,
            "vids_left": found.vids.count,
            "generalizations": done["generalizations"],
            "candidates": done["candidates"],
            "passed": done["passed"],
            "counted": done["counted"],
            "critical": done["critical"],
            "pruned": done["candidates"] - done["counted"],
        }
        if self.beam > 1 or self.escapes:
            effort |= {"walks": done["walks"], "taken_back": done["taken back"]}
        return work.told(effort)


def _refuse(problem: Problem, steps: int) -> None:
    refuse_guarded_models(problem, "bottom-up")
    for model in problem.models:
        if not model.kept_by_merging and not isinstance(model, MENDED):
            raise PlanError(
                f"algorithm.name: bottom-up joins classes, which {described(model)} does not allow; use optimal"
            )
        if not model.kept_by_merging and steps:
            raise PlanError(
                f"algorithm.steps: steps beyond what is needed join classes, which can break {described(model)}; "
                "leave steps out, or use optimal"
            )
    refuse_unreachable(replace(problem, limit=0))


def _outcome(problem: Problem, found: State, trail: Trail, effort: dict[str, int | float | str]) -> Outcome:
    cut = tuple(column.cut() for column in found.table.columns)
    made = Recoded.under(problem, cut)
    nothing = np.zeros(problem.cells.count, np.bool_)
    return replace(Outcome.of(problem, made, nothing, effort), cut=cut, trail=trail)
