"""From noisy counts to the rows that are published, and the domains that are stated."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import polars as pl

from sfumato.bundle.published import count_column
from sfumato.describe.halves import halved
from sfumato.ground.errors import ParameterError
from sfumato.publish.noisy_table import Attribute, NoisyTable, PrivateTable
from sfumato.verification.discovery_checks import FOUND

MOST_ROWS = 50_000_000
"""More noisy records than this are published as counts only."""


def stated_domains(table: PrivateTable, sought: Collection[str] = ()) -> dict[str, Any]:
    """What was declared, as the manifest has it; ``sought`` are the columns whose domain was found and paid for."""
    paid = {name: {"from": FOUND} for name in sought}
    found: dict[str, Any] = {"columns": {one.name: _domain(one) | paid.get(one.name, {}) for one in table.attributes}}
    if table.target_name is not None:
        target = {"name": table.target_name, "values": list(table.classes)}
        found["target"] = target | paid.get(table.target_name, {})
    return found


def _domain(one: Attribute) -> dict[str, Any]:
    """A range with its grid, or a tree with the nodes in between that follow from it."""
    if one.tree is None:
        return {"kind": one.kind, "low": one.low, "high": one.high, "grid": one.grid}
    tree = halved(one.tree).tree if one.kind == "tree" else one.tree
    nodes = [[label, int(above)] for label, above in zip(tree.labels, tree.parent, strict=True)]
    return {"kind": one.kind, "nodes": nodes}


def released_rows(found: NoisyTable, table: PrivateTable, *, counts: bool) -> pl.DataFrame:
    """Groups with their counts, or a record for each count; groups without rows are left out of records only."""
    groups, classes = np.nonzero(found.counts) if not counts else np.indices(found.counts.shape).reshape(2, -1)
    many = found.counts[groups, classes]
    if not counts and int(many.sum()) > MOST_ROWS:
        raise ParameterError(
            f"epsilon must be larger for single records: the noisy counts add up to {int(many.sum()):,} rows; or "
            "publish counts with algorithm.output = 'counts'"
        )
    if not counts:
        groups, classes = np.repeat(groups, many), np.repeat(classes, many)
    cells = [
        pl.Series(name, list(labels), dtype=pl.String).gather(keys[groups])
        for name, labels, keys in zip(found.columns, found.labels, found.keys, strict=True)
    ]
    if table.target_name is not None:
        cells.append(pl.Series(table.target_name, list(table.classes), dtype=pl.String).gather(classes))
    name = count_column(*(column.name for column in cells))
    return pl.DataFrame([*cells, *([pl.Series(name, many)] if counts else [])])
