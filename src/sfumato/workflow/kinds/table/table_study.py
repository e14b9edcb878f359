"""Studies of a release: what learners make of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.describe.roles import Role
from sfumato.ground.errors import PlanError
from sfumato.group.local_table import LocalTable
from sfumato.publish.problem import Outcome
from sfumato.utility.classification import Errors, Labelled, Study
from sfumato.utility.learners import Learner
from sfumato.workflow.kinds.table.preparing import Prepared

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
