"""Verifying linked tables from their bytes: each bundle, the keys, and every table's claims on the join.

On the join a person is seen with all their rows in all tables (``sfumato.counts.linked_rows``). A claim of a table is
judged again there: its rows are grouped by the joint class of their person, and people are counted, not rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sfumato.bundles.checks.evidence import claim
from sfumato.bundles.columns import Published
from sfumato.bundles.files import MANIFEST, SIGNATURE, sha256
from sfumato.bundles.manifest.document import load, read_manifest, seal_holds
from sfumato.bundles.manifest.linked import LinkedManifest
from sfumato.bundles.provenance import LINKED_STATED, Check, Verification, same, short_text
from sfumato.bundles.signatures import Card, Signature, checked_signature
from sfumato.bundles.verify import DATA, tables_of
from sfumato.core.claims import Claim
from sfumato.core.errors import BundleError, DataError, PlanError
from sfumato.counts.classes import Classes
from sfumato.counts.keys import distinct
from sfumato.counts.linked_rows import Codes, Link, from_leaves, joint_classes, parents, persons
from sfumato.counts.local_table import cells
from sfumato.models.model import Model
from sfumato.tables.schema import Role
from sfumato.tables.table import Kind, Table

Build = Callable[[str, Mapping[str, Any]], Model]
"""A model from its name and parameters."""
JOINED = "joint class of the person"
PERSON = "person"


def verify_linked(
    folder: Path, verify: Callable[[Path], Verification], model: Build, card: Card | None
) -> Verification:
    """Verify every bundle with ``verify``, then what is stated about all of them together."""
    content = read_manifest(folder / MANIFEST)
    stated = LinkedManifest.of(content, folder / MANIFEST)
    bundles = [verify(_bundle(folder, name)) for name in stated.tables]
    signature = _signature(checked_signature(folder, card), bundles)
    checks = [same("seal of the manifest", seal_holds(content), True)]
    if signature.checked:
        checks.append(Check(what="signature", holds=signature.holds, detail=signature.told))
    checks += [*_files(folder, stated), *(bundle.as_check(f"bundle {bundle.folder}") for bundle in bundles)]
    if all(check.holds for check in checks):
        checks += _linked(folder, stated, model)
    return Verification(
        folder=folder.name,
        checks=tuple(checks),
        remarks=tuple(remark for bundle in bundles for remark in bundle.placed_remarks),
        claimed=all(bundle.claimed for bundle in bundles),
        stated=(*LINKED_STATED, *(origin for bundle in bundles for origin in bundle.stated)),
        signature=signature,
    )


def _signature(top: Signature, bundles: Sequence[Verification]) -> Signature:
    """The signature of the top manifest, with those of the tables: one key must have signed all of them or none.

    The top manifest has the digest of every file, so its signature alone covers the tables. A table that somebody
    else signed, or that is signed under an unsigned top, comes from another release.
    """
    tables = "; ".join(f"{bundle.folder}: {bundle.signature.told}" for bundle in bundles)
    text = f"{top.told}. Tables: {tables}"
    if {bundle.signature.key for bundle in bundles} == {top.key} and all(b.signature.holds for b in bundles):
        return replace(top, told=text)
    text = f"the tables and the manifest that links them are not signed by the same key. {text}"
    return replace(top, told=text, holds=False, checked=True, vouched=False)


def _bundle(folder: Path, name: str) -> Path:
    path = folder / name
    if path.is_symlink() or not path.is_dir():
        raise BundleError(f"{folder} is not whole: the bundle {name!r} is missing")
    return path


def _files(folder: Path, stated: LinkedManifest) -> Iterable[Check]:
    """Every file has its digest, and no other file is there."""
    entries = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    here = {path.relative_to(folder).as_posix() for path in entries} - {MANIFEST, SIGNATURE}
    yield same("files that do not belong here", sorted(here - {name for name, _ in stated.files}), [])
    yield same("each file is listed once", len({name for name, _ in stated.files}), len(stated.files))
    changed = [name for name, digest in stated.files if name not in here or sha256(folder / name) != digest]
    yield same("files that changed since they were sealed", changed, [])


def _linked(folder: Path, stated: LinkedManifest, model: Build) -> Iterable[Check]:
    """Keys that resolve, and claims on the join."""
    manifests = {name: load(folder / name / MANIFEST) for name in stated.tables}
    others = [
        name for name, manifest in manifests.items() if manifest["kind"] != "table" or "parts" in manifest["data"]
    ]
    yield same("tables that are not released as tables of rows", others, [])
    if others:
        return
    tables = {name: tables_of(folder / name, manifest)[DATA] for name, manifest in manifests.items()}
    published = {name: Published.from_json(manifest["data"]) for name, manifest in manifests.items()}
    strange = _strange(published, stated.links)
    yield same("identifiers that are no keys of a link", strange, [])
    if strange:
        return
    try:
        root, order = from_leaves(stated.tables, stated.links)
        above = {link.table: _above(tables, link) for link in order}
    except (DataError, PlanError) as fault:
        yield Check(what="keys of the links", holds=False, detail=str(fault))
        return
    orphans = {name: int((places < 0).sum()) for name, places in above.items()}
    yield same("rows that name no row of the table above", orphans, dict.fromkeys(orphans, 0))
    yield same("people", tables[root].rows, stated.people)
    if any(orphans.values()):
        return
    labels = {name: own_labels(tables[name], published[name].schema.quasi) for name in stated.tables}
    joint = joint_classes(labels, above, order, counted=stated.known == "rows")
    whose = persons(above, order, root, tables[root].rows)
    for name, manifest in manifests.items():
        kinds = {column.name: column.kind for column in published[name].columns}
        models = [(model(each["model"], each["parameters"]), each["parameters"]) for each in manifest["claims"]]
        for each in on_the_join(tables[name], kinds, models, joint[whose[name]], whose[name]):
            limit, reached = short_text(each.limit), short_text(each.reached)
            detail = f"required {each.sense} {limit}, reached {reached} in people on the join"
            yield Check(what=f"{name}: {each.model} on the join", holds=each.holds, detail=detail)


def _strange(published: Mapping[str, Published], links: Sequence[Link]) -> list[str]:
    """Published identifiers that link rows in another way than is stated; and columns of keys that are none."""
    keys = {(link.table, link.column) for link in links} | {(link.to_table, link.to_column) for link in links}
    named = {
        (name, c.name)
        for name, description in published.items()
        for c in description.columns
        if c.role is Role.IDENTIFIER
    }
    return sorted(f"{table}.{column}" for table, column in keys ^ named)


def _above(tables: Mapping[str, Any], link: Link) -> Codes:
    named, keys = tables[link.table].frame[link.column], tables[link.to_table].frame[link.to_column]
    return parents(link, named, keys)


def own_labels(table: Table, quasi: Sequence[str]) -> Codes:
    """The class of each row by its own labels."""
    columns = [table.column(name, "text") for name in quasi]
    ids, _ = distinct(
        [column.codes for column in columns], [max(len(column.values), 1) for column in columns], table.rows
    )
    return np.asarray(ids, np.int64)


def on_the_join(
    table: Table,
    kinds: Mapping[str, Kind],
    models: Sequence[tuple[Model, Mapping[str, Any]]],
    joint: Codes,
    person: Codes,
) -> list[Claim]:
    """What models of a table come to, judged by the joint classes of its rows' people; people are counted."""
    grouped = joined_classes(table, kinds, [model for model, _ in models], joint, person)
    return [claim(model, parameters, grouped, "value") for model, parameters in models]


def joined_classes(
    table: Table, kinds: Mapping[str, Kind], models: Sequence[Model], joint: Codes, person: Codes
) -> Classes:
    """The rows of a table by the joint class of their person, with whose rows they are."""
    counted = list(dict.fromkeys(name for model in models for name in model.columns))
    more = [pl.Series(JOINED, joint).cast(pl.String), pl.Series(PERSON, person).cast(pl.String)]
    whole = Table(frame=pl.DataFrame([*(table.frame[name] for name in counted), *more]), missing=table.missing)
    columns = [whole.column(name, kinds[name]) for name in counted]
    return cells([whole.column(JOINED, "text")], columns, unit=whole.column(PERSON, "text")).classes
