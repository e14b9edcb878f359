"""The data sets of document 004, table 1, for those who have their files; they do not come with the package."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl

from sfumato.data.csv_files import parse_csv
from sfumato.datasets.uci_adult import adult, adult_folder
from sfumato.ground.errors import DataError, ParameterError
from sfumato.ground.opening import read_whole
from sfumato.mine.records import Records, read_records

COLUMNS = {
    "nursery": ("parents", "has_nurs", "form", "children", "housing", "finance", "social", "health", "class"),
    "car": ("buying", "maint", "doors", "persons", "lug_boot", "safety", "class"),
    "cmc": (
        "wife_age",
        "wife_education",
        "husband_education",
        "children",
        "wife_religion",
        "wife_working",
        "husband_occupation",
        "living_standard",
        "media_exposure",
        "class",
    ),
}
_NUMBERS = ("wife_age", "children")
"""Of CMC; its other columns are codes."""
SETS = ("adult", *COLUMNS)
QUASI = {
    "adult": ("age", "workclass", "education", "marital-status", "race", "sex", "hours-per-week"),
}
"""The quasi-identifiers of tables that are generalized; all attributes where none are named."""


def uci_set(name: str, folder: str | os.PathLike[str] | None = None) -> Records:
    """A data set as document 004 uses it: rows with missing values left out, occupation as the class of Adult."""
    if name not in SETS:
        raise ParameterError(f"name must be one of {', '.join(SETS)}, not {name!r}")
    if name == "adult":
        return read_records(adult(folder=folder), target="occupation")
    place = _file(name, folder)
    cells = parse_csv(read_whole(place), where=str(place), delimiter=",", header=False, names=COLUMNS[name], trim=True)
    frame = cells.filter(~pl.any_horizontal(pl.all() == ""))
    if name == "cmc":
        frame = frame.with_columns(
            [
                pl.col(one).cast(pl.Int64) if one in _NUMBERS else pl.format("code {}", pl.col(one)).alias(one)
                for one in COLUMNS[name]
            ]
        )
    return read_records(frame, target="class")


def _file(name: str, folder: str | os.PathLike[str] | None) -> Path:
    """The file of a data set: in the folder, in its folder "uci", or beside the files of Adult."""
    home = adult_folder()
    places = [Path(folder)] if folder is not None else [] if home is None else [home.parent]
    for one in places:
        for path in (one / f"{name}.data", one / "uci" / f"{name}.data"):
            if path.is_file():
                return path
    raise DataError(
        f"the UCI file {name}.data was not found; give folder=..., or set SFUMATO_DATA to the folder that holds uci/"
    )
