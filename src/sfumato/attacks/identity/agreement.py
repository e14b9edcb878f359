"""How well the lines of a register and the rows of a release agree, and what that says: m and u probabilities.

For every column a line and a row agree, nearly agree, disagree, or nothing is known. Let m be the probability of a
level of agreement where line and row are the same person, and u where they are not. The logarithm of m/u is the weight
of that level; weights of columns add up, as if columns erred independently of each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.frame.numeric_labels import Floats, ends, numbers
from sfumato.attacks.frame.subject import Ints, Subject

DISAGREE, NEAR, AGREE, MISSING = range(4)
LEVELS = 4
LEAST_AGREEMENT = 0.5
"""A register in which most cells of a column are wrong is not linked by that column."""

Levels = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparison:
    """Lines of a register beside the classes of a release."""

    tables: tuple[Levels, ...]
    """For each column, a row per different value of the register and a column per label."""
    values: NDArray[np.int64]
    """For each column, which of these values each line has."""
    labels: NDArray[np.int32]
    """For each column, the label of each class."""
    sizes: Ints
    """How many rows each class has."""

    @classmethod
    def of(cls, subject: Subject, register: pl.DataFrame, near: float) -> Comparison:
        """Compare a register with a release in the quasi-identifiers."""
        labels, sizes, _ = subject.classes
        made = [_column(subject, name, register[name], near) for name in subject.quasi]
        return cls(
            tables=tuple(table for table, _ in made),
            values=np.stack([codes for _, codes in made]),
            labels=labels,
            sizes=sizes,
        )

    @property
    def lines(self) -> int:
        """How many lines the register has."""
        return int(self.values.shape[1])

    def patterns(self, line: int) -> Ints:
        """For every class the levels of all columns, as one number."""
        total = np.zeros(len(self.sizes), np.int64)
        for table, values, labels in zip(self.tables, self.values, self.labels, strict=True):
            total *= LEVELS
            total += table[values[line]].astype(np.int64).take(labels)
        return total

    def agreeing(self, line: int, columns: tuple[int, ...]) -> Ints:
        """The classes that agree with a line in at least one of some columns; all where none is named."""
        if not columns:
            return np.arange(len(self.sizes), dtype=np.int64)
        found = np.zeros(len(self.sizes), np.bool_)
        for column in columns:
            found |= (self.tables[column][self.values[column, line]] == AGREE).take(self.labels[column])
        return np.flatnonzero(found).astype(np.int64)

    def scores(self, line: int, classes: Ints, weights: Floats) -> Floats:
        """The weights of some classes."""
        total = np.zeros(len(classes), np.float64)
        for column, (table, values) in enumerate(zip(self.tables, self.values, strict=True)):
            total += weights[column][table[values[line]]].take(self.labels[column][classes])
        return total


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Learned:
    """What was learned about errors, without knowing a single match."""

    m: Floats
    """A row per column and a column per level: its probability for the same person."""
    u: Floats
    """The same for different people."""
    inside: float
    """The share of lines that have a row in the release."""

    @property
    def weights(self) -> Floats:
        """The logarithm of m/u; 0 where nothing is known."""
        found = np.log(self.m) - np.log(self.u)
        found[:, MISSING] = 0.0
        return np.asarray(found)

    def surely(self, ratio: Floats, total: Floats | float, rows: int) -> Floats:
        """The probability that a row of this ratio m/u belongs to a line, from the total over all rows of the line."""
        return np.asarray(ratio / (total + rows * (1 - self.inside) / self.inside))


def learn(comparison: Comparison, lines: Ints, *, rounds: int = 30) -> Learned:
    """Estimate m and u by expectation and maximization, from all pairs of some lines and all rows.

    How: pairs are counted by line and pattern of levels. In turn every pair is given the probability that it is one
        person, among all rows of the line and the case that they have none, and m, u and the share of lines that have a
        row are counted anew with these probabilities.
    Source: Fellegi and Sunter 1969; Winkler 1988; Dempster, Laird and Rubin 1977. That a line has at most one row is
        used as in Larsen and Rubin 2001.
    """
    line, patterns, counts = _counted(comparison, lines)
    columns, rows = len(comparison.tables), int(comparison.sizes.sum())
    found, place = np.unique(patterns, return_inverse=True)
    place = place.reshape(-1)
    powers = LEVELS ** np.arange(columns - 1, -1, -1)
    levels = (found[None, :] // powers[:, None]) % LEVELS
    shown = np.stack([levels == level for level in (DISAGREE, NEAR, AGREE)], axis=2).astype(np.float64)
    every = _sums(place, counts, len(found))
    state = Learned(m=_start(columns), u=_shares(shown, every, 0.0), inside=0.9)
    for _ in range(rounds):
        weight = np.take_along_axis(state.weights, levels, axis=1).sum(axis=0)
        ratio = np.exp(np.clip(weight, -500, 500))[place]
        total = _sums(line, ratio * counts, len(lines))
        same = state.surely(ratio, total[line], rows) * counts
        matched = _sums(place, same, len(found))
        inside = min(max(float(same.sum()) / max(len(lines), 1), 0.01), 0.99)
        others = _shares(shown, every - matched, 0.0)
        before, state = state, Learned(m=_agreeing(_shares(shown, matched, 2.0), others), u=others, inside=inside)
        if np.abs(state.m - before.m).max() < 1e-4:
            break
    return state


def _agreeing(m: Floats, u: Floats) -> Floats:
    """Shares of levels for the same person; they agree in most cells, and no less often than somebody else does.

    Without that the two kinds of pairs can change places where nearly all pairs agree, as coarse labels do.
    """
    least = np.maximum(u[:, AGREE], LEAST_AGREEMENT)
    low = m[:, AGREE] < least
    rest = np.maximum(1 - m[:, AGREE], 1e-9)
    scale = np.where(low, (1 - least) / rest, 1.0)
    found = m.copy()
    found[:, [DISAGREE, NEAR]] *= scale[:, None]
    found[:, AGREE] = np.where(low, least, m[:, AGREE])
    return found


def _counted(comparison: Comparison, lines: Ints) -> tuple[Ints, Ints, Floats]:
    """How many rows show each pattern beside each line: the line's number, the pattern, the rows."""
    numbers_of, patterns, counts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.float64)]
    for number, line in enumerate(lines.tolist()):
        found, rows = _tally(comparison.patterns(line), comparison.sizes, LEVELS ** len(comparison.tables))
        numbers_of.append(np.full(len(found), number, np.int64))
        patterns.append(found)
        counts.append(rows)
    return np.concatenate(numbers_of), np.concatenate(patterns), np.concatenate(counts)


def _tally(patterns: Ints, sizes: Ints, different: int) -> tuple[Ints, Floats]:
    if different <= 16 * len(patterns):
        total = np.bincount(patterns, weights=sizes)
        found = np.flatnonzero(total).astype(np.int64)
        return found, total[found].astype(np.float64)
    found, where = np.unique(patterns, return_inverse=True)
    return found, np.bincount(where.reshape(-1), weights=sizes).astype(np.float64)


def _sums(groups: Ints, weights: Floats, count: int) -> Floats:
    return np.bincount(groups, weights=weights, minlength=count).astype(np.float64)


def _start(columns: int) -> Floats:
    return np.tile(np.array([0.05, 0.05, 0.9, 1.0]), (columns, 1))


def _shares(shown: Floats, counts: Floats, before: float) -> Floats:
    """The share of each level among pairs where something is known, as if some had been seen before; never quite 0."""
    sums = np.einsum("cgl,g->cl", shown, counts) + before * _start(1)[0, :MISSING] + 1e-3
    return np.concatenate([sums / sums.sum(axis=1, keepdims=True), np.ones((len(sums), 1))], axis=1)


def _column(subject: Subject, name: str, cells: pl.Series, near: float) -> tuple[Levels, Ints]:
    texts = cells.cast(pl.String).fill_null("")
    values = texts.unique().sort()
    codes = texts.cast(pl.Enum(values)).to_physical().to_numpy().astype(np.int64)
    coverage = subject.coverage[name]
    covers = np.concatenate([coverage.covers, coverage.covers.all(axis=1, keepdims=True)], axis=1)
    place = {value: code for code, value in enumerate(coverage.values)}
    table = np.where(covers[:, [place.get(value, -1) for value in values]].T, AGREE, DISAGREE).astype(np.uint8)
    if name in subject.numeric:
        low, high = ends(coverage)
        value = numbers(values)[:, None]
        apart = np.maximum(low[None, :] - value, value - high[None, :])
        table[(apart <= near) & (table != AGREE)] = NEAR
        table[apart <= 0] = AGREE
    table[(values == "").to_numpy() & ("" not in place)] = MISSING
    return table, codes
