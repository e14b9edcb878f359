"""Top-down specialization: its search, its trail and its options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Protocol, cast, get_args, runtime_checkable

import numpy as np

from sfumato.algorithms.feasibility import described, refuse_guarded_models, refuse_unreachable, why_nothing_fits
from sfumato.algorithms.problem import Grain, Outcome, Problem, Recoded, Step, Trail
from sfumato.algorithms.top_down.columns import Column, Counted, Score, Split, classes_of, columns, counted
from sfumato.algorithms.top_down.partitions import Candidates, Partitions, Refined
from sfumato.algorithms.top_down.validity import Validity, demands, passed_by_all
from sfumato.core.arguments import at_least, one_of
from sfumato.core.errors import Infeasible, PlanError
from sfumato.core.run_context import Work
from sfumato.counts.classes import Classes
from sfumato.counts.keys import weighed
from sfumato.counts.local_cuts import JointCells
from sfumato.counts.sources import ROWS, CutSource, Figure, JointCuts, Numbers, refuse_lacking
from sfumato.counts.tally import Tally
from sfumato.metrics.metric import View
from sfumato.models.model import judge, one_class
from sfumato.models.monotone import MENDED

# What each step of a trail is worth: the smallest class, and what the problem's metric says.


class Figures:
    """The metric on the classes of the current cut.

    A metric whose loss is a sum over columns sees of each column only how many rows have which label. For such a one
    the rows are paired anew, each column sorted by its labels: that leaves few classes and changes no such figure.
    It is not done where a source does not count every column.
    Estimated rows are scaled, so that together they are a whole number, the nearest.
    """

    def __init__(self, problem: Problem, columns: Sequence[Column], counted: Sequence[Counted]) -> None:
        self.problem, self.columns = problem, columns
        cells = problem.cells
        self._whole = _whole(counted)
        self._rows = [self._scaled(column.rows) for column in counted]
        whole = all(abs(rows.sum() - self._rows[0].sum()) < 1 and rows.sum() > 0 for rows in self._rows)
        floors = problem.metric.floors(problem.hierarchies, self._rows) if whole else None
        self._by_column = floors is not None and "target" not in problem.metric.needs
        self._target = problem.target if "target" in problem.metric.needs else None
        self._measured = [name for name in problem.metric.needs if name in cells.measures]
        self._sums = {name: float(cells.measures[name].sum()) for name in self._measured}
        self._upto = [self._counted(place) for place in range(len(columns))]
        self._rulers = [column.ruler() for column in columns]

    @property
    def watched(self) -> tuple[Figure, ...]:
        """What must be counted in each partition."""
        return () if self._target is None else classes_of(self.problem)

    def loss(self, partitions: Partitions, changed: int | None = None) -> float:
        """What the problem's metric says about the classes, after the labels of one column changed."""
        if changed is not None:
            self._upto[changed] = self._counted(changed)
            self._rulers[changed] = self.columns[changed].ruler()
        classes = self._paired() if self._by_column else self._classes(partitions)
        view = View(
            classes=classes,
            suppressed=np.zeros(classes.count, np.bool_),
            rulers=tuple(self._rulers),
            target=self.problem.target,
        )
        return self.problem.metric.loss(view).value

    def _paired(self) -> Classes:
        """Classes with the same rows per label in every column as the table has."""
        ends = np.unique(np.concatenate([np.zeros(1, np.int64), *self._upto]))
        keys = [np.searchsorted(sums, ends[1:], side="left") for sums in self._upto]
        measures = {name: np.append(summed, np.zeros(max(len(ends) - 2, 0))) for name, summed in self._sums.items()}
        return replace(
            self.problem.cells,
            keys=np.array(keys, np.int32).reshape(len(keys), len(ends) - 1),
            labels=self._labels(),
            sizes=np.diff(ends),
            tallies={},
            measures=measures,
            wild=None,
            population=None,
        )

    def _counted(self, place: int) -> Numbers:
        """The rows of a column's labels, each with those before it."""
        column, rows = self.columns[place], self._rows[place]
        upto = np.cumsum(np.bincount(column.of_code, weights=rows, minlength=column.values).astype(rows.dtype))
        total = self._rows[0].sum()  # estimates of two columns add up to the same but for rounding
        return np.where(upto >= upto[-1], total, np.minimum(upto, total))

    def _scaled(self, counts: Numbers) -> Numbers:
        return counts if self._whole is None else np.asarray(counts * self._whole)

    def _classes(self, partitions: Partitions) -> Classes:
        """The partitions as classes, with what the metric needs."""
        cells = self.problem.cells
        measures = {}
        if self._measured:
            parts = cast("JointCuts", partitions.walk).cell_parts()
            measures = {name: weighed(parts, cells.measures[name], partitions.count) for name in self._measured}
        return replace(
            cells,
            keys=partitions.keys,
            labels=self._labels(),
            sizes=self._scaled(partitions.rows),
            tallies={} if self._target is None else {self._target: self._tally(partitions, self._target)},
            measures=measures,
            wild=None,
            population=None,
        )

    def _labels(self) -> tuple[tuple[str, ...], ...]:
        """Numbers for names: metrics ask how many there are."""
        return tuple(("",) * column.values for column in self.columns)

    def _tally(self, partitions: Partitions, target: str) -> Tally:
        tally = self.problem.cells.tally(target)
        dense = self._scaled(partitions.counts[:, -len(tally.values) :])
        owners, codes = np.nonzero(dense)
        return replace(
            tally,
            owners=owners,
            codes=codes.astype(np.int32),
            counts=dense[owners, codes],
            classes=partitions.count,
        )


def _whole(counted: Sequence[Counted]) -> float | None:
    """What estimated rows are multiplied by to be a whole number together, or a little more; None for whole counts."""
    if not counted or counted[0].rows.dtype.kind != "f":
        return None
    rows = float(counted[0].rows.sum())
    return max(round(rows), 1) / rows * (1 + 1e-12) if rows else 1.0


# The search: the best candidate is tried, and taken or dropped for good, until none is left.


@runtime_checkable
class ChoosingSource(Protocol):
    """A source that has a say in which label is tried next: its records are spread over parties by columns."""

    def candidates(self, search: Search) -> Candidates:
        """What a search is to take its candidates from; called when all else of it is there."""


def specialized(
    problem: Problem,
    work: Work,
    score: Score,
    most: int | None,
    *,
    source: CutSource | None = None,
    retry: bool = False,
    general: bool = False,
) -> Outcome:
    """Specialize from the top downwards; the top meets every model.

    ``most`` bounds the steps. Counts come from the ``source``, or from the problem's cells. With ``retry`` an interval
    whose best split is refused comes back with another. With ``general`` every candidate is judged on the whole table,
    which says the same.
    """
    search = Search(problem, source or JointCells(cells=problem.cells), score, retry=retry, general=general)
    while (most is None or len(search.steps) < most) and search.candidates.left:
        if work.expired:
            search.effort = work.told(search.effort)
            break
        work.spend(problem.cells.count + len(search.candidates))
        search.advance()
        tested = int(search.effort["tested"])
        work.advance("specialize", tested, tested + len(search.candidates))
    return search.outcome()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Taken:
    """A step before its labels have names."""

    place: int
    value: int
    values: tuple[int, ...]
    score: float
    anonymity: int
    loss: float


class Search:
    """The current cut, its leaf partitions, and the steps that led there."""

    def __init__(self, problem: Problem, source: CutSource, score: Score, *, retry: bool, general: bool) -> None:
        """Everything at the top."""
        self.problem, self.score, self.retry = problem, score, retry
        by_column = counted(problem, source, score)
        self.columns = columns(problem, score, by_column)
        self.validity, self.figures = Validity(problem, general=general), Figures(problem, self.columns, by_column)
        walk = source.root((ROWS, *self.validity.watched, *self.figures.watched))
        self.partitions = Partitions(len(self.columns), walk)
        rows = self.partitions.rows[0]
        if isinstance(source, ChoosingSource):
            self.candidates = source.candidates(self)
        else:
            self.candidates = Candidates(self.columns, score, float(rows))
        self.rows = self.anonymity = int(rows)
        self.loss = self.top = self.figures.loss(self.partitions)
        self.steps: list[Taken] = []
        self.effort: dict[str, int | float | str] = {"specializations": 0, "tested": 0, "invalid": 0}

    def advance(self) -> None:
        """Try the best candidate; take it, or drop it for good, or let an interval come back with another split."""
        place, value = self.candidates.pop()
        worth = self.candidates.worth(place, value)
        split = self.candidates.split(place, value)
        refined = self.partitions.refine(place, value, split.child_of, len(split.values))
        self.effort["tested"] = int(self.effort["tested"]) + 1
        if self.validity.holds(self.columns, self.partitions, refined, split):
            self._take(place, split, refined, worth)
        else:
            self.effort["invalid"] = int(self.effort["invalid"]) + 1
            if self.retry and self.columns[place].retry(value):
                self.candidates.add(place, [value])

    def outcome(self) -> Outcome:
        """The cut as it is now, and the way there."""
        cuts = tuple(column.cut() for column in self.columns)
        done = {"partitions": self.partitions.count, "choices_counted": self.validity.counted}
        return Outcome(
            levels=None,
            recoded=Recoded.under(self.problem, cuts),
            suppressed=np.zeros(self.problem.cells.count, np.bool_),
            loss=self.loss,
            proven=False,
            cut=cuts,
            trail=Trail(direction="down", score=self.score, anonymity=self.rows, loss=self.top, steps=self._named()),
            effort=self.effort | {"specializations": len(self.steps)} | done,
        )

    def _take(self, place: int, split: Split, refined: Refined, worth: float) -> None:
        """Replace a label by those below it; one that no row has, as a declared domain may, is no candidate."""
        values = split.values[np.unique(refined.child)].tolist()
        column = self.columns[place]
        column.take(split)
        self.candidates.moved(self.partitions, refined, split.values)
        self.partitions.apply(refined, split.values)
        self.candidates.add(place, values)
        self.loss = self.figures.loss(self.partitions, place)
        self.anonymity = min(self.anonymity, int(refined.rows.min(initial=self.anonymity)))
        self.steps.append(
            Taken(
                place=place,
                value=split.value,
                values=tuple(values),
                score=worth,
                anonymity=self.anonymity,
                loss=self.loss,
            )
        )

    def _named(self) -> tuple[Step, ...]:
        """The steps; a label has one name in all of them, which is the released one if it is released."""
        names = [column.names() for column in self.columns]
        return tuple(
            Step(
                column=self.problem.cells.quasi[step.place],
                coarse=names[step.place][step.value],
                fine=tuple(names[step.place][value] for value in step.values),
                score=step.score,
                anonymity=step.anonymity,
                loss=step.loss,
            )
            for step in self.steps
        )


# Top-down specialization and its options.


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
    by_model = [demands(model, cells, reading) for model in problem.models]
    figures: tuple[Figure, ...] = (
        ROWS,
        *(w for model_demands in by_model for demand in model_demands or () for w in demand.watched),
    )
    totals = dict(zip(figures, source.root(figures).total().tolist(), strict=True))
    doubtful = tuple(
        model
        for model, model_demands in zip(problem.models, by_model, strict=True)
        if model_demands is None or not passed_by_all(model_demands, totals)
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
