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

from sfumato.attack.readings import Floats, ends, numbers
from sfumato.attack.subject import Ints, Subject

DISAGREE, NEAR, AGREE, MISSING = range(4)
LEVELS = 4

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
            total += table[values[line]].take(labels)
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
    match: float
    """The share of pairs that are the same person."""

    @property
    def weights(self) -> Floats:
        """The logarithm of m/u; 0 where nothing is known."""
        found = np.log(self.m) - np.log(self.u)
        found[:, MISSING] = 0.0
        return np.asarray(found)

    def surely(self, weight: Floats) -> Floats:
        """The probability that a pair of this weight is the same person."""
        return np.asarray(1 / (1 + (1 - self.match) / self.match * np.exp(-np.clip(weight, -500, 500))))


def learn(comparison: Comparison, lines: Ints, *, rounds: int = 100) -> Learned:
    """Estimate m and u from all pairs of some lines, by expectation and maximization.

    How: pairs are counted by their pattern of levels. In turn every pattern is given the probability that it is a
        match, and m, u and the share of matches are counted anew with these probabilities. At most one row belongs to
        a line, and one line to a row.
    Source: Fellegi and Sunter 1969; Winkler 1988; Dempster, Laird and Rubin 1977.
    """
    patterns, counts = _counted(comparison, lines)
    columns, rows = len(comparison.tables), int(comparison.sizes.sum())
    powers = LEVELS ** np.arange(columns - 1, -1, -1)
    levels = (patterns[None, :] // powers[:, None]) % LEVELS
    shown = np.stack([levels == level for level in (DISAGREE, NEAR, AGREE)], axis=2).astype(np.float64)
    most = min(comparison.lines, rows) / (comparison.lines * rows)
    state = Learned(m=_start(columns), u=_shares(shown, counts), match=most / 2)
    for _ in range(rounds):
        weights = np.take_along_axis(state.weights, levels, axis=1).sum(axis=0)
        same = state.surely(weights) * counts
        match = min(max(float(same.sum() / counts.sum()), 1e-12), most)
        state = Learned(m=_shares(shown, same), u=_shares(shown, counts - same), match=match)
    return state


def _counted(comparison: Comparison, lines: Ints) -> tuple[Ints, Floats]:
    """How many pairs of a line and a row show each pattern."""
    dense = LEVELS ** len(comparison.tables)
    if dense <= LEVELS**10:
        total = np.zeros(dense, np.float64)
        for line in lines.tolist():
            total += np.bincount(comparison.patterns(line), weights=comparison.sizes, minlength=dense)
        found = np.flatnonzero(total)
        return found.astype(np.int64), total[found]
    parts = [np.unique(comparison.patterns(line), return_inverse=True) for line in lines.tolist()]
    sums = [np.bincount(inverse.reshape(-1), weights=comparison.sizes) for _, inverse in parts]
    found, where = np.unique(np.concatenate([part for part, _ in parts]), return_inverse=True)
    return found, np.bincount(where.reshape(-1), weights=np.concatenate(sums))


def _start(columns: int) -> Floats:
    return np.tile(np.array([0.05, 0.05, 0.9, 1.0]), (columns, 1))


def _shares(shown: Floats, counts: Floats) -> Floats:
    """The share of each level among pairs where something is known; never quite 0."""
    sums = np.einsum("cgl,g->cl", shown, counts) + np.array([1e-3, 1e-3, 1e-3])
    return np.concatenate([sums / sums.sum(axis=1, keepdims=True), np.ones((len(sums), 1))], axis=1)


def _column(subject: Subject, name: str, cells: pl.Series, near: float) -> tuple[Levels, Ints]:
    texts = cells.cast(pl.String).fill_null("")
    values = texts.unique().sort()
    codes = texts.cast(pl.Enum(values)).to_physical().to_numpy().astype(np.int64)
    meaning = subject.meanings[name]
    covers = np.concatenate([meaning.covers, meaning.covers.all(axis=1, keepdims=True)], axis=1)
    place = {value: code for code, value in enumerate(meaning.values)}
    table = np.where(covers[:, [place.get(value, -1) for value in values]].T, AGREE, DISAGREE).astype(np.uint8)
    if name in subject.numeric:
        low, high = ends(meaning)
        value = numbers(values)[:, None]
        apart = np.maximum(low[None, :] - value, value - high[None, :])
        table[(apart <= near) & (table != AGREE)] = NEAR
        table[apart <= 0] = AGREE
    table[(values == "").to_numpy() & ("" not in place)] = MISSING
    return table, codes
