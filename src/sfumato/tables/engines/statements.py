"""What an engine must do, and every SQL statement that it is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import polars as pl
from sqlglot import errors, exp, parse

from sfumato.core.errors import PlanError

# What an engine must be able to do: answer one question, borrow a small table, and write rows into files.


class Engine(Protocol):
    """A program that holds tables and answers SQL; one adapter for each kind of program."""

    @property
    def name(self) -> str:
        """As a plan names it."""

    def ask(self, statement: exp.Query) -> pl.DataFrame:
        """The rows that a statement gives; it is written in the engine's own dialect, and is one SELECT."""

    def lend(self, name: str, frame: pl.DataFrame) -> None:
        """Statements may name this table from now on; one of the same name is replaced."""

    def write(self, statement: exp.Query, folder: Path) -> None:
        """The rows that a statement gives as Parquet files in an empty folder, in any division and any order."""


# Rows on their way between polars and an engine.


BATCH = 1_000_000
"""How many rows are read at once."""


@dataclass(frozen=True, slots=True)
class ArrowStream:
    """Rows as a stream of Arrow and as nothing else: no other package is needed between polars and an engine."""

    rows: Any
    """Whatever can be streamed so."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.rows.__arrow_c_stream__(requested_schema)


# Every statement that an engine is asked, built as expressions: names and values are quoted by the dialect's rules.
#
# No statement is put together from texts, so a name or a value cannot become a part of one. All are SELECTs over
# ``rows``, an expression for the rows of the table; their columns are called ``c0``, ``c1`` ... and never as the table
# calls them.


ROWS, CELLS = "p", "m"
"""What statements call the rows of the table, and the table of cells that is lent."""
_CODES = (*range(9, 14), 32, 133, 160, 5760, *range(8192, 8203), 8232, 8233, 8239, 8287, 12288)
BLANKS = "".join(map(chr, _CODES))
"""What is cut off around a text that is trimmed."""


def quoted(name: str) -> exp.Identifier:
    """A name that cannot be read as anything else."""
    return exp.to_identifier(name, quoted=True)


def cell(name: str, table: str = ROWS) -> exp.Column:
    """A column of the rows, or of a lent table."""
    return exp.column(quoted(name), table=quoted(table))


def text(value: str) -> exp.Literal:
    """A text as a value."""
    return exp.Literal.string(value)


def named(parts: Sequence[str]) -> exp.Select:
    """All rows of a table, by its name: catalog, schema and table, or the last of them."""
    catalog, schema, table = (quoted(part) if part else None for part in ("", "", *parts)[-3:])
    return exp.select("*").from_(exp.Table(this=table, db=schema, catalog=catalog))


def head(rows: exp.Query) -> exp.Select:
    """No rows: only the columns with their types."""
    return exp.select("*").from_(_rows(rows)).limit(0)


def size(rows: exp.Query) -> exp.Select:
    """How many rows there are, as ``n``."""
    return exp.select(_count()).from_(_rows(rows))


def as_read(rows: exp.Query, frame: Mapping[str, str], called: Sequence[str], *, trim: bool) -> exp.Select:
    """The rows as a plan reads them: texts as texts, a number that is none as missing, zero without a sign.

    ``frame`` says for each column what it is: ``text``, ``real``, or anything else for what stays as it is.
    """
    read = [_read(cell(name), kind, trim=trim) for name, kind in frame.items()]
    return exp.select(*(expression.as_(quoted(name)) for expression, name in zip(read, called, strict=True))).from_(
        _rows(rows)
    )


def _read(column: exp.Column, kind: str, *, trim: bool) -> exp.Expr:
    if kind == "text":
        text_column: exp.Expr = exp.cast(column, "text")
        return exp.Trim(this=text_column, expression=text(BLANKS)) if trim else text_column
    if kind != "real":
        return column
    none = exp.IsNan(this=column)  # a comparison with NaN is folded away where the statistics of a file leave NaN out
    return exp.case().when(none, exp.null()).when(column.eq(0), exp.Abs(this=column.copy())).else_(column.copy())


def without_null(rows: exp.Query, names: Sequence[str]) -> exp.Select:
    """The rows of texts with "" for every null: a file of texts has no nulls."""
    filled = [exp.func("COALESCE", cell(name), text("")).as_(quoted(name)) for name in names]
    return exp.select(*filled).from_(_rows(rows))


def complete(rows: exp.Query, marks: Mapping[str, Sequence[str]]) -> exp.Select:
    """The rows that have a value in each of these columns; ``marks`` are the texts that mean none."""
    there = [exp.not_(absent(name, texts)) for name, texts in marks.items()]
    return exp.select("*").from_(_rows(rows)).where(*there)


def absent(name: str, marks: Sequence[str]) -> exp.Expr:
    """Whether a row has no value in a column."""
    none = cell(name).is_(exp.null())
    if not marks:
        return none
    return exp.paren(exp.or_(none, exp.In(this=cell(name), expressions=[text(mark) for mark in marks])))


def lacking(rows: exp.Query, marks: Mapping[str, Sequence[str]]) -> exp.Select:
    """For each column: how many rows have a null, then how many have each of the marks; in this order."""
    counts = [
        exp.Count(this=exp.case().when(condition, 1))
        for name, texts in marks.items()
        for condition in (absent(name, ()), *(cell(name).eq(text(mark)) for mark in texts))
    ]
    return exp.select(*(count.as_(quoted(f"c{place}")) for place, count in enumerate(counts))).from_(_rows(rows))


def groups(rows: exp.Query, keys: Sequence[str], other_columns: Sequence[str], most: int) -> exp.Select:
    """Rows per combination of the keys and one of the columns beside, for each of these; in one pass.

    The last columns ``g0``, ``g1`` ... say which column a row of the answer is not about (1), and ``n`` is the count.
    """
    every = [*keys, *other_columns]
    columns = [cell(name).as_(quoted(f"c{place}")) for place, name in enumerate(every)]
    if len(other_columns) < 2:
        query = exp.select(*columns, _count()).from_(_rows(rows)).group_by(*map(cell, every))
        return query.limit(most + 1)
    left = [
        exp.Anonymous(this="GROUPING", expressions=[cell(name)]).as_(quoted(f"g{place}"))
        for place, name in enumerate(other_columns)
    ]
    sets = [exp.Tuple(expressions=[cell(name) for name in (*keys, other)]) for other in other_columns]
    query = exp.select(*columns, *left, _count()).from_(_rows(rows))
    query.set("group", exp.Group(grouping_sets=[exp.GroupingSets(expressions=sets)]))
    return query.limit(most + 1)


def combinations(rows: exp.Query, names: Sequence[str]) -> exp.Select:
    """How many different combinations some columns have, as ``n``."""
    every = exp.select(*(cell(name).as_(quoted(f"c{n}")) for n, name in enumerate(names))).from_(_rows(rows)).distinct()
    return exp.select(_count()).from_(every.subquery(quoted("d")))


def unmarked(rows: exp.Query, marks: Mapping[str, Sequence[str]]) -> exp.Select:
    """Some columns of the rows, with a null for each of the texts that mean no value."""
    read = [
        exp.case().when(absent(name, texts), exp.null()).else_(cell(name)).as_(quoted(name)) if texts else cell(name)
        for name, texts in marks.items()
    ]
    return exp.select(*read).from_(_rows(rows))


def sizes(rows: exp.Query, names: Sequence[str]) -> exp.Select:
    """How many groups of rows that are alike in some columns have each size: the size ``n``, and how many, ``m``."""
    each = exp.select(_count()).from_(_rows(rows)).group_by(*map(cell, names)).subquery(quoted("d"))
    size = exp.column(quoted("n"), table=quoted("d"))
    many = exp.Count(this=exp.Star()).as_(quoted("m"))
    return exp.select(size.as_(quoted("n")), many).from_(each).group_by(size.copy())


def rare(rows: exp.Query, name: str, marks: Sequence[str], k: int) -> exp.Select:
    """How many rows hold a value that fewer than k rows hold, as ``n``; null where none does."""
    each = exp.select(_count()).from_(_rows(rows)).where(exp.not_(absent(name, marks))).group_by(cell(name))
    few = exp.column(quoted("n"), table=quoted("d")) < exp.Literal.number(k)
    total = exp.Sum(this=exp.column(quoted("n"), table=quoted("d")))
    return exp.select(total.as_(quoted("n"))).from_(each.subquery(quoted("d"))).where(few)


def unlike(rows: exp.Query, name: str, marks: Sequence[str], letters: str, many: int) -> exp.Select:
    """How many rows have a value that is not so many of these letters, as ``n``."""
    text_column = exp.cast(cell(name), "text")
    rest = exp.Anonymous(this="TRANSLATE", expressions=[text_column, text(letters), text("")])
    odd = exp.or_(rest.neq(text("")), exp.Length(this=text_column.copy()).neq(exp.Literal.number(many)))
    return exp.select(_count()).from_(_rows(rows)).where(exp.not_(absent(name, marks)), odd)


def recoded(
    rows: exp.Query, keys: Mapping[str, int], cells: Sequence[exp.Expr], *, visible: bool = False
) -> exp.Select:
    """Every row beside the cell that it is in, by joins with lent tables.

    ``keys`` are the columns of the cells, each with the code of a missing value. A dictionary ``d0``, ``d1`` ... is
    lent for each of them (value ``v``, code ``k``), and the table of cells ``m`` (codes ``k0``, ``k1`` ...). A row
    whose value or cell is in no lent table is left out. ``visible`` leaves out suppressed cells.
    """
    query = exp.select(*(expression.as_(quoted(f"c{place}")) for place, expression in enumerate(cells))).from_(
        _rows(rows)
    )
    alike = []
    for place, (name, missing) in enumerate(keys.items()):
        book = f"d{place}"
        query = query.join(_lent(book), on=cell(name).eq(cell("v", book)), join_type="left")
        code = exp.case().when(cell(name).is_(exp.null()), exp.Literal.number(missing)).else_(cell("k", book))
        alike.append(cell(f"k{place}", CELLS).eq(code))
    query = query.join(_lent(CELLS), on=exp.and_(*alike) if alike else exp.true(), join_type="inner")
    return query.where(exp.not_(cell("hidden", CELLS))) if visible else query


def coarser(rows: exp.Query, names: Sequence[str], books: Mapping[str, str]) -> exp.Select:
    """All columns of the rows, some with labels in place of values.

    ``books`` names a lent table for each of these, value ``v`` and label ``l``; a value that is not in it has no label.
    """
    read = [cell("l", books[name]).as_(quoted(name)) if name in books else cell(name) for name in names]
    query = exp.select(*read).from_(_rows(rows))
    for name, book in books.items():
        query = query.join(_lent(book), on=cell(name).eq(cell("v", book)), join_type="left")
    return query


def columns(rows: exp.Query, names: Sequence[str]) -> exp.Select:
    """Some columns of all rows."""
    return exp.select(*(cell(name).as_(quoted(f"c{place}")) for place, name in enumerate(names))).from_(_rows(rows))


def uneven(rows: exp.Query, others: exp.Query, names: Sequence[str], missing: str) -> exp.Select:
    """How many different rows, as texts, two tables with the same columns do not have equally often, as ``n``."""
    both = exp.union(
        *(_weighed(side, names, missing, sign) for side, sign in ((rows, 1), (others, -1))), distinct=False
    )
    keys = [cell(f"c{place}", "b") for place, _ in enumerate(names)]
    much = exp.Sum(this=cell("w", "b")).as_(quoted("w"))
    each = exp.select(much).from_(both.subquery(quoted("b"))).group_by(*keys)
    apart = exp.column(quoted("w"), table=quoted("d")).neq(exp.Literal.number(0))
    return exp.select(_count()).from_(each.subquery(quoted("d"))).where(apart)


def _weighed(rows: exp.Query, names: Sequence[str], missing: str, sign: int) -> exp.Select:
    texts = [exp.func("COALESCE", exp.cast(cell(name), "text"), text(missing)) for name in names]
    columns = [expression.as_(quoted(f"c{place}")) for place, expression in enumerate(texts)]
    return exp.select(*columns, exp.convert(sign).as_(quoted("w"))).from_(_rows(rows))


def lent(table: str) -> str:
    """What a lent table is called in the engine."""
    return f"sfumato_lent_{table}"


def _lent(table: str) -> exp.Table:
    return exp.Table(this=quoted(lent(table)), alias=exp.TableAlias(this=quoted(table)))


def _rows(rows: exp.Query) -> exp.Subquery:
    return rows.copy().subquery(quoted(ROWS))


def _count() -> exp.Expr:
    return exp.Count(this=exp.Star()).as_(quoted("n"))


# The rows that a plan names by a table or by a query of its own, the same for every engine.


def table_rows(name: str) -> exp.Select:
    """The rows of a table by its name, with its schema and catalog before it where it has such."""
    parts = name.split(".")
    if len(parts) > 3 or not all(parts):
        raise PlanError(f"input.table: {name!r} is no name; write table, schema.table or catalog.schema.table, or use "
                        "input.query for a name with a point in it")  # fmt: skip
    return named(parts)


def query_rows(query: str, dialect: str) -> exp.Query:
    """The rows of a query, which must be one SELECT that changes nothing."""
    try:
        statements = [statement for statement in parse(query, dialect=dialect) if statement is not None]
    except errors.SqlglotError as fault:
        message = str(fault).splitlines()[0]
        raise PlanError(f"input.query cannot be read as SQL: {message}") from None
    changing = (exp.DML, exp.DDL, exp.Command, exp.Into, exp.Drop, exp.Alter)
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        raise PlanError("input.query must be one SELECT, and nothing beside it")
    if any(isinstance(node, changing) and not isinstance(node, exp.Query) for node in statements[0].walk()):
        raise PlanError("input.query must be one SELECT that changes nothing")
    return statements[0]
