"""Exact answers under a plan: its [audit] says about which columns, its log what was told before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sfumato.budget.answer_log import AnswerLog
from sfumato.data.table import Table
from sfumato.describe.roles import Role
from sfumato.ground.errors import BudgetError, DataError, ParameterError, PlanError
from sfumato.ground.opening import read_text
from sfumato.queries.exact.exact_rules import ExactRules
from sfumato.queries.exact.exact_session import ExactSession, checked_values, sets_of, units_of
from sfumato.queries.exact.exact_sql import parse_exact
from sfumato.queries.exact.hindsight import Compromise, LookingBack, ToldFigure
from sfumato.queries.exact.whole_values import WholeValues
from sfumato.queries.exact.width_rule import Span
from sfumato.workflow.loading import load_table
from sfumato.workflow.plan.plan import Plan

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
    asked = plan.audit
    public = asked.public
    if public is None:
        quasi = {name for name, one in plan.columns.items() if one.role is Role.QUASI and not one.guarded}
        public = tuple(name for name in plan.columns if name in quasi and name not in asked.values)
    for name in (*asked.values, *public):
        if name not in plan.columns or plan.columns[name].role in (Role.IDENTIFIER, Role.DROP):
            raise PlanError(f"audit: {name!r} is no column that the plan opens to questions")
    for name in public:
        if plan.columns[name].role is Role.SENSITIVE or plan.columns[name].guarded:
            raise PlanError(f"audit.public: {name!r} is sensitive, and a condition on it would tell of its values")
    try:
        spans = {name: Span(**one) for name, one in asked.width.items()}
        return ExactRules(values=asked.values, public=public, k=asked.k, groups=asked.groups, width=spans)
    except ParameterError as error:
        raise PlanError(f"audit.{error}") from None


def look_back(plan: Plan, history: str | Path, *, frame: object = None) -> list[LookedBack]:
    """What a log told, or a text with one statement a line that was answered exactly elsewhere."""
    rules, place = rules_of(plan), Path(history)
    table = load_table(plan, frame, plan.input.path)
    values = checked_values(table, rules)
    asked = _history(rules, table, place, values)
    found = []
    for group in range(max(1, len(rules.groups))):
        for column in rules.values:
            told = [one for whose, name, one in asked if whose == group and name == column]
            found.append(_judged(rules, column, group, told, values[column]))
    return found


def _judged(rules: ExactRules, column: str, group: int, told: list[ToldFigure], values: WholeValues) -> LookedBack:
    back = LookingBack(values.units, f"history {column}", k=rules.k)
    for one in told:
        back.take(one)
    found = list(back.found)
    if column in rules.width and told:
        from sfumato.queries.exact.told_intervals import narrow

        known = {row for one in found for row in one.rows if one.what == "value"}
        span, unit = rules.width[column], float(values.fraction(1))
        found += [one for one in narrow(told, len(values.units), span, unit) if one.rows[0] not in known]
    return LookedBack(
        column=column,
        group=rules.groups[group] if rules.groups else (),
        questions=len({one.number for one in told}),
        found=tuple(sorted(found, key=lambda one: (one.number, one.rows))),
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
        lines = [(told["analyst"], told["sql"], told["told"]) for _, told in log.history()]
    else:
        try:
            text = read_text(place)
        except UnicodeDecodeError as error:
            raise DataError(f"{place} is neither a log nor a text with one statement a line: {error}") from error
        statements = [line.strip().removesuffix(";") for line in text.splitlines()]
        first = rules.groups[0][0] if rules.groups else ""
        lines = [(first, line, None) for line in statements if line and not line.startswith("--")]
    return [
        (rules.group_of(analyst), *one)
        for number, (analyst, sql, told) in enumerate(lines, start=1)
        for one in _told(rules, table, values, (number, sql, told))
    ]


def _told(
    rules: ExactRules, table: Table, values: dict[str, WholeValues], line: tuple[int, str, list[list[object]] | None]
) -> Iterator[tuple[str, ToldFigure]]:
    """The figures of one statement that were answered; of a text, all of them."""
    number, sql, told = line
    try:
        question = parse_exact(sql)
        rules.refuse(question)
    except ParameterError as error:
        raise ParameterError(f"question {number}: {error}") from None
    answers = None if told is None else iter(told)
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
