"""Cost by rows, by distinct cells and by number of quasi-identifiers: seconds and peak memory of whole releases."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from measure import table
from pictures import TONES, Line, Panel, save
from sfumato.tables.datasets.synthetic_census import census, census_hierarchies
from stages import staged

ALGORITHMS = ("optimal", "incognito", "mondrian", "local")
ROWS = (10_000, 30_000, 100_000, 300_000, 1_000_000)
CELLS = (1_000, 3_000, 10_000, 30_000, 100_000)
CELL_ROWS = 300_000
"""The rows of the tables that differ in their distinct cells."""
COLUMN_ROWS = 100_000
"""The rows of the tables that differ in their quasi-identifiers."""
SHARE = 0.04
"""What may be suppressed."""
LIMIT = 300.0
"""When a release is given up, in seconds."""
MOST_MB = 3 * 1024
"""What a million rows may take."""
NAMES = tuple(census_hierarchies())


@dataclass(frozen=True, kw_only=True)
class Point:
    """One release of one table."""

    by: str
    """What differs: rows, cells or quasi-identifiers."""
    at: int
    algorithm: str
    found: dict[str, Any]


def plan(columns: Sequence[str], name: str) -> dict[str, Any]:
    """K = 5 on so many columns of the census."""
    files = census_hierarchies()
    return {
        "columns": {
            column: {"role": "quasi", "hierarchy": {"file": str(files[column].resolve())}} for column in columns
        },
        "privacy": {"k_anonymity": 5},
        "algorithm": {"name": name, "max_suppressed": SHARE},
    }


def tables() -> Iterator[tuple[str, int, pl.DataFrame]]:
    """The tables of all three series, one at a time."""
    for rows in ROWS:
        yield "rows", rows, census(rows, seed=1).select(NAMES)
    different = census(1_000_000, seed=1).select(NAMES).unique(maintain_order=True)
    for count in CELLS:
        yield "cells", count, drawn(different, count)
    for columns in range(2, len(NAMES) + 1):
        yield "quasi-identifiers", columns, census(COLUMN_ROWS, seed=1).select(NAMES[:columns])


def drawn(different: pl.DataFrame, count: int) -> pl.DataFrame:
    """A table of as many rows as the others with exactly so many distinct ones, frequent and rare alike."""
    rng = np.random.Generator(np.random.PCG64(1))
    more = np.floor(count * rng.random(CELL_ROWS - count) ** 3).astype(np.int64)
    return different[np.concatenate([np.arange(count), more])]


def points() -> list[Point]:
    """Every algorithm on every table."""
    found = []
    with tempfile.TemporaryDirectory() as place:
        data = Path(place) / "data.parquet"
        for by, at, frame in tables():
            frame.write_parquet(data)
            for name in ALGORITHMS:
                told = staged(plan(frame.columns, name), data, limit=LIMIT)
                found.append(Point(by=by, at=at, algorithm=name, found=told))
    return found


def row(point: Point) -> list[str]:
    """One line of the table."""
    told = point.found
    whole = f"more than {LIMIT:.0f} s" if told["ended"] else f"{told['verified']:.1f} s"
    return [
        point.by,
        f"{point.at:,}",
        point.algorithm,
        f"{told['cells']:,}" if "cells" in told else "-",
        f"{told['loss']:.4f}" if "loss" in told else "-",
        f"{told['search']:.2f} s" if "search" in told else "-",
        whole,
        f"{told['peak_mb']:,.0f} MB" if "peak_mb" in told else "-",
    ]


def picture(found: Sequence[Point]) -> None:
    """Small multiples: three series, above the seconds, below the memory."""
    shown = [_column(found, "rows", ROWS), _column(found, "cells", CELLS), _column(found, "quasi-identifiers", None)]
    save([[column[0] for column in shown], [column[1] for column in shown]], "cost.svg")


def _column(found: Sequence[Point], by: str, ticks: Sequence[int] | None) -> tuple[Panel, Panel]:
    titles = {
        "rows": ("census, 9 quasi-identifiers", "rows"),
        "cells": (f"{CELL_ROWS:,} rows", "distinct cells"),
        "quasi-identifiers": (f"census, {COLUMN_ROWS:,} rows", "quasi-identifiers"),
    }
    title, name = titles[by]
    here = [point for point in found if point.by == by]
    places = list(ticks or sorted({point.at for point in here}))
    seconds = Panel(
        title=f"Seconds: {title}",
        lines=_lines(here, "search"),
        x=name,
        ticks=places,
        y=(0.01, 0.1, 1, 10, 100),
        log_x=ticks is not None,
    )
    memory = Panel(
        title="Peak memory, MB",
        lines=_lines(here, "peak_mb"),
        x=name,
        ticks=places,
        y=(100, 200, 500, 1000, 2000, 4000),
        log_x=ticks is not None,
    )
    return seconds, memory


def _lines(here: Sequence[Point], key: str) -> list[Line]:
    return [
        Line(
            name=name,
            points=[(float(p.at), p.found[key]) for p in here if p.algorithm == name and key in p.found],
            tone=tone,
        )
        for name, tone in _tones()
    ]


def _tones() -> list[tuple[str, str]]:
    return list(zip(ALGORITHMS, TONES, strict=False))


def memory(found: Sequence[Point]) -> str:
    """Whether the largest tables stayed below what they may take."""
    largest = [p for p in found if p.by == "rows" and p.at == ROWS[-1] and "peak_mb" in p.found]
    most = max(point.found["peak_mb"] for point in largest)
    told = "below" if most < MOST_MB else "above"
    return f"The most memory for {ROWS[-1]:,} rows was {most:,.0f} MB, {told} {MOST_MB:,} MB.\n"


def main() -> str:
    """The table, and the picture of the docs."""
    found = points()
    picture(found)
    headers = ["by", "of it", "algorithm", "distinct cells", "loss", "counted and searched"]
    headers += ["with writing and verifying", "peak memory"]
    title = f"Cost, census, k = 5, {SHARE:.0%} may be suppressed"
    return table(title, headers, [row(point) for point in found]) + "\n" + memory(found)


if __name__ == "__main__":
    print(main())
