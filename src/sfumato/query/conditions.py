"""Conditions on records, as data. A comparison with a missing cell is neither true nor false, as in SQL."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.table import Table
from sfumato.query.domains import numbers_in, present, texts_in

Operator = Literal["=", "!=", "<", "<=", ">", ">="]
Value = str | float


@dataclass(frozen=True, slots=True, kw_only=True)
class Compare:
    """A column compared with a value; with a number its cells are read as numbers, with a text as texts."""

    column: str
    operator: Operator
    value: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Among:
    """A column has one of some values, all numbers or all texts."""

    column: str
    values: tuple[Value, ...]


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
