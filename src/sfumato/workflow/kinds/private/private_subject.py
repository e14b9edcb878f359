"""A differentially private bundle as an attacker finds it: noisy rows over declared domains."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sfumato.attacks.frame.coverage import coverage_of
from sfumato.attacks.frame.subject import Coverage, Subject
from sfumato.data.table import Column, Table
from sfumato.describe.hierarchy import TOP
from sfumato.ground.errors import BundleError, unknown_column
from sfumato.verification.private_checks import counts_of
from sfumato.verification.released_file import read_released

MOST_ROWS = 2_000_000
"""Counts that add up to more rows than this are not written out one by one."""


def private_subject(
    folder: Path, manifest: Mapping[str, Any], original: Table, *, control: Table | None, plan: object
) -> Subject:
    """The released rows, one for each count, with what their labels cover by the declared trees."""
    rows = _records(read_released(folder / str(manifest["data"]["file"]), manifest).frame, counts_of(manifest))
    roles = {str(one["name"]): str(one["role"]) for one in manifest["data"]["columns"]}
    quasi = tuple(name for name, role in roles.items() if role == "quasi")
    target = tuple(name for name, role in roles.items() if role == "target")
    domains = manifest["domains"]["columns"]
    sets = [name for name in quasi if domains[name]["kind"] == "set"]
    if sets:
        raise BundleError(f"{folder}: {sets[0]!r} holds sets, which no attack on private bundles reads")
    columns = {}
    for name in (*quasi, *target):
        if name not in original.names:
            raise unknown_column(name, original.names, where="--original")
        columns[name] = original.column(name)
    for name in columns:
        if control is not None and name not in control.names:
            raise unknown_column(name, control.names, where="the control file")
    shown = rows.select([pl.col(name).cast(pl.String).fill_null("") for name in (*quasi, *target)])
    return Subject(
        release=shown,
        quasi=quasi,
        sensitive=target,
        beside=target,
        coverage={name: _coverage(shown[name], columns[name], domains[name], control) for name in quasi},
        people=pl.DataFrame([column.texts for column in columns.values()]),
        control=None if control is None else pl.DataFrame([control.column(name).texts for name in columns]),
        claims=(),
        synthetic=True,
        algorithm=str(manifest["recoding"]["algorithm"]),
        numeric=frozenset(name for name in quasi if domains[name]["kind"] == "number"),
    )


def _records(rows: pl.DataFrame, name: str | None) -> pl.DataFrame:
    """A row for each count, where a column counts."""
    if name is None:
        return rows
    counts = rows[name].cast(pl.String).cast(pl.Int64).to_numpy()
    if counts.sum() > MOST_ROWS:
        raise BundleError(f"the counts add up to {counts.sum():,} rows, more than the {MOST_ROWS:,} that are attacked")
    return rows.drop(name)[np.repeat(np.arange(rows.height), np.maximum(counts, 0))]


def _coverage(cells: pl.Series, column: Column, domain: Mapping[str, Any], control: Table | None) -> Coverage:
    """What labels cover: numbers by their intervals, the rest by the declared tree."""
    labels = cells.unique().sort().to_list()
    theirs = () if control is None else control.column(column.name).values
    values = tuple(dict.fromkeys((*column.values, *theirs)))
    found = coverage_of(labels, values)
    if domain["kind"] == "number":
        return found
    below = _leaves(domain["nodes"])
    place = {value: code for code, value in enumerate(values)}
    for row, label in enumerate(found.labels):
        for leaf in below.get(label, ()) if label != TOP else ():
            if leaf in place:
                found.covers[row, place[leaf]] = True
    return found


def _leaves(nodes: list[list[Any]]) -> dict[str, set[str]]:
    """The leaves under every node of a declared tree, by name."""
    inner = {int(above) for _, above in nodes}
    found: dict[str, set[str]] = {}
    for number, (label, above) in enumerate(nodes):
        if number in inner:
            continue
        up, passed = int(above), 0
        while up >= 0:
            found.setdefault(str(nodes[up][0]), set()).add(str(label))
            up, passed = int(nodes[up][1]), passed + 1
            if passed > len(nodes):
                raise BundleError(f"the tree of the manifest runs in a circle above {str(label)!r}")
    return found
