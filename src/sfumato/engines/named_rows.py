"""The rows that a plan names by a table or by a query of its own, the same for every engine."""

from __future__ import annotations

from sqlglot import errors, exp, parse

from sfumato.engines.statements import named
from sfumato.ground.errors import PlanError


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
        found = [one for one in parse(query, dialect=dialect) if one is not None]
    except errors.SqlglotError as fault:
        told = str(fault).splitlines()[0]
        raise PlanError(f"input.query cannot be read as SQL: {told}") from None
    changing = (exp.DML, exp.DDL, exp.Command, exp.Into, exp.Drop, exp.Alter)
    if len(found) != 1 or not isinstance(found[0], exp.Query):
        raise PlanError("input.query must be one SELECT, and nothing beside it")
    if any(isinstance(node, changing) and not isinstance(node, exp.Query) for node in found[0].walk()):
        raise PlanError("input.query must be one SELECT that changes nothing")
    return found[0]
