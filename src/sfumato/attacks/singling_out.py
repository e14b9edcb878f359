"""Singling out: searches for statements that are true of exactly one person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.finding import Finding, Limit, Rate
from sfumato.attacks.labels import Floats, numbers
from sfumato.attacks.predicates import BLOCK, Condition, Numbers, Predicate, Rows, Sheet, Words, exact_values, hits
from sfumato.attacks.subject import ABOUT, Mask, Subject
from sfumato.core.arguments import at_least, one_of
from sfumato.core.randomness import Chance
from sfumato.counts.keys import distinct

# Statements that rows make about themselves, tried many at a time: which of them fit no other row.


_FIRST_ROWS, _FAR_OUT = 65_536, 256
"""Among so many rows, so many that lie far out."""
_TOGETHER = 5000
"""So many tries are made at a time, at most."""

Try = tuple[int, tuple[str, ...]]
"""A row, and the columns that it speaks about."""


class RowStatements:
    """What the rows of a sheet say: their word, their number if that is shown as it is, or one at least as extreme.

    How: rows that say the same about words and exact numbers, and lie on the same side of the median where labels are
        single numbers, are found by grouping, once for every choice of columns.
        Only they can fit; what they say about other numbers is compared in each group, and asked once. Most are settled
        at once by some row that lies far out; of a large group only the rows are looked at that the rarest number
        leaves.
    """

    def __init__(self, sheet: Sheet) -> None:
        """Number what the rows say about words and exact numbers; of others they name the rarer side of the median."""
        self.sheet = sheet
        self._middles = {name: _middle(c.low) for name, c in sheet.columns.items() if isinstance(c, Numbers)}
        self._spoken = {name: self._spoken_of(name) for name in sheet.columns if self._exact(name)}
        self._groups: dict[tuple[str, ...], _Groups] = {}

    def predicate(self, tried: Try) -> Predicate:
        """The statement in full."""
        row, names = tried
        return tuple(self._said(name, row) for name in names)

    def singled(self, tries: Sequence[Try]) -> Mask:
        """Which statements fit exactly one row: the one that makes it."""
        by_names: dict[tuple[str, ...], list[int]] = {}
        for place, (_, names) in enumerate(tries):
            by_names.setdefault(names, []).append(place)
        rows = np.array([row for row, _ in tries], np.int64)
        alone = np.zeros(len(tries), np.bool_)
        for names, places in by_names.items():
            alone[places] = self._singled(names, rows[places])
        return alone

    def alone_nowhere(self) -> bool:
        """Whether no row fits alone all that it says: then no part of that fits one row, and none need be tried.

        Where that takes as long as trying, or some number is not known, the answer is no.
        """
        columns = self.sheet.columns.values()
        unknown = any(bool(np.isnan(c.low).any() | np.isnan(c.high).any()) for c in columns if isinstance(c, Numbers))
        if unknown or self.sheet.height > _TOGETHER:
            return False
        return not self._singled(tuple(self.sheet.columns), np.arange(self.sheet.height)).any()

    def _singled(self, names: tuple[str, ...], rows: Rows) -> Mask:
        sided = [name for name in names if not self._exact(name)]
        if names not in self._groups:
            self._groups[names] = self._grouped([name for name in names if self._exact(name)], sided)
        groups = self._groups[names]
        if not sided:
            return groups.alone[rows]
        is_alone = np.zeros(len(rows), np.bool_)
        free = len(sided) == len(names)
        for place in np.flatnonzero(~self._outdone(sided, rows) if free else ~is_alone).tolist():
            is_alone[place] = self._alone(groups, sided, int(rows[place]))
        return is_alone

    def _outdone(self, sided: list[str], rows: Rows) -> Mask:
        """Rows of whom it is seen at once that another fits what they say: one of a few that lie far out.

        Asked of the first rows of the sheet: those that lie farthest out on the sides that a row speaks of.
        """
        columns: list[Any] = [self.sheet.columns[name] for name in sided]
        above = np.stack([c.low[rows] > self._middles[name] for name, c in zip(sided, columns, strict=True)], axis=1)
        is_outdone = np.zeros(len(rows), np.bool_)
        for sides in np.unique(above, axis=0):
            candidates = np.flatnonzero((above == sides).all(axis=1))
            places = [-self._places[n] if up else self._places[n] for n, up in zip(sided, sides, strict=True)]
            out = np.argpartition(np.sum(places, axis=0), min(_FAR_OUT, len(places[0])) - 1)[:_FAR_OUT]
            fits = out[None, :] != rows[candidates][:, None]
            for column, up in zip(columns, sides, strict=True):
                mine = (column.low if up else column.high)[rows[candidates]][:, None]
                fits &= column.low[out] >= mine if up else column.high[out] <= mine
            is_outdone[candidates] = fits.any(axis=1)
        return is_outdone

    @cached_property
    def _sides(self) -> dict[str, _Spoken]:
        """On which side of the median a row is, where labels are single numbers: who fits is on the same side."""
        sides = {}
        for name, column in self.sheet.columns.items():
            if isinstance(column, Numbers) and bool((column.low == column.high)[~np.isnan(column.low)].all()):
                sides[name] = _Spoken(codes=(column.low > self._middles[name]).astype(np.int32), kinds=2)
        return sides

    @cached_property
    def _places(self) -> dict[str, Rows]:
        """Of columns of numbers: the first rows by how large they are."""
        parts = {n: c.low[:_FIRST_ROWS] for n, c in self.sheet.columns.items() if isinstance(c, Numbers)}
        return {name: np.argsort(np.argsort(low)) for name, low in parts.items()}

    def _grouped(self, exact: list[str], sided: list[str]) -> _Groups:
        spoken = [self._spoken[name] for name in exact] + [self._sides[name] for name in sided if name in self._sides]
        unknown = np.zeros(self.sheet.height, np.bool_)
        for name in exact:
            column = self.sheet.columns[name]
            unknown |= np.isnan(column.low) if isinstance(column, Numbers) else False
        ids, count = distinct(
            [column.codes for column in spoken], [column.kinds for column in spoken], self.sheet.height
        )
        return _Groups(ids=ids, count=count, unknown=unknown)

    def _alone(self, groups: _Groups, sided: list[str], row: int) -> bool:
        """Whether no other row of the group fits what a row says about numbers that are not exact."""
        conditions = tuple(self._said(name, row) for name in sided)
        key = int(groups.ids[row]), conditions
        if key not in groups.asked:
            groups.asked[key] = not groups.unknown[row] and self._fits_one(conditions, groups, row)
        return groups.asked[key]

    def _fits_one(self, conditions: Sequence[Condition], groups: _Groups, row: int) -> bool:
        """The same, asked of as few rows as will do: some of the group, then those whom the rarest number leaves."""
        members = groups.members(row)
        if len(members) > BLOCK:
            if self.sheet.fitting(conditions, members[:BLOCK]) > 1:
                return False
            few, conditions = self.sheet.narrowest(conditions)
            if len(few) < len(members):
                members = few[groups.ids[few] == groups.ids[row]]
        return self.sheet.fits_one(conditions, members)

    def _exact(self, name: str) -> bool:
        column = self.sheet.columns[name]
        return isinstance(column, Words) or column.exact

    def _spoken_of(self, name: str) -> _Spoken:
        column = self.sheet.columns[name]
        return _Spoken.of(column.codes if isinstance(column, Words) else column.low)

    def _said(self, name: str, row: int) -> Condition:
        column = self.sheet.columns[name]
        if isinstance(column, Words):
            return said_word(name, column, int(column.codes[row]))
        if column.exact:
            return Condition(column=name, low=float(column.low[row]), high=float(column.low[row]))
        if column.low[row] > self._middles[name]:
            return Condition(column=name, low=float(column.low[row]))
        return Condition(column=name, high=float(column.high[row]))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Spoken:
    """What each row says about a column, numbered."""

    codes: NDArray[np.int32]
    kinds: int

    @classmethod
    def of(cls, values: NDArray[Any]) -> _Spoken:
        distinct_values, codes = np.unique(values, return_inverse=True)
        return cls(codes=codes.reshape(-1).astype(np.int32), kinds=max(len(distinct_values), 1))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Groups:
    """The rows of a sheet by some columns of words and exact numbers."""

    ids: Rows
    """The group of each row."""
    count: int
    """How many groups there are."""
    unknown: Mask
    """Which rows lack a number: they are like no row."""
    asked: dict[tuple[int, Predicate], bool] = field(default_factory=dict)
    """Of what was asked so far in a group, whether it fits one row."""

    @cached_property
    def alone(self) -> Mask:
        """Which rows are in a group of their own, with all numbers known."""
        return np.asarray((np.bincount(self.ids, minlength=self.count)[self.ids] == 1) & ~self.unknown)

    def members(self, row: int) -> Rows:
        """The rows of a row's group."""
        group = self.ids[row]
        return self._order[self._starts[group] : self._starts[group + 1]]

    @cached_property
    def _order(self) -> Rows:
        return np.argsort(self.ids, kind="stable").astype(np.int64)

    @cached_property
    def _starts(self) -> Rows:
        return np.append(0, np.cumsum(np.bincount(self.ids, minlength=self.count)))


def _middle(low: Floats) -> float:
    known = low[~np.isnan(low)]
    return float(np.median(known)) if len(known) else 0.0


def said_word(name: str, column: Words, code: int) -> Condition:
    """A word as it is, or a released label."""
    return Condition(column=name, value=code) if column.exact else Condition(column=name, label=code)


# Finding a statement that is true of exactly one person.


KINDS = ("multivariate", "univariate")


@dataclass(frozen=True, slots=True, kw_only=True)
class SinglingOut:
    """Somebody wants to isolate a person: to say something that is true of them and of nobody else.

    The attacker has the release and nothing more. Statements are about all published columns; ``about = "quasi"`` keeps
    them to the quasi-identifiers, which is what models of groups speak of. The attacker looks for statements that fit
    exactly one released row, and bets that they fit exactly one person. Univariate: a value that occurs once, the
    smallest and the largest number of a column. Multivariate: the attacker takes a row at random and some of its
    columns, asks for the row's word, and for numbers at least or at most as large, whichever is rarer; of a column that
    is shown as it is, for the very number. It takes a search for each try. The guesser makes statements of the same
    length at random, from the words and numbers that a column can have; of a column that is shown as it is the guesser
    knows the range of its numbers, not which of them occur. The control run asks how many of the attacker's statements
    single out somebody among people who are not in the release.

    A trial is a statement. Where fewer are found than asked for within ``attempts`` tries, the others are failed
    trials; for univariate statements a column that gives none is one. Where no statement fits exactly one released row
    nothing was tried.

    Cost: a grouping of the rows for every choice of columns; for each try with ranges of numbers the rows of its group.
    Does not show: less than a guess can. Whoever chooses a statement that fits one person in n by chance singles out
        with probability 1/e without any release (Cohen and Nissim 2020); the guesser here does not choose so well.
    Source: Giomi, Boenisch, Wehmeyer and Tasnádi 2023; Cohen and Nissim 2020, Towards formalizing the GDPR's notion of
        singling out.
    """

    name: ClassVar[str] = "singling-out"
    threat: ClassVar[str] = "re-identification"

    kind: str = "multivariate"
    """Statements about one column, ``univariate``, or about several."""
    columns: int = 3
    """About how many columns a multivariate statement speaks; all where there are fewer."""
    trials: int = 2000
    """At most so many statements are made."""
    attempts: int = 20000
    """At most so many are tried on the release."""
    about: str = "all"
    """Statements about ``all`` published columns, or about the quasi-identifiers only."""

    def __post_init__(self) -> None:
        """Refuse nonsense."""
        one_of("kind", self.kind, KINDS)
        one_of("about", self.about, ABOUT)
        for name in ("columns", "trials", "attempts"):
            at_least(name, getattr(self, name), 1)

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        return subject.nothing_about(self.about) or ("" if subject.release.height else "the release has no rows")

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Make statements from the release, and count whom they single out."""
        draws = chance.generator().spawn(3)
        release = Sheet.of_release(subject, self.about)
        people = Sheet.of_people(subject, subject.people, self.about)
        predicates, trials = self._statements(subject, release, draws[0])
        known = _Domains.of(subject, self._names(subject))
        guesses = [self._random(subject, known, draws[1]) for _ in range(max(trials, 1))]
        rate = Rate(hits=float(hits(people, predicates)), trials=trials, failed=trials - len(predicates))
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="the release and nothing else",
            does=f"say something{self._limited(subject)} that is true of exactly one person",
            rate=rate,
            naive=Rate(hits=float(hits(people, guesses)), trials=len(guesses)),
            control=self._outsiders(subject, predicates, trials, draws[2]),
            limit=limit,
            figures={"statements": float(len(predicates)), "columns": float(self._length(subject))},
            note=self._note(subject, predicates),
        )

    def _names(self, subject: Subject) -> tuple[str, ...]:
        return subject.published if self.about == "all" else subject.quasi

    def _limited(self, subject: Subject) -> str:
        return " about quasi-identifiers" if self._names(subject) != subject.published else ""

    def _length(self, subject: Subject) -> int:
        return 1 if self.kind == "univariate" else min(self.columns, len(self._names(subject)))

    def _outsiders(
        self, subject: Subject, predicates: list[Predicate], trials: int, draws: np.random.Generator
    ) -> Rate | None:
        """The same statements among as many people of the control file as there are people, or all of them."""
        if subject.control is None or not set(self._names(subject)) <= set(subject.control.columns):
            return None
        chosen = np.sort(draws.permutation(subject.control.height)[: subject.people.height])
        others = Sheet.of_people(subject, subject.control[chosen], self.about)
        return Rate(hits=float(hits(others, predicates)), trials=trials, failed=trials - len(predicates))

    def _note(self, subject: Subject, predicates: list[Predicate]) -> str:
        notes = [] if predicates else ["no statement fits exactly one released row"]
        notes += [omissions] if self.about == "all" and (omissions := subject.not_looked_at()) else []
        if subject.control is not None and subject.control.height < subject.people.height:
            notes.append("the control file is smaller than the data: its rate is too low, and the risk too high")
        return "; ".join(notes)

    def _statements(self, subject: Subject, release: Sheet, draws: np.random.Generator) -> tuple[list[Predicate], int]:
        """Different statements that single out a released row, and how many were wanted."""
        if self.kind == "univariate":
            every = list(dict.fromkeys(_extremes(release)))
            kept = [every[i] for i in draws.permutation(len(every)) if release.singled(every[i])][: self.trials]
            silent = len(release.columns) - len({predicate[0].column for predicate in kept})
            return kept, len(kept) + silent
        statements, names, length = RowStatements(release), self._names(subject), self._length(subject)
        predicates: dict[Predicate, None] = {}
        tried = 0
        while tried < self.attempts:
            many = min(_TOGETHER, 2 * self.trials if tried == 0 else _TOGETHER, self.attempts - tried)
            tried += many
            tries = [(int(draws.integers(release.height)), _drawn(names, length, draws)) for _ in range(many)]
            for place in np.flatnonzero(statements.singled(tries)).tolist():
                predicates[statements.predicate(tries[place])] = None
                if len(predicates) == self.trials:
                    return list(predicates), self.trials
            if not predicates and statements.alone_nowhere():
                break
        return list(predicates), self.trials

    def _random(self, subject: Subject, known: _Domains, draws: np.random.Generator) -> Predicate:
        drawn = _drawn(self._names(subject), self._length(subject), draws)
        return tuple(known.guessed(name, draws) for name in drawn)


def _drawn(names: tuple[str, ...], length: int, draws: np.random.Generator) -> tuple[str, ...]:
    """So many of the columns, in their order."""
    chosen = draws.choice(len(names), size=length, replace=False)
    return tuple([names[place] for place in sorted(chosen.tolist())])


def _extremes(release: Sheet) -> Iterator[Predicate]:
    """Statements about one column that single out a row, if any do: rare words, rare numbers, the ends."""
    for name, column in release.columns.items():
        if isinstance(column, Words):
            labels, counts = np.unique(column.codes, return_counts=True)
            yield from ((said_word(name, column, int(label)),) for label in labels[counts == 1])
            continue
        known = ~np.isnan(column.low) & ~np.isnan(column.high)
        if not known.any():
            continue
        yield (Condition(column=name, high=float(column.high[known].min())),)
        yield (Condition(column=name, low=float(column.low[known].max())),)
        values, counts = np.unique(column.low[known & (column.low == column.high)], return_counts=True)
        yield from ((Condition(column=name, low=float(v), high=float(v)),) for v in values[counts == 1])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Domains:
    """What a guesser knows of the columns: the words and numbers that each can have."""

    numbers: dict[str, Floats]
    """Of columns of numbers: the values of a quasi-identifier; of another column numbers spread over its range."""
    words: dict[str, int]
    """Of the others: how many words."""

    @classmethod
    def of(cls, subject: Subject, names: tuple[str, ...]) -> _Domains:
        """Public knowledge: domains of quasi-identifiers, and the range or the words of other columns."""
        points, words = {}, {}
        for name in names:
            if name not in subject.numeric:
                there = subject.coverage[name].values if name in subject.coverage else exact_values(subject, name)
                words[name] = max(len(there), 1)
            elif name in subject.coverage:
                values = numbers(pl.Series(subject.coverage[name].values, dtype=pl.String))
                points[name] = values[~np.isnan(values)]
            else:
                points[name] = _spread(numbers(subject.people[name]))
        return cls(numbers=points, words=words)

    def guessed(self, name: str, draws: np.random.Generator) -> Condition:
        """A random statement about a column, from the values that it can have: equal or not, above or below."""
        if name in self.words:
            word = int(draws.integers(self.words[name]))
            return Condition(column=name, value=word, negated=bool(draws.integers(2)))
        values = self.numbers[name]
        value = float(draws.choice(values)) if len(values) else 0.0
        kinds = (
            Condition(column=name, low=value, high=value),
            Condition(column=name, low=value, high=value, negated=True),
            Condition(column=name, low=value),
            Condition(column=name, high=value),
            Condition(column=name, low=float(np.nextafter(value, inf))),
            Condition(column=name, high=float(np.nextafter(value, -inf))),
        )
        return kinds[int(draws.integers(len(kinds)))]


def _spread(values: Floats) -> Floats:
    """As many numbers as a column has, evenly over its range: nobody knows which incomes occur without the release."""
    known: Floats = np.unique(values[np.isfinite(values)])
    if not len(known):
        return known
    spread = np.linspace(known[0], known[-1], len(known))
    return np.asarray(np.unique(np.rint(spread)) if bool((known == np.rint(known)).all()) else spread)
