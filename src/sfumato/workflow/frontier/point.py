"""One point of a frontier: a release is made, written without its report, verified from its bytes, and measured."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sfumato.data.table import Table
from sfumato.ground.errors import ClaimRefuted, Infeasible, Interrupted, SfumatoError
from sfumato.workflow.kinds import kind_of
from sfumato.workflow.loading import load_table
from sfumato.workflow.plan.frontier_plan import Tree
from sfumato.workflow.plan.plan import Plan
from sfumato.workflow.walk import release

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
        found = made.kind.comparison(plan).measured(made, table)
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


def originals(task: Task) -> dict[str, Any]:
    """What the original table itself measures: its risks, and what the classifier reaches on it."""
    plan = task.plan
    return kind_of(plan).comparison(plan).original(plan, *_rows(task, plan))


def ended(status: Status, reason: str = "") -> dict[str, Any]:
    """The record of a point that gave no release."""
    return {"status": status, "verified": status == "verified", "reason": reason}


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
