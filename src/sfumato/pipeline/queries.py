"""Noisy and audited exact answers to questions about a plan's table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from msgspec import structs

from sfumato.core.errors import BudgetError, DataError, ParameterError, PlanError, listed, nearest
from sfumato.core.extras import require
from sfumato.core.input_files import read_text
from sfumato.dp.answer_log import AnswerLog
from sfumato.dp.events import written
from sfumato.dp.ledger import Ledger
from sfumato.pipeline.inputs import bounded, load_table, rows_or_none
from sfumato.pipeline.payment import granted, opened, payer, pinned
from sfumato.pipeline.plan.columns import ColumnPlan, refuse_profiled
from sfumato.pipeline.plan.hierarchies import builder
from sfumato.pipeline.plan.plan import Plan
from sfumato.queries.answers import Answer
from sfumato.queries.exact.atoms import WholeValues
from sfumato.queries.exact.auditor import Span
from sfumato.queries.exact.hindsight import Compromise, LookingBack, ToldFigure
from sfumato.queries.exact.session import ExactRules, ExactSession, checked_values, sets_of, units_of
from sfumato.queries.groups import queryable
from sfumato.queries.questions import Question, columns_of
from sfumato.queries.session import Session
from sfumato.queries.sql import parse_exact, parse_question
from sfumato.tables.schema import Categories, Domain, Role
from sfumato.tables.table import Table

# Questions to a plan's table: domains come from the plan, answers cost what the ledger has.


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
    query_session = session(plan, ledger=ledger, analyst=analyst, frame=frame)
    return query_session.ask(question, epsilon=epsilon, confidence=confidence, what=sql)


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
    domains = {name: _domain(plan, name, column) for name, column in plan.columns.items() if _open(column)}
    return {name: domain for name, domain in domains.items() if domain is not None}


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
    figures = [aggregate.column for aggregate in question.aggregates if aggregate.column is not None]
    for name in (*figures, *question.by, *columns_of(question.where)):
        if name not in known:
            raise PlanError(
                f"columns.{name}: the plan opens no such column to questions{nearest(name, known)} "
                f"It opens {listed(known, most=30)}; write names with blanks or dashes in double quotes"
            )


# Exact answers under a plan: its [audit] says about which columns, its log what was told before.


_SQLITE = b"SQLite format 3\x00"


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedBack:
    """What a history told about one column to one group of analysts."""

    column: str
    """The audited column."""
    group: tuple[str, ...]
    """The analysts; empty for all."""
    questions: int
    """How many questions were asked."""
    found: tuple[Compromise, ...]
    """Everybody whom the answers compromised."""
    undecided: int | None
    """The first question from which on something could not be decided."""


def exact_session(
    plan: Plan, *, log: str | Path | None = None, frame: object = None, new_log: bool = False
) -> ExactSession:
    """A session over the plan's table and its log; ``new_log`` begins one."""
    rules, place = rules_of(plan), _place(plan, log)
    if new_log and place.exists():
        raise BudgetError(f"{place} exists already, and a table has one log; leave --new-log out")
    if not new_log and not place.exists():
        AnswerLog(place)  # says that there is none
    table = load_table(plan, frame, plan.input.path)
    if new_log:
        checked_values(table, rules)
        AnswerLog.create(place, rules.to_json(), table)
    return ExactSession(table, rules=rules, log=AnswerLog(place))


def rules_of(plan: Plan) -> ExactRules:
    """The rules that a plan declares."""
    if plan.audit is None:
        raise PlanError('audit is missing; add [audit] with values = ["COLUMN"], the numbers that are asked for')
    if plan.input.unit is not None:
        raise PlanError("input.unit: exact answers are audited for tables with one row for each person")
    audit_plan = plan.audit
    public = audit_plan.public
    if public is None:
        quasi = {name for name, column in plan.columns.items() if column.role is Role.QUASI and not column.guarded}
        public = tuple(name for name in plan.columns if name in quasi and name not in audit_plan.values)
    for name in (*audit_plan.values, *public):
        if name not in plan.columns or plan.columns[name].role in (Role.IDENTIFIER, Role.DROP):
            raise PlanError(f"audit: {name!r} is no column that the plan opens to questions")
    for name in public:
        if plan.columns[name].role is Role.SENSITIVE or plan.columns[name].guarded:
            raise PlanError(f"audit.public: {name!r} is sensitive, and a condition on it would tell of its values")
    try:
        spans = {name: Span(**structs.asdict(span)) for name, span in audit_plan.width.items()}
        return ExactRules(
            values=audit_plan.values, public=public, k=audit_plan.k, groups=audit_plan.groups, width=spans
        )
    except ParameterError as error:
        raise PlanError(f"audit.{error}") from None


def look_back(plan: Plan, history: str | Path, *, frame: object = None) -> list[LookedBack]:
    """What a log told, or a text with one statement a line that was answered exactly elsewhere."""
    rules, place = rules_of(plan), Path(history)
    table = load_table(plan, frame, plan.input.path)
    values = checked_values(table, rules)
    figures = _history(rules, table, place, values)
    results = []
    for group in range(max(1, len(rules.groups))):
        for column in rules.values:
            column_figures = [figure for whose, name, figure in figures if whose == group and name == column]
            results.append(_judged(rules, column, group, column_figures, values[column]))
    return results


def _judged(rules: ExactRules, column: str, group: int, figures: list[ToldFigure], values: WholeValues) -> LookedBack:
    back = LookingBack(values.units, f"history {column}", k=rules.k)
    for figure in figures:
        back.take(figure)
    compromises = list(back.found)
    if column in rules.width and figures:
        from sfumato.queries.exact.hindsight import narrow

        known = {row for compromise in compromises for row in compromise.rows if compromise.what == "value"}
        span, unit = rules.width[column], float(values.fraction(1))
        compromises += [
            compromise
            for compromise in narrow(figures, len(values.units), span, unit)
            if compromise.rows[0] not in known
        ]
    return LookedBack(
        column=column,
        group=rules.groups[group] if rules.groups else (),
        questions=len({figure.number for figure in figures}),
        found=tuple(sorted(compromises, key=lambda compromise: (compromise.number, compromise.rows))),
        undecided=back.undecided,
    )


def _history(
    rules: ExactRules, table: Table, place: Path, values: dict[str, WholeValues]
) -> list[tuple[int, str, ToldFigure]]:
    """Every figure that was told: to which group, of which column."""
    try:
        with place.open("rb") as file:
            is_log = file.read(len(_SQLITE)) == _SQLITE
    except OSError as error:
        raise DataError(f"{place} cannot be read: {error.strerror}") from error
    if is_log:
        log = AnswerLog(place)
        log.refuse_other(table)
        lines = [(entry["analyst"], entry["sql"], entry["told"]) for _, entry in log.history()]
    else:
        try:
            text = read_text(place)
        except UnicodeDecodeError as error:
            raise DataError(f"{place} is neither a log nor a text with one statement a line: {error}") from error
        statements = [line.strip().removesuffix(";") for line in text.splitlines()]
        first = rules.groups[0][0] if rules.groups else ""
        lines = [(first, line, None) for line in statements if line and not line.startswith("--")]
    return [
        (rules.group_of(analyst), *figure)
        for number, (analyst, sql, answer_rows) in enumerate(lines, start=1)
        for figure in _told(rules, table, values, (number, sql, answer_rows))
    ]


def _told(
    rules: ExactRules, table: Table, values: dict[str, WholeValues], line: tuple[int, str, list[list[object]] | None]
) -> Iterator[tuple[str, ToldFigure]]:
    """The figures of one statement that were answered; of a text, all of them."""
    number, sql, answer_rows = line
    try:
        question = parse_exact(sql)
        rules.refuse(question)
    except ParameterError as error:
        raise ParameterError(f"question {number}: {error}") from None
    answers = None if answer_rows is None else iter(answer_rows)
    for _, mask in sets_of(question, table):
        for figure in question.figures:
            refused = False if answers is None else bool(next(answers)[1])
            if figure.column is None or refused or not mask.any():
                continue
            units = units_of(figure.kind, values[figure.column], mask)
            yield figure.column, ToldFigure(number=number, sql=sql, kind=figure.kind, mask=mask, units=units)


def _place(plan: Plan, named: str | Path | None) -> Path:
    """The plan's log, or where it names none the one that was named."""
    pinned = None if plan.audit is None or plan.audit.log is None else plan.folder / plan.audit.log
    if pinned is None and named is None:
        raise PlanError("audit.log is missing; name the log in the plan or with --log")
    if pinned is None or named is None:
        return Path(named) if pinned is None and named is not None else pinned or Path()
    other = Path(named)
    if other.resolve() != pinned.resolve():
        raise PlanError(f"audit.log: the plan has the log {pinned} and no other; leave {other} out")
    return pinned


# Questions to a project's table, paid for from a ledger beside its plan, or from the one that the plan names.


LEDGER = "ledger.db"
"""The ledger of a project whose plan names none."""


def place(folder: Path, plan: Plan) -> Path:
    """Where the project's ledger is, or will be."""
    return folder / str(plan.privacy.get("ledger", LEDGER))


def budget(folder: Path, plan: Plan) -> dict[str, Any]:
    """Every account of the ledger, and the columns whose domain is declared: only these can be asked about."""
    path = place(folder, plan)
    profiled = {name: _limits(column) for name, column in plan.columns.items() if column.domain_from == "profile"}
    known = replace(plan, columns={name: column for name, column in plan.columns.items() if name not in profiled})
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
    query_session = session(plan, ledger=place(folder, plan), analyst=analyst)
    answers = query_session.ask(question, epsilon=epsilon, what=sql)
    return {"answers": [answer.to_json() for answer in answers], "accounts": _accounts(query_session.ledger)}


def _accounts(book: Ledger) -> list[dict[str, Any]]:
    return [
        {
            "analyst": account.analyst,
            "granted": written(account.granted),
            "spent": written(account.spent),
            "left": written(account.left),
        }
        for account in book.accounts()
    ]
