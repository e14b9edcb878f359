"""Studies of a release: what learners make of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.describe.roles import Role
from sfumato.ground.errors import PlanError
from sfumato.publish.problem import Outcome
from sfumato.utility.classification import Errors, Labelled, Study
from sfumato.utility.learners import Learner
from sfumato.workflow.prepare import Prepared

MOST_VALUES = 100
"""A published column of more different values than this is no feature."""


def study(prepared: Prepared, learner: Learner, train: NDArray[np.bool_] | None = None) -> Study:
    """The rows of a prepared table, split for a learner; any outcome can be tried on it."""
    target = prepared.schema.target
    if target is None:
        raise PlanError("columns: classification needs a column with role = 'target'")
    names = prepared.schema.named(Role.SENSITIVE, Role.KEEP)
    columns = [prepared.columns.get(name) or prepared.table.column(name) for name in names]
    rows = Labelled(
        cell=prepared.cells.row_cell,
        target=prepared.columns[target].codes,
        others=tuple(column.codes for column in columns if len(column.values) <= MOST_VALUES),
    )
    return Study(prepared.problem, rows, learner, train=train)


def classification(
    prepared: Prepared, outcome: Outcome, learner: Learner, train: NDArray[np.bool_] | None = None
) -> Errors:
    """The three errors of one release."""
    return study(prepared, learner, train).errors(outcome)
