"""What sampling weights say about a release of a table: risks of a sample, and what was lost by weight.

The weights of rows that were suppressed, and of columns that are not published, are the original's: these figures are
the steward's, and stand in no bundle.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.identity.sample_risk import sample_risk
from sfumato.data.table import Table
from sfumato.describe.roles import Role
from sfumato.ground.errors import DataError, PlanError
from sfumato.group.cell_source import CellSource
from sfumato.group.local_table import LocalTable
from sfumato.report.table.sample_facts import SampleFacts, WeightedMean
from sfumato.utility.cell_metrics import LossMetric
from sfumato.utility.view import View

if TYPE_CHECKING:
    from sfumato.workflow.kinds.table.table_release import TableRelease

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


def sample_figures(made: TableRelease) -> SampleFacts:
    """The figures of a release whose plan names a weight."""
    found = _weighed(made)
    cells = made.prepared.problem.cells
    before, _ = replace(cells, measures={_WEIGHT: _by_cell(made, found.weights)}).project(cells.quasi)
    after = found.view.classes.take(~found.view.suppressed)
    return SampleFacts(
        column=str(made.plan.input.weight),
        published=str(made.plan.input.weight) in made.rows.columns,
        before=sample_risk(before.sizes, before.measures[_WEIGHT]),
        after=sample_risk(after.sizes, after.measures[_WEIGHT]),
        loss=weighted_loss(found.view),
        means=tuple(_means(made, found)),
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


def _weighed(made: TableRelease) -> _Weighed:
    weights = row_weights(in_memory(made.prepared.source).table, str(made.plan.input.weight))
    problem, outcome = made.prepared.problem, made.outcome
    cells = replace(problem.cells, measures={_WEIGHT: _by_cell(made, weights)}, people=None)
    view = outcome.recoding(problem).view(replace(problem, cells=cells), outcome.suppressed)
    return _Weighed(weights=weights, view=view, shown=~outcome.suppressed[_of_row(made)])


def in_memory(source: CellSource) -> LocalTable:
    """A source whose rows are in memory; others are refused."""
    if not isinstance(source, LocalTable):
        raise PlanError("input.weight: rows that stay in an engine have no weights here; read them into memory")
    return source


def _of_row(made: TableRelease) -> NDArray[np.int64]:
    quasi, singly = made.prepared.problem.cells.quasi, made.prepared.grain == "rows"
    return in_memory(made.prepared.source).row_cells(quasi, singly=singly)


def _by_cell(made: TableRelease, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of the weights of each cell's rows."""
    return np.asarray(np.bincount(_of_row(made), weights, made.prepared.problem.cells.count), np.float64)


def row_weights(table: Table, name: str) -> NDArray[np.float64]:
    """The weight of every row: a number above 0, or a refusal that says which is none."""
    cells = table.require(name, where="input.weight")
    found = cells.cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
    wrong = found.is_null() | ~found.is_finite() | (found <= 0)
    if wrong.any():
        at = int(wrong.arg_max() or 0)
        raise DataError(
            f"{table.source}, column {name!r}, row {at + 1}: {cells[at]!r} is no weight; it must be a number above 0: "
            "for so many people of the population the row stands"
        )
    return found.to_numpy()


def _means(made: TableRelease, found: _Weighed) -> list[WeightedMean]:
    """Weighted means of the numbers that are published as they are, before and after."""
    table, told = in_memory(made.prepared.source).table.frame, list[WeightedMean]()
    for name, role in made.prepared.schema.roles.items():
        if role not in (Role.SENSITIVE, Role.TARGET, Role.KEEP) or name == made.plan.input.weight:
            continue
        numbers = table[name].cast(pl.String).cast(pl.Float64, strict=False).fill_nan(None)
        if table[name].drop_nulls().len() and numbers.null_count() == table[name].null_count():
            told.append(_mean(name, numbers, found))
    return told


def _mean(name: str, numbers: pl.Series, found: _Weighed) -> WeightedMean:
    def mean(rows: NDArray[np.bool_]) -> float:
        known = rows & numbers.is_not_null().to_numpy()
        total = float(found.weights[known].sum())
        return float(found.weights[known] @ numbers.to_numpy()[known]) / total if total else 0.0

    return WeightedMean(column=name, before=mean(np.ones(len(numbers), np.bool_)), after=mean(found.shown))


def told(facts: SampleFacts) -> dict[str, Any]:
    """As ``--json`` shows it."""
    means = {one.column: {"before": one.before, "after": one.after} for one in facts.means}
    return {
        "weight": facts.column,
        "published": facts.published,
        "before": facts.before.to_json(),
        "after": facts.after.to_json(),
        "loss": facts.loss,
        "means": means,
    }
