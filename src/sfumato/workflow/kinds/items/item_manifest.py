"""The file of a release of paths and sets, and what its manifest states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import polars as pl

from sfumato.workflow.apply.applying import no_rule
from sfumato.workflow.bundling import as_written, versions
from sfumato.workflow.kinds.items.item_columns import RecodedColumn
from sfumato.workflow.kinds.items.item_preparing import ItemPrepared
from sfumato.workflow.kinds.items.item_release import ItemRelease
from sfumato.workflow.plan.plan import Plan


def files(made: ItemRelease) -> dict[str, pl.DataFrame]:
    """The released records."""
    return {"data": as_written(made.rows, made.plan.output_format, made.prepared.table.missing)}


def manifest(made: ItemRelease, files: Mapping[str, str]) -> dict[str, Any]:
    """What is stated; ``files`` has the data file's name and digest.

    What was left out and lost is measured against the original, and how the search went depends on it: that is for the
    inside report.
    """
    ((data, digest),) = files.items()
    return {
        "data": {
            "file": data,
            "sha256": digest,
            "rows": made.rows.height,
            "columns": [_published(made.plan, made.prepared, name) for name in made.rows.columns],
            "missing": list(made.prepared.table.missing),
        },
        "claims": [one.to_json() for one in made.claims],
        "recoding": {
            "algorithm": made.algorithm,
            "why": made.why,
            **({"left_out": made.prepared.dropped_rows} if made.prepared.dropped_rows else {}),
            "columns": {one.name: _public(one) for one in made.recoded},
        },
        **made.audit.stated(),
        "versions": versions("numpy", "numba", "polars"),
    }


def refuse_records(manifest: Mapping[str, Any], records: object, outside: object) -> NoReturn:
    """Refuse new records: what an item reads as depends on the records it was released with."""
    raise no_rule(str(manifest["recoding"]["algorithm"]))


def _published(plan: Plan, prepared: ItemPrepared, name: str) -> dict[str, Any]:
    column = plan.columns[name]
    found: dict[str, Any] = {"name": name, "role": str(column.role), "type": "text"}
    if name in prepared.items:
        found |= {"type": column.type, "separator": column.separator}
        if column.type == "trajectory":
            found["mark"] = column.mark
    return found


def _public(column: RecodedColumn) -> dict[str, Any]:
    """What the file itself shows of a column, and which of its items stand for several, or for others that it shows."""
    return {
        "kind": column.kind,
        "shown": column.shown,
        "entries": column.entries,
        "coarser": sorted(column.coarser),
        **({"within": dict(sorted(column.within.items()))} if column.within else {}),
    }
