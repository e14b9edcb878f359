"""Top-down specialization and its options."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

from sfumato.ground.arguments import at_least, one_of
from sfumato.ground.errors import Infeasible, PlanError
from sfumato.ground.work import Work
from sfumato.group.cut_counts import ROWS, CutSource, Figure
from sfumato.group.needs import refuse_lacking
from sfumato.group.weighted_cells import JointCells
from sfumato.models.judge import judge
from sfumato.models.steady import MENDED
from sfumato.models.verdict import one_class
from sfumato.publish.lattice.reach import described, refuse_guarded_models, refuse_unreachable, why_nothing_fits
from sfumato.publish.problem import Grain, Outcome, Problem
from sfumato.publish.top_down.demands import demands, passed_by_all
from sfumato.publish.top_down.splits import Score
from sfumato.publish.top_down.top_down_search import specialized

AnyScore = Literal["auto", "gain", "discernibility"]
Splits = Literal["best", "valid"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopDown:
    """Start with ``*`` everywhere; replace one label after the other by the labels below it, as long as models hold.

    Claim: the release meets every model, and no single label of its cut could be replaced by the labels below it with
        every model still holding (an interval: by its best split). Every step on the way meets the models too. It is
        not the least loss possible.
    How: the candidate with the highest score is tried. If the table with it meets the models it is taken, otherwise
        dropped for good: what is too fine now is too fine later. Intervals of numbers are grown by splitting.
    Needs: models that coarser labels keep, and no population; a class attribute for ``gain``. Of the table only counts
        under a cut, whole or estimated; the joint for models beside k-anonymity, LKC-privacy and confidence bounding.
    Cost: every candidate is tried once. A try reads the cells that have the label, and counts the groups that contain
        a label below it on leaf partitions.
    Source: Fung, Wang, Yu 2005; Mohammed, Fung, Hung, Lee 2009: LKC-privacy. Document 003, section 3.3.
    """

    grain: ClassVar[Grain] = "cells"
    """Equal rows stay together."""

    score: AnyScore = "auto"
    """By which the next label is chosen: information gain about the class, or the squares of the classes that have it
    (discernibility); auto is gain where there is a class attribute."""
    splits: Splits = "best"
    """How intervals of numbers are split: at their best place or, if models refuse that, not at all (best); or at the
    best place that models allow (valid)."""
    steps: int | None = None
    """The most specializations; as many as the models allow where nothing is said."""

    def __post_init__(self) -> None:
        one_of("score", self.score, get_args(AnyScore))
        one_of("splits", self.splits, get_args(Splits))
        if self.steps is not None:
            at_least("steps", self.steps, 0)

    def __call__(self, problem: Problem, work: Work) -> Outcome:
        """The finest cut on the way down, and the way."""
        return self.over(problem, JointCells(cells=problem.cells), work)

    def over(self, problem: Problem, source: CutSource, work: Work) -> Outcome:
        """The same with counts from a source.

        Of the problem's cells only the columns and values are read; there need be none unless the joint is needed.
        """
        score = self.check(problem, source)
        _refuse_top(replace(problem, limit=0), source)
        return specialized(problem, work, score, self.steps, source=source, retry=self.splits == "valid")

    def check(self, problem: Problem, source: CutSource) -> Score:
        """Refuse what cannot be searched, as far as that needs no count; returns the score that auto stands for."""
        score = self._score(problem)
        _refuse_models(problem)
        _refuse_source(problem, source)
        return score

    def _score(self, problem: Problem) -> Score:
        if self.score == "gain" and problem.target is None:
            raise PlanError("algorithm.score: gain needs a column with role = 'target'; use discernibility")
        if self.score == "auto":
            return "discernibility" if problem.target is None else "gain"
        return self.score


def _refuse_models(problem: Problem) -> None:
    """Refuse models that finer labels can mend or that read labels, and a population."""
    refuse_guarded_models(problem, "top-down")
    for model in problem.models:
        if not model.kept_by_merging and not isinstance(model, MENDED):
            raise PlanError(
                "algorithm.name: top-down drops a label that is too fine for good, which needs models that coarser "
                f"labels keep; {described(model)} is none; use optimal"
            )
    if problem.cells.population is not None:
        raise PlanError(
            "algorithm.name: top-down shows labels of several levels in one column, and a population is counted by one "
            "level per column; use optimal"
        )


def _refuse_source(problem: Problem, source: CutSource) -> None:
    """Refuse a source without the joint where models judge whole classes, or the metric measures cells."""
    for model in problem.models:
        if demands(model, problem.cells, problem.reading) is None:
            refuse_lacking(source, ("joint",), f"algorithm.name: top-down with {described(model)}")
    if set(problem.metric.needs) - {"target", "sizes"}:
        refuse_lacking(source, ("joint",), f"utility.metric: {problem.metric.name}")


def _refuse_top(problem: Problem, source: CutSource) -> None:
    """Refuse what not even the table of nothing but ``*`` meets, also when missing values are read as the worst."""
    cells, reading = problem.cells, problem.reading
    asked = [demands(model, cells, reading) for model in problem.models]
    figures: tuple[Figure, ...] = (ROWS, *(w for found in asked for one in found or () for w in one.watched))
    totals = dict(zip(figures, source.root(figures).total().tolist(), strict=True))
    doubtful = tuple(
        model
        for model, found in zip(problem.models, asked, strict=True)
        if found is None or not passed_by_all(found, totals)
    )
    if doubtful and "joint" not in source.gives:
        raise Infeasible(f"{described(doubtful[0])} is out of reach: all {totals[ROWS]:g} rows together do not meet it")
    refuse_unreachable(replace(problem, models=doubtful))
    whole = one_class(cells)
    broken = [m for m in doubtful if not m.kept_by_merging and not judge(m, whole, reading).holds]
    if broken:
        raise Infeasible(
            f"top-down begins with all rows as one class, and that does not meet {described(broken[0])}: "
            f"{broken[0].reachable(cells).note}. Use algorithm.name = 'optimal', which looks at finer tables too"
        )
    if not all(judge(model, whole, reading).holds for model in doubtful):
        raise Infeasible(why_nothing_fits(problem))
