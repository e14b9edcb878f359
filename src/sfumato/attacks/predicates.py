"""Statements about one person that can be counted in a release and among people: "older than 80 and a widow".

A condition speaks of one column: a number between two ends, or a word among those that a released label covers. A
predicate is several conditions together. It singles out where exactly one row, or one person, fits it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.labels import Floats, ends, numbers
from sfumato.attacks.subject import Codes, Mask, Subject

Rows = NDArray[np.int64]

BLOCK = 2048
"""So many are looked at first: two who fit among them settle it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What is said about one column."""

    column: str
    low: float = -inf
    """For numbers: not below this."""
    high: float = inf
    """For numbers: not above this."""
    label: int = -1
    """For words: covered by this released label."""
    value: int = -1
    """For words of people, and of columns that are shown as they are, instead of a label: this value."""
    negated: bool = False
    """The contrary."""


Predicate = tuple[Condition, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Numbers:
    """The numbers of some rows or people, and the order that finds them; labels have two ends."""

    low: Floats
    high: Floats
    order: Rows
    sorted: Floats
    exact: bool = False
    """Whether the numbers are shown as they are: statements name them."""

    def about(self, condition: Condition) -> tuple[int, int]:
        """Where in the order those lie who may fit."""
        if condition.negated:
            return 0, len(self.order)
        ends_at = int(np.searchsorted(self.sorted, condition.high, side="right"))
        return int(np.searchsorted(self.sorted, condition.low, side="left")), ends_at

    def fit(self, condition: Condition, rows: Rows) -> Mask:
        """Which of some rows fit."""
        if condition.low == -inf:
            inside = self.high[rows] <= condition.high
        else:
            inside = self.low[rows] >= condition.low
            if condition.high != inf:
                inside &= self.high[rows] <= condition.high
        return np.asarray(inside != condition.negated)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Words:
    """The words of some rows or people, which label covers them, and the order that finds them."""

    codes: Codes
    covers: Mask
    """A row per label; the last column is for words that no meaning knows."""
    order: Rows
    sorted: Codes
    exact: bool = False
    """Whether the words are shown as they are: statements name values, and there are no labels."""

    def about(self, condition: Condition) -> tuple[int, int]:
        """Where in the order those lie who may fit."""
        if condition.negated:
            return 0, len(self.order)
        if condition.value >= 0:
            wanted = self.sorted.dtype.type(condition.value)  # of another type, all of the order would be converted
            ends_at = int(np.searchsorted(self.sorted, wanted, side="right"))
            return int(np.searchsorted(self.sorted, wanted)), ends_at
        covered = np.flatnonzero(self.covers[condition.label, :-1]).astype(self.sorted.dtype)
        if self.covers[condition.label, -1] or not len(covered):
            return 0, len(self.order)
        low, high = np.searchsorted(self.sorted, covered[0]), np.searchsorted(self.sorted, covered[-1], side="right")
        return int(low), int(high)

    def fit(self, condition: Condition, rows: Rows) -> Mask:
        """Which of some rows fit."""
        if condition.value >= 0:
            return np.asarray((self.codes[rows] == condition.value) != condition.negated)
        return np.asarray(self.covers[condition.label][self.codes[rows]] != condition.negated)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sheet:
    """Rows or people in which predicates are counted."""

    columns: dict[str, Numbers | Words]
    height: int

    @classmethod
    def of_release(cls, subject: Subject, about: str = "quasi") -> Sheet:
        """The released rows: a label fits if all that it may stand for does."""
        labels, _, of_row = subject.classes
        columns: dict[str, Numbers | Words] = {}
        for number, name in enumerate(subject.quasi):
            codes = labels[number][of_row]
            if name in subject.numeric:
                low, high = ends(subject.coverage[name])
                columns[name] = _numbers(low[codes], high[codes])
            else:
                columns[name] = _words(codes, np.eye(len(subject.coverage[name].labels), dtype=np.bool_))
        return cls(columns=columns | _beside(subject, subject.release, about), height=subject.release.height)

    @classmethod
    def of_people(cls, subject: Subject, people: pl.DataFrame, about: str = "quasi") -> Sheet:
        """People, or people of the control file."""
        coded = subject.coded(people)
        columns: dict[str, Numbers | Words] = {}
        for number, name in enumerate(subject.quasi):
            if name in subject.numeric:
                values = numbers(people[name])
                columns[name] = _numbers(values, values)
            else:
                columns[name] = _words(coded[number], subject.coverage[name].covers)
        return cls(columns=columns | _beside(subject, people, about), height=people.height)

    def singled(self, predicate: Predicate) -> bool:
        """Whether exactly one fits."""
        rows, rarest = self.narrowest(predicate)
        return self.fits_one(rarest, rows)

    def narrowest(self, predicate: Sequence[Condition]) -> tuple[Rows, list[Condition]]:
        """Those who may fit, by the condition that leaves the fewest; and the conditions, this one last."""
        ranges = []
        for condition in predicate:
            low, high = self.columns[condition.column].about(condition)
            ranges.append((high - low, low, condition))
        ranges.sort(key=lambda entry: entry[0])
        many, low, first = ranges[0]
        return self.columns[first.column].order[low : low + many], [*(entry[2] for entry in ranges[1:]), first]

    def fits_one(self, predicate: Sequence[Condition], rows: Rows) -> bool:
        """Whether exactly one of some rows fits."""
        n_fitting, start, length = 0, 0, BLOCK
        while start < len(rows) and n_fitting < 2:
            n_fitting += self.fitting(predicate, rows[start : start + length])
            start, length = start + length, 8 * length
        return n_fitting == 1

    def fitting(self, predicate: Sequence[Condition], rows: Rows) -> int:
        """How many of some rows fit."""
        for condition in predicate:
            rows = rows[self.columns[condition.column].fit(condition, rows)]
        return len(rows)


def hits(sheet: Sheet, predicates: Sequence[Predicate]) -> int:
    """How many predicates single somebody out."""
    return sum(sheet.singled(predicate) for predicate in predicates)


def exact_values(subject: Subject, name: str) -> tuple[str, ...]:
    """The words of a column that is shown as it is: those of people and control people, then what else is released."""
    frames = [subject.people, *([] if subject.control is None else [subject.control]), subject.release]
    series = [frame[name].cast(pl.String).fill_null("") for frame in frames if name in frame.columns]
    return tuple(pl.concat([column.unique().sort() for column in series]).unique(maintain_order=True))


def _beside(subject: Subject, frame: pl.DataFrame, about: str) -> dict[str, Numbers | Words]:
    """The columns that are shown as they are, where statements are about all."""
    columns: dict[str, Numbers | Words] = {}
    for name in subject.beside if about == "all" else ():
        if name in subject.numeric:
            values = numbers(frame[name])
            columns[name] = replace(_numbers(values, values), exact=True)
            continue
        words = pl.Enum(exact_values(subject, name))
        codes = frame[name].cast(pl.String).fill_null("").cast(words).to_physical().to_numpy().astype(np.int32)
        columns[name] = replace(_words(codes, np.zeros((0, 0), np.bool_)), exact=True)
    return columns


def _numbers(low: Floats, high: Floats) -> Numbers:
    order = np.argsort(low).astype(np.int64)
    return Numbers(low=low, high=high, order=order, sorted=low[order])


def _words(codes: Codes, covers: Mask) -> Words:
    order = np.argsort(codes, kind="stable").astype(np.int64)
    strange = covers.all(axis=1, keepdims=True) & (covers.shape[1] > 0)
    return Words(codes=codes, covers=np.concatenate([covers, strange], axis=1), order=order, sorted=codes[order])
