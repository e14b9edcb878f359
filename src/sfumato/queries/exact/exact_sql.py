"""The part of SQL that is answered exactly: counts, sums, averages, minima and maxima over conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sfumato.ground.errors import ParameterError
from sfumato.queries.conditions import Condition, check_condition
from sfumato.queries.sql import ALLOWED, column_of, only, refused, select_parts

if TYPE_CHECKING:
    from sqlglot.expressions import Expression

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


def _figure(one: Expression, name: str) -> Figure:
    kind = type(one).__name__
    if kind == "Count" and type(one.this).__name__ == "Star":
        only(one, "this", "big_int")
        only(one.this)
        return Figure(kind="count", column=None, name=name or "count(*)")
    if kind not in _KINDS:
        raise refused(one)
    only(one, "this")
    column = column_of(one.this)
    return Figure(kind=_KINDS[kind], column=column, name=name or f"{_KINDS[kind]}({column})")
