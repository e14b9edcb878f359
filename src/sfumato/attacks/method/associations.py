"""What a release says about everybody: how likely each sensitive value is beside each value of a column.

An analyst takes this from a published table, and it is what the table is published for. A group of n rows shows each
value some times; if the rows' chances are p(a) by their value a in a column, the group should show it the sum of p(a)
times. One equation for each group, and least squares tells p: where groups differ in who is in them, their values tell
who has them (Wong et al. 2011, section 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sfumato.attacks.frame.assignment import Reals, Shown
from sfumato.attacks.frame.subject import Ints
from sfumato.attacks.method.group_rows import GroupRows
from sfumato.attacks.method.row_values import Entries

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
        beside = np.log(np.maximum(self.chances[np.maximum(code, 0), value], LEAST))
        return np.where(code >= 0, beside - np.log(np.maximum(self.overall[value], LEAST)), 0.0)

    def assign(self, pairs: Entries, features: Ints) -> Reals:
        """For each pair the chance that the row has the value, if the group has it as often as it has."""
        code = together(features, self.columns, self.widths)[pairs.row]
        chance = np.where(code >= 0, self.chances[np.maximum(code, 0), pairs.value], self.overall[pairs.value])
        chance = np.clip(chance, LEAST, MOST)
        many = np.bincount(pairs.slot, minlength=len(pairs.wanted))
        large = (many > EXACT) | (np.abs(pairs.wanted - np.round(pairs.wanted)) > 1e-9)
        found, rest = np.zeros(len(chance)), large[pairs.slot]
        found[rest] = balanced(chance[rest], pairs.slot[rest], pairs.wanted)
        order = np.argsort(pairs.slot, kind="stable")
        starts, few = np.cumsum(many) - many, np.flatnonzero(~large & (many > 0))
        kinds, kind = np.unique(np.stack([many[few], np.round(pairs.wanted[few])]), axis=1, return_inverse=True)
        for number, (size, total) in enumerate(kinds.T.tolist()):
            slots = few[kind.reshape(-1) == number]
            rows = order[starts[slots][:, None] + np.arange(int(size))]
            found[rows] = given_total(chance[rows], int(total))
        return found


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
    found = np.zeros((odds.shape[1] + 1, len(odds), total + 1))
    found[0, :, 0] = 1
    for at in range(odds.shape[1]):
        found[at + 1] = found[at]
        found[at + 1, :, 1:] += odds[:, at, None] * found[at, :, :-1]
    return found


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


def mined(found: Shown, features: Ints, unit: Ints, widths: tuple[int, ...]) -> Associations:
    """The association that tells most, of single columns and of pairs with few combinations; or none that tells."""
    pairs = [pair for pair in combinations(range(len(widths)), 2) if widths[pair[0]] * widths[pair[1]] <= PAIRED]
    every: list[tuple[int, ...]] = [(), *((at,) for at, width in enumerate(widths) if width <= WIDEST), *pairs]
    return max((_association(found, features, unit, widths, one) for one in every), key=lambda one: one.telling)


def _association(
    found: Shown, features: Ints, unit: Ints, widths: tuple[int, ...], columns: tuple[int, ...]
) -> Associations:
    """Least squares over the groups, each weighted by one over its size, drawn towards the shares of all.

    What it tells is seen on groups from which it was not learned: of each half of the groups, by the other half.
    """
    sizes = tuple(widths[column] for column in columns)
    code, width = together(features, columns, sizes), int(np.prod(sizes))
    known = code >= 0
    groups, number = np.unique(unit[known], return_inverse=True)
    shares = found.shares[groups]
    halves = [GroupRows.of(number.reshape(-1), code[known], width, len(groups), half) for half in (0, 1)]
    left = [half.products() for half in halves]
    right = [half.totals(shares[half.groups]) for half in halves]
    told, every = 0.0, sum(float(half.rows.sum()) for half in halves)
    for half, other in ((0, 1), (1, 0)):
        mine, chances = halves[half], _solved(left[other], right[other], found.overall)
        expected = np.maximum(mine.means(chances), LEAST)
        gained = shares[mine.groups] * np.log(expected / np.maximum(found.overall, LEAST))
        told += float((mine.rows[:, np.newaxis] * gained).sum())
    return Associations(
        columns=columns,
        widths=sizes,
        chances=_solved(left[0] + left[1], right[0] + right[1], found.overall),
        overall=found.overall,
        telling=told / max(every, 1.0),
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
