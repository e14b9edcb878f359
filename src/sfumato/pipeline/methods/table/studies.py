"""Studies of a table: figures by sampling weights, learners on a release, the cost of further columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.algorithms.problem import Outcome
from sfumato.attacks.dimensionality import Step, curse, recommendation
from sfumato.attacks.risk import sample_risk
from sfumato.attacks.subject import one_each
from sfumato.bundles.manifest.document import plain
from sfumato.core.errors import DataError, Infeasible, PlanError
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.core.staging import write_whole
from sfumato.counts.local_table import LocalTable
from sfumato.counts.sources import CellSource
from sfumato.metrics.classification import Errors, Labelled, Study
from sfumato.metrics.information_loss import LossMetric
from sfumato.metrics.learners import Learner
from sfumato.metrics.metric import View
from sfumato.models.k_anonymity import asked_k
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.inputs import load_table, marked
from sfumato.pipeline.methods.table.problem import Prepared, prepare
from sfumato.pipeline.plan.columns import refuse_guarded
from sfumato.pipeline.plan.evaluation import AttackPlan
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.release import release
from sfumato.reports.table_facts import SampleFacts, WeightedMean
from sfumato.tables.schema import Role
from sfumato.tables.table import Table

# What sampling weights say about a release of a table: risks of a sample, and what was lost by weight.
#
# The weights of rows that were suppressed, and of columns that are not published, are the original's: these figures
# are the steward's, and stand in no bundle.


_WEIGHT = "weight"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Weighed:
    """A release with the weight of every row."""

    weights: NDArray[np.float64]
    """Of the rows that were used."""
    view: View
    """The classes after recoding, each with the sum of its rows' weights."""
    shown: NDArray[np.bool_]
    """Which rows are published."""


def sample_figures(prepared: Prepared, outcome: Outcome, weight: str, *, published: bool) -> SampleFacts:
    """The figures of an outcome with the weight of every row, by the name of their column."""
    weighed_release = _weighed(prepared, outcome, weight)
    cells = prepared.problem.cells
    before, _ = replace(cells, measures={_WEIGHT: _by_cell(prepared, weighed_release.weights)}).project(cells.quasi)
    after = weighed_release.view.classes.take(~weighed_release.view.suppressed)
    return SampleFacts(
        column=weight,
        published=published,
        before=sample_risk(before.sizes, before.measures[_WEIGHT]),
        after=sample_risk(after.sizes, after.measures[_WEIGHT]),
        loss=weighted_loss(weighed_release.view),
        means=tuple(_means(prepared, weight, weighed_release)),
    )


def weighted_loss(view: View) -> float:
    """The loss metric LM with every row counted by its weight; a suppressed row loses everything."""
    weights = view.classes.measures[_WEIGHT]
    total = float(weights.sum())
    each = np.zeros(view.classes.count)
    for codes, ruler in zip(view.classes.keys, view.rulers, strict=True):
        each += LossMetric().cost(ruler)[codes]
    each /= max(len(view.rulers), 1)
    each[view.suppressed] = 1.0
    return float(weights @ each) / total if total else 0.0


def _weighed(prepared: Prepared, outcome: Outcome, weight: str) -> _Weighed:
    weights, problem = row_weights(in_memory(prepared.source).table, weight), prepared.problem
    cells = replace(problem.cells, measures={_WEIGHT: _by_cell(prepared, weights)}, people=None)
    view = outcome.recoding(problem).view(replace(problem, cells=cells), outcome.suppressed)
    return _Weighed(weights=weights, view=view, shown=~outcome.suppressed[_of_row(prepared)])


def in_memory(source: CellSource) -> LocalTable:
    """A source whose rows are in memory; others are refused."""
    if not isinstance(source, LocalTable):
        raise PlanError("input.weight: rows that stay in an engine have no weights here; read them into memory")
    return source


def _of_row(prepared: Prepared) -> NDArray[np.int64]:
    return in_memory(prepared.source).row_cells(prepared.problem.cells.quasi, singly=prepared.grain == "rows")


def _by_cell(prepared: Prepared, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of the weights of each cell's rows."""
    return np.asarray(np.bincount(_of_row(prepared), weights, prepared.problem.cells.count), np.float64)


def row_weights(table: Table, name: str) -> NDArray[np.float64]:
    """The weight of every row: a number above 0, or a refusal that says which is none."""
    cells = table.require(name, where="input.weight")
    weights = cells.cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
    wrong = weights.is_null() | ~weights.is_finite() | (weights <= 0)
    if wrong.any():
        at = int(wrong.arg_max() or 0)
        raise DataError(
            f"{table.source}, column {name!r}, row {at + 1}: {cells[at]!r} is no weight; it must be a number above 0: "
            "for so many people of the population the row stands"
        )
    return weights.to_numpy()


def _means(prepared: Prepared, weight: str, weighed_release: _Weighed) -> list[WeightedMean]:
    """Weighted means of the numbers that are published as they are, before and after."""
    table, means = in_memory(prepared.source).table.frame, list[WeightedMean]()
    for name, role in prepared.schema.roles.items():
        if role not in (Role.SENSITIVE, Role.TARGET, Role.KEEP) or name == weight:
            continue
        numbers = table[name].cast(pl.String).cast(pl.Float64, strict=False).fill_nan(None)
        if table[name].drop_nulls().len() and numbers.null_count() == table[name].null_count():
            means.append(_mean(name, numbers, weighed_release))
    return means


def _mean(name: str, numbers: pl.Series, weighed_release: _Weighed) -> WeightedMean:
    def mean(rows: NDArray[np.bool_]) -> float:
        known = rows & numbers.is_not_null().to_numpy()
        total = float(weighed_release.weights[known].sum())
        return float(weighed_release.weights[known] @ numbers.to_numpy()[known]) / total if total else 0.0

    return WeightedMean(column=name, before=mean(np.ones(len(numbers), np.bool_)), after=mean(weighed_release.shown))


def sample_to_json(facts: SampleFacts) -> dict[str, Any]:
    """As ``--json`` shows it."""
    means = {mean.column: {"before": mean.before, "after": mean.after} for mean in facts.means}
    return {
        "weight": facts.column,
        "published": facts.published,
        "before": facts.before.to_json(),
        "after": facts.after.to_json(),
        "loss": facts.loss,
        "means": means,
    }


# Studies of a release: what learners make of it.


MOST_VALUES = 100
"""A published column of more different values than this is no feature."""


def study(prepared: Prepared, learner: Learner, train: NDArray[np.bool_] | None = None) -> Study:
    """The rows of a prepared table, split for a learner; any outcome can be tried on it."""
    target = prepared.schema.target
    if target is None:
        raise PlanError("columns: classification needs a column with role = 'target'")
    names = prepared.schema.named(Role.SENSITIVE, Role.KEEP)
    source = prepared.source
    if not isinstance(source, LocalTable):
        raise PlanError(f"utility.learner: a learner reads single rows, and {source.source} only counts them")
    few = [name for name in names if len(source.domain(name).labels) <= MOST_VALUES]
    rows = Labelled(
        cell=source.row_cells(prepared.problem.cells.quasi, singly=prepared.grain == "rows"),
        target=source.codes(target),
        others=tuple(source.codes(name) for name in few),
    )
    return Study(prepared.problem, rows, learner, train=train)


def classification(
    prepared: Prepared, outcome: Outcome, learner: Learner, train: NDArray[np.bool_] | None = None
) -> Errors:
    """The three errors of one release."""
    return study(prepared, learner, train).errors(outcome)


# How risk and loss grow with every further quasi-identifier, for a plan's own model and algorithm.


Order = Literal["given", "greedy"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Dimensions:
    """The analysis of one plan."""

    steps: tuple[Step, ...]
    """One for every further column."""
    k: int
    """The size that groups should have."""
    metric: str
    """What the loss is measured by."""
    advice: str
    """What the figures suggest."""

    def __repr__(self) -> str:
        return f"Dimensions({len(self.steps)} quasi-identifiers, k = {self.k}, by {self.metric})"

    def to_json(self) -> dict[str, Any]:
        """As the command line prints it."""
        steps = [step.to_json() for step in self.steps]
        document: dict[str, Any] = plain({"k": self.k, "metric": self.metric, "steps": steps, "advice": self.advice})
        return document

    def page(self) -> str:
        """One HTML page with the picture."""
        from sfumato.reports.dimensions import render

        return render(self.steps, k=self.k, metric=self.metric, advice=self.advice)

    def write(self, path: str | Path) -> None:
        """Write the page; it tells about the original and is not to be published."""
        write_whole(Path(path), self.page(), private=True)


def study_dimensions(plan: Plan, frame: object, *, order: Order, work: Work) -> Dimensions:
    """Add the plan's quasi-identifiers one by one; every step is a release of its own, made and measured.

    Where the plan names a unit, each person is counted once, by one of their rows.
    """
    table = marked(load_table(plan, frame, plan.input.path), plan)
    prepared = prepare(plan, table, None, catalog())
    quasi = prepared.schema.quasi
    refuse_guarded(plan.columns, "a study of dimensions, which leaves columns out,")
    k = max(asked_k(prepared.models), 2)
    done: list[None] = []

    def loss(columns: tuple[str, ...]) -> float:
        work.advance("columns", len(done), len(quasi))
        done.append(None)
        return _loss(plan, prepared.source, columns)

    names = quasi if prepared.unit is None else (*quasi, prepared.unit)
    people = one_each(prepared.source.texts(names), prepared.unit, Chance(seed=plan.algorithm.seed), table.missing)
    steps = curse(people, k=k, order=order, loss=loss)
    return Dimensions(steps=steps, k=k, metric=plan.metric, advice=recommendation(steps, k=k))


def _loss(plan: Plan, source: CellSource, columns: tuple[str, ...]) -> float:
    """What a release with these quasi-identifiers loses; all of it where there is none."""
    kept = {name: column for name, column in plan.columns.items() if column.role is not Role.QUASI or name in columns}
    part = replace(plan, columns=kept, attack=AttackPlan(run=False))
    try:
        return float(release(part, source).utility[plan.metric])
    except Infeasible:
        return 1.0
