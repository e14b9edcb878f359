"""Verifies a bundle: recomputes what its manifest states from the bytes of its data files."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from sfumato.bundles.files import MANIFEST, REPORT, SIGNATURE, digest_now, joint_digest, sha256, strange_parts
from sfumato.bundles.manifest.document import FAULTS, load, seal_holds
from sfumato.bundles.provenance import Check, Remark, Verification, not_recomputed, same
from sfumato.bundles.signatures import Card, Signature, checked_signature
from sfumato.core.errors import BundleError, SfumatoError, listed
from sfumato.core.input_files import read_text, read_whole
from sfumato.tables.csv_files import formula_columns, parse_csv, unescaped
from sfumato.tables.files import parquet_frame, read
from sfumato.tables.table import Table
from sfumato.version import __version__

if TYPE_CHECKING:
    from sfumato.counts.engine_source import EngineSource


# Reading the data files of a bundle: texts that were escaped against spreadsheets are read as what they mean.


def is_escaped(manifest: Mapping[str, Any]) -> bool:
    """Whether a bundle says that its texts are escaped against spreadsheets."""
    return bool(manifest["plan"].get("output", {}).get("escape_formulas", False))


def read_released(path: Path, manifest: Mapping[str, Any], missing: Sequence[str] = ()) -> Table:
    """The rows of a data file as they were before they were escaped against spreadsheets; of JSON, its lines."""
    if path.suffix == ".json":
        lines = read_text(path).removesuffix("\n").split("\n")
        return Table(frame=pl.DataFrame({"document": lines}, schema={"document": pl.String}), source=path.name)
    table = _empty(path) if manifest["data"]["rows"] == 0 else None
    if table is None:
        table = read(path, missing=tuple(missing), delimiter="," if path.suffix == ".csv" else None)
    return replace(table, frame=unescaped(table.frame)) if is_escaped(manifest) else table


def _empty(path: Path) -> Table | None:
    """The columns of a file without rows, for noise can take away the last one; None where there are rows."""
    if path.suffix == ".parquet":
        frame = parquet_frame(read_whole(path))
        return None if frame.height else Table(frame=frame)
    head, _, rows = read_text(path).partition("\n")
    if rows.strip():
        return None
    return Table(frame=pl.DataFrame(schema=dict.fromkeys(next(csv.reader([head]), []), pl.String)))


def formulas_escaped(manifest: Mapping[str, Any], paths: Iterable[Path]) -> Iterable[Check]:
    """Where the bundle says that formulas are escaped, all are: an unescaped text would read like its escaped twin."""
    if not is_escaped(manifest):
        return
    columns: list[str] = []
    for path in paths:
        data = path.read_bytes()
        columns += (
            formula_columns(parse_csv(data, where=path.name, delimiter=",")) if path.suffix == ".csv" else ["all"]
        )
    detail = f"cells that a spreadsheet would run in {listed(columns)}" if columns else "none is left"
    yield Check(what="formulas", holds=not columns, detail=detail)


# Verifying a bundle: whatever its manifest states, recomputed from the bytes of its data files.


KindChecks = Callable[[Path, Mapping[str, Any], Mapping[str, Table]], Iterable[Check | Remark]]
"""What is looked at and remarked in a bundle of one kind: given its folder, its manifest and its tables."""
DATA, SENSITIVE = "data", "sensitive"
"""The tables of a bundle: the released rows, and the sensitive values where they are published apart."""
Page = Callable[[Mapping[str, Any], Mapping[str, Table]], str]
"""The report that a manifest and its tables give."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """What whoever verifies brings along."""

    checks: Callable[[Mapping[str, Any]], KindChecks]
    """The checks of the kind of release that a manifest describes."""
    plan: Callable[[Mapping[str, Any]], Iterable[Check]]
    """What a manifest says about its plan, held against what can be planned."""
    page: Page | None
    """The report that a manifest and its tables give; None for a trial that has none."""
    tables: Callable[[Path, Mapping[str, Any]], Mapping[str, Table]]
    """The tables of a bundle, read from its files: ``tables_of``, or those that whoever wrote it has just read."""
    card: Card | None = None
    """Of whoever must have signed."""


def verify_bundle(folder: Path, reader: Reader) -> Verification:
    """Re-read the data files and the manifest, and recompute whatever the manifest states."""
    manifest = load(folder / MANIFEST, sealed=False)
    results: list[Check | Remark] = []
    signature = checked_signature(folder, reader.card)
    try:
        for check in _checks(folder, manifest, reader, signature):
            results.append(check)  # noqa: PERF402  what was seen before a failure is kept
    except BundleError:
        raise
    except SfumatoError as error:
        results.append(Check(what="what the manifest describes", holds=False, detail=str(error)))
    except FAULTS as error:
        detail = f"it is not of the form that this version writes: {error!r}"
        results.append(Check(what="form of the manifest", holds=False, detail=detail))
    checks = tuple(result for result in results if isinstance(result, Check))
    return Verification(
        folder=folder.name,
        checks=checks,
        signature=signature,
        stated=not_recomputed(manifest, checks),
        remarks=tuple(result for result in results if isinstance(result, Remark)),
        claimed=bool(manifest["claims"]),
    )


def _checks(folder: Path, manifest: dict[str, Any], reader: Reader, signature: Signature) -> Iterable[Check | Remark]:
    data = manifest["data"]
    digest = digest_of(folder, data)
    yield same("seal of the manifest", seal_holds(manifest), True)
    if signature.checked:
        yield Check(what="signature", holds=signature.holds, detail=signature.told)
    yield same("bytes of the data file", digest, data["sha256"])
    held, tables = True, reader.tables(folder, manifest)
    checks = reader.checks(manifest)(folder, manifest, tables) if same_columns(manifest, tables[DATA]) else ()
    for result in chain(reader.plan(manifest), _file_checks(folder, manifest, tables), checks):
        held = held and (isinstance(result, Remark) or result.holds)
        yield result
    if reader.page is not None:
        page = reader.page(manifest, tables) if held else None
        yield _report(folder, manifest, page, vouched=signature.vouched)


def _file_checks(folder: Path, manifest: Mapping[str, Any], tables: Mapping[str, Table]) -> Iterable[Check]:
    """What holds of the files of every release: no cell is a formula, no file is strange, the data are as stated."""
    data = manifest["data"]
    apart = [str(data["apart"]["file"])] if "apart" in data else []
    if "plan" in manifest:
        yield from formulas_escaped(manifest, [folder / name for name in (str(data["file"]), *apart)])
    yield from shape(folder, manifest, tables[DATA], apart)


def _report(folder: Path, manifest: Mapping[str, Any], page: str | None, *, vouched: bool) -> Check:
    """The report is the page that manifest and rows give, byte by byte; None: they do not hold, and give none.

    Another version of this program makes another page; such a one passes where a known signer vouches for it.
    """
    what, path = "report", member(folder, REPORT, "report")
    if sha256(path) != manifest["report"]["sha256"]:
        return Check(what=what, holds=False, detail="its bytes are not those that the manifest was sealed with")
    if page is None:
        return Check(what=what, holds=True, detail="not made again: what it is made from does not hold")
    if path.read_bytes() == page.encode():
        return Check(what=what, holds=True, detail="made again from the manifest and the rows: the same bytes")
    by = str(manifest["sfumato"])
    if by == __version__:
        return Check(what=what, holds=False, detail="manifest and rows give another page")
    message = f"version {by} made it, and this is {__version__}: the page cannot be made again"
    if vouched:
        return Check(what=what, holds=True, detail=f"{message}; the signer vouches for it")
    return Check(
        what=what, holds=False, detail=f"{message}; verify with sfumato {by}, or with the signer's card (--signer)"
    )


def untouched(folder: Path) -> dict[str, Any]:
    """The manifest of a bundle whose seal holds and whose data files are those that it names; others are refused."""
    manifest = load(folder / MANIFEST)
    data = manifest["data"]
    for part in (data, *([data["apart"]] if "apart" in data else [])):
        if digest_of(folder, part) != part["sha256"]:
            raise BundleError(f"{folder / part['file']} was changed after it was sealed")
    return manifest


def digest_of(folder: Path, data: Mapping[str, Any]) -> str:
    """The digest of a data file as it is now; of many parts together, where the parts are what the manifest names."""
    if "parts" not in data:
        return sha256(member(folder, str(data["file"]), "data file"))
    stated = joint_digest(data["parts"])
    return digest_now(folder, data) if stated == data["sha256"] else f"not the one of its parts ({stated})"


def tables_of(folder: Path, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of a bundle, as its manifest says that they are read: in memory, or counted where they are."""
    data = manifest["data"]
    if "parts" in data:
        from sfumato.bundles.part_counts import counted_parts

        return {DATA: counted_parts(folder, data)}
    names = {DATA: str(data["file"]), **({SENSITIVE: str(data["apart"]["file"])} if "apart" in data else {})}
    missing = tuple(map(str, data.get("missing", ())))
    paths = {table: member(folder, name, f"{table} file") for table, name in names.items()}
    return {table: read_released(path, manifest, missing) for table, path in paths.items()}


def member(folder: Path, name: str, what: str) -> Path:
    """A file of the bundle; one outside it is never read."""
    path = folder / name
    if path.name != name or path.is_symlink() or not path.is_file():
        raise BundleError(f"{folder} is not whole: its {what} {name!r} is missing")
    return path


def shape(
    folder: Path, manifest: Mapping[str, Any], table: Table | EngineSource, apart: Iterable[str] = ()
) -> Iterable[Check]:
    """No file is there that the manifest does not name, and the data have the columns and rows that it states."""
    data = manifest["data"]
    known = (str(data["file"]), *apart, MANIFEST, REPORT, SIGNATURE)
    strange = sorted(path.name for path in folder.iterdir() if path.name not in known)
    strange += strange_parts(folder, data) if "parts" in data else ()
    yield same("files that do not belong here", strange, [])
    yield same("columns", list(table.names), [column["name"] for column in data["columns"]])
    yield same("rows", table.rows, data["rows"])


def same_columns(manifest: Mapping[str, Any], table: Table | EngineSource) -> bool:
    """Whether the data have the stated columns, so that it makes sense to look on."""
    return list(table.names) == [column["name"] for column in manifest["data"]["columns"]]
