"""What PostgreSQL reads for a plan: a table or a query, every column as a type that comes through unharmed."""

from __future__ import annotations

import json

from sqlglot import exp

from sfumato.data.names import checked_names
from sfumato.engines.engine import Engine
from sfumato.engines.statements import ROWS, cell, quoted

_PLAIN = frozenset(
    (
        "smallint",
        "integer",
        "bigint",
        "real",
        "double precision",
        "boolean",
        "date",
        "text",
        "timestamp without time zone",
        "timestamp with time zone",
    )
)
"""Types that come as they are; of every other type, the text comes that PostgreSQL writes."""


def plain_rows(engine: Engine, rows: exp.Query, *, where: str) -> exp.Select:
    """The rows with texts for cells of types that only PostgreSQL knows: numeric, uuid, enumerations, intervals ..."""
    names = checked_names(_names(engine, rows), where=where)
    kinds = [exp.cast(exp.Anonymous(this="PG_TYPEOF", expressions=[cell(name)]), "text") for name in names]
    asked = exp.select(*(one.as_(quoted(f"c{place}")) for place, one in enumerate(kinds)))
    types = engine.ask(_nobody(asked, rows)).row(0)
    read = [
        cell(name) if kind in _PLAIN else exp.cast(cell(name), "text").as_(quoted(name))
        for name, kind in zip(names, types, strict=True)
    ]
    return exp.select(*read).from_(rows.copy().subquery(quoted(ROWS)))


def _names(engine: Engine, rows: exp.Query) -> list[str]:
    """The columns' names, whatever their types are: those of one row that has nothing in it."""
    whole = _nobody(exp.select(exp.Column(this=exp.Star(), table=quoted(ROWS))), rows).subquery(quoted("r"))
    line = exp.cast(exp.Anonymous(this="TO_JSON", expressions=[exp.column(quoted("r"))]), "text")
    told = engine.ask(exp.select(line.as_(quoted("n"))).from_(whole))["n"][0]
    pairs: list[tuple[str, object]] = json.loads(told, object_pairs_hook=list)
    return [name for name, _ in pairs]


def _nobody(asked: exp.Select, rows: exp.Query) -> exp.Select:
    """A question about one row without any values."""
    one = exp.select(exp.Literal.number(1).as_(quoted("one"))).subquery(quoted("o"))
    none = exp.select("*").from_(rows.copy().subquery(quoted(ROWS))).limit(0).subquery(quoted(ROWS))
    return asked.from_(one).join(none, on=exp.true(), join_type="left")
