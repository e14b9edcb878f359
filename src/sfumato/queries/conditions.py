"""Conditions on records, as data. A comparison with a missing cell is neither true nor false, as in SQL."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.table import Table
from sfumato.ground.arguments import number, one_of, text
from sfumato.ground.errors import ParameterError
from sfumato.queries.queryable import numbers_in, present, texts_in

Operator = Literal["=", "!=", "<", "<=", ">", ">="]
Value = str | float
DEEPEST = 100
"""Conditions may be nested this deep; a chain of n ANDs or ORs is n deep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compare:
    """A column compared with a value; with a number its cells are read as numbers, with a text as texts."""

    column: str
    operator: Operator
    value: Value

    def __post_init__(self) -> None:
        text("column", self.column)
        one_of("operator", self.operator, get_args(Operator))
        _check_value(self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Among:
    """A column has one of some values, all numbers or all texts."""

    column: str
    values: tuple[Value, ...]

    def __post_init__(self) -> None:
        text("column", self.column)
        if not isinstance(self.values, tuple) or not self.values:
            raise ParameterError("values must be a tuple of numbers or of texts, at least one")
        for value in self.values:
            _check_value(value)
        if len({isinstance(value, str) for value in self.values}) > 1:
            raise ParameterError("values must be all numbers or all texts")


@dataclass(frozen=True, slots=True, kw_only=True)
class Both:
    """Both conditions hold."""

    left: Condition
    right: Condition


@dataclass(frozen=True, slots=True, kw_only=True)
class Either:
    """One of two conditions holds, or both."""

    left: Condition
    right: Condition


@dataclass(frozen=True, slots=True, kw_only=True)
class Not:
    """A condition does not hold."""

    condition: Condition


Condition = Compare | Among | Both | Either | Not


def check_condition(condition: Any) -> None:
    """Refuse what is no condition, or is nested too deep to be judged."""
    level, depth = [] if condition is None else [condition], 0
    while level:
        depth += 1
        if depth > DEEPEST:
            raise too_deep()
        level = [part for one in level for part in _parts(one)]


def too_deep() -> ParameterError:
    """The refusal of a condition that is nested too deep."""
    return ParameterError(f"where must be at most {DEEPEST} conditions deep; write a long chain of ORs with IN")


def _parts(one: Any) -> tuple[Any, ...]:
    if not isinstance(one, Condition):
        raise ParameterError(f"where must be a condition or SQL text, not {type(one).__name__}")
    match one:
        case Both() | Either():
            return one.left, one.right
        case Not():
            return (one.condition,)
        case _:
            return ()


def _check_value(value: Any) -> None:
    if not isinstance(value, str):
        number("value", value)


def columns_of(condition: Condition | None) -> Iterable[str]:
    """The columns that a condition looks at."""
    match condition:
        case Compare() | Among():
            yield condition.column
        case Both() | Either():
            yield from columns_of(condition.left)
            yield from columns_of(condition.right)
        case Not():
            yield from columns_of(condition.condition)


def holding(condition: Condition | None, table: Table) -> NDArray[np.bool_]:
    """Which records meet a condition: every record is judged by itself, and none can stop the others."""
    if condition is None:
        return np.ones(table.rows, bool)
    return _truth(condition, table).fill_null(value=False).to_numpy().astype(bool)


def _truth(condition: Condition, table: Table) -> pl.Series:
    match condition:
        case Compare():
            return _compared(_cells(table, condition.column, condition.value), condition.operator, condition.value)
        case Among():
            cells = _cells(table, condition.column, condition.values[0])
            return cells.is_in(list(condition.values))
        case Both():
            return _truth(condition.left, table) & _truth(condition.right, table)
        case Either():
            return _truth(condition.left, table) | _truth(condition.right, table)
        case Not():
            return ~_truth(condition.condition, table)


def _cells(table: Table, column: str, value: Value) -> pl.Series:
    """The column as numbers or as texts, whichever the value is; null where it has no such value."""
    cells = present(table, column)
    if isinstance(value, str):
        return texts_in(cells)
    return pl.Series(numbers_in(cells)).fill_nan(None)


def _compared(cells: pl.Series, operator: Operator, value: Any) -> pl.Series:
    found: dict[str, Any] = {
        "=": cells.__eq__,
        "!=": cells.__ne__,
        "<": cells.__lt__,
        "<=": cells.__le__,
        ">": cells.__gt__,
        ">=": cells.__ge__,
    }
    truth: pl.Series = found[operator](value)
    return truth
