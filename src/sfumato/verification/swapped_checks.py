"""Verifying rows with exchanged values: that nothing is claimed, that this is said, and what the plan says was done.

That values were exchanged and not invented shows only beside the original: ``kept_exactly`` compares the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.bundle.published import Published
from sfumato.data.table import Table
from sfumato.describe.roles import Role
from sfumato.verification.attack_figures import attacks_fit
from sfumato.verification.cell_checks import cells_fit
from sfumato.verification.checks import Check, Remark, same
from sfumato.verification.consistency import algorithm_fits, marks_fit
from sfumato.verification.missing_checks import missing_fits
from sfumato.verification.near_unique_remarks import near_unique_remarks
from sfumato.verification.released_file import formulas_escaped
from sfumato.verification.table_checks import identifiers_fit
from sfumato.verification.verifying import DATA, same_columns, shape

NOT_ANONYMOUS = (
    "values were exchanged between records and no privacy model was verified: these rows are not anonymous, and rows "
    "whose values were not exchanged are true"
)
"""The warning of every such release."""


def swapped_checks(folder: Path, manifest: Mapping[str, Any], tables: Mapping[str, Table]) -> Iterable[Check | Remark]:
    """The checks of a release of swapped rows."""
    table, data = tables[DATA], manifest["data"]
    published = Published.from_json(data)
    yield from formulas_escaped(manifest, [folder / str(data["file"])])
    yield from shape(folder, manifest, table)
    if not same_columns(manifest, table):
        return
    rare = list(near_unique_remarks(manifest, table, published.schema.roles))
    yield from rare
    yield marks_fit(manifest, [NOT_ANONYMOUS, *(one.detail for one in rare)], Check)
    yield algorithm_fits(manifest, Check)
    yield same("models that the plan asks for", list(manifest["plan"]["privacy"]), [])
    yield from identifiers_fit(manifest, published)
    yield from cells_fit(data["columns"], table)
    counted = published.schema.named(Role.QUASI, Role.SENSITIVE, Role.TARGET)
    yield from missing_fits(manifest, [(table, counted)])
    yield from _swapping(manifest, published)
    yield from attacks_fit(manifest)


def _swapping(manifest: Mapping[str, Any], published: Published) -> Iterable[Check]:
    """What is stated about the exchange is what the plan asks for, about columns that are there."""
    asked, stated = manifest["plan"]["algorithm"], manifest["recoding"]
    yield same("share of rows that exchange values", stated["rate"], asked["rate"])
    yield same("columns in which partners agree", dict(stated["within"]), dict(asked.get("within", {})))
    every = [name for name in published.schema.quasi if stated["within"].get(name) != 0]
    yield same("columns that are exchanged", stated["columns"], list(asked.get("columns") or every))
    names = [column.name for column in published.columns]
    strange = [name for name in (*stated["columns"], *stated["within"]) if name not in names]
    yield same("exchanged columns that are not published", strange, [])


def kept_exactly(
    before: pl.DataFrame, after: pl.DataFrame, swapped: Sequence[str], groups: pl.Series | None = None
) -> Iterable[Check]:
    """Whether rows hold the values of the original and no others: what is exchanged column by column, the rest whole.

    ``before`` and ``after`` have the same columns as texts, in any order of rows. ``groups`` numbers the groups of
    similar rows of ``before``; then ``after`` must have its rows in the same order, and every group keeps its values.
    """
    for name in swapped:
        yield _same_values(f"values of {name}", before.select(name), after.select(name))
        if groups is not None:
            one, other = (frame.select(name, pl.Series("\0group", groups)) for frame in (before, after))
            yield _same_values(f"values of {name} in every group", one, other)
    rest = [name for name in before.columns if name not in swapped]
    if rest:
        yield _same_values("columns that are not exchanged", before.select(rest), after.select(rest))


def _same_values(what: str, before: pl.DataFrame, after: pl.DataFrame) -> Check:
    names = before.columns
    counts = [frame.group_by(names).len("\0rows").sort(names, nulls_last=True) for frame in (before, after)]
    alike = counts[0].equals(counts[1])
    return Check(what=what, holds=alike, detail="those of the original" if alike else "others than in the original")
