"""Naive Bayes learned from rows whose sensitive values are known by group only, by expectation and maximization.

Which of a group's values is which row's is not told. But if some values go with some quasi-identifiers, groups in which
they are together tell of it; what is learned there says more about the other groups, and so on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.frame.assignment import Reals, Shown
from sfumato.attacks.frame.subject import Ints
from sfumato.attacks.method.row_values import LEAST, Entries


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Learned:
    """For each column the logarithm of how likely each of its values is beside each sensitive value."""

    tables: tuple[Reals, ...]
    """A row per sensitive value and a column per value of the column."""

    def score(self, features: Ints, row: Ints, value: Ints) -> Reals:
        """How well rows and sensitive values go together, as a sum of logarithms; unknown cells say nothing."""
        total = np.zeros(len(row))
        for table, codes in zip(self.tables, features, strict=True):
            code = codes[row]
            total += np.where(code >= 0, table[value, np.maximum(code, 0)], 0.0)
        return total

    def assign(self, pairs: Entries, features: Ints) -> Reals:
        """How likely each pair is, by what was learned, within what the groups allow."""
        return assign(self, pairs, features)


def learn(
    found: Shown, features: Ints, unit: Ints, widths: tuple[int, ...], *, rounds: int, smoothing: float
) -> Learned:
    """Begin with the shares of each group, then learn and assign in turn.

    Cost: for each round one pass over pairs of a row and a value of its group, for each column.
    """
    pairs = Entries.of(found, unit)
    weight = found.shares[unit[pairs.row], pairs.value]
    learned = _counted(pairs, weight, features, widths, len(found.values), smoothing)
    for _ in range(rounds):
        weight = assign(learned, pairs, features)
        learned = _counted(pairs, weight, features, widths, len(found.values), smoothing)
    return learned


def assign(learned: Learned, pairs: Entries, features: Ints) -> Reals:
    """How likely each pair is, by what was learned, within what the groups allow."""
    score = learned.score(features, pairs.row, pairs.value)
    top = np.full(pairs.rows, -np.inf)
    np.maximum.at(top, pairs.row, score)
    return pairs.balanced(np.maximum(np.exp(score - top[pairs.row]), LEAST))


def _counted(
    pairs: Entries, weight: Reals, features: Ints, widths: tuple[int, ...], values: int, smoothing: float
) -> Learned:
    tables: list[NDArray[np.float64]] = []
    for width, codes in zip(widths, features, strict=True):
        code = codes[pairs.row]
        known = code >= 0
        counts = np.bincount(pairs.value[known] * width + code[known], weight[known], values * width)
        table = counts.reshape(values, width)
        overall = table.sum(axis=0) / max(float(table.sum()), LEAST)
        table = table + smoothing * width * np.maximum(overall, LEAST)
        tables.append(np.log(table / table.sum(axis=1, keepdims=True)))
    return Learned(tables=tuple(tables))
