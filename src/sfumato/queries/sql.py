"""The part of SQL that is read into questions: noisy ones, and exact ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from sfumato.core.errors import ParameterError
from sfumato.core.input_files import MOST_DIGITS, MOST_SQL
from sfumato.queries.questions import (
    DEEPEST,
    Aggregate,
    Among,
    Both,
    Compare,
    Condition,
    Either,
    Kind,
    Not,
    Operator,
    Question,
    Value,
    check_condition,
    too_deep,
)

if TYPE_CHECKING:
    from sqlglot.expressions import Expression


# A small part of SQL, read into questions. Whatever is not in it is refused, with what is.


T = TypeVar("T")
ALLOWED = (
    "SELECT with COUNT(*), SUM(x), AVG(x), VARIANCE(x), MEDIAN(x), QUANTILE(x, 0.9); WHERE with AND, OR, NOT, "
    "= <> < <= > >=, IN, BETWEEN and plain values; GROUP BY with columns"
)
_FLIPPED: dict[str, Operator] = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_FIGURES: dict[str, Kind] = {"Sum": "sum", "Avg": "mean", "Variance": "variance", "VariancePop": "variance"}
_OPERATORS: dict[str, Operator] = {"EQ": "=", "NEQ": "!=", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}


def parse_question(sql: str) -> Question:
    """The question that a SELECT statement asks."""
    aggregates, by, where = select_parts(sql, _aggregate)
    return Question(aggregates=tuple(aggregates), by=by, where=where)


def select_parts(sql: str, read: Callable[[Expression, str], T]) -> tuple[list[T], tuple[str, ...], Condition | None]:
    """The figures of a SELECT statement, each read with its name, the columns that make groups, and the condition."""
    tree = _tree(sql)
    if type(tree).__name__ != "Select":
        raise refused(tree)
    only(tree, "expressions", "from_", "where", "group")
    _from(tree.args.get("from_"))
    group, where = tree.args.get("group"), tree.args.get("where")
    if group is not None:
        only(group, "expressions")
    by = tuple(column_of(expression) for expression in group.expressions) if group is not None else ()
    figures = [figure for expression in tree.expressions if (figure := _selected(expression, by, read)) is not None]
    if not figures:
        raise ParameterError(f"the statement asks for no figure. Allowed: {ALLOWED}")
    return figures, by, None if where is None else _condition(where.this)


def parse_condition(sql: str) -> Condition:
    """The condition that stands behind WHERE.

    >>> parse_condition("age >= 40")
    Compare(column='age', operator='>=', value=40.0)
    """
    where = _tree(f"SELECT 1 WHERE {sql}")
    if type(where).__name__ != "Select":
        raise refused(where)
    only(where, "expressions", "where")
    return _condition(where.args["where"].this)


def _tree(sql: str) -> Expression:
    import sqlglot

    if not isinstance(sql, str):
        raise ParameterError(f"sql must be a text, not {type(sql).__name__}")
    if len(sql) > MOST_SQL:
        raise ParameterError(f"sql has {len(sql):,} characters; at most {MOST_SQL:,} are read")
    if re.search(r"[\ud800-\udfff]", sql):
        raise ParameterError("sql must be a text that UTF-8 can hold; it has half a character")
    if re.search(r"\bvar(iance)?_samp\b", sql, re.IGNORECASE):
        raise ParameterError(
            f"VAR_SAMP is not answered; VARIANCE is that of the records themselves. Allowed: {ALLOWED}"
        )
    try:
        statements = [statement for statement in sqlglot.parse(sql) if statement is not None]
    except RecursionError:
        raise too_deep() from None
    except sqlglot.errors.SqlglotError as error:
        raise ParameterError(f"{sql!r} cannot be read as SQL: {_first(error)} Allowed: {ALLOWED}") from None
    if len(statements) != 1:
        raise ParameterError(f"{sql!r} must be one statement, not {len(statements)}")
    _refuse_deep(statements[0])
    return cast("Expression", statements[0])


def _refuse_deep(tree: Any) -> None:
    """Refuse a statement whose parts are nested too deep to be read one inside the other."""
    level, depth = [tree], 0
    while level:
        depth += 1
        if depth > DEEPEST + 10:
            raise too_deep()
        level = [part for expression in level for part in expression.iter_expressions()]


def _selected(expression: Expression, by: tuple[str, ...], read: Callable[[Expression, str], T]) -> T | None:
    """A figure, or None for a column that makes groups: it is shown anyway."""
    name = ""
    if type(expression).__name__ == "Alias":
        only(expression, "this", "alias")
        name, expression = expression.alias, expression.this
    if type(expression).__name__ == "Column" and column_of(expression) in by:
        return None
    return read(expression, name)


def _aggregate(expression: Expression, name: str) -> Aggregate:
    kind = type(expression).__name__
    if kind == "Count" and type(expression.this).__name__ == "Star":
        only(expression, "this", "big_int")
        only(expression.this)
        return Aggregate(kind="count", name=name)
    if kind in _FIGURES:
        only(expression, "this")
        return Aggregate(kind=_FIGURES[kind], column=column_of(expression.this), name=name)
    if kind == "Median":
        only(expression, "this")
        return Aggregate(kind="quantile", column=column_of(expression.this), share=0.5, name=name)
    if kind == "Quantile":
        only(expression, "this", "quantile")
        share = _value(expression.args["quantile"])
        if isinstance(share, str):
            raise refused(expression)
        return Aggregate(kind="quantile", column=column_of(expression.this), share=share, name=name)
    raise refused(expression)


def _condition(expression: Expression) -> Condition:
    kind = type(expression).__name__
    if kind in _OPERATORS:
        return _comparison(expression, _OPERATORS[kind])
    read = _CONDITIONS.get(kind)
    if read is None:
        raise refused(expression)
    return read(expression)


def _comparison(expression: Expression, operator: Operator) -> Condition:
    only(expression, "this", "expression")
    left, right = expression.this, expression.expression
    if type(right).__name__ == "Column":
        return Compare(column=column_of(right), operator=_FLIPPED[operator], value=_value(left))
    return Compare(column=column_of(left), operator=operator, value=_value(right))


def _paren(expression: Expression) -> Condition:
    only(expression, "this")
    return _condition(expression.this)


def _not(expression: Expression) -> Condition:
    only(expression, "this")
    return Not(condition=_condition(expression.this))


def _joined(make: Callable[..., Condition]) -> Callable[[Expression], Condition]:
    def read(expression: Expression) -> Condition:
        only(expression, "this", "expression")
        return make(left=_condition(expression.this), right=_condition(expression.expression))

    return read


def _among(expression: Expression) -> Condition:
    only(expression, "this", "expressions")
    values = tuple(_value(value) for value in expression.expressions)
    if not values or len({type(value) for value in values}) > 1:
        raise ParameterError(f"{expression.sql()}: the values behind IN must be all numbers or all texts")
    return Among(column=column_of(expression.this), values=values)


def _between(expression: Expression) -> Condition:
    only(expression, "this", "low", "high")
    column = column_of(expression.this)
    return Both(
        left=Compare(column=column, operator=">=", value=_value(expression.args["low"])),
        right=Compare(column=column, operator="<=", value=_value(expression.args["high"])),
    )


_CONDITIONS: dict[str, Callable[[Any], Condition]] = {
    "Paren": _paren,
    "Not": _not,
    "And": _joined(Both),
    "Or": _joined(Either),
    "In": _among,
    "Between": _between,
}


def column_of(expression: Expression) -> str:
    """The column that a part of a statement names."""
    if type(expression).__name__ != "Column":
        raise refused(expression)
    only(expression, "this")
    return str(expression.name)


def _value(expression: Expression) -> Value:
    sign = 1.0
    if type(expression).__name__ == "Neg":
        sign, expression = -1.0, expression.this
    if type(expression).__name__ != "Literal" or (expression.is_string and sign < 0):
        raise refused(expression)
    if expression.is_string:
        return str(expression.this)
    try:
        number = sign * float(expression.this)
    except ValueError:
        raise refused(expression) from None
    if len(str(expression.this)) > MOST_DIGITS or not isfinite(number):
        raise ParameterError(f"a number in the statement has more than {MOST_DIGITS} digits, or is too large")
    return number


def _from(clause: Expression | None) -> None:
    """One plain table, whatever it is called, or none."""
    if clause is None:
        return
    only(clause, "this")
    if type(clause.this).__name__ != "Table":
        raise refused(clause.this)
    only(clause.this, "this")


def only(expression: Expression, *known: str) -> None:
    """Refuse whatever a part of the statement says beyond the known."""
    for key, value in expression.args.items():
        if value and key not in known:
            raise ParameterError(f"{expression.sql()}: {key.strip('_').upper()} is not answered. Allowed: {ALLOWED}")


def refused(expression: Any) -> ParameterError:
    """The refusal of a part of a statement that is not answered."""
    return ParameterError(f"{expression.sql()} is not answered. Allowed: {ALLOWED}")


def _first(error: BaseException) -> str:
    lines = re.sub(r"\x1b\[\d+m", "", str(error)).strip().splitlines()
    return (lines[0] if lines else "too deeply nested").rstrip(".") + "."


# The part of SQL that is answered exactly: counts, sums, averages, minima and maxima over conditions.


ExactKind = Literal["count", "sum", "mean", "minimum", "maximum"]
ALLOWED_EXACTLY = (
    "SELECT with COUNT(*), SUM(x), AVG(x), MIN(x), MAX(x); WHERE with AND, OR, NOT, = <> < <= > >=, IN, BETWEEN and "
    "plain values; GROUP BY with columns"
)
_KINDS: dict[str, ExactKind] = {"Sum": "sum", "Avg": "mean", "Min": "minimum", "Max": "maximum"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure that is asked for."""

    kind: ExactKind
    """What it is."""
    column: str | None
    """Of which column; a count has none."""
    name: str
    """What the answer calls it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactQuestion:
    """Figures of the people who meet a condition, for every combination of values of some columns."""

    figures: tuple[Figure, ...]
    """What is asked for."""
    by: tuple[str, ...]
    """The columns that make groups."""
    where: Condition | None
    """Who counts; everybody when absent."""


def parse_exact(sql: str) -> ExactQuestion:
    """The question that a SELECT statement asks.

    >>> parse_exact("SELECT MAX(income) WHERE age >= 40").figures
    (Figure(kind='maximum', column='income', name='maximum(income)'),)
    """
    try:
        figures, by, where = select_parts(sql, _figure)
        check_condition(where)
    except ParameterError as error:
        raise ParameterError(str(error).replace(ALLOWED, ALLOWED_EXACTLY)) from None
    if len(set(by)) < len(by):
        raise ParameterError(f"by must name each column once, not {list(by)}")
    return ExactQuestion(figures=tuple(figures), by=by, where=where)


def _figure(expression: Expression, name: str) -> Figure:
    kind = type(expression).__name__
    if kind == "Count" and type(expression.this).__name__ == "Star":
        only(expression, "this", "big_int")
        only(expression.this)
        return Figure(kind="count", column=None, name=name or "count(*)")
    if kind not in _KINDS:
        raise refused(expression)
    only(expression, "this")
    column = column_of(expression.this)
    return Figure(kind=_KINDS[kind], column=column, name=name or f"{_KINDS[kind]}({column})")
