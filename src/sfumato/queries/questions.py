"""Questions and conditions as data: what is asked, of which records, and what it costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.core.arguments import between, number, one_of, text
from sfumato.core.errors import ParameterError
from sfumato.dp.events import Event, Pure, Sequential
from sfumato.queries.groups import MOST_BINS, numbers_in, present, queryable, texts_in
from sfumato.tables.schema import Categories, Domain, Numbers
from sfumato.tables.table import Table

# Conditions on records, as data. A comparison with a missing cell is neither true nor false, as in SQL.


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
        level = [part for node in level for part in _parts(node)]


def too_deep() -> ParameterError:
    """The refusal of a condition that is nested too deep."""
    return ParameterError(f"where must be at most {DEEPEST} conditions deep; write a long chain of ORs with IN")


def _parts(condition: Any) -> tuple[Any, ...]:
    if not isinstance(condition, Condition):
        raise ParameterError(f"where must be a condition or SQL text, not {type(condition).__name__}")
    match condition:
        case Both() | Either():
            return condition.left, condition.right
        case Not():
            return (condition.condition,)
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
    comparisons: dict[str, Any] = {
        "=": cells.__eq__,
        "!=": cells.__ne__,
        "<": cells.__lt__,
        "<=": cells.__le__,
        ">": cells.__gt__,
        ">=": cells.__ge__,
    }
    truth: pl.Series = comparisons[operator](value)
    return truth


# Questions as data: what is asked for, of which records, in which groups; and what it will cost.


Kind = Literal["count", "sum", "mean", "variance", "quantile"]
PARTS: dict[Kind, dict[str, Fraction]] = {
    "count": {"count": Fraction(1)},
    "sum": {"sum": Fraction(1)},
    "mean": {"sum": Fraction(1, 2), "count": Fraction(1, 2)},
    "variance": {"squares": Fraction(1, 3), "sum": Fraction(1, 3), "count": Fraction(1, 3)},
    "quantile": {"choice": Fraction(1, 2), "lower end": Fraction(1, 4), "upper end": Fraction(1, 4)},
}
"""How an answer's budget is divided among the noisy figures that it is made of."""

MOST_QUANTILES = 4096
"""Quantiles are searched for in one group after the other: in no more than this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """One figure about a group of records."""

    kind: Kind
    """What is computed."""
    column: str | None = None
    """Of which column; a count has none."""
    bounds: Numbers | None = None
    """The column's bounds, if they are not those of the session."""
    share: float = 0.5
    """For a quantile: the share of records below it."""
    name: str = ""
    """What the answer calls it."""

    def __post_init__(self) -> None:
        one_of("kind", self.kind, get_args(Kind))
        between("share", self.share, 0, 1)
        if (self.column is None) != (self.kind == "count"):
            raise ParameterError(f"column must be {'absent' if self.kind == 'count' else 'named'} for a {self.kind}")
        if self.column is not None:
            text("column", self.column)
        if self.bounds is not None and not isinstance(self.bounds, Numbers):
            raise ParameterError(f"bounds must be Numbers, not {type(self.bounds).__name__}")
        if not self.name:
            inside = "*" if self.column is None else self.column
            more = f", {self.share:g}" if self.kind == "quantile" else ""
            object.__setattr__(self, "name", f"{self.kind}({inside}{more})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Some figures about the records that meet a condition, for every combination of some columns' values."""

    aggregates: tuple[Aggregate, ...]
    """The figures; the budget is divided evenly among them."""
    by: tuple[str, ...] = ()
    """The columns that make groups."""
    where: Condition | None = None
    """Which records count; all when absent."""
    domains: dict[str, Domain] = field(default_factory=dict)
    """Domains for this question only."""

    def __post_init__(self) -> None:
        if not self.aggregates or not all(isinstance(aggregate, Aggregate) for aggregate in self.aggregates):
            raise ParameterError("aggregates must not be empty, and each of them an Aggregate")
        object.__setattr__(self, "by", names_of(self.by))
        check_condition(self.where)
        check_domains(self.domains)
        if len(set(self.by)) < len(self.by):
            raise ParameterError(f"by must name each column once, not {list(self.by)}")


def names_of(by: Any) -> tuple[str, ...]:
    """The columns that make groups, or a refusal of what is no list of names."""
    if not isinstance(by, list | tuple) or not all(isinstance(name, str) for name in by):
        raise ParameterError(f"by must be a list of column names such as ['sex'], not {by!r}")
    return tuple(by)


def check_domains(domains: Any) -> None:
    """Refuse what declares no domains."""
    if not isinstance(domains, Mapping) or not all(isinstance(domain, Domain) for domain in domains.values()):
        raise ParameterError("domains must give each column Numbers or Categories")
    for domain in domains.values():
        queryable(domain)


def groups_of(question: Question, known: dict[str, Domain]) -> list[Domain]:
    """The domains of the columns that make groups; refused where they make too many."""
    domains, many = [domain_of(name, question, known) for name in question.by], 1
    for domain in domains:
        many *= len(domain.labels)
    if many > MOST_BINS:
        raise ParameterError(f"by: {many:,} groups are more than {MOST_BINS:,}; group by fewer columns or coarser ones")
    if many > MOST_QUANTILES and any(aggregate.kind == "quantile" for aggregate in question.aggregates):
        raise ParameterError(
            f"by: quantiles of {many:,} groups are more than {MOST_QUANTILES:,}; group by fewer columns"
        )
    return domains


def domain_of(name: str, question: Question, known: dict[str, Domain]) -> Domain:
    """A column's declared domain, or a refusal."""
    domain = question.domains.get(name) or known.get(name)
    if domain is None:
        raise ParameterError(
            f"column {name!r} has no declared domain; declare low and high, or values: what is read off the rows "
            "would tell of the people in them"
        )
    return domain


def bounds_of(aggregate: Aggregate, question: Question, known: dict[str, Domain]) -> Numbers:
    """The declared bounds of an aggregate's column, or a refusal."""
    domain = aggregate.bounds or domain_of(str(aggregate.column), question, known)
    if isinstance(domain, Categories):
        raise ParameterError(f"column {aggregate.column!r} is declared with values, not with low and high: no numbers")
    return domain


def cost_of(question: Question, epsilon: Fraction) -> Event:
    """What answering costs, known before any record is looked at; a record is in one group, so groups cost nothing."""
    each = epsilon / len(question.aggregates)
    parts = tuple(cost_of_one(aggregate, each) for aggregate in question.aggregates)
    return parts[0] if len(parts) == 1 else Sequential(parts=parts, what="several answers")


def cost_of_one(aggregate: Aggregate, epsilon: Fraction) -> Event:
    """What one figure of all groups costs."""
    shares = PARTS[aggregate.kind]
    parts = tuple(Pure(epsilon=epsilon * part, what=f"{aggregate.name}: {what}") for what, part in shares.items())
    return parts[0] if len(parts) == 1 else Sequential(parts=parts, what=aggregate.name)
