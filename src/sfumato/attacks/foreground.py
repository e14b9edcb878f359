"""The foreground-knowledge attack: associations solved from all classes, used against single classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from sfumato.attacks.candidates import Reals, Shown
from sfumato.attacks.finding import Finding, Limit
from sfumato.attacks.learners import Entries, guessed, unlearnable
from sfumato.attacks.subject import Ints, Subject, by_value
from sfumato.core.arguments import at_least
from sfumato.core.randomness import Chance

# How many rows of each code groups have: what least squares over many groups needs of that matrix.


_BLOCK = 2**20
"""So many numbers of the matrix are written out at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupRows:
    """The matrix of every second group, entry by entry."""

    groups: Ints
    """Which groups."""
    rows: Reals
    """How many rows each has."""
    width: int
    """How many codes there are."""
    number: Ints
    """For each entry, the place of its group; ascending."""
    code: Ints
    """Its code."""
    count: Reals
    """Its rows."""

    @classmethod
    def of(cls, number: Ints, code: Ints, width: int, groups: int, half: int) -> GroupRows:
        """The groups whose number is even (0) or odd (1); ``number`` and ``code`` of each row."""
        mine = number % 2 == half
        keys, count = np.unique(number[mine] // 2 * width + code[mine], return_counts=True)
        chosen = np.arange(half, groups, 2)
        rows = np.asarray(np.bincount(keys // width, count, len(chosen)), np.float64)
        return cls(chosen, rows, width, keys // width, keys % width, count.astype(np.float64))

    def products(self) -> Reals:
        """Codes x codes: the products of a group's rows by its size, summed over the groups."""
        products = np.zeros((self.width, self.width))
        step = max(_BLOCK // self.width, 1)
        for first in range(0, len(self.groups), step):
            begin, end = np.searchsorted(self.number, [first, first + step])
            here = self.rows[first : first + step, np.newaxis]
            block = np.zeros((len(here), self.width))
            block[self.number[begin:end] - first, self.code[begin:end]] = self.count[begin:end]
            products += block.T @ (block / here)
        return products

    def totals(self, shares: Reals) -> Reals:
        """Codes x values: a group's rows times its shares, summed over the groups."""
        weighed = self.count * shares[self.number].T
        return np.stack([np.bincount(self.code, weights, self.width) for weights in weighed], axis=1)

    def means(self, chances: Reals) -> Reals:
        """Groups x values: the mean over the rows of each group."""
        weighed = self.count * chances[self.code].T
        sums = [np.bincount(self.number, weights, len(self.groups)) for weights in weighed]
        return np.asarray(np.stack(sums, axis=1) / self.rows[:, np.newaxis])


# What a release says about everybody: how likely each sensitive value is beside each value of a column.
#
# An analyst takes this from a published table, and it is what the table is published for. A group of n rows shows each
# value some times; if the rows' chances are p(a) by their value a in a column, the group should show it the sum of
# p(a) times. One equation for each group, and least squares tells p: where groups differ in who is in them, their
# values tell who has them (Wong et al. 2011, section 4).


WIDEST = 500
"""A column with more values than this says too little about each of them, and is not read."""
PAIRED = 150
"""Two columns are read together where they have no more combinations than this."""
PRIOR = 20.0
"""How many rows the belief that a column tells nothing is worth, for each of its values."""
LEAST, MOST = 1e-4, 1 - 1e-4
"""No chance is taken as 0 or 1: least squares are estimates."""
EXACT = 40
"""Groups of no more rows than this are counted through; of larger ones the chances are brought into balance."""
STEPS, REACH = 40, 60.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Associations:
    """For one column, or two together, the chance of each sensitive value beside each value."""

    columns: tuple[int, ...]
    """Which column, or which two; none where no column tells anything."""
    widths: tuple[int, ...]
    """How many values each has."""
    chances: Reals
    """A row per value, or combination of values, and a column per sensitive value."""
    overall: Reals
    """The share of each sensitive value in the whole release."""
    telling: float
    """How much it tells about groups from which it was not learned: gain in likelihood by row, in nats."""

    def score(self, features: Ints, row: Ints, value: Ints) -> Reals:
        """How much more likely a value is in a row than in the whole release, as logarithms; 0 for unknown cells."""
        code = together(features, self.columns, self.widths)[row]
        log_chance = np.log(np.maximum(self.chances[np.maximum(code, 0), value], LEAST))
        return np.where(code >= 0, log_chance - np.log(np.maximum(self.overall[value], LEAST)), 0.0)

    def assign(self, pairs: Entries, features: Ints) -> Reals:
        """For each pair the chance that the row has the value, if the group has it as often as it has."""
        code = together(features, self.columns, self.widths)[pairs.row]
        chance = np.where(code >= 0, self.chances[np.maximum(code, 0), pairs.value], self.overall[pairs.value])
        chance = np.clip(chance, LEAST, MOST)
        many = np.bincount(pairs.slot, minlength=len(pairs.wanted))
        large = (many > EXACT) | (np.abs(pairs.wanted - np.round(pairs.wanted)) > 1e-9)
        chances, rest = np.zeros(len(chance)), large[pairs.slot]
        chances[rest] = balanced(chance[rest], pairs.slot[rest], pairs.wanted)
        order = np.argsort(pairs.slot, kind="stable")
        starts, few = np.cumsum(many) - many, np.flatnonzero(~large & (many > 0))
        kinds, kind = np.unique(np.stack([many[few], np.round(pairs.wanted[few])]), axis=1, return_inverse=True)
        for number, (size, total) in enumerate(kinds.T.tolist()):
            slots = few[kind.reshape(-1) == number]
            rows = order[starts[slots][:, None] + np.arange(int(size))]
            chances[rows] = given_total(chance[rows], int(total))
        return chances


def given_total(chances: Reals, total: int) -> Reals:
    """The chance of each row to have a value, if the rows are independent and so many of a group have it.

    A line of ``chances`` is a group. The worlds in which exactly ``total`` of its rows have the value are weighted by
    the product of their chances.

    >>> given_total(np.array([[0.2, 0.8]]), 1).round(4).tolist()  # 0.2 * 0.2 against 0.8 * 0.8
    [[0.0588, 0.9412]]
    """
    if not 0 < total < chances.shape[1]:
        return np.full(chances.shape, float(total > 0))
    odds = chances / (1 - chances)
    odds = odds / np.exp(np.log(odds).mean(axis=1, keepdims=True))
    before, after = _sums(odds, total), _sums(odds[:, ::-1], total)[::-1]
    others = np.einsum("jgt,jgt->gj", before[:-1, :, :total], after[1:, :, total - 1 :: -1])
    with_it = others * odds
    return np.asarray(with_it / with_it.sum(axis=1, keepdims=True) * total)


def _sums(odds: Reals, total: int) -> Reals:
    """For the first 0, 1, 2, ... rows of groups: the sum over all choices of 0, 1, ... of them of the odds' product."""
    sums = np.zeros((odds.shape[1] + 1, len(odds), total + 1))
    sums[0, :, 0] = 1
    for at in range(odds.shape[1]):
        sums[at + 1] = sums[at]
        sums[at + 1, :, 1:] += odds[:, at, None] * sums[at, :, :-1]
    return sums


def balanced(chances: Reals, slot: Ints, wanted: Reals) -> Reals:
    """Chances of rows whose odds are scaled, slot by slot, until they add up to what the slot wants.

    In large groups this is what weighing all worlds comes to; and it can be done for totals that are no whole numbers.
    """
    logit = np.log(chances / (1 - chances))
    low, high = np.full(len(wanted), -REACH), np.full(len(wanted), REACH)
    for _ in range(STEPS):
        middle = (low + high) / 2
        sums = np.bincount(slot, 1 / (1 + np.exp(-(logit + middle[slot]))), len(wanted))
        low, high = np.where(sums < wanted, middle, low), np.where(sums < wanted, high, middle)
    return np.asarray(1 / (1 + np.exp(-(logit + ((low + high) / 2)[slot]))))


def mined(published: Shown, features: Ints, unit: Ints, widths: tuple[int, ...]) -> Associations:
    """The association that tells most, of single columns and of pairs with few combinations; or none that tells."""
    pairs = [pair for pair in combinations(range(len(widths)), 2) if widths[pair[0]] * widths[pair[1]] <= PAIRED]
    every: list[tuple[int, ...]] = [(), *((at,) for at, width in enumerate(widths) if width <= WIDEST), *pairs]
    return max(
        (_association(published, features, unit, widths, columns) for columns in every),
        key=lambda association: association.telling,
    )


def _association(
    published: Shown, features: Ints, unit: Ints, widths: tuple[int, ...], columns: tuple[int, ...]
) -> Associations:
    """Least squares over the groups, each weighted by one over its size, drawn towards the shares of all.

    What it tells is seen on groups from which it was not learned: of each half of the groups, by the other half.
    """
    sizes = tuple(widths[column] for column in columns)
    code, width = together(features, columns, sizes), int(np.prod(sizes))
    known = code >= 0
    groups, number = np.unique(unit[known], return_inverse=True)
    shares = published.shares[groups]
    halves = [GroupRows.of(number.reshape(-1), code[known], width, len(groups), half) for half in (0, 1)]
    left = [half.products() for half in halves]
    right = [half.totals(shares[half.groups]) for half in halves]
    gain, every = 0.0, sum(float(half.rows.sum()) for half in halves)
    for half, other in ((0, 1), (1, 0)):
        mine, chances = halves[half], _solved(left[other], right[other], published.overall)
        expected = np.maximum(mine.means(chances), LEAST)
        gained = shares[mine.groups] * np.log(expected / np.maximum(published.overall, LEAST))
        gain += float((mine.rows[:, np.newaxis] * gained).sum())
    return Associations(
        columns=columns,
        widths=sizes,
        chances=_solved(left[0] + left[1], right[0] + right[1], published.overall),
        overall=published.overall,
        telling=gain / max(every, 1.0),
    )


def _solved(left: Reals, right: Reals, overall: Reals) -> Reals:
    chances = np.clip(np.linalg.solve(left + PRIOR * np.eye(len(left)), right + PRIOR * overall), LEAST, None)
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))


def together(features: Ints, columns: tuple[int, ...], widths: tuple[int, ...]) -> Ints:
    """The codes of some columns as one; -1 where one of them is unknown."""
    code, known = np.zeros(features.shape[1], np.int64), np.ones(features.shape[1], np.bool_)
    for column, width in zip(columns, widths, strict=True):
        known &= features[column] >= 0
        code = code * width + np.maximum(features[column], 0)
    return np.where(known, code, -1)


# The attack by foreground knowledge: what the release says about everybody is turned on single groups.


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreground:
    """Somebody has the release and a register of everybody in it, and wants a person's sensitive value.

    The attacker knows nothing about illness, but the release shows that Japanese seldom have heart disease. In a group
    of a Japanese and an American with one heart disease the attacker need not toss a coin. The attacker takes from the
    whole release how likely each value is beside each value of a column, or of two, and keeps the column that tells
    most. In every group the attacker weighs all worlds in which the values lie as often as the group shows them. What
    was published to be useful is what the attacker uses; it takes one pass over the table and one over the groups.
    Unlike deFinetti, this attacker does not learn again from what was inferred, and uses one column, or two.

    The naive guesser reads the release, but does not learn from it. Control people are guessed by the association
    alone, without a group: what works on them is statistics.

    Source: Wong, Fu, Wang, Xu and Yu 2011; document 003, section 2.1.1.
    """

    name: ClassVar[str] = "foreground"
    threat: ClassVar[str] = "method"

    column: str | None = None
    """The sensitive column; the first one where nothing is said."""
    values: tuple[str, ...] = ()
    """The only values to bet on, where one is believed more than its claim allows; none means a guess for all."""
    trials: int = 2000
    """At most so many people are guessed."""
    rows: int = 100_000
    """The attacker learns from groups that have about so many rows, of a large group from some; and guesses in all."""

    def __post_init__(self) -> None:
        at_least("trials", self.trials, 1)
        at_least("rows", self.rows, 1)

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        return unlearnable(subject, self.column)

    def variants(self, subject: Subject) -> Sequence[tuple[str, Foreground]]:
        """On all values, and on those that claims protect more than others."""
        return by_value(self, subject, self.column or next(iter(subject.sensitive), None))

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Take from the release what it says about everybody, weigh every group by it, and count."""
        return guessed(self, subject, chance, limit, mined, "by what the release says about everybody")
