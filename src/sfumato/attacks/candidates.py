"""Which released rows may be whose, for a whole register at once, and what they say.

The adversary holds a register: people with their quasi-identifiers. For each of them the attacker looks up the classes
whose labels cover all of their values, and reads off which sensitive values are there and how often. Where the
sensitive column is published apart, a row tells its group, and the group tells the values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.posterior import covers_of, fitting, spread
from sfumato.attacks.subject import Ints, Subject, alike
from sfumato.core.errors import ParameterError
from sfumato.tables.table import places

Reals = NDArray[np.float64]
MOST_VALUES = 200
"""Of a column with more values than this, one value of one person is not bet on."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shown:
    """The sensitive values of a release by unit: its classes, or its groups where values are published apart."""

    counts: Ints
    """A row per unit and a column per value."""
    values: tuple[str, ...]
    """The values."""
    unit: Ints
    """The unit of each released row."""

    @property
    def shares(self) -> Reals:
        """The share of each value in each unit."""
        return np.asarray(self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1))

    @property
    def overall(self) -> Reals:
        """The share of each value in the whole release."""
        return np.asarray(self.counts.sum(axis=0) / max(int(self.counts.sum()), 1))


def different(subject: Subject, column: str | None) -> int:
    """How many different values a sensitive column shows; 0 where it is not shown."""
    shown_in = [frame for frame in (subject.release, subject.groups) if frame is not None and column in frame.columns]
    return shown_in[0][str(column)].n_unique() if shown_in else 0


def too_many(subject: Subject, column: str | None) -> str:
    """Why no single value of a column is bet on; empty if it can be."""
    n_values = different(subject, column)
    if n_values <= MOST_VALUES:
        return ""
    return f"{column!r} has {n_values:,} different values; single ones are bet on where there are at most {MOST_VALUES}"


def published_values(subject: Subject, column: str) -> Shown:
    """What a release shows about a sensitive column."""
    if subject.groups is None or subject.group is None:
        counts, values = subject.sensitive_counts(column)
        return Shown(counts=counts, values=values, unit=subject.classes[2])
    name = next(name for name in subject.groups.columns if name != subject.group)
    if name != column:
        raise ParameterError(f"column must be {name!r}, which is published apart, not {column!r}")
    listed = subject.groups[subject.group].cast(pl.String)
    numbers = listed.unique().sort()
    texts = subject.groups[name].cast(pl.String).fill_null("")
    values = tuple(texts.unique().sort())
    counts = np.zeros((len(numbers), len(values)), np.int64)
    how_many = subject.groups[subject.groups.columns[-1]].cast(pl.String).cast(pl.Int64).to_numpy()
    np.add.at(counts, (_codes(listed, list(numbers)), _codes(texts, values)), how_many)
    unit = _codes(subject.release[subject.group].cast(pl.String), list(numbers))
    return Shown(counts=counts, values=values, unit=unit)


def likely(subject: Subject, published: Shown, people: pl.DataFrame) -> Reals:
    """For each person the share of each value among the rows that fit them; nothing but zeros where none fits."""
    if subject.groups is None:
        return pooled(subject, published.counts.astype(np.float64), people)
    return pooled(subject, by_label(subject, published.unit, published.shares), people)


def pooled(subject: Subject, by_class: Reals, people: pl.DataFrame) -> Reals:
    """The sum over the classes that fit each person, scaled to 1; nothing but zeros where none fits."""
    person, place = fitting_pairs(subject, people)
    result = np.zeros((people.height, by_class.shape[1]))
    np.add.at(result, person, by_class[place])
    return np.asarray(result / np.maximum(result.sum(axis=1, keepdims=True), 1e-300))


def by_label(subject: Subject, unit: Ints, by_unit: Reals) -> Reals:
    """What is said about units, summed over the rows of each class of labels."""
    _, sizes, of_row = subject.classes
    first, number = alike(np.stack([of_row, unit]))
    many = np.bincount(number, minlength=len(first))
    result = np.zeros((len(sizes), by_unit.shape[1]))
    np.add.at(result, of_row[first], by_unit[unit[first]] * many[:, None])
    return result


def fitting_pairs(subject: Subject, people: pl.DataFrame) -> tuple[Ints, Ints]:
    """All pairs of a person and a class that fits them, ordered by person.

    Cost: people with equal values are looked up once; columns are taken one after the other, and only beginnings of
    classes that still fit are followed.
    """
    codes = subject.coded(people)
    first, of_person = alike(codes)
    covers = [covers_of(subject, column) for column in range(len(subject.quasi))]
    cell, place = fitting(subject.classes[0], covers, codes[:, first])
    person, pair = spread(np.searchsorted(cell, np.arange(len(first) + 1)), of_person)
    return person, place[pair]


def homes(subject: Subject, people: pl.DataFrame) -> Ints:
    """The narrowest class that fits each person, -1 where none does: rows of stars are nobody's first choice."""
    person, place = fitting_pairs(subject, people)
    labels, _, _ = subject.classes
    widths = np.zeros(labels.shape[1])
    for column, name in enumerate(subject.quasi):
        widths += np.log(np.maximum(subject.coverage[name].covers.sum(axis=1), 1))[labels[column]]
    order = np.lexsort((widths[place], person))
    class_of = np.full(people.height, -1, np.int64)
    first = np.ones(len(order), np.bool_)
    first[1:] = person[order][1:] != person[order][:-1]
    class_of[person[order][first]] = place[order][first]
    return class_of


def right(scores: Reals, truth: Ints) -> Reals:
    """The chance that the value with the highest score is the true one; equal scores are drawn from by lot.

    Nothing but zeros is no guess, and wrong.
    """
    top = scores.max(axis=1, keepdims=True)
    best = (scores >= top * (1 - 1e-9)) & (scores > 0)
    hit = best[np.arange(len(truth)), np.maximum(truth, 0)] & (truth >= 0)
    return np.where(hit, 1.0 / np.maximum(best.sum(axis=1), 1), 0.0)


def texts_of(people: pl.DataFrame, column: str) -> pl.Series:
    """A column as text; a missing cell is an empty one."""
    return people[column].cast(pl.String).fill_null("")


def codes_of(people: pl.DataFrame, column: str, values: Sequence[str]) -> Ints:
    """People's true values as places in ``values``; -1 for one that is not there."""
    return _codes(texts_of(people, column), values)


def _codes(texts: pl.Series, values: Sequence[str]) -> Ints:
    return places(texts, {value: code for code, value in enumerate(values)}).astype(np.int64)
