"""What single cells must look like: pseudonyms like pseudonyms, numbers like numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from sfumato.bundle.pseudonyms import DIGITS
from sfumato.data.kinds import is_readable
from sfumato.data.table import Table
from sfumato.ground.errors import listed
from sfumato.verification.checks import Check

if TYPE_CHECKING:
    from sfumato.engines.engine_source import EngineSource


_LETTERS = "0123456789abcdef"


def cells_fit(columns: Iterable[Mapping[str, Any]], table: Table | EngineSource) -> Iterable[Check]:
    """Identifiers hold nothing but pseudonyms, and values are of the type that the manifest states."""
    names, types = [], []
    for column in columns:
        if table.frame[column["name"]].dtype.is_nested():
            continue
        if column["role"] == "identifier" and not _are_pseudonyms(table, column["name"]):
            names.append(column["name"])
        kind: Any = "text" if column["role"] == "quasi" else column["type"]
        readable = kind == "text" or all(is_readable(value, kind) for value in _present(table, column["name"]))
        if kind != column["type"] or not readable:
            types.append(column["name"])
    told = f"no pseudonyms in {listed(names)}" if names else "none"
    yield Check(what="identifiers that are no pseudonyms", holds=not names, detail=told)
    told = f"other values in {listed(types)}" if types else "as stated"
    yield Check(what="types of the columns", holds=not types, detail=told)


def _present(table: Table | EngineSource, name: str) -> list[str]:
    """The different values of a column as texts."""
    cells = table.frame[name].unique() if isinstance(table, Table) else table.values(name)[0]
    values = cells.drop_nulls().cast(pl.String).unique().sort().to_list()
    return [value for value in values if value not in table.missing]


def _are_pseudonyms(table: Table | EngineSource, name: str) -> bool:
    """Whether every cell of a column is a pseudonym; an engine looks for others where the rows are."""
    if not isinstance(table, Table):
        return not table.unlike(name, _LETTERS, DIGITS)
    return all(len(value) == DIGITS and set(value) <= set(_LETTERS) for value in _present(table, name))
