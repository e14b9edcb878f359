"""The data of the experiments: Adult where its files are, otherwise a stand-in that says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.datasets.synthetic_census import census
from sfumato.datasets.uci_adult import adult, adult_folder
from sfumato.ground.chance import Chance

RECORDS, TRAINING = 45_222, 30_162
"""Adult's complete records, and how many of them documents train on."""
CLASS, RICH = "income", ">50K"
RANGES: Mapping[str, tuple[int, int]] = {
    "age": (15, 95),
    "fnlwgt": (0, 1_500_000),
    "education-num": (1, 20),
    "capital-gain": (0, 100_000),
    "capital-loss": (0, 5_000),
    "hours-per-week": (1, 100),
}
"""The ends of the numeric attributes, as the taxonomies of the documents have them."""
_SPELT = {"marital-status": "martial-status"}
"""As the files have it."""
_TREES = Path("hierarchies") / "fung"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AdultData:
    """The rows, their taxonomies, and what both are."""

    frame: pl.DataFrame
    """The training rows first."""
    folder: Path | None
    """Where the taxonomies of the documents' authors are."""
    words: str
    """What these rows are."""

    @property
    def training(self) -> int:
        """How many rows, from the first on, a learner learns from."""
        return TRAINING if self.frame.height == RECORDS else 2 * self.frame.height // 3

    def tree(self, name: str, file: str = "pais_adult.hchy") -> dict[str, Any]:
        """A categorical attribute's hierarchy, as a plan names it."""
        if self.folder is None:
            return {"bundled": f"census/{name}"}
        return {"file": str(self.folder / file), "attribute": _SPELT.get(name, name)}


@cache
def adult_data() -> AdultData:
    """Adult, or a synthetic census of the same columns and as many rows."""
    place = adult_folder()
    if place is None:
        words = "A synthetic census with Adult's columns stands in: the UCI Adult files are not here."
        return AdultData(frame=census(RECORDS, seed=1), folder=None, words=words)
    frame, trees = adult(folder=place), (place / _TREES).resolve()
    if not trees.is_dir():
        words = f"UCI Adult, {frame.height:,} complete records, with sfumato's own taxonomies."
        return AdultData(frame=frame, folder=None, words=words)
    words = f"UCI Adult, {frame.height:,} complete records, with the taxonomies of the documents' authors."
    return AdultData(frame=frame, folder=trees, words=words)


def varied(frame: pl.DataFrame, rows: int, kept: tuple[str, ...]) -> pl.DataFrame:
    """The rows and variations of them, so many in all: a fifth of their values is drawn anew from the column."""
    rng = Chance(seed=3).generator()
    copies = frame[rng.integers(0, frame.height, rows - frame.height)]
    made = []
    for name in frame.columns:
        drawn = frame[name][rng.integers(0, frame.height, copies.height)]
        keep = pl.Series(rng.random(copies.height) < (1.0 if name in kept else 0.8))
        made.append(copies[name].zip_with(keep, drawn).alias(name))
    return pl.concat([frame, pl.DataFrame(made)])
