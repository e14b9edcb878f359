"""Guesses sensitive values with a model learned from the whole release, within the values of each class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import polars as pl

from sfumato.attacks.candidates import (
    Reals,
    Shown,
    by_label,
    codes_of,
    homes,
    likely,
    pooled,
    published_values,
    right,
    too_many,
)
from sfumato.attacks.finding import SURE, Finding, Limit, Rate
from sfumato.attacks.guarantees import allowed
from sfumato.attacks.subject import Ints, Subject
from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance

# All pairs of a row and a sensitive value that its group has.


BALANCES = 6
"""How often rows and values of a group are brought into balance in turn."""
LEAST = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Entries:
    """All pairs of a row and a value of its group."""

    row: Ints
    """The row."""
    value: Ints
    """The value."""
    slot: Ints
    """The group and value, as one number."""
    wanted: Reals
    """For each slot, how many rows have the value."""
    rows: int
    """How many rows there are."""

    @classmethod
    def of(cls, published: Shown, unit: Ints) -> Entries:
        """For rows in these units; a unit whose rows are not as many as its values is scaled."""
        where, value = np.nonzero(published.counts)
        starts = np.searchsorted(where, np.arange(len(published.counts) + 1))
        many = np.diff(starts)[unit]
        row = np.repeat(np.arange(len(unit)), many)
        slot = starts[unit][row] + np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many)
        present = np.bincount(unit, minlength=len(published.counts))
        scale = present / np.maximum(published.counts.sum(axis=1), 1)
        wanted = published.counts[where, value] * scale[where]
        return cls(row=row, value=value[slot], slot=slot, wanted=wanted, rows=len(unit))

    def balanced(self, weight: Reals) -> Reals:
        """Weights scaled so that each row has one value and each value its number of rows (Sinkhorn)."""
        for _ in range(BALANCES):
            weight = weight * (self.wanted / np.maximum(self._by_slot(weight), LEAST))[self.slot]
            weight = weight / np.maximum(np.bincount(self.row, weight, self.rows), LEAST)[self.row]
        return weight

    def _by_slot(self, weight: Reals) -> Reals:
        return np.asarray(np.bincount(self.slot, weight, len(self.wanted)), np.float64)


# How the cells of a register, or of rows that are published as they are, are read as codes to learn from.


BINS = 20
"""Numbers with more than twice as many different values are read in so many bins of about equal size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """The code of every value of every quasi-identifier."""

    names: tuple[str, ...]
    """The columns."""
    places: tuple[dict[str, int], ...]
    """For each column the code of each text."""
    widths: tuple[int, ...]
    """How many codes each column has."""

    @classmethod
    def of(cls, subject: Subject) -> Reader:
        """From the register, or from the rows where the sensitive column is published apart."""
        places = []
        for name in subject.quasi:
            cells = subject.release[name] if subject.groups is not None else subject.people[name]
            texts = cells.cast(pl.String).fill_null("").unique().sort().to_list()
            places.append(_binned(texts) if name in subject.numeric else {text: at for at, text in enumerate(texts)})
        widths = tuple(max(place.values(), default=0) + 1 for place in places)
        return cls(names=subject.quasi, places=tuple(places), widths=widths)

    def read(self, rows: pl.DataFrame) -> Ints:
        """A row of codes per column; -1 for a text that is not known."""
        read = [
            codes_of(rows, name, tuple(place))
            if len(set(place.values())) == len(place)
            else _looked_up(rows, name, place)
            for name, place in zip(self.names, self.places, strict=True)
        ]
        return np.stack(read)


def _looked_up(rows: pl.DataFrame, name: str, place: dict[str, int]) -> Ints:
    code = codes_of(rows, name, tuple(place))
    return np.where(code >= 0, np.array(list(place.values()))[code], -1)


def _binned(texts: list[str]) -> dict[str, int]:
    numbers = pl.Series(texts).cast(pl.Float64, strict=False).to_numpy()
    if len(texts) <= 2 * BINS or np.isnan(numbers).any():
        return {text: at for at, text in enumerate(texts)}
    rank = np.argsort(np.argsort(numbers))
    return dict(zip(texts, (rank * BINS // len(texts)).tolist(), strict=True))


# Naming somebody's value by what was learned from the whole release, within what their group allows.
#
# What the deFinetti attack and the attack by foreground knowledge share: a register is read, something is learned from
# all groups, and every group's values are handed out to its rows by it. They differ in what is learned and how.


LARGEST = 200
"""Of a larger group so many rows stand for the others, where there are more rows than are looked at."""


class Learner(Protocol):
    """What was learned: how well rows and sensitive values go together."""

    def score(self, features: Ints, row: Ints, value: Ints) -> Reals:
        """As logarithms, for pairs of a row and a value."""

    def assign(self, pairs: Entries, features: Ints) -> Reals:
        """How likely each pair is, within what the groups allow."""


class Learning(Protocol):
    """An attack of this kind."""

    name: ClassVar[str]
    threat: ClassVar[str]

    @property
    def column(self) -> str | None:
        """The sensitive column; the first one where nothing is said."""

    @property
    def values(self) -> tuple[str, ...]:
        """The attacker bets on these values only; none means a guess for everybody."""

    @property
    def trials(self) -> int:
        """At most so many people are guessed."""

    @property
    def rows(self) -> int:
        """From about how many rows the attacker learns."""


Learn = Callable[[Shown, Ints, Ints, tuple[int, ...]], Learner]
"""From what is shown, the codes of rows by column, their units, and how many codes a column has."""


def unlearnable(subject: Subject, column: str | None = None) -> str:
    """Why nothing can be learned from a release about a column; empty if something can."""
    if not subject.sensitive:
        return "there is no sensitive column"
    if why := too_many(subject, column or subject.sensitive[0]):
        return why
    if not subject.release.height:
        return "the release has no rows"
    return "" if subject.quasi else "there is no quasi-identifier to learn from"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Table:
    """The rows that the attacker learns from and guesses in."""

    found: Shown
    features: Ints
    unit: Ints
    reader: Reader

    @classmethod
    def of(cls, subject: Subject, column: str) -> _Table:
        published, reader = published_values(subject, column), Reader.of(subject)
        apart = subject.groups is not None
        register = subject.release if apart else subject.people
        unit = published.unit if apart else homes(subject, subject.people)
        return cls(found=published, features=reader.read(register), unit=unit, reader=reader)


def guessed(attack: Learning, subject: Subject, chance: Chance, limit: Limit | None, learn: Learn, how: str) -> Finding:
    """Learn, guess, and count; ``how`` is what the attacker does, as the end of a sentence."""
    if reason := unlearnable(subject, attack.column):
        raise ParameterError(f"subject cannot be attacked: {reason}")
    column = attack.column or subject.sensitive[0]
    table, draw = _Table.of(subject, column), chance.generator()
    published = table.found
    chosen = np.sort(draw.permutation(subject.people.height)[: attack.trials])
    people = subject.people[chosen]
    truth = codes_of(people, column, published.values)
    kept = _sampled(table.unit, len(published.counts), attack.rows, draw)
    learned = learn(published, table.features[:, kept], table.unit[kept], table.reader.widths)
    if subject.groups is None:
        scores = _of_register(learned, table, chosen, attack.rows, draw)
    else:
        scores = _of_rows(learned, table, subject, people)
    bets = (
        scores if not attack.values else _named(scores, published, attack.values, 0.5 if limit is None else limit.value)
    )
    tried = np.flatnonzero(bets.any(axis=1)) if attack.values and bets.any() else np.arange(len(truth))
    lost = len(truth) if attack.values and not bets.any() else int((bets[tried].sum(1) == 0).sum())
    naive, figures = _naive(subject, table, people, truth, bets if attack.values else None, tried)
    return Finding(
        attack=attack.name,
        threat=attack.threat,
        knows="the quasi-identifiers of everybody in the release",
        does=f"name somebody's {column}, {how}",
        rate=Rate(hits=float(right(bets[tried], truth[tried]).sum()), trials=len(tried), failed=lost, confidence=SURE),
        naive=naive,
        control=None if attack.values else _control(attack, subject, learned, table, column, chance),
        limit=limit,
        figures=allowed(subject.promises, column, len(published.values)) | figures,
        note="the naive guesser reads the groups and does not learn from them",
        exact=subject.groups is None,
    )


def _named(scores: Reals, published: Shown, values: tuple[str, ...], bound: float) -> Reals:
    """Bets on some values only: where one of them is believed more firmly than is promised."""
    named = np.array([value in values for value in published.values], np.bool_)
    return np.where(named & (scores > bound), scores, 0.0)


def _naive(
    subject: Subject, table: _Table, people: pl.DataFrame, truth: Ints, bets: Reals | None, tried: Ints
) -> tuple[Rate, dict[str, float]]:
    """The guesser who reads the release and does not learn from it, and how each of three ways does."""
    published, own = table.found, np.maximum(truth, 0)
    fits = likely(subject, published, people)
    if bets is not None:
        hits = fits[tried, bets[tried].argmax(axis=1)].sum()
        return Rate(hits=float(hits), trials=len(tried)), {"bets": len(tried) / max(len(truth), 1)}
    plain = right(np.broadcast_to(published.overall, fits.shape), truth)
    home = homes(subject, people) if subject.groups is None else None
    group = _by_group(subject, published, people, home)[np.arange(len(truth)), own] * (truth >= 0)
    rows = right(fits, truth)
    figures = {"by_group": group, "by_all_rows_that_fit": rows, "by_most_frequent_value": plain}
    best = max(float(rates.sum()) for rates in figures.values())
    shown_so = {name: float(rates.mean()) if len(truth) else 0.0 for name, rates in figures.items()}
    return Rate(hits=best, trials=len(truth)), shown_so


def _sampled(unit: Ints, units: int, rows: int, draw: np.random.Generator) -> Ints:
    """Rows of groups drawn at random, about so many, and of a large group some; all where there are no more."""
    order = draw.permutation(units)
    known = np.flatnonzero(unit >= 0)
    if len(known) <= rows:
        return known
    known = draw.permutation(known)
    known = known[np.argsort(unit[known], kind="stable")]
    size = np.bincount(unit[known], minlength=units)
    rank = np.arange(len(known)) - np.repeat(np.cumsum(size) - size, size)
    reached = np.empty(units, np.int64)
    reached[order] = np.cumsum(np.minimum(size, LARGEST)[order])
    first = int(reached.min(initial=rows))
    return np.sort(known[(rank < LARGEST) & (reached[unit[known]] <= max(rows, first))])


def _control(
    attack: Learning, subject: Subject, learned: Learner, table: _Table, column: str, chance: Chance
) -> Rate | None:
    """People who are not there are guessed by what was learned, without a group."""
    if subject.control is None or not subject.control.height:
        return None
    published, others = table.found, subject.some(attack.trials, chance, control=True)
    scores = np.tile(np.log(np.maximum(published.overall, 1e-300)), (others.height, 1))
    row, value = np.divmod(np.arange(scores.size), len(published.values))
    scores += learned.score(table.reader.read(others), row, value).reshape(scores.shape)
    likely_values = np.exp(scores - scores.max(axis=1, keepdims=True))
    hits = right(likely_values, codes_of(others, column, published.values)).sum()
    return Rate(hits=float(hits), trials=others.height)


def _by_group(subject: Subject, published: Shown, people: pl.DataFrame, home: Ints | None) -> Reals:
    """How often each value is named by who takes one row that fits, and its group's most frequent value."""
    shares = published.shares
    best = (shares >= shares.max(axis=1, keepdims=True) * (1 - 1e-9)).astype(np.float64)
    named = best / best.sum(axis=1, keepdims=True)
    if home is None:
        return pooled(subject, by_label(subject, published.unit, named), people)
    return np.where(home[:, None] >= 0, named[np.maximum(home, 0)], 0.0)


def _of_register(learned: Learner, table: _Table, chosen: Ints, rows: int, draw: np.random.Generator) -> Reals:
    """Scores of chosen people of the register; their whole classes are assigned, or many of each where they are large.

    Of a class in part the values are handed out in part.
    """
    published, unit = table.found, table.unit
    touched = np.zeros(len(published.counts), np.bool_)
    touched[unit[chosen][unit[chosen] >= 0]] = True
    kept = np.flatnonzero((unit >= 0) & touched[unit])
    if len(kept) > rows:
        some = _sampled(np.where(touched[unit] & (unit >= 0), unit, -1), len(published.counts), rows, draw)
        kept = np.union1d(some, chosen[unit[chosen] >= 0])
    pairs = Entries.of(published, unit[kept])
    weight = learned.assign(pairs, table.features[:, kept])
    place = np.full(len(unit), -1, np.int64)
    place[chosen] = np.arange(len(chosen))
    target = place[kept][pairs.row]
    scores = np.zeros((len(chosen), len(published.values)))
    scores[target[target >= 0], pairs.value[target >= 0]] = weight[target >= 0]
    return scores


def _of_rows(learned: Learner, table: _Table, subject: Subject, people: pl.DataFrame) -> Reals:
    """Scores of people by the released rows that fit them."""
    published = table.found
    pairs = Entries.of(published, published.unit)
    weight = learned.assign(pairs, table.features)
    _, sizes, of_row = subject.classes
    slot = of_row[pairs.row] * len(published.values) + pairs.value
    by_class = np.asarray(np.bincount(slot, weight, len(sizes) * len(published.values)), np.float64)
    return pooled(subject, by_class.reshape(len(sizes), len(published.values)), people)
