"""Local recoding on ARX's tables: what it loses beside Mondrian, CPU, and whole commands on a million rows."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

import sfumato as sf
from measure import command, table, timed
from tables import ROOT, Subject, subject

K_SERIES = (2, 5, 10, 20, 50, 100)
HARD = (1_000_000,)
"""Rows of the tables for whole commands; five million took four gigabytes and a minute of CPU."""


def subjects(folder: Path) -> Iterator[Subject]:
    """Adult, cup and fars, as far as they are there."""
    yield subject()
    for name, file in (("cup", "cup.csv.gz"), ("fars", "fars_subset.csv")):
        path = ROOT / "arx" / file
        if path.exists():
            frame = pl.read_csv(_unfolded(path, folder), separator=";", infer_schema=False)
            yield Subject(name=name, frame=frame, hierarchies={c: _hierarchy(name, c, folder) for c in frame.columns})


def _hierarchy(name: str, column: str, folder: Path) -> Path:
    plain = ROOT / "arx" / "hierarchies" / f"{name}_hierarchy_{column}.csv"
    return plain if plain.exists() else _unfolded(plain.with_name(f"{plain.name}.gz"), folder)


def _unfolded(path: Path, folder: Path) -> Path:
    if path.suffix != ".gz":
        return path
    found = folder / path.stem
    found.write_bytes(gzip.decompress(path.read_bytes()))
    return found


def plan(one: Subject, name: str, privacy: dict[str, Any], sensitive: str | None = None) -> sf.Plan:
    """Every column is a quasi-identifier but the sensitive one; nothing is suppressed, and time does not matter."""
    columns: dict[str, Any] = {
        column: {"role": "quasi", "hierarchy": {"file": str(path.resolve())}}
        for column, path in one.hierarchies.items()
    }
    columns |= {sensitive: {"role": "sensitive"}} if sensitive else {}
    tree = {"columns": columns, "privacy": privacy, "algorithm": {"name": name, "seconds": 600.0}}
    return sf.Plan.parse({**tree, "attack": {"run": False}})


def line(one: Subject, title: str, privacy: dict[str, Any], sensitive: str | None = None) -> list[str]:
    """One requirement: both losses, and what the search did."""
    made, cost = timed(lambda: sf.release(plan(one, "local", privacy, sensitive), one.frame))
    cuts = sf.release(plan(one, "mondrian", privacy, sensitive), one.frame)
    effort = made.outcome.effort  # type: ignore[attr-defined]
    loss, other = made.utility["loss"], cuts.utility["loss"]
    return [one.name, title, f"{loss:.4f}", f"{other:.4f}", f"{effort['groups']:,}", f"{cost.cpu:.1f} s"]


def whole(one: Subject, folder: Path) -> list[str]:
    """A command from reading to verifying."""
    path = one.write(folder)
    path.write_text(path.read_text().replace("[algorithm]", '[algorithm]\nname = "local"'))
    cost = command(["release", str(path), "-o", str(folder / "out"), "--force"])
    cells = one.frame.n_unique()
    return [one.name, f"{one.frame.height:,}", f"{cells:,}", f"{cost.cpu:.1f} s", f"{cost.peak_mb:,.0f} MB"]


def main() -> str:
    """A line for each table and requirement, then whole commands."""
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for one in subjects(folder):
            rows += [line(one, f"k = {k}", {"k_anonymity": k}) for k in K_SERIES]
            if "occupation" in one.frame.columns:
                rows.append(line(one, "t = 0.2", {"t_closeness": 0.2}, "occupation"))
        commands = [whole(one, folder) for one in (subject(), *(subject().times(many) for many in HARD))]
    headers = ["table", "requirement", "loss of local", "loss of mondrian", "groups", "release of local, CPU"]
    heads = ["table", "rows", "cells", "CPU", "peak memory"]
    title = "Whole commands: local, k = 5, from reading to verifying"
    return table("Local recoding beside Mondrian", headers, rows) + "\n" + table(title, heads, commands)


if __name__ == "__main__":
    print(main())
