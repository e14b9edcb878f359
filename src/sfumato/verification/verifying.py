"""Verifying a bundle: whatever its manifest states, recomputed from the bytes of its data files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from polars.exceptions import PolarsError

from sfumato.bundle.manifest import load, seal_holds
from sfumato.bundle.staging import MANIFEST, REPORT, sha256
from sfumato.data.table import Table
from sfumato.ground.errors import BundleError, SfumatoError
from sfumato.verification.checks import Check, Remark, Verification, same
from sfumato.verification.provenance import not_recomputed

KindChecks = Callable[[Path, Mapping[str, Any], Path], Iterable[Check | Remark]]
"""What is looked at and remarked in a bundle of one kind: given its folder, its manifest and its data file."""


def verify_bundle(folder: Path, checks_of: Callable[[Mapping[str, Any]], KindChecks]) -> Verification:
    """Re-read the data file and the manifest, and recompute whatever the manifest states.

    ``checks_of`` gives the checks of the kind of release that a manifest describes.
    """
    manifest = load(folder / MANIFEST)
    found: list[Check | Remark] = []
    try:
        for check in _checks(folder, manifest, checks_of):
            found.append(check)  # noqa: PERF402  what was seen before a failure is kept
    except BundleError:
        raise
    except SfumatoError as error:
        found.append(Check(what="what the manifest describes", holds=False, detail=str(error)))
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, OSError, PolarsError) as error:
        detail = f"it is not of the form that this version writes: {error!r}"
        found.append(Check(what="form of the manifest", holds=False, detail=detail))
    checks = tuple(one for one in found if isinstance(one, Check))
    return Verification(
        folder=folder.name,
        checks=checks,
        stated=not_recomputed(manifest, checks),
        remarks=tuple(one for one in found if isinstance(one, Remark)),
    )


def _checks(
    folder: Path, manifest: dict[str, Any], checks_of: Callable[[Mapping[str, Any]], KindChecks]
) -> Iterable[Check | Remark]:
    data = manifest["data"]
    path = member(folder, str(data["file"]), "data file")
    yield same("seal of the manifest", seal_holds(manifest), True)
    yield same("bytes of the data file", sha256(path), data["sha256"])
    yield _report(folder, manifest)
    yield from checks_of(manifest)(folder, manifest, path)


def _report(folder: Path, manifest: dict[str, Any]) -> Check:
    path = folder / REPORT
    found = sha256(path) if path.is_file() else "no report"
    return same("bytes of the report", found, manifest["report"]["sha256"])


def member(folder: Path, name: str, what: str) -> Path:
    """A file of the bundle; one outside it is never read."""
    path = folder / name
    if path.name != name or path.is_symlink() or not path.is_file():
        raise BundleError(f"{folder} is not whole: its {what} {name!r} is missing")
    return path


def shape(folder: Path, manifest: Mapping[str, Any], table: Table, apart: Iterable[str] = ()) -> Iterable[Check]:
    """No file is there that the manifest does not name, and the data have the columns and rows that it states."""
    data = manifest["data"]
    known = (str(data["file"]), *apart, MANIFEST, REPORT)
    strange = sorted(path.name for path in folder.iterdir() if path.name not in known)
    yield same("files that do not belong here", strange, [])
    yield same("columns", list(table.names), [column["name"] for column in data["columns"]])
    yield same("rows", table.rows, data["rows"])


def same_columns(manifest: Mapping[str, Any], table: Table) -> bool:
    """Whether the data have the stated columns, so that it makes sense to look on."""
    return list(table.names) == [column["name"] for column in manifest["data"]["columns"]]
