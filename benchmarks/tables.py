"""The tables that benchmarks run on: Adult where it is, the bundled census otherwise."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from sfumato.tables.datasets.synthetic_census import census, census_hierarchies

ROOT = Path(os.environ.get("SFUMATO_DATA") or Path(__file__).parents[2] / "shared" / "data")


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A table with a hierarchy file for each of its quasi-identifiers."""

    name: str
    frame: pl.DataFrame
    hierarchies: dict[str, Path]

    def times(self, rows: int) -> Subject:
        """A larger table made from this one: rows drawn at random, one cell in ten taken from another row."""
        rng = np.random.Generator(np.random.PCG64(1))
        columns = []
        for name in self.frame.columns:
            place = np.where(rng.random(rows) < 0.1, rng.integers(self.frame.height, size=rows), -1)
            columns.append((name, place))
        drawn = rng.integers(self.frame.height, size=rows)
        mixed = [self.frame[name].gather(np.where(place < 0, drawn, place)) for name, place in columns]
        return Subject(name=f"{self.name}, {rows:,} rows", frame=pl.DataFrame(mixed), hierarchies=self.hierarchies)

    def write(self, folder: Path, *, suppressed: float = 0.0, k: int = 5, privacy: str = "") -> Path:
        """The table and a plan for it."""
        self.frame.write_csv(folder / "data.csv")
        lines = ["[input]", 'path = "data.csv"', "[privacy]", f"k_anonymity = {k}", privacy]
        lines += ["[algorithm]", f"max_suppressed = {suppressed}"]
        for name, path in self.hierarchies.items():
            lines += [f"[columns.{name}]", 'role = "quasi"', f'hierarchy = {{ file = "{path.resolve()}" }}']
        (folder / "plan.toml").write_text("\n".join(lines))
        return folder / "plan.toml"


def subject() -> Subject:
    """Adult with nine quasi-identifiers (12,960 nodes), or the census with its nine."""
    path = ROOT / "arx" / "adult.csv"
    if path.exists():
        frame = pl.read_csv(path, separator=";", infer_schema=False)
        folder = ROOT / "adult" / "hierarchies" / "arx"
        return Subject(
            name="Adult",
            frame=frame,
            hierarchies={name: folder / f"adult_hierarchy_{name}.csv" for name in frame.columns},
        )
    frame = census(30_162, seed=1)
    return Subject(
        name="census", frame=frame.select(census_hierarchies()).cast(pl.String), hierarchies=census_hierarchies()
    )
