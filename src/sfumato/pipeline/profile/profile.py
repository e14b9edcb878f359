"""Looking at a table before anything is decided: types, uniqueness, risk as it stands, and a draft plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from sfumato.attacks.risk import Risk, risk
from sfumato.core.errors import DataError
from sfumato.counts.classes import Classes
from sfumato.counts.near_unique import FEW, NearUnique, near_unique
from sfumato.pipeline.profile.source import MOST, ProfiledSource, figures, profiled
from sfumato.pipeline.profile.suggestions import Suggestion, found_marks, names_people
from sfumato.tables.schema import Role
from sfumato.tables.table import Column

_MOST_QUASI = 10
_MOST_RARE = 3
_SHARED = ("name of a person", "contact")
"""Identifiers that several people can share."""
_MOST_COMBINATIONS = 12
MOST_ROWS = 50
"""An identifier whose values have more rows each, on average, is taken for a place or a class, not for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnProfile:
    """One column as it was found."""

    name: str
    """Its name."""
    kind: str
    """How its values read."""
    distinct: int
    """Different values, missing ones apart."""
    missing: int
    """Rows without a value."""
    bits: float
    """The entropy of its values: how many yes-or-no questions tell them apart."""
    suggestion: Suggestion
    """What it might be."""
    alone: int = 0
    """Rows whose value no other row has."""
    near_unique: NearUnique | None = None
    """Where it is suggested to be published as it is: whether it would nearly single people out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Combination:
    """Some columns together, and how many rows they single out."""

    columns: tuple[str, ...]
    """The columns."""
    unique: float
    """The share of rows that nobody else shares these values with."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Profile:
    """A table as it stands."""

    source: str
    """What was looked at."""
    rows: int
    """How many rows."""
    columns: tuple[ColumnProfile, ...]
    """Column by column."""
    combinations: tuple[Combination, ...]
    """The columns and pairs and triples of suggested quasi-identifiers that single out most rows."""
    risk: Risk
    """Re-identification risk by all suggested quasi-identifiers together."""
    missing: tuple[str, ...] = ()
    """Texts that were found to stand for missing values, where none were named."""
    reading: Mapping[str, Any] = field(default_factory=dict)
    """What was found out about reading the file, beside what was said."""
    engine: str | None = None
    """The engine that counted the rows where they are, if one did."""
    notes: tuple[str, ...] = ()
    """What the steward should know about how the rows were read."""

    def __repr__(self) -> str:
        alone = f"{self.risk.unique:.1%} of rows alone by {len(self.quasi)} quasi-identifiers"
        return f"Profile({self.source}: {self.rows:,} rows, {len(self.columns)} columns, {alone})"

    @property
    def quasi(self) -> tuple[str, ...]:
        """The suggested quasi-identifiers with one value a row."""
        return tuple(c.name for c in self.columns if c.suggestion.role is Role.QUASI and c.suggestion.kind is None)

    @property
    def unit(self) -> str | None:
        """The identifier that repeats, so that one person has several rows; the one that looks most like a person.

        Several people can have one name, so a name tells nobody apart.
        """
        ids = [c for c in self.columns if c.suggestion.role is Role.IDENTIFIER and c.suggestion.sort not in _SHARED]
        candidates = [c for c in ids if 1 < c.distinct < self.rows - c.missing]
        named = [c for c in candidates if names_people(c.name)]
        several = [c for c in candidates if c.distinct * MOST_ROWS >= self.rows]
        return max(named or several, key=lambda c: c.distinct).name if named or several else None

    @property
    def itemized(self) -> tuple[str, ...]:
        """The columns of paths and sets."""
        return tuple(c.name for c in self.columns if c.suggestion.kind is not None)

    def to_json(self) -> dict[str, Any]:
        """As the command line prints it."""
        columns = [
            {
                "name": c.name,
                "type": c.kind,
                "distinct": c.distinct,
                "missing": c.missing,
                "alone": c.alone,
                "bits": round(c.bits, 3),
                "role": str(c.suggestion.role),
                "why": c.suggestion.why,
                "hierarchy": c.suggestion.hierarchy,
                "format": None if c.suggestion.form is None else c.suggestion.form.order,
                "notes": list(c.suggestion.notes),
                "near_unique": None if c.near_unique is None else c.near_unique.to_json(),
            }
            for c in self.columns
        ]
        return {
            "source": self.source,
            "rows": self.rows,
            "columns": columns,
            "combinations": [asdict(combination) for combination in self.combinations],
            "risk": self.risk.to_json(),
            "unit": self.unit,
            "missing": list(self.missing),
            "reading": dict(self.reading),
            "engine": self.engine,
            "notes": list(self.notes),
        }


def profile(data: object = None, *, missing: tuple[str, ...] = (), reading: Mapping[str, Any] | None = None) -> Profile:
    """Look at a file, a folder, a frame or a table in an engine.

    ``reading`` are further options of reading a file, or keys of [input] that say where an engine has the rows.
    Relations of DuckDB, frames of Spark and lazy frames are counted where they are.
    """
    seen = profiled(data, missing=missing, reading=reading or {})
    if not seen.rows:
        raise DataError(f"{seen.source} has no rows; there is nothing to look at")
    looked = {name: (seen.items(name), seen.column(name)) for name in seen.names}
    items = {name: suggestion for name, (suggestion, _) in looked.items() if suggestion is not None}
    encoded = {name: column for name, (_, column) in looked.items()}
    marks = () if missing else found_marks(encoded.values())
    seen = seen.marked(marks) if marks else seen
    encoded |= {name: seen.column(name) for name, column in encoded.items() if {*column.values} & {*marks}}
    plain = {name: column for name, column in encoded.items() if name not in items}
    suggestions = {**_suggestions(seen, plain), **items}
    quasi = [
        encoded[n] for n, suggestion in suggestions.items() if suggestion.role is Role.QUASI and suggestion.kind is None
    ]
    grouped = seen.together(quasi, MOST) if quasi else None
    many = f"more than {MOST:,} combinations of the suggested quasi-identifiers: no columns are looked at together"
    return Profile(
        source=seen.source,
        rows=seen.rows,
        columns=tuple(_column(encoded[name], suggestions[name], seen.rows) for name in seen.names),
        combinations=() if grouped is None else _combinations(grouped),
        risk=_risk(seen, quasi, grouped),
        missing=marks,
        reading=seen.reading,
        engine=seen.engine,
        notes=tuple(note for note in (seen.note, many if quasi and grouped is None else "") if note),
    )


def _risk(seen: ProfiledSource, quasi: list[Column], grouped: Classes | None) -> Risk:
    """Of the cells, of their sizes where there are too many, or of one group where nothing is known of anybody."""
    if not quasi:
        return risk(np.array([seen.rows]))
    return seen.risk(quasi) if grouped is None else risk(grouped.sizes)


def _suggestions(seen: ProfiledSource, encoded: Mapping[str, Column]) -> dict[str, Suggestion]:
    """A role per column; at most one target, and no more quasi-identifiers than a search can take."""
    suggestions = {name: seen.suggested(column) for name, column in encoded.items()}
    quasi = [name for name, suggestion in suggestions.items() if suggestion.role is Role.QUASI]
    for name, other in _twins(seen, [encoded[name] for name in quasi]):
        suggestions[name] = Suggestion(role=Role.DROP, why=f"says the same as {other}")
        quasi.remove(name)
    for name, why in _too_many(quasi, suggestions, encoded):
        suggestions[name] = Suggestion(role=Role.DROP, why=why)
    targets = [name for name, suggestion in suggestions.items() if suggestion.role is Role.TARGET]
    for name in targets[1:]:
        suggestions[name] = replace(suggestions[name], role=Role.SENSITIVE, why="a second class attribute")
    return suggestions


def _too_many(
    quasi: list[str], suggestions: Mapping[str, Suggestion], encoded: Mapping[str, Column]
) -> list[tuple[str, str]]:
    """Columns that are left to a person, for so many would leave nothing of the others; recognised ones stay first."""
    many = {name: 0 if suggestions[name].rare else len(encoded[name].values) for name in quasi}
    order = sorted(quasi, key=lambda name: (suggestions[name].rare, not suggestions[name].sure, many[name]))
    rare = [name for name in order if suggestions[name].rare][_MOST_RARE:]
    few = [name for name in order if name not in rare]
    left = [(name, f"beyond {_MOST_RARE} columns of rare values; choose") for name in rare]
    beyond = few[_MOST_QUASI:]
    return [*left, *((name, f"beyond {_MOST_QUASI} columns that others may know; choose") for name in beyond)]


def _twins(seen: ProfiledSource, columns: list[Column]) -> list[tuple[str, str]]:
    """Columns that say the same as one before them: every value goes with exactly one value there, and back."""
    twins = []
    for place, column in enumerate(columns):
        many = len(column.values)
        for other in columns[:place] if 2 < many <= seen.rows / 4 else []:
            both = seen.together([other, column], many) if len(other.values) == many else None
            if both is not None and both.count == many:
                twins.append((column.name, other.name))
                break
    return twins


def _column(column: Column, suggestion: Suggestion, rows: int) -> ColumnProfile:
    distinct, missing, bits = figures(column, rows)
    return ColumnProfile(
        name=column.name,
        kind=suggestion.kind or suggestion.read_as or column.kind,
        distinct=distinct,
        missing=missing,
        bits=bits,
        suggestion=suggestion,
        alone=int((column.counts[: len(column.present)] == 1).sum()),
        near_unique=_near_unique(column, suggestion, rows),
    )


def _near_unique(column: Column, suggestion: Suggestion, rows: int) -> NearUnique | None:
    if suggestion.role not in (Role.SENSITIVE, Role.TARGET, Role.KEEP):
        return None
    return near_unique(column.name, suggestion.role, column.counts[: len(column.present)], rows, FEW)


def _combinations(grouped: Classes) -> tuple[Combination, ...]:
    """The columns, pairs and triples that single out most rows."""
    all_combinations = []
    for size in (1, 2, 3):
        for columns in combinations(grouped.quasi, size):
            sizes = grouped.project(columns)[0].sizes
            all_combinations.append(Combination(columns=columns, unique=float((sizes == 1).sum() / grouped.rows)))
    all_combinations.sort(key=lambda combination: (-combination.unique, len(combination.columns)))
    return tuple(all_combinations[:_MOST_COMBINATIONS])
