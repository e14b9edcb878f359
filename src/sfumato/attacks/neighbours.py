"""Released rows nearest to a person: a mixed distance, and the nearest-record attack."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.finding import Finding, Limit, Rate
from sfumato.attacks.labels import Floats, ends, numbers
from sfumato.attacks.subject import Codes, Ints, Subject, alike
from sfumato.core.arguments import at_least
from sfumato.core.errors import ParameterError, listed
from sfumato.core.randomness import Chance

# Which released rows are nearest to a person: a distance for numbers, words and labels together.
#
# The distance is Gower's (1971): a sum over columns, each between 0 and 1. A number is as far from a label as from the
# nearest number that the label stands for, divided by the range of the column; a word is at 0 from a label that covers
# it and at 1 from every other. On a raw table this is the distance that Anonymeter uses.


_MANY = 4096
"""From so many classes on, the search leaves out what cannot be near any more."""
_FIRST = 3
"""After so many columns."""
_SURE = 1e-9
"""Distances closer than this are equal: they are sums of rounded numbers."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Numeric:
    """A column of numbers: the ends of each class's label, in units of the column's range, and the people's values."""

    low: Floats
    high: Floats
    values: Floats
    points: bool
    """Whether every label is a number."""

    def distances(self, person: int, classes: NDArray[np.int64] | slice) -> Floats:
        """From a person to some classes."""
        value = self.values[person]
        if self.points and not np.isnan(value):
            return np.asarray(np.abs(self.low[classes] - value))
        apart = np.maximum(self.low[classes] - value, value - self.high[classes])
        np.nan_to_num(apart, copy=False, nan=1.0, neginf=0.0)
        return np.asarray(np.clip(apart, 0.0, 1.0, out=apart))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Wordy:
    """A column of words: each class's label, the people's values, and which label leaves which value out."""

    labels: Codes
    values: Codes
    apart: Floats

    def distances(self, person: int, classes: NDArray[np.int64] | slice) -> Floats:
        """From a person to some classes."""
        return np.asarray(self.apart[self.values[person]].take(self.labels[classes]))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Space:
    """Some columns of a release, and some people."""

    columns: tuple[Numeric | Wordy, ...]
    sizes: Ints
    """How many rows each class has."""
    starts: Ints
    """Where its rows begin."""
    rows: Ints
    """The rows, one class after the other."""
    of_row: Ints
    """The class of each row."""
    orders: tuple[tuple[Numeric, Ints, Floats], ...] = ()
    """Where there are many classes: columns of single numbers, each with the classes in its order and their numbers."""

    @classmethod
    def of(cls, subject: Subject, people: pl.DataFrame, columns: tuple[str, ...]) -> Space:
        """The columns of a release that are compared, and the people who are looked for."""
        place = {name: number for number, name in enumerate(subject.quasi)}
        labels, sizes, of_row = _classes(subject, [place[name] for name in columns])
        place_of = {name: number for number, name in enumerate(columns)}
        coded = subject.coded(people)
        space_columns = [
            _numeric(subject, name, labels[place_of[name]], people)
            if name in subject.numeric
            else _wordy(subject, name, labels[place_of[name]], coded[place[name]])
            for name in columns
        ]
        return cls(
            columns=tuple(sorted(space_columns, key=lambda column: isinstance(column, Wordy))),
            orders=_orders(space_columns) if len(sizes) > _MANY else (),
            sizes=sizes,
            starts=np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64),
            rows=np.argsort(of_row, kind="stable").astype(np.int64),
            of_row=of_row,
        )

    def nearest(self, person: int, count: int = 1) -> tuple[Ints, Ints]:
        """The classes that are surely among the nearest ``count`` rows, and those that share the last places."""
        near, distances = self._candidates(person, count)
        farthest = _reached(distances, self.sizes[near], count)
        inside, edge = distances < farthest - _SURE, np.abs(distances - farthest) <= _SURE
        return near[inside], near[edge]

    def drawn(self, person: int, count: int, generator: np.random.Generator) -> Ints:
        """The nearest rows; who shares the last places is drawn by lot."""
        inside, edge = self.nearest(person, count)
        sure = self.members(inside)
        edges = np.cumsum(self.sizes[edge])
        missing = min(count, int(self.sizes.sum())) - len(sure)
        lots = generator.choice(int(edges[-1]), size=missing, replace=False, shuffle=False)
        which = np.searchsorted(edges, lots, side="right")
        offset = lots - (edges[which] - self.sizes[edge][which])
        return np.concatenate([sure, self.rows[self.starts[edge[which]] + offset]])

    def members(self, classes: Ints) -> Ints:
        """The rows of some classes."""
        sizes = self.sizes[classes]
        before = np.cumsum(sizes) - sizes
        return np.asarray(self.rows[np.repeat(self.starts[classes] - before, sizes) + np.arange(sizes.sum())])

    def _candidates(self, person: int, count: int) -> tuple[Ints, Floats]:
        """Classes that may be among the nearest, and their distances.

        After a few columns the best are measured in full: whoever is farther than they are already can be left out.
        """
        near = self._window(person, count)
        first, rest = self.columns[:_FIRST], self.columns[_FIRST:]
        partial = _summed(first, person, near)
        if rest and len(near) > _MANY:
            some = np.argpartition(partial, min(64 + count, len(near) - 1))[: 64 + count]
            full = partial[some] + _summed(rest, person, near[some])
            kept = partial <= _reached(full, self.sizes[near[some]], count) + _SURE
            near, partial = near[kept], partial[kept]
        return near, partial + _summed(rest, person, near)

    def _window(self, person: int, count: int) -> Ints:
        """Classes that are not too far by one number alone: farther than some that are at hand.

        A distance is a sum, and no column adds less than nothing. At hand are the classes around the person in the
        order of each column.
        """
        known = [(order, at, column.values[person]) for column, order, at in self.orders]
        known = [entry for entry in known if not np.isnan(entry[2])]
        if not known:
            return np.arange(len(self.sizes), dtype=np.int64)
        reach = isqrt(len(self.sizes)) + count
        middles = [(order, int(np.searchsorted(at, value))) for order, at, value in known]
        some = np.concatenate([order[max(m - reach, 0) : m + reach] for order, m in middles])
        some = np.unique(some) if count > 1 else some
        most = _reached(_summed(self.columns, person, some), self.sizes[some], count) + 2 * _SURE
        spans = [(order, *np.searchsorted(at, [value - most, value + most])) for order, at, value in known]
        order, low, high = min(spans, key=lambda span: span[2] - span[1])
        return np.sort(order[low:high])


def _orders(columns: list[Numeric | Wordy]) -> tuple[tuple[Numeric, Ints, Floats], ...]:
    """The columns in which a class is one number, with their classes in order."""
    orders = []
    for column in columns:
        if isinstance(column, Numeric) and column.points:
            order = np.argsort(column.low)
            orders.append((column, order, column.low[order]))
    return tuple(orders)


def _classes(subject: Subject, columns: list[int]) -> tuple[Codes, Ints, Ints]:
    """The different labels in some columns: a row of codes per column, how many rows, each row's."""
    labels, sizes, of_row = subject.classes
    first, of_class = alike(labels[columns])
    rows = np.bincount(of_class, weights=sizes, minlength=len(first)).astype(np.int64)
    return labels[columns][:, first], rows, of_class[of_row]


def _summed(columns: tuple[Numeric | Wordy, ...], person: int, classes: Ints) -> Floats:
    total = np.zeros(len(classes), np.float64)
    for column in columns:
        total += column.distances(person, classes)
    return total


def _reached(distances: Floats, sizes: Ints, count: int) -> float:
    """How far one must go to meet ``count`` rows."""
    if count == 1:
        return float(distances.min())
    order = np.argsort(distances, kind="stable")
    rows = np.cumsum(sizes[order])
    return float(distances[order[min(int(np.searchsorted(rows, count)), len(order) - 1)]])


def _numeric(subject: Subject, name: str, labels: Codes, people: pl.DataFrame) -> Numeric:
    low, high = ends(subject.coverage[name])
    values, everybody = numbers(people[name]), numbers(subject.people[name])
    known = np.concatenate([low, high, values, everybody])
    known = known[np.isfinite(known)]
    scale = float(known.max() - known.min()) if len(known) else 0.0
    scale = scale or 1.0
    points = bool(np.isfinite(low).all() and (low == high).all())
    return Numeric(low=low[labels] / scale, high=high[labels] / scale, values=values / scale, points=points)


def _wordy(subject: Subject, name: str, labels: Codes, values: Codes) -> Wordy:
    covers = subject.coverage[name].covers
    unknown = covers.all(axis=1, keepdims=True)
    apart = (~np.concatenate([covers, unknown], axis=1)).T.astype(np.float64)
    return Wordy(labels=labels, values=values, apart=np.ascontiguousarray(apart))


# Taking the nearest released row for a person's own, where values were changed and none need fit.


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestRecord:
    """Somebody knows all quasi-identifiers of a person, and that they are in the release, perhaps with other values.

    Values were exchanged, so this person's own may fit nowhere: the attacker takes the row that is nearest to the known
    values, one at random where several are. It takes one search for each person. The guesser takes any row. A pick is
    right if the row was made from theirs, whatever of it was exchanged; what it then says may be somebody else's.

    Figures: told_right, how often a sensitive value of the row that the attacker takes is their own, on average over
        these columns; told_right_blind, the same of any row. Whoever finds the row and reads a value that was exchanged
        is wrong.
    Needs: to know whose row is whose; only whoever made the release does.
    Cost: a search among the released combinations for each person.
    Source: the distance-based record linkage of Pagliuca and Seri 1999; Domingo-Ferrer and Torra 2001, Disclosure
        control methods and information loss for microdata.
    """

    name: ClassVar[str] = "nearest-record"
    threat: ClassVar[str] = "re-identification"

    trials: int = 2000
    """At most so many people are looked for."""

    def __post_init__(self) -> None:
        """Refuse nonsense."""
        at_least("trials", self.trials, 1)

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        if subject.own is None:
            return "it is not known whose row is whose; only whoever made the release knows"
        return subject.nothing_about("quasi")

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Look for some people."""
        if subject.own is None:
            raise ParameterError(f"subject cannot be attacked: {self.fits(subject)}")
        chosen = np.sort(chance.generator().permutation(subject.people.height)[: self.trials])
        people, own = subject.people[chosen], subject.own[chosen]
        space = Space.of(subject, people, subject.quasi)
        near = [space.nearest(person)[1] for person in range(people.height)]
        hits = [
            1.0 / int(space.sizes[classes].sum()) if space.of_row[row] in classes else 0.0
            for classes, row in zip(near, own, strict=True)
        ]
        rows = max(subject.release.height, 1)
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="a person's quasi-identifiers and that they are in the release",
            does="find their row by taking the nearest one",
            rate=Rate(hits=float(sum(hits)), trials=len(hits)),
            naive=Rate(hits=len(hits) / rows, trials=len(hits), exact=True),
            limit=limit,
            worst=max(hits, default=None),
            figures=_told(subject, people, [space.members(classes) for classes in near]),
            note=_swapped(subject),
        )


def _told(subject: Subject, people: pl.DataFrame, near: list[Ints]) -> dict[str, float]:
    """How often a sensitive value of the row that is taken is the person's own, and of any row."""
    published_columns = [name for name in subject.sensitive if name in subject.release.columns]
    if not published_columns or not near:
        return {}
    right, blind = [], []
    for name in published_columns:
        theirs = subject.release[name].cast(pl.String).fill_null("").to_numpy()
        mine = people[name].cast(pl.String).fill_null("").to_numpy()
        right += [float((theirs[rows] == value).mean()) for rows, value in zip(near, mine, strict=True)]
        values, counts = np.unique(theirs, return_counts=True)
        share = dict(zip(values.tolist(), (counts / len(theirs)).tolist(), strict=True))
        blind += [share.get(value, 0.0) for value in mine]
    return {"told_right": float(np.mean(right)), "told_right_blind": float(np.mean(blind))}


def _swapped(subject: Subject) -> str:
    published_columns = [name for name in subject.sensitive if name in subject.release.columns]
    return (
        f"the row is found whether or not its {listed(published_columns, most=3)} was exchanged"
        if published_columns
        else ""
    )
