"""All experiments of document 004, section 7, and the UCI data sets they need."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from sfumato.core.errors import DataError, ParameterError
from sfumato.core.input_files import read_whole
from sfumato.core.run_context import Work
from sfumato.core.short_repr import Brief
from sfumato.mining.diversity_experiment import Diversity, DiversityPoint, diversity_study
from sfumato.mining.records import Records, read_records
from sfumato.mining.sharing_experiment import QUICK, Learner, SharingPoint, Trials, sharing_study
from sfumato.tables.csv_files import parse_csv
from sfumato.tables.datasets.uci_adult import adult, adult_folder

# The data sets of document 004, table 1, for those who have their files; they do not come with the package.


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
                pl.col(column).cast(pl.Int64)
                if column in _NUMBERS
                else pl.format("code {}", pl.col(column)).alias(column)
                for column in COLUMNS[name]
            ]
        )
    return read_records(frame, target="class")


def _file(name: str, folder: str | os.PathLike[str] | None) -> Path:
    """The file of a data set: in the folder, in its folder "uci", or beside the files of Adult."""
    home = adult_folder()
    places = [Path(folder)] if folder is not None else [] if home is None else [home.parent]
    for directory in places:
        for path in (directory / f"{name}.data", directory / "uci" / f"{name}.data"):
            if path.is_file():
                return path
    raise DataError(
        f"the UCI file {name}.data was not found; give folder=..., or set SFUMATO_DATA to the folder that holds uci/"
    )


# The experiments of document 004, section 7, in one call.


LEARNERS: tuple[Learner, ...] = ("tree", "bayes", "rule")
SHOWN = ("adult", "nursery")
"""The data sets of figures 14 to 16."""
_FEW = (Diversity(c=5, l=2), Diversity(c=20, l=3))
_MANY = {
    "adult": (
        *(Diversity(c=c, l=l) for l in range(2, 8) for c in (20, 10, 5)),
        *(Diversity(l=l) for l in range(2, 8)),
    ),
    "nursery": (
        *(Diversity(c=c, l=l) for l in range(2, 6) for c in (20, 15, 10, 5)),
        *(Diversity(l=l) for l in range(2, 6)),
    ),
}
_SECONDS = 0.25
"""What one search of OPTI may take."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Experiment(Brief):
    """What was measured."""

    quick: bool
    """Whether few runs were made."""
    rows: tuple[tuple[str, int, int, int, int], ...]
    """Table 1: for each data set its records, nominal and numeric attributes without the class, and classes."""
    sharing: tuple[SharingPoint, ...]
    """Figures 10 to 13."""
    diversity: tuple[DiversityPoint, ...]
    """Figures 14 to 16."""


def experiment(
    *,
    quick: bool = True,
    sets: Sequence[str] = SETS,
    folder: str | os.PathLike[str] | None = None,
    seed: int = 4,
    work: Work | None = None,
) -> Experiment:
    """Table 1 and figures 10 to 16 on the data sets that are there.

    Quick: one fold dealt once, 1, 3 and 10 sources, three requirements. Else ten folds, 1 to 10 sources, all
    requirements of the figures. A fold is dealt five times for figures 10 to 13, and once for the others; the folds of
    Adult, with ten times the records, once, and three of them for figures 14 to 16. Every point tells its runs. The
    data set Train of table 1 is not to be had.
    """
    data_sets = {name: uci_set(name, folder) for name in sets}
    watch = work or Work()
    sharing = [
        point
        for name, records in data_sets.items()
        for point in sharing_study(name, records, _dealt(name, quick, seed), learners=LEARNERS, work=watch)
    ]
    diversity = [
        point
        for name, records in data_sets.items()
        if name in SHOWN
        for point in diversity_study(
            name,
            records,
            _FEW if quick else _MANY[name],
            _dealt_once(name, quick, seed),
            quasi=QUASI.get(name),
            seconds=_SECONDS,
            work=watch,
        )
    ]
    rows = []
    for name, records in data_sets.items():
        numeric = sum(attribute.numeric for attribute in records.attributes)
        rows.append((name, records.count, len(records.attributes) - numeric, numeric, len(records.classes)))
    return Experiment(quick=quick, rows=tuple(rows), sharing=tuple(sharing), diversity=tuple(diversity))


def _dealt(name: str, quick: bool, seed: int) -> Trials:
    """The runs of figures 10 to 13."""
    return replace(QUICK if quick else Trials(passes=1 if name == "adult" else 5), seed=seed)


def _dealt_once(name: str, quick: bool, seed: int) -> Trials:
    """The runs of figures 14 to 16, for one source and for ten."""
    tested = 1 if quick else 3 if name == "adult" else 10
    return Trials(tested=tested, passes=1, sources=(1, 10), seed=seed)
