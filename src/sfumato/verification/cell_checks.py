"""What single cells must look like: pseudonyms like pseudonyms, numbers like numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from sfumato.bundle.pseudonyms import DIGITS
from sfumato.data.kinds import is_readable
from sfumato.data.table import Table
from sfumato.ground.errors import listed
from sfumato.verification.checks import Check


def cells_fit(columns: Iterable[Mapping[str, Any]], table: Table) -> Iterable[Check]:
    """Identifiers hold nothing but pseudonyms, and values are of the type that the manifest states."""
    names, types = [], []
    for column in columns:
        cells = table.frame[column["name"]]
        if cells.dtype.is_nested():
            continue
        values = cells.unique().drop_nulls().cast(pl.String).unique().sort().to_list()
        present = [value for value in values if value not in table.missing]
        if column["role"] == "identifier" and not all(_is_pseudonym(value) for value in present):
            names.append(column["name"])
        kind: Any = "text" if column["role"] == "quasi" else column["type"]
        if kind != column["type"] or not all(is_readable(value, kind) for value in present):
            types.append(column["name"])
    told = f"no pseudonyms in {listed(names)}" if names else "none"
    yield Check(what="identifiers that are no pseudonyms", holds=not names, detail=told)
    told = f"other values in {listed(types)}" if types else "as stated"
    yield Check(what="types of the columns", holds=not types, detail=told)


def _is_pseudonym(value: str) -> bool:
    return len(value) == DIGITS and set(value) <= set("0123456789abcdef")
