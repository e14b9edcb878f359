"""A release as an attacker finds it, with the people behind it as only the steward knows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from sfumato.attacks.frame.coverage import meaning
from sfumato.attacks.frame.subject import Meaning, Subject
from sfumato.bundle.manifest import load
from sfumato.bundle.published import Published
from sfumato.bundle.staging import MANIFEST
from sfumato.data.files import read
from sfumato.data.table import Column, Table
from sfumato.describe.domains import ObservedDomain
from sfumato.describe.hierarchy import Hierarchy
from sfumato.describe.roles import Role, Schema
from sfumato.ground.errors import BundleError, DataError, PlanError, listed, unknown_column
from sfumato.verification.item_checks import KIND as ITEMIZED
from sfumato.verification.private_checks import KIND as PRIVATE
from sfumato.workflow.hierarchies import builder
from sfumato.workflow.plan import Plan
from sfumato.workflow.private_subject import private_subject

if TYPE_CHECKING:
    from sfumato.workflow.release import Release

Claims = Sequence[tuple[str, Mapping[str, Any]]]


def release_subject(made: Release, *, control: Table | None = None) -> Subject:
    """A release that was just made; its own rows and hierarchies are at hand."""
    prepared = made.prepared
    names = prepared.problem.cells.quasi
    hierarchies = dict(zip(names, prepared.problem.hierarchies, strict=True))
    forms = made.outcome.recoding(prepared.problem).forms
    found = _subject(
        made.rows,
        made.published,
        {name: prepared.columns[name] for name in (*names, *prepared.schema.sensitive)},
        hierarchies,
        claims=[(one.model, one.parameters) for one in made.claims],
        algorithm=made.algorithm,
        groups=made.sensitive,
        control=control,
        trees={
            **{name: _paths(tree, prepared.columns[name]) for name, tree in hierarchies.items()},
            **_trees(made.plan, {name: prepared.columns[name] for name in prepared.schema.sensitive}),
        },
    )
    return replace(found, means=frozenset(n for n, form in zip(names, forms, strict=False) if form == "means"))


def bundle_subject(folder: Path, original: Table, *, control: Table | None = None, plan: Plan | None = None) -> Subject:
    """A bundle with its original; the plan's hierarchies tell what labels cover, where those do not tell it."""
    manifest = load(folder / MANIFEST)
    if manifest.get("kind") == PRIVATE:
        return private_subject(folder, manifest, original, control)
    if manifest.get("kind") == ITEMIZED:
        raise BundleError(
            f"{folder}: paths and sets are attacked when they are released, where it is known whose record is whose; "
            "the figures stand in its report"
        )
    published = Published.from_json(manifest["data"])
    rows = read(folder / str(manifest["data"]["file"]), missing=published.missing).frame
    groups = None
    if published.apart is not None:
        groups = read(folder / str(manifest["data"]["apart"]["file"]), missing=published.missing).frame
    schema = published.schema
    if manifest["plan"]["input"].get("on_missing") == "drop":
        original = _complete(original, schema, published.missing)
    wanted = schema.named(Role.QUASI, Role.SENSITIVE)
    columns = {}
    for name in wanted:
        if name not in original.names:
            raise unknown_column(name, original.names, where="--original")
        columns[name] = original.column(name, None if plan is None else _kind(plan, name))
    hierarchies = {name: None if plan is None else _hierarchy(plan, columns[name]) for name in schema.quasi}
    found = _subject(
        rows,
        published,
        columns,
        hierarchies,
        claims=[(str(one["model"]), one["parameters"]) for one in manifest["claims"]],
        algorithm=str(manifest["recoding"]["algorithm"]),
        groups=groups,
        control=control,
        trees={} if plan is None else _trees(plan, columns),
    )
    stated = manifest["recoding"]["columns"]
    return replace(found, means=frozenset(n for n, one in stated.items() if one.get("form") == "means"))


def _complete(table: Table, schema: Schema, missing: tuple[str, ...]) -> Table:
    """The rows that a release without missing values was made from."""
    read_so = replace(table, missing=missing)
    kept = np.ones(table.rows, np.bool_)
    for name in schema.named(Role.QUASI, Role.SENSITIVE, Role.TARGET):
        if name in table.names:
            kept &= ~read_so.is_missing(name).to_numpy()
    return replace(read_so, frame=table.frame.filter(pl.Series(kept)))


def _subject(
    rows: pl.DataFrame,
    published: Published,
    columns: Mapping[str, Column],
    hierarchies: Mapping[str, Hierarchy | None],
    *,
    claims: Claims,
    algorithm: str,
    groups: pl.DataFrame | None,
    control: Table | None,
    trees: Mapping[str, Mapping[str, tuple[str, ...]]],
) -> Subject:
    missing = published.missing[0] if published.missing else ""
    schema = published.schema
    shown = rows.select(pl.col(list(rows.columns)).cast(pl.String).fill_null(missing))
    meanings = {}
    for name in schema.quasi:
        values = columns[name].values if control is None else _both(columns[name], control, missing)
        meanings[name] = _read(name, shown[name].unique().sort().to_list(), values, hierarchies.get(name))
    return Subject(
        release=shown,
        quasi=schema.quasi,
        sensitive=schema.sensitive,
        meanings=meanings,
        people=pl.DataFrame([columns[name].texts for name in (*schema.quasi, *schema.sensitive)]),
        control=None if control is None else _people(control, schema.named(Role.QUASI, Role.SENSITIVE), missing),
        claims=tuple(claims),
        algorithm=algorithm,
        groups=groups if groups is None else groups.select(pl.all().cast(pl.String)),
        group=None if published.apart is None else published.apart.group,
        trees=trees,
        numeric=frozenset(name for name, column in columns.items() if column.kind in ("integer", "real")),
    )


def _read(name: str, labels: list[str], values: Sequence[str], hierarchy: Hierarchy | None) -> Meaning:
    """What the labels of a column mean; one that covers nobody cannot be read."""
    found = meaning(labels, values, hierarchy)
    blank = [label for label, covers in zip(found.labels, found.covers, strict=True) if not covers.any()]
    if blank and hierarchy is None:
        raise PlanError(
            f"column {name!r}: {listed(blank, most=3)} covers nobody in the original; is it the table that the "
            "bundle was made from? Where a label does not say which values it covers, name the plan with its "
            "hierarchies (--plan)"
        )
    return found


def _people(table: Table, names: Sequence[str], missing: str) -> pl.DataFrame:
    """Control people with the columns that the release is about."""
    for name in names:
        if name not in table.names:
            raise unknown_column(name, table.names, where="the control file")
    if not table.rows:
        raise DataError(f"{table.source} has no rows; a control run needs some")
    found = [table.column(name).texts for name in names]
    return pl.DataFrame(found).with_columns(pl.all().fill_null(missing))


def _both(column: Column, control: Table, missing: str) -> list[str]:
    """The values of the people and of the control people."""
    theirs = control.column(column.name).values if column.name in control.names else ()
    return list(dict.fromkeys((*column.values, *theirs)))


def _kind(plan: Plan, name: str) -> Any:
    return plan.columns[name].type if name in plan.columns else None


def _hierarchy(plan: Plan, column: Column) -> Hierarchy | None:
    tree = plan.columns[column.name].hierarchy if column.name in plan.columns else None
    if tree is None:
        return None
    return builder(tree, f"columns.{column.name}.hierarchy", plan.folder).build(ObservedDomain.of(column))


def _trees(plan: Plan, columns: Mapping[str, Column]) -> dict[str, dict[str, tuple[str, ...]]]:
    """What lies above the values of columns that the plan gives a tree."""
    built = {name: (_hierarchy(plan, column), column) for name, column in columns.items()}
    return {name: _paths(tree, column) for name, (tree, column) in built.items() if tree is not None}


def _paths(hierarchy: Hierarchy, column: Column) -> dict[str, tuple[str, ...]]:
    """What lies above each value, nearest first, without the top."""
    levels = hierarchy.levels[1:-1]
    return {
        value: tuple(level.labels[level.parent[code]] for level in levels) for code, value in enumerate(column.values)
    }
