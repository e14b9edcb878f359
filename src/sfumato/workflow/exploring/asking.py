"""Questions to a project's table, paid for from a ledger beside its plan, or from the one that the plan names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.budget.events import written
from sfumato.budget.ledger import Ledger
from sfumato.queries.sql import parse_question
from sfumato.workflow.paying import granted, opened
from sfumato.workflow.plan.column_plan import ColumnPlan
from sfumato.workflow.plan.plan import Plan
from sfumato.workflow.querying import declared_domains, refuse_columns, session

LEDGER = "ledger.db"
"""The ledger of a project whose plan names none."""


def place(folder: Path, plan: Plan) -> Path:
    """Where the project's ledger is, or will be."""
    return folder / str(plan.privacy.get("ledger", LEDGER))


def budget(folder: Path, plan: Plan) -> dict[str, Any]:
    """Every account of the ledger, and the columns whose domain is declared: only these can be asked about."""
    path = place(folder, plan)
    profiled = {name: _limits(one) for name, one in plan.columns.items() if one.domain_from == "profile"}
    known = replace(plan, columns={name: one for name, one in plan.columns.items() if name not in profiled})
    return {
        "accounts": _accounts(opened(path)) if path.exists() else [],
        "columns": [] if profiled else sorted(declared_domains(known)),
        "profiled": profiled,
    }


def _limits(column: ColumnPlan) -> str:
    """What a draft says that a column can hold."""
    tree = column.hierarchy or {}
    return f"{tree['low']:g} to {tree['high']:g}" if {"low", "high"} <= {*tree} else "the values of its hierarchy"


def grant(folder: Path, plan: Plan, limit: str, analyst: str | None) -> dict[str, Any]:
    """Set a limit for an analyst, or for everybody together."""
    granted(place(folder, plan), limit, analyst=analyst)
    return budget(folder, plan)


def ask(folder: Path, plan: Plan, sql: str, epsilon: str, analyst: str | None) -> dict[str, Any]:
    """A noisy answer, and what is left afterwards."""
    question = parse_question(sql)
    refuse_columns(question, plan)
    asked = session(plan, ledger=place(folder, plan), analyst=analyst)
    answers = asked.ask(question, epsilon=epsilon, what=sql)
    return {"answers": [one.to_json() for one in answers], "accounts": _accounts(asked.ledger)}


def _accounts(book: Ledger) -> list[dict[str, Any]]:
    return [
        {
            "analyst": one.analyst,
            "granted": written(one.granted),
            "spent": written(one.spent),
            "left": written(one.left),
        }
        for one in book.accounts()
    ]
