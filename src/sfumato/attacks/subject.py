"""What is attacked: a release as published, the people behind it, and the forms in which an attack is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.guarantees import READERS, Promise, Reader, limit_to_tell, promises, protected
from sfumato.core.errors import ParameterError, listed
from sfumato.core.randomness import Chance
from sfumato.core.short_repr import Brief
from sfumato.counts.classes import told_apart
from sfumato.tables.hierarchy import TOP
from sfumato.tables.table import Table, places

# Dates that a key moved, and which shifts the period and the weekdays of the true ones leave possible.


Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
WEEK = 7


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Shifts(Brief):
    """Dates that were moved, all of a person alike, and what is known about the true ones."""

    people: int
    """How many people have such dates."""
    person: Ints
    """The person of each published date, from 0."""
    day: Ints
    """The published day of each, as ``date.toordinal`` counts."""
    days: int
    """The most days that a date moves, either way."""
    weeks: bool
    """Whether dates move by whole weeks."""
    first: int
    """The first day of the period that the true dates are from."""
    last: int
    """Its last day."""
    weekdays: Mask
    """On which weekdays true dates fall, Monday first."""

    @property
    def every(self) -> int:
        """How many shifts there are."""
        return 2 * (self.days // WEEK) + 1 if self.weeks else 2 * self.days + 1

    def possible(self) -> Ints:
        """For each person, how many shifts move all of their dates into the period and onto those weekdays.

        >>> flags = np.array([True] * 5 + [False] * 2)
        >>> day = np.array([735_600])  # a Thursday
        >>> shifts = Shifts(people=1, person=np.array([0]), day=day, days=3, weeks=False, first=735_599, last=735_700,
        ...              weekdays=flags)
        >>> shifts.possible().tolist()  # 1 back is Wednesday; 1 forward Friday; 2 and 3 forward Saturday and Sunday
        [3]
        """
        low, high = np.full(self.people, -self.days), np.full(self.people, self.days)
        np.maximum.at(low, self.person, self.day - self.last)
        np.minimum.at(high, self.person, self.day - self.first)
        counts = np.zeros(self.people, np.int64)
        for rest in (0,) if self.weeks else range(WEEK):
            fits = np.ones(self.people, np.bool_)
            fits[self.person[~self.weekdays[(self.day - rest - 1) % WEEK]]] = False
            start = low + (rest - low) % WEEK
            counts += np.where(fits, np.maximum((high - start) // WEEK + 1, 0), 0)
        return counts

    def without_dates(self) -> Shifts:
        """The same people, of whom no date is published."""
        return replace(self, person=self.person[:0], day=self.day[:0])


def measured(shifts: Shifts) -> dict[str, float]:
    """How many shifts remain possible, of how many."""
    remaining: Ints = shifts.possible()
    return {
        "shifts": float(shifts.every),
        "median_shifts": float(np.median(remaining)),
        "fewest_shifts": float(remaining.min()),
        "surely_moved_back": float((remaining == 1).mean()),
    }


# What is attacked: a release as anybody sees it, and the people behind it as only the steward knows them.
#
# The adversary reads labels: ``[20-30)`` covers 24, ``0213*`` covers 02139, a node of a published tree covers its
# leaves. Which values a label covers is public knowledge, and is handed in as a ``Meaning`` for every column.


Codes = NDArray[np.int32]

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
        notes = []
        if self.left_out:
            notes.append(f"{listed(self.left_out, most=6)}: published, but not in the original that was given")
        if self.control is not None and not self.controlled:
            notes.append("no control run: the control file does not have all published columns")
        return "; ".join(notes)

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


# A quasi-identifier that is sensitive too, as somebody sees it who does not know it.


def guarded_view(subject: Subject, column: str) -> Subject:
    """The release as what the other quasi-identifiers tell about ``column``.

    A label says nothing about which of the values below it a row has: the row has each of them in part, as where a
    sensitive column is published apart by groups. The values are those of the declared tree, where a claim states it.
    """
    known = subject.coverage[column]
    tree = next((given["guarded"]["paths"] for _, given in subject.claims if _about(given, column)), None)
    pairs = []
    for row, label in enumerate(known.labels):
        below: Sequence[str] = [] if tree is None else [v for v, above in tree.items() if label in (v, *above, TOP)]
        below = below or [value for value, covered in zip(known.values, known.covers[row], strict=True) if covered]
        pairs += [(label, value) for value in below]
    name = next(n for n in ("label", *(f"label_{i}" for i in range(len(pairs) + 99))) if n not in subject.published)
    groups = pl.DataFrame(pairs, schema={name: pl.String, column: pl.String}, orient="row")
    return replace(
        subject,
        release=subject.release.rename({column: name}),
        quasi=tuple(name for name in subject.quasi if name != column),
        sensitive=(column,),
        beside=(),
        groups=groups.with_columns(pl.lit("1").alias(f"{name}, {column}: rows")),
        group=name,
    )


def _about(given: object, column: str) -> bool:
    stated = given.get("guarded") if isinstance(given, dict) else None
    return isinstance(stated, dict) and stated.get("column") == column


# In which forms an attack is made on a release: as it is, and once more for what the claims name.
#
# A claim may speak of some values only, or of somebody who knows two columns. An attack that bets on all values, or
# knows all columns, would never meet its limit. So an attack may say in which forms the claims need it (``variants``).


Title = tuple[str, Any]
"""What is added to the attack's name, and the attack in this form."""


class Bets(Protocol):
    """An attack that bets on values of a sensitive column."""

    @property
    def values(self) -> tuple[str, ...]:
        """On which values; none means all."""


B = TypeVar("B", bound=Bets)


def by_value(attack: B, subject: Subject, column: str | None) -> Sequence[tuple[str, B]]:
    """The attack on all values, and on those that claims protect more than all others."""
    if attack.values:
        return (("", attack),)
    every = limit_to_tell(subject.promises, column, known=len(subject.quasi), inferred=True)
    named = protected(subject.promises, column, len(subject.quasi))
    tighter = {share: values for share, values in named.items() if every is None or share < every.value}
    return (
        ("", attack),
        *((f" for {listed(values, most=3)}", _watching(attack, values)) for values in tighter.values()),
    )


def _watching(attack: Any, values: tuple[str, ...]) -> Any:
    return replace(attack, values=values)


# People with several rows, as attacks see them: each of them once, by one of their rows.


def one_each(rows: pl.DataFrame, unit: str | None, chance: Chance, missing: Sequence[str] = ()) -> pl.DataFrame:
    """One random row of each person, without the column that tells them apart; all rows where nothing does.

    Who has many rows is no likelier to be attacked than others, and a group shows each of its people once: so what fits
    an adversary's knowledge is counted in people.
    """
    if unit is None:
        return rows
    kept, _ = with_all_rows(rows, unit, chance, missing)
    return kept.drop(PERSON)


def with_all_rows(
    rows: pl.DataFrame, unit: str, chance: Chance, missing: Sequence[str] = ()
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """One random row of each person, and all rows; both number people in ``PERSON``, by the order of the former."""
    order = chance.generator().permutation(rows.height)
    persons, _ = told_apart(Table(frame=rows.select(unit), missing=tuple(missing)).column(unit, "text"))
    first = np.sort(np.unique(persons[order], return_index=True)[1])
    number = np.zeros(int(persons.max(initial=-1)) + 1, np.int64)
    number[persons[order[first]]] = np.arange(len(first))
    every = rows.drop(unit).with_columns(pl.Series(PERSON, number[persons]))
    return every[order[first]], every
