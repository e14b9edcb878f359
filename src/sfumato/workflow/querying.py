"""Questions to a plan's table: domains come from the plan, answers cost what the ledger has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sfumato.budget.ledger import Ledger
from sfumato.describe.domains import Categories, Domain
from sfumato.describe.roles import Role
from sfumato.ground.errors import ParameterError, PlanError, listed, nearest
from sfumato.ground.extras import require
from sfumato.queries.answers import Answer
from sfumato.queries.conditions import columns_of
from sfumato.queries.queryable import queryable
from sfumato.queries.questions import Question
from sfumato.queries.session import Session
from sfumato.queries.sql import parse_question
from sfumato.workflow.loading import bounded, load_table, rows_or_none
from sfumato.workflow.paying import payer, pinned
from sfumato.workflow.plan.builders import builder
from sfumato.workflow.plan.column_plan import ColumnPlan
from sfumato.workflow.plan.domain_plan import refuse_profiled
from sfumato.workflow.plan.plan import Plan


def query(
    plan: Plan,
    sql: str,
    *,
    epsilon: Any,
    ledger: Ledger | str | Path | None = None,
    analyst: str | None = None,
    frame: object = None,
    confidence: float = 0.95,
) -> list[Answer]:
    """The answers to a SELECT statement. A file is not even read before the budget is reserved.

    The plan's own ledger (``privacy.ledger``) pays, and no other; ``ledger`` is for plans that name none.
    """
    question = parse_question(sql)
    refuse_columns(question, plan)
    asked = session(plan, ledger=ledger, analyst=analyst, frame=frame)
    return asked.ask(question, epsilon=epsilon, confidence=confidence, what=sql)


def session(
    plan: Plan, *, ledger: Ledger | str | Path | None = None, analyst: str | None = None, frame: object = None
) -> Session:
    """A session over the plan's table and its declared domains, paid for from the plan's ledger.

    Where the plan tells people apart, it is about few rows of each.
    """
    require("opendp", "a noisy answer")
    who, book = payer(plan, analyst), pinned(plan, ledger)
    if book is None:
        raise PlanError("privacy.ledger is missing; name the ledger in the plan or with --ledger")
    table = None if frame is None else load_table(plan, frame, None)
    return Session(
        (lambda: rows_or_none(plan, None)) if table is None else table,
        domains=declared_domains(plan),
        ledger=book,
        analyst=who,
        rows=plan.input.rows_per_unit,
        narrowed=lambda whole: bounded(whole, plan),
    )


def declared_domains(plan: Plan) -> dict[str, Domain]:
    """The domain of every column that declares one; a hierarchy that is read off the rows declares none."""
    refuse_profiled(plan.columns, "a noisy answer")
    found = {name: _domain(plan, name, column) for name, column in plan.columns.items() if _open(column)}
    return {name: domain for name, domain in found.items() if domain is not None}


def _open(column: ColumnPlan) -> bool:
    """Whether questions may name the column at all."""
    return column.role not in (Role.IDENTIFIER, Role.DROP)


def _domain(plan: Plan, name: str, column: ColumnPlan) -> Domain | None:
    missing = plan.input.missing[:1] if plan.input.on_missing == "keep" else ()
    if column.type == "set":
        return None
    if column.values:
        return _with_more(Categories(values=column.values), missing, column.other)
    if column.hierarchy is None:
        return None
    path = f"columns.{name}.hierarchy"
    try:
        declared = builder(column.hierarchy, path, plan.folder).declared()
        return queryable(_with_more(declared, missing, column.other))
    except ParameterError as error:
        raise PlanError(f"{path}: {error}") from None


def _with_more(declared: Domain | None, missing: Sequence[str], other: str | None) -> Domain | None:
    """A missing text may be asked for like any other, and so may all that are not declared together."""
    if not isinstance(declared, Categories):
        return declared
    more = () if other is None else (other,)
    return Categories(values=tuple(dict.fromkeys((*declared.values, *missing, *more))), other=other)


def refuse_columns(question: Question, plan: Plan) -> None:
    """Refuse columns that the plan does not open to questions, before anything is paid."""
    known = [name for name, column in plan.columns.items() if _open(column)]
    figures = [one.column for one in question.aggregates if one.column is not None]
    for name in (*figures, *question.by, *columns_of(question.where)):
        if name not in known:
            raise PlanError(
                f"columns.{name}: the plan opens no such column to questions{nearest(name, known)} "
                f"It opens {listed(known, most=30)}; write names with blanks or dashes in double quotes"
            )
