"""What a release says about everybody: how likely each sensitive value is beside each value of a column.

An analyst takes this from a published table, and it is what the table is published for. A group of n rows shows each
value some times; if the rows' chances are p(a) by their value a in a column, the group should show it the sum of p(a)
times. One equation for each group, and least squares tells p: where groups differ in who is in them, their values tell
who has them (Wong et al. 2011, section 4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sfumato.attacks.frame.assignment import Reals, Shown
from sfumato.attacks.frame.subject import Ints
from sfumato.attacks.method.row_values import Entries

PAIRED = 150
"""Two columns are read together where they have no more combinations than this."""
PRIOR = 4.0
"""How many rows the belief that a column tells nothing is worth, for each of its values."""
LEAST, MOST = 1e-4, 1 - 1e-4
"""No chance is taken as 0 or 1: least squares are estimates."""
EXACT = 60
"""Groups of no more rows than this are counted through; of larger ones the chances are brought into balance."""
STEPS = 50


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Associations:
    """For one column, or two together, the chance of each sensitive value beside each value."""

    columns: tuple[int, ...]
    """Which column, or which two."""
    widths: tuple[int, ...]
    """How many values each has."""
    chances: Reals
    """A row per value, or combination of values, and a column per sensitive value."""
    overall: Reals
    """The share of each sensitive value in the whole release."""
    telling: float
    """How much it tells: the information about the sensitive value, in nats."""

    def score(self, features: Ints, row: Ints, value: Ints) -> Reals:
        """How much more likely a value is in a row than in the whole release, as logarithms; an unknown cell is mute."""
        code = together(features, self.columns, self.widths)[row]
        beside = np.log(np.maximum(self.chances[np.maximum(code, 0), value], LEAST))
        return np.where(code >= 0, beside - np.log(np.maximum(self.overall[value], LEAST)), 0.0)

    def assign(self, pairs: Entries, features: Ints) -> Reals:
        """For each pair the chance that the row has the value, if the group has it as often as it has."""
        code = together(features, self.columns, self.widths)[pairs.row]
        chance = np.where(code >= 0, self.chances[np.maximum(code, 0), pairs.value], self.overall[pairs.value])
        chance = np.clip(chance, LEAST, MOST)
        order = np.argsort(pairs.slot, kind="stable")
        many = np.bincount(pairs.slot, minlength=len(pairs.wanted))
        starts, found = np.cumsum(many) - many, np.zeros(len(chance))
        kinds, kind = np.unique(np.stack([many, pairs.wanted]), axis=1, return_inverse=True)
        for number, (size, total) in enumerate(kinds.T.tolist()):
            if size:
                slots = np.flatnonzero(kind.reshape(-1) == number)
                rows = order[starts[slots][:, None] + np.arange(int(size))]
                found[rows] = given_total(chance[rows], total)
        return found


def given_total(chances: Reals, total: float) -> Reals:
    """The chance of each row to have a value, if the rows are independent and so many of a group have it.

    A line of ``chances`` is a group. The worlds in which exactly ``total`` of its rows have the value are weighted by
    the product of their chances. In large groups, or where the total is no whole number, the odds are scaled until the
    chances add up to it.

    >>> given_total(np.array([[0.2, 0.8]]), 1).round(4).tolist()  # 0.2 * 0.2 against 0.8 * 0.8
    [[0.0588, 0.9412]]
    """
    whole, rows = round(total), chances.shape[1]
    if total >= rows or total <= 0:
        return np.full(chances.shape, float(total > 0))
    if rows > EXACT or abs(total - whole) > 1e-9:
        return _balanced(chances, total)
    odds = chances / (1 - chances)
    odds = odds / np.exp(np.log(odds).mean(axis=1, keepdims=True))
    before, after = _sums(odds, whole), _sums(odds[:, ::-1], whole)[::-1]
    others = np.einsum("jgt,jgt->gj", before[:-1, :, :whole], after[1:, :, whole - 1 :: -1])
    with_it = others * odds
    return np.asarray(with_it / with_it.sum(axis=1, keepdims=True) * whole)


def _sums(odds: Reals, total: int) -> Reals:
    """For the first 0, 1, 2, ... rows of groups: the sum over all choices of 0, 1, ... of them of the odds' product."""
    found = np.zeros((odds.shape[1] + 1, len(odds), total + 1))
    found[0, :, 0] = 1
    for at in range(odds.shape[1]):
        found[at + 1] = found[at]
        found[at + 1, :, 1:] += odds[:, at, None] * found[at, :, :-1]
    return found


def _balanced(chances: Reals, total: float) -> Reals:
    logit = np.log(chances / (1 - chances))
    low, high = -40.0 - logit.max(axis=1), 40.0 - logit.min(axis=1)
    for _ in range(STEPS):
        middle = (low + high) / 2
        fewer = (1 / (1 + np.exp(-(logit + middle[:, None])))).sum(axis=1) < total
        low, high = np.where(fewer, middle, low), np.where(fewer, high, middle)
    return np.asarray(1 / (1 + np.exp(-(logit + ((low + high) / 2)[:, None]))))


def mined(found: Shown, features: Ints, unit: Ints, widths: tuple[int, ...]) -> Associations:
    """The association that tells most, of single columns and of pairs with few combinations."""
    every = _mined(found, features, unit, widths)
    return max(every, key=lambda one: one.telling)


def _mined(found: Shown, features: Ints, unit: Ints, widths: tuple[int, ...]) -> Iterator[Associations]:
    pairs = [pair for pair in combinations(range(len(widths)), 2) if widths[pair[0]] * widths[pair[1]] <= PAIRED]
    counts = Entries.of(found, unit)
    wanted = np.zeros(found.counts.shape)
    np.add.at(wanted, (unit[counts.row], counts.value), found.shares[unit[counts.row], counts.value])
    for columns in [*((column,) for column in range(len(widths))), *pairs]:
        sizes = tuple(widths[column] for column in columns)
        code = together(features, columns, sizes)
        yield _association(found, code, unit, wanted, columns, sizes)


def _association(
    found: Shown, code: Ints, unit: Ints, wanted: Reals, columns: tuple[int, ...], widths: tuple[int, ...]
) -> Associations:
    """Least squares over the groups, each weighted by one over its size, drawn towards the shares of all."""
    width, known = int(np.prod(widths)), code >= 0
    groups, number = np.unique(unit[known], return_inverse=True)
    has = np.zeros((len(groups), width))
    np.add.at(has, (number.reshape(-1), code[known]), 1.0)
    size = np.maximum(has.sum(axis=1, keepdims=True), 1)
    every = np.maximum(np.bincount(unit, minlength=len(wanted))[groups][:, None], 1)
    shown_here = wanted[groups] * (size / every)
    left = has.T @ (has / size) + PRIOR * np.eye(width)
    right = has.T @ (shown_here / size) + PRIOR * found.overall
    chances = np.clip(np.linalg.solve(left, right), LEAST, None)
    chances = chances / chances.sum(axis=1, keepdims=True)
    share = has.sum(axis=0) / max(float(has.sum()), 1.0)
    ratio = np.log(chances / np.maximum(found.overall, LEAST))
    telling = float((share[:, None] * chances * ratio).sum())
    return Associations(columns=columns, widths=widths, chances=chances, overall=found.overall, telling=telling)


def together(features: Ints, columns: tuple[int, ...], widths: tuple[int, ...]) -> Ints:
    """The codes of some columns as one; -1 where one of them is unknown."""
    code, known = np.zeros(features.shape[1], np.int64), np.ones(features.shape[1], np.bool_)
    for column, width in zip(columns, widths, strict=True):
        known &= features[column] >= 0
        code = code * width + np.maximum(features[column], 0)
    return np.where(known, code, -1)
