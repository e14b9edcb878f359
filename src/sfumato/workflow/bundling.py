"""The files of a bundle: data, manifest, report."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version as version_of
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from sfumato.bundle.manifest import SCHEMA, dump, plain, seal
from sfumato.bundle.staging import MANIFEST, REPORT, refuse_existing, sha256
from sfumato.data.files import rendered
from sfumato.data.formulas import escaped, formula_columns, told_formulas
from sfumato.data.table import Table, plain_cells
from sfumato.ground.brief import Brief
from sfumato.ground.errors import BundleError, PlanError
from sfumato.ground.work import Work
from sfumato.verification.verifying import tables_of
from sfumato.version import __version__
from sfumato.workflow.pages import public_page

if TYPE_CHECKING:
    from sfumato.workflow.kinds.kind import Kind
    from sfumato.workflow.plan.plan import Plan
    from sfumato.workflow.released import Release


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Written(Brief):
    """What was made from the bytes of a bundle's data files."""

    page: str
    """The report."""
    tables: Mapping[str, Table]
    """The tables as they were read back."""


def write_data(made: Release, folder: Path) -> dict[str, Any]:
    """Write the data files into an empty folder; what the manifest states about them is returned."""
    parts = made.parts_into(folder)
    if parts is not None:
        return stated(made, {parts["file"]: parts["sha256"]}, parts["parts"])
    digests = {}
    for stem, rows in made.kind.files(made).items():
        path = folder / f"{stem}.{ending_of(made)}"
        if made.kind.ending is not None:
            path.write_text("\n".join([*rows.to_series().to_list(), ""]), encoding="utf-8", newline="\n")
            digests[path.name] = sha256(path)
            continue
        plain = rows if made.plan.output_format == "csv" else rows.select(map(plain_cells, rows.iter_columns()))
        path.write_bytes(rendered(escaped(rows) if made.plan.escape_formulas else plain, path.name))
        digests[path.name] = sha256(path)
    return stated(made, digests)


def ending_of(made: Release) -> str:
    """How the names of its data files end."""
    return made.kind.ending or made.plan.output_format


def formula_notes(made: Release) -> list[str]:
    """What the steward should know before they open a CSV file with a spreadsheet."""
    if ending_of(made) != "csv" or made.plan.escape_formulas:
        return []
    risky = [name for rows in made.kind.files(made).values() for name in formula_columns(rows)]
    return [told_formulas(risky)] if risky else []


def write_report(kind: Kind, folder: Path, body: dict[str, Any], work: Work) -> Written:
    """Make the report from the manifest and from the bytes of the data files, write it, and return both."""
    tables = tables_of(folder, body)
    page = public_page(kind, body, tables, work)
    (folder / REPORT).write_text(page, encoding="utf-8")
    body["report"] = {"file": REPORT, "sha256": sha256(folder / REPORT)}
    return Written(page=page, tables=tables)


def write_manifest(folder: Path, body: Mapping[str, Any]) -> None:
    """Seal the manifest and write it; it names the digests of the other files, and so it comes last."""
    (folder / MANIFEST).write_text(dump(seal(body)), encoding="utf-8")


def stated(made: Release, files: Mapping[str, str], parts: Sequence[Mapping[str, str]] = ()) -> dict[str, Any]:
    """What the bundle states about itself, without report and seal; ``files`` are the data files' digests by name.

    ``parts`` are the files of a folder, where the data are in many.
    """
    kind = made.kind
    body: dict[str, Any] = plain(
        {
            "sfumato": __version__,
            "schema": SCHEMA,
            "kind": kind.name,
            "made": datetime.now(UTC).date().isoformat(),
            "marks": made.marks,
            "plan": made.plan.public(),
            **kind.manifest(made, files),
        }
    )
    if parts:
        body["data"]["parts"] = plain(parts)
    return body


def unwritten(made: Release) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the bundle of a release would state, and its tables, before anything is written."""
    files: Mapping[str, Any] = made.kind.files(made)
    if made.plan.output_format == "parts":
        from sfumato.workflow.kinds.table.parted_rows import unwritten_parts

        return unwritten_parts(made)
    body = stated(made, {f"{stem}.{ending_of(made)}": "" for stem in files})
    missing = tuple(body["data"].get("missing", ()))
    return body, {stem: Table(frame=rows, missing=missing) for stem, rows in files.items()}


def versions(*names: str) -> dict[str, str]:
    """The versions of Python and of the packages that a release was made with."""
    return {"python": platform.python_version()} | {name: _version_of(name) for name in names}


@cache
def _version_of(name: str) -> str:
    """Looked up once: a stream writes many bundles."""
    return version_of(name)


def as_written(rows: pl.DataFrame, format_: str, missing: Sequence[str]) -> pl.DataFrame:
    """The rows as their file has them: a text file has no nulls, so the missing marker is written."""
    holes = [name for name in rows.columns if rows[name].null_count()]
    if format_ != "csv" or not holes:
        return rows
    return rows.with_columns(pl.col(holes).cast(pl.String).fill_null(missing[0]))


def refuse_output(folder: Path, inside: Path | None, *, force: bool) -> None:
    """Refuse an output folder, or a place of the inside report, before any work is done."""
    refuse_existing(folder, force=force)
    if inside is not None and folder.resolve() in inside.resolve().parents:
        raise BundleError(
            f"the inside report {inside} must not lie inside the bundle {folder}: it is not to be published"
        )
    if inside is not None and inside.exists() and not force:
        raise BundleError(f"{inside} exists already; name another file with --inside, or replace it with --force")
    for path in (folder, *([] if inside is None else [inside])):
        parent = next(p for p in path.resolve().parents if p.exists())
        if not parent.is_dir() or not os.access(parent, os.W_OK):
            raise BundleError(f"{path} cannot be written: {parent} is not a writable folder")


def refuse_key_inside(plan: Plan, folder: Path) -> None:
    """Refuse to write a bundle around the key of its pseudonyms or of its shifted dates."""
    for name, column in plan.columns.items():
        for said, tree in (("pseudonym", column.pseudonym), ("shift", column.shift)):
            if tree is not None and folder.resolve() in (plan.folder / tree["key_file"]).resolve().parents:
                raise PlanError(f"columns.{name}.{said}.key_file: the key must not lie inside the bundle {folder}")
