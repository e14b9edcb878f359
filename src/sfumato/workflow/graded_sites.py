"""Graded grouping from file to file: a site's own plan, the parts of several sites joined, and what verifies both."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.bundle.graded_secret import GradedSecret
from sfumato.data.table import Table, as_text
from sfumato.describe.graded_terms import read_terms
from sfumato.ground.errors import BundleError, ClaimRefuted, ParameterError, PlanError, listed
from sfumato.ground.opening import read_text
from sfumato.ground.strict_toml import read_toml
from sfumato.verification.verifying import tables_of, untouched
from sfumato.workflow.checking import verify
from sfumato.workflow.kinds.graded import GRADED
from sfumato.workflow.loading import read_file
from sfumato.workflow.plan.plan import Plan


def new_secret(path: Path) -> GradedSecret:
    """A secret for the terms in a TOML file with [columns]."""
    try:
        tree = read_toml(read_text(path))
    except OSError as error:
        raise PlanError(f"the terms {path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise PlanError(f"the terms {path} are not valid TOML: {error}") from error
    for key in tree:
        if key != "columns":
            raise PlanError(f"{path}: {key} is not known; terms have [columns] alone")
    try:
        return GradedSecret.new(read_terms(tree.get("columns")))
    except ParameterError as error:
        raise PlanError(f"{path}: {error}") from None


def plan_for(data: Path, secret: Path, *, drop: Sequence[str] = (), missing: Sequence[str] = ()) -> Plan:
    """The plan that transforms the agreed columns of a file, and shows the others as they are but for those dropped."""
    agreed, names = GradedSecret.load(secret).terms, read_file(data).names
    for name in drop:
        if name in agreed:
            raise PlanError(f"--drop {name}: the sites agreed on this column")
        if name not in names:
            raise PlanError(f"--drop {name}: {data} has no such column; it has {listed(names)}")
    roles = {name: "sensitive" if name in agreed else "drop" if name in drop else "keep" for name in names}
    return Plan.parse(
        {
            "input": {"path": str(data.resolve()), "missing": list(missing)},
            "columns": {name: {"role": role} for name, role in roles.items()},
            "algorithm": {"name": GRADED, "secret": str(secret.resolve())},
        }
    )


def joined(folders: Sequence[Path]) -> pl.DataFrame:
    """The rows of several sites' bundles as one table: each verified, all of one agreement, none of them twice."""
    if len(folders) < 2:
        raise BundleError("name the bundles of at least two sites")
    parts = [(folder, *_part(folder)) for folder in folders]
    first, told, _ = parts[0]
    for place, (folder, manifest, _) in enumerate(parts[1:], 1):
        if manifest["recoding"]["agreement"] != told["recoding"]["agreement"]:
            raise BundleError(f"{folder} and {first} are of different agreements; their codes and aliases do not fit")
        for what in ("columns", "missing"):
            if manifest["data"][what] != told["data"][what]:
                raise BundleError(f"{folder} and {first} differ in data.{what}; sites must publish the same columns")
        for other, before, _ in parts[:place]:
            if before["data"]["sha256"] == manifest["data"]["sha256"]:
                raise BundleError(f"{folder} and {other} have the same rows, which would count twice")
    return pl.concat([frame.select(map(as_text, frame.iter_columns())) for _, _, frame in parts])


def _part(folder: Path) -> tuple[dict[str, Any], pl.DataFrame]:
    manifest = untouched(folder)
    if manifest["kind"] != GRADED:
        raise BundleError(f"{folder} is a bundle of the kind {manifest['kind']!r}; those of graded grouping are joined")
    if (wrong := verify(folder).wrong) is not None:
        raise ClaimRefuted(f"{folder} does not hold: {wrong.what} ({wrong.detail}); nothing was joined")
    return dict(manifest), rows_of(folder, manifest).frame


def rows_of(folder: Path, manifest: Any) -> Table:
    """The rows of a bundle."""
    found: Table = tables_of(folder, manifest)["data"]
    return found
