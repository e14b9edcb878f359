"""One point of a frontier: a release is made, written without its report, verified from its bytes, and measured."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from sfumato.attacks.identity.risk import risk
from sfumato.bundle.claims import Claim
from sfumato.bundle.manifest import plain
from sfumato.data.table import Table
from sfumato.ground.errors import ClaimRefuted, Infeasible, Interrupted, SfumatoError
from sfumato.models.verdict import titled
from sfumato.utility.accuracy import Trial
from sfumato.workflow.catalog import catalog
from sfumato.workflow.declared import declared_table
from sfumato.workflow.frontier_plan import Tree
from sfumato.workflow.making import load_table
from sfumato.workflow.plan import Plan
from sfumato.workflow.prepare import prepare
from sfumato.workflow.private import PrivateRelease, algorithm_of
from sfumato.workflow.private_study import accuracies, released_accuracy
from sfumato.workflow.release import Release
from sfumato.workflow.releasing import release

Status = Literal["verified", "refuted", "infeasible", "refused", "failed", "not run"]
"""How a point ended; only a verified one is a release that may be chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What a process needs to make one point."""

    tree: Tree
    """The point's plan."""
    folder: Path
    """Where relative file names of the plan start."""
    data: str
    """The digest of the data file: rows are read once per process, and again when the file has changed."""
    scratch: Path
    """Where files may lie while they are verified."""

    @property
    def plan(self) -> Plan:
        """The point's plan."""
        return Plan.parse(self.tree, folder=self.folder)


def compute(task: Task) -> dict[str, Any]:
    """The record of a point; every refusal becomes a record too."""
    began = time.perf_counter()
    try:
        plan = task.plan
        table, population = _rows(task, plan)
        made = release(plan, table, population=population)
        with tempfile.TemporaryDirectory(dir=task.scratch) as place:
            checked = made.checked(Path(place))
        wrong = [f"{check.what}: {check.detail}" for check in checked.checks if not check.holds]
        seconds = round(time.perf_counter() - began, 3)
        found = measured_private(made, table) if isinstance(made, PrivateRelease) else measured(cast("Release", made))
        return {**ended("refuted" if wrong else "verified", "; ".join(wrong)), **found, "seconds": seconds}
    except Interrupted:
        raise
    except Infeasible as error:
        return ended("infeasible", str(error))
    except ClaimRefuted as error:
        return ended("refuted", str(error))
    except SfumatoError as error:
        return ended("refused", str(error))
    except Exception as error:  # an algorithm of a plugin may fail in any way; the other points go on
        return ended("failed", f"{type(error).__name__}: {error}")


def measured(made: Release) -> dict[str, Any]:
    """Everything that is measured on a release, as JSON has it; no value of the data."""
    problem = made.prepared.problem
    found = {
        "algorithm_used": made.algorithm,
        "proven_optimal": made.outcome.proven,
        "claims": [_claim(one) for one in made.claims],
        "rows": made.prepared.table.rows,
        "suppressed_rows": made.suppressed_rows,
        "classes": made.classes.count,
        "smallest_class": made.smallest_class,
        "risk": made.risk,
        "attacks": {one.attack: one.risk for one in made.audit.findings},
        "utility": dict(made.utility),
        "accuracy": None if problem.target is None else Trial(problem).released(made.outcome),
    }
    return plain(found)  # type: ignore[no-any-return]


def measured_private(made: PrivateRelease, table: Table) -> dict[str, Any]:
    """What is measured on a differentially private release; a second one, of two thirds of the rows, is tried."""
    private = declared_table(made.plan, table)
    return {
        "algorithm_used": made.algorithm,
        "proven_optimal": False,
        "claims": [],
        "epsilon": float(made.epsilon),
        "rows": made.rows.height,
        "suppressed_rows": 0,
        "classes": made.outcome.keys.shape[1],
        "utility": {},
        "accuracy": None if private.target_name is None else released_accuracy(private, algorithm_of(made.plan)[1]),
    }


def originals(task: Task) -> dict[str, Any]:
    """What the original table itself measures: its risks, and what the classifier reaches on it."""
    plan = task.plan
    if "epsilon" in plan.privacy:
        private = declared_table(plan, _rows(task, plan)[0])
        known = None if private.target_name is None else accuracies(private)
        return {"rows": private.rows, "classes": 0, "risk": None, "target": private.target_name, "accuracy": known}
    prepared = prepare(plan, *_rows(task, plan), catalog())
    cells, problem = prepared.cells.classes, prepared.problem
    trial = None if problem.target is None else Trial(problem)
    return {
        "rows": prepared.table.rows,
        "classes": cells.count,
        "risk": risk(cells.sizes, cells.population_sizes()[0] if cells.population else None).to_json(),
        "target": problem.target,
        "accuracy": None if trial is None else {"original": trial.original, "majority": trial.majority},
    }


def ended(status: Status, reason: str = "") -> dict[str, Any]:
    """The record of a point that gave no release."""
    return {"status": status, "verified": status == "verified", "reason": reason}


def _claim(claim: Claim) -> Mapping[str, Any]:
    return {
        "model": claim.model,
        "title": titled(claim.model, claim.parameters),
        "column": claim.parameters.get("column"),
        "sense": claim.sense,
        "limit": claim.limit,
        "reached": claim.reached,
        "holds": claim.holds,
    }


_ROWS: dict[str, tuple[Table, Table | None]] = {}
"""The rows that this process read last."""


def _rows(task: Task, plan: Plan) -> tuple[Table, Table | None]:
    """The table and its population, read once."""
    key = f"{task.data} {task.tree['input']}"
    if key not in _ROWS:
        forget()
        people = plan.input.population
        _ROWS[key] = load_table(plan, None, plan.input.path), None if people is None else load_table(plan, None, people)
    return _ROWS[key]


def forget() -> None:
    """Let go of the rows."""
    _ROWS.clear()
