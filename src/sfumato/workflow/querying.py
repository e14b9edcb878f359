"""Questions to a plan's table: domains come from the plan, answers cost what the ledger has."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.budget.ledger import Ledger
from sfumato.data.table import Table
from sfumato.describe.domains import Categories, Domain
from sfumato.describe.roles import Role
from sfumato.ground.errors import DataError, ParameterError, PlanError, listed, nearest
from sfumato.queries.answers import Answer
from sfumato.queries.conditions import columns_of
from sfumato.queries.queryable import queryable
from sfumato.queries.questions import Question
from sfumato.queries.session import Session
from sfumato.queries.sql import parse_question
from sfumato.workflow.loading import load_table, read_file
from sfumato.workflow.plan.builders import builder
from sfumato.workflow.plan.column_plan import ColumnPlan
from sfumato.workflow.plan.plan import Plan


def query(
    plan: Plan,
    sql: str,
    *,
    epsilon: Any,
    ledger: Ledger | str | Path,
    analyst: str,
    frame: object = None,
    confidence: float = 0.95,
) -> list[Answer]:
    """The answers to a SELECT statement. A file is not even read before the budget is reserved."""
    question = parse_question(sql)
    _refuse_columns(question, plan)
    asked = session(plan, ledger=ledger, analyst=analyst, frame=frame)
    return asked.ask(question, epsilon=epsilon, confidence=confidence, what=sql)


def session(plan: Plan, *, ledger: Ledger | str | Path, analyst: str, frame: object = None) -> Session:
    """A session over the plan's table and its declared domains."""
    return Session(
        (lambda: _read(plan)) if frame is None else load_table(plan, frame, None),
        domains=declared_domains(plan),
        ledger=ledger,
        analyst=analyst,
    )


def rows_or_none(plan: Plan, frame: object) -> Table:
    """The table of a frame, or of the file that the plan names, which may have no rows."""
    return _read(plan) if frame is None else load_table(plan, frame, None)


def _read(plan: Plan) -> Table:
    """The plan's table; one without rows is a table too, for a refusal would tell that nobody is in it."""
    try:
        return load_table(plan, None, plan.input.path)
    except DataError as error:
        if not any(said in str(error) for said in _NO_ROWS[: 1 if plan.input.header else None]):
            raise
        path = plan.folder / str(plan.input.path)
        return Table(frame=_header(plan, path), source=path.name, missing=plan.input.missing)


_NO_ROWS = ("but no rows", "the file is empty", "only blank lines")
"""What the reader says of a table without rows; the last two only where a file needs no header."""


def _header(plan: Plan, path: Path) -> pl.DataFrame:
    """No rows, under the names of the file, or of the plan where a file without rows has none."""
    source, data = plan.input, path.read_bytes()
    data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    if data.startswith((b"PAR1", b"ARROW1")):
        made = pl.read_parquet(data) if data.startswith(b"PAR1") else pl.read_ipc(data)
        return made.rename(dict(zip(made.columns, source.names or made.columns, strict=True)))
    names: Sequence[str] = source.names
    if not names and source.header:
        first = read_file(
            path,
            delimiter=source.delimiter,
            quote=source.quote,
            encoding=source.encoding,
            header=False,
            trim=source.trim,
        )
        names = [str(name) for name in first.frame.row(0)]
    return pl.DataFrame(schema=dict.fromkeys(names or plan.columns, pl.String))


def declared_domains(plan: Plan) -> dict[str, Domain]:
    """The domain of every column that declares one; a hierarchy that is read off the rows declares none."""
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
        return Categories(values=tuple(dict.fromkeys((*column.values, *missing))))
    if column.hierarchy is None:
        return None
    path = f"columns.{name}.hierarchy"
    try:
        declared = builder(column.hierarchy, path, plan.folder).declared()
        return queryable(_with_missing(declared, missing))
    except ParameterError as error:
        raise PlanError(f"{path}: {error}") from None


def _with_missing(declared: Domain | None, missing: Sequence[str]) -> Domain | None:
    """A missing text may be asked for like any other."""
    if not isinstance(declared, Categories):
        return declared
    return Categories(values=tuple(dict.fromkeys((*declared.values, *missing))))


def _refuse_columns(question: Question, plan: Plan) -> None:
    """Refuse columns that the plan does not open to questions, before anything is paid."""
    known = [name for name, column in plan.columns.items() if _open(column)]
    figures = [one.column for one in question.aggregates if one.column is not None]
    for name in (*figures, *question.by, *columns_of(question.where)):
        if name not in known:
            raise PlanError(
                f"columns.{name}: the plan opens no such column to questions{nearest(name, known)} "
                f"It opens {listed(known, most=30)}; write names with blanks or dashes in double quotes"
            )
