"""What is attacked: a release as anybody sees it, and the people behind it as only the steward knows them.

The adversary reads labels: ``[20-30)`` covers 24, ``0213*`` covers 02139, a node of a published tree covers its leaves.
Which values a label covers is public knowledge, and is handed in as a ``Meaning`` for every column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.frame.moved_dates import Shifts
from sfumato.attacks.frame.promises import READERS, Promise, Reader, promises
from sfumato.data.table import places
from sfumato.ground.brief import Brief
from sfumato.ground.chance import Chance
from sfumato.ground.errors import ParameterError, listed

Codes = NDArray[np.int32]
Mask = NDArray[np.bool_]
Ints = NDArray[np.int64]

PERSON = "\0person"
"""The column that numbers people in ``Subject.people`` and in ``Several``; no file has a column of this name."""
ABOUT = ("quasi", "all")
"""What an attack looks at: the quasi-identifiers, or all published columns."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Coverage(Brief):
    """Which values of a column each of its released labels covers."""

    labels: tuple[str, ...]
    """The labels."""
    values: tuple[str, ...]
    """The values of people."""
    covers: Mask
    """A row per label and a column per value."""

    @classmethod
    def plain(cls, values: Sequence[str]) -> Coverage:
        """Values that are published as they are."""
        names = tuple(dict.fromkeys(values))
        return cls(labels=names, values=names, covers=np.eye(len(names), dtype=np.bool_))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Several(Brief):
    """All rows of people who have several, of whom ``Subject`` has one row each; people are numbered in ``PERSON``."""

    release: pl.DataFrame
    """The sensitive values of all released rows; people are rows of ``Subject.release``."""
    people: pl.DataFrame
    """All original rows; people are numbered as in ``Subject.people``."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Subject(Brief):
    """A release, and who is behind it."""

    release: pl.DataFrame
    """The released rows, every cell as text."""
    quasi: tuple[str, ...]
    """The quasi-identifiers."""
    sensitive: tuple[str, ...]
    """The sensitive columns."""
    guarded: tuple[str, ...] = ()
    """The quasi-identifiers that are sensitive too."""
    beside: tuple[str, ...] = ()
    """The other published columns, sensitive, target and kept ones: their values are shown as they are."""
    left_out: tuple[str, ...] = ()
    """Published columns that no attack looks at, because the original at hand does not have them."""
    coverage: Mapping[str, Coverage]
    """How the labels of each quasi-identifier read."""
    people: pl.DataFrame
    """The original rows, every cell as text."""
    control: pl.DataFrame | None = None
    """People of the same kind who are not in the release."""
    claims: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """What the release claims: models and parameters."""
    algorithm: str = ""
    """The algorithm that made it; public."""
    groups: pl.DataFrame | None = None
    """Where the sensitive column is published apart: group, value, count."""
    group: str | None = None
    """The column that numbers those groups."""
    trees: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    """For columns with a public tree over their values: what lies above each value, nearest first."""
    numeric: frozenset[str] = frozenset()
    """The columns whose values are numbers."""
    means: frozenset[str] = frozenset()
    """The columns that show means of groups: numbers that cover nobody, so that no class can be read."""
    drawn: frozenset[str] = frozenset()
    """The columns of synthetic numbers: they cover nobody, and are compared by how far they are."""
    synthetic: bool = False
    """Whether the released rows were drawn, so that none of them is a person's own."""
    readers: Mapping[str, Reader] = field(default_factory=lambda: READERS)
    """How claims are read, by model."""
    unit: str | None = None
    """The column by which people with several rows were told apart: here each of them is there once."""
    several: Several | None = None
    """All rows of those people, for attacks that count who has a value."""
    shifts: Shifts | None = None
    """Dates that a key moved, and what is known about the true ones."""
    exempt: bool = False
    """Whether some classes need not meet the claims by themselves: rows of nothing but ``*``, or unknown values that
    are read as wildcards."""
    together: str | None = None
    """A column of the people that tells who belongs together, such as a household."""
    own: Ints | None = None
    """For each person, which released row was made from theirs; only whoever made the release knows."""

    @property
    def published(self) -> tuple[str, ...]:
        """Every column that is published and that somebody may know: quasi-identifiers first."""
        return (*self.quasi, *self.beside)

    @property
    def controlled(self) -> bool:
        """Whether there are control people of whom every published column is known."""
        return self.control is not None and set(self.published) <= set(self.control.columns)

    def nothing_about(self, about: str) -> str:
        """Why an attack on these columns cannot be made; empty if it can."""
        if self.published if about == "all" else self.quasi:
            return ""
        return "there are no quasi-identifiers" if about == "quasi" else "no column is published that others may know"

    def not_looked_at(self) -> str:
        """What an attack on all published columns must say about what it could not look at."""
        said = []
        if self.left_out:
            said.append(f"{listed(self.left_out, most=6)}: published, but not in the original that was given")
        if self.control is not None and not self.controlled:
            said.append("no control run: the control file does not have all published columns")
        return "; ".join(said)

    @cached_property
    def promises(self) -> tuple[Promise, ...]:
        """What the claims promise about an adversary."""
        return promises(self.claims, self.readers)

    @cached_property
    def classes(self) -> tuple[Codes, Ints, Ints]:
        """The different combinations of released labels: a row of codes per column, how many rows, each row's."""
        codes = [_encoded(self.release[name], self.coverage[name].labels, name) for name in self.quasi]
        labels = np.stack(codes) if codes else np.zeros((0, self.release.height), np.int32)
        first, of_row = alike(labels)
        return labels[:, first], np.bincount(of_row, minlength=len(first)).astype(np.int64), of_row

    def coded(self, people: pl.DataFrame) -> Codes:
        """People's values by quasi-identifier; -1 for a value that no meaning knows, and for drawn numbers."""
        rows = [
            np.full(people.height, -1, np.int32)
            if name in self.drawn
            else places(people[name], {value: code for code, value in enumerate(self.coverage[name].values)})
            for name in self.quasi
        ]
        return np.stack(rows) if rows else np.zeros((0, people.height), np.int32)

    def fitting(self, person: Codes, known: Sequence[int] | None = None) -> Mask:
        """Which classes fit one person's values, in the columns that are known (all where nothing is said)."""
        labels, sizes, _ = self.classes
        fits = np.ones(len(sizes), np.bool_)
        for column in range(len(self.quasi)) if known is None else known:
            code = int(person[column])
            covers = self.coverage[self.quasi[column]].covers
            fits &= covers[labels[column], code] if code >= 0 else _stars(self, column)[labels[column]]
        return fits

    def sensitive_counts(self, column: str) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """A row per class and a column per sensitive value: how many rows."""
        _, sizes, of_row = self.classes
        texts = self.release[column].cast(pl.String).fill_null("")
        values = tuple(texts.unique().sort())
        codes = texts.cast(pl.Enum(list(values))).to_physical().to_numpy().astype(np.int64)
        table = np.bincount(of_row * len(values) + codes, minlength=len(sizes) * len(values))
        return table.reshape(len(sizes), len(values)).astype(np.int64), values

    def some(self, count: int, chance: Chance, *, control: bool = False) -> pl.DataFrame:
        """A random choice of people, or of control people, without repetition."""
        source = self.control if control else self.people
        if source is None:
            raise ParameterError("there is no control file")
        chosen = chance.generator().permutation(source.height)[:count]
        return source[np.sort(chosen)]

    def without_release(self) -> Subject:
        """The same people behind a release that shows nothing: for checking that an attack learns nothing from it."""
        stars = {name: pl.Series(name, ["*"] * self.release.height) for name in self.quasi}
        coverage = {
            name: Coverage(labels=("*",), values=old.values, covers=np.ones((1, len(old.values)), np.bool_))
            for name, old in self.coverage.items()
        }
        shifts = None if self.shifts is None else self.shifts.without_dates()
        return replace(self, release=self.release.with_columns(**stars), coverage=coverage, beside=(), shifts=shifts)


def alike(rows: Codes | Ints) -> tuple[Ints, Ints]:
    """The different columns of a table of codes from -1 on, in order: where each is first, and the number of each.

    >>> first, number = alike(np.array([[3, 1, 3], [0, 5, 0]]))
    >>> first.tolist(), number.tolist()
    ([1, 0], [1, 0, 1])
    """
    key, width = np.zeros(rows.shape[1], np.int64), 1
    for row in rows:
        wide = int(row.max(initial=-1)) + 2
        if width * wide >= 2**62:
            key = np.unique(key, return_inverse=True)[1].reshape(-1).astype(np.int64)
            width = int(key.max(initial=0)) + 1
        key, width = key * wide + row + 1, width * wide
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    return first.astype(np.int64), number.reshape(-1).astype(np.int64)


def _encoded(cells: pl.Series, labels: tuple[str, ...], name: str) -> Codes:
    texts = cells.cast(pl.String).fill_null("") if cells.null_count() else cells
    codes = places(texts, {label: code for code, label in enumerate(labels)})
    if (codes < 0).any():
        unknown = texts.filter(pl.Series(codes < 0)).cast(pl.String).min()
        raise ParameterError(f"meanings of {name!r} must cover every released label; {unknown!r} is missing")
    return codes


def _stars(subject: Subject, column: int) -> Mask:
    """Labels that cover everything: the only ones that fit a value which nobody in the table has."""
    return np.asarray(subject.coverage[subject.quasi[column]].covers.all(axis=1))
