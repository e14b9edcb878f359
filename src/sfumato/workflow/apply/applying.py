"""A recoding that was found on one table, applied to records that were not there: test sets, next month's file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from sfumato.bundle.claims import Claim
from sfumato.bundle.manifest import load
from sfumato.bundle.published import Published
from sfumato.bundle.staging import MANIFEST
from sfumato.bundle.stated_form import stated_form
from sfumato.data.frames import from_frame
from sfumato.data.table import Column, Table, as_text
from sfumato.describe.hierarchy import TOP
from sfumato.describe.roles import Role
from sfumato.ground.arguments import one_of
from sfumato.ground.errors import DataError, PlanError
from sfumato.verification.evidence import evidence
from sfumato.verification.judging import claim
from sfumato.verification.released_file import is_escaped
from sfumato.workflow.apply.rules import Rule
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.dating import stated_dates
from sfumato.workflow.kinds import kind_stated
from sfumato.workflow.loading import read_file

Outside = Literal["refuse", "top", "suppress"]
"""What becomes of a value that the rules know no label for: refused, shown as ``*``, or its row left out."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Applied:
    """New records under an old recoding, with what they themselves were found to meet."""

    rows: pl.DataFrame
    """The recoded records, in their order."""
    left_out: int
    """Records left out because a value lies outside the domain."""
    starred: int
    """Cells shown as ``*`` because their value lies outside the domain."""
    claims: tuple[Claim, ...]
    """Each model of the release, judged on these records alone; it need not hold."""
    escape_formulas: bool = False
    """Whether the release escapes texts that a spreadsheet would run; these rows are not escaped yet."""

    def __repr__(self) -> str:
        return f"Applied({self.rows.height:,} rows, {self.left_out:,} left out, {self.starred:,} cells starred)"

    @property
    def holds(self) -> bool:
        """Whether these records meet the release's requirement by themselves."""
        return all(one.holds for one in self.claims)


def apply(bundle: str | Path, records: object, *, outside: Outside = "refuse") -> Applied:
    """Recode new records (a file or a frame) by the rules in a bundle's manifest."""
    folder = Path(bundle)
    manifest = load(folder / MANIFEST)
    with stated_form(folder):
        made = kind_stated(manifest).apply(manifest, records, outside)
        return replace(made, escape_formulas=is_escaped(manifest))


def apply_rules(manifest: Mapping[str, Any], records: object, outside: Outside) -> Applied:
    """New records under the rules of a manifest that describes a table, judged by its models."""
    rules = stated_rules(manifest)
    published = Published.from_json(manifest["data"])
    table = stated_dates(read_records(records, published.missing), manifest)
    reading = manifest["plan"]["privacy"].get("reading", "strict")
    models = [(c["model"], c["parameters"]) for c in manifest["claims"]]
    return applied(table, rules, published, models=models, reading=reading, outside=outside)


def stated_rules(manifest: Mapping[str, Any]) -> dict[str, Rule]:
    """The rule of every quasi-identifier of a manifest, or a refusal where the recoding has none."""
    rules = {name: Rule.from_json(stated) for name, stated in manifest["recoding"]["columns"].items()}
    if None in rules.values():
        raise no_rule(str(manifest["recoding"]["algorithm"]))
    return {name: rule for name, rule in rules.items() if rule is not None}


def no_rule(algorithm: str) -> PlanError:
    """The refusal of a recoding that depends on the other records."""
    return PlanError(
        f"{algorithm} recodes group by group: what a value reads as depends on the records it was released with, so "
        "there is no rule for new ones. top-down, bottom-up, optimal and the other full-domain searches have one"
    )


def applied(
    table: Table,
    rules: Mapping[str, Rule],
    published: Published,
    *,
    models: list[tuple[str, Mapping[str, Any]]],
    reading: Any,
    outside: Outside,
) -> Applied:
    """New records under rules: quasi-identifiers recoded, other published columns as they are where they are there."""
    one_of("outside", outside, get_args(Outside))
    roles = published.schema.roles
    cells: dict[str, pl.Series] = {}
    strange = np.zeros((len(rules), table.rows), np.bool_)
    for place, (name, rule) in enumerate(rules.items()):
        table.require(name, where="new records")
        cells[name], strange[place] = _recoded(table, _texts(table, name), rule, outside)
    kept = (Role.SENSITIVE, Role.TARGET, Role.KEEP)
    cells |= {n: table.frame[n] for n, role in roles.items() if role in kept and n in table.names}
    frame = pl.DataFrame([cells[name] for name in roles if name in cells])
    lost = strange.any(axis=0) & (outside == "suppress")
    rows = frame.filter(pl.Series(~lost)) if lost.any() else frame
    return Applied(
        rows=rows,
        left_out=int(lost.sum()),
        starred=int(strange.sum()) if outside == "top" else 0,
        claims=_judged(rows, published, models, reading),
    )


def read_records(records: object, missing: tuple[str, ...]) -> Table:
    """New records from a file or a frame; there must be some."""
    found = (
        read_file(Path(records), missing=missing)
        if isinstance(records, str | Path)
        else from_frame(records, missing=missing)
    )
    if not found.rows:
        raise DataError(f"{found.source} has no rows; there is nothing to recode")
    return found


def _texts(table: Table, name: str) -> Column:
    """A column as texts: a number that is none is missing, whole numbers have no point, categories are words."""
    cells = table.frame[name]
    if cells.dtype.is_nested() or cells.dtype in (pl.Binary, pl.Object, pl.Duration):
        raise DataError(f"{table.source}, column {name!r}: cells of type {cells.dtype} cannot be recoded")
    if cells.dtype.is_float():
        known = cells.fill_nan(None)
        whole = known.is_null() | (known.is_finite() & (known == known.floor()) & (known.abs() < 2**53))
        words = known.cast(pl.String)
        cells = words.zip_with(~whole.fill_null(value=True), known.set(~whole, None).cast(pl.Int64).cast(pl.String))
    plain = Table(frame=pl.DataFrame([as_text(cells).alias(name)]), source=table.source, missing=table.missing)
    return plain.column(name, "text")


def _recoded(table: Table, column: Column, rule: Rule, outside: Outside) -> tuple[pl.Series, np.ndarray[Any, Any]]:
    """The labels of one column, and which rows' values lie outside the domain."""
    labels = rule.read(column)
    unknown = np.array([label is None for label in labels], np.bool_).reshape(len(labels))
    counts = column.counts
    if outside == "refuse" and (counts[unknown] > 0).any():
        bad = [place for place in np.flatnonzero(unknown) if counts[place]]
        shown = ", ".join(f"{column.values[i]!r} ({counts[i]} rows)" for i in bad[:5])
        more = f" and {len(bad) - 5} more values" if len(bad) > 5 else ""
        raise DataError(
            f"{table.source}, column {column.name!r}: no label of the release covers {shown}{more}; show such cells as "
            "* with outside = top, or leave out their rows with outside = suppress"
        )
    words = pl.Series(column.name, [TOP if label is None else label for label in labels], dtype=pl.String)
    return words.gather(column.codes), unknown[column.codes]


def _judged(
    rows: pl.DataFrame, published: Published, models: list[tuple[str, Mapping[str, Any]]], reading: Any
) -> tuple[Claim, ...]:
    """The release's models on these rows alone; none where a column that they read is not there."""
    parts = catalog()
    made = [(parts.model(name, parameters), parameters) for name, parameters in models]
    if (
        not rows.height
        or published.population
        or any(c not in rows.columns for model, _ in made for c in model.columns)
    ):
        return ()
    here = [column for column in published.columns if column.name in rows.columns]
    classes = evidence(
        Table(frame=rows, missing=published.missing),
        replace(published, columns=tuple(here), rows=rows.height),
        counted=[name for model, _ in made for name in model.columns],
    )
    return tuple(claim(model, parameters, classes, reading) for model, parameters in made)
