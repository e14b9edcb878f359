"""Probabilistic record linkage with an erroneous register: m and u probabilities by Fellegi and Sunter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.finding import Finding, Limit, Rate
from sfumato.attacks.labels import Floats, ends, numbers
from sfumato.attacks.linkage import fitting_rows
from sfumato.attacks.subject import Ints, Mask, Subject
from sfumato.core.arguments import at_least, between, number
from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance

# A register as it is in life: some cells are missing, some are wrong.


def with_errors(
    people: pl.DataFrame,
    columns: Sequence[str],
    numeric: frozenset[str],
    share: float,
    draws: np.random.Generator,
) -> pl.DataFrame:
    """The columns of some people, with errors in a share of the cells.

    A third of the errors is a missing cell. The others are numbers off by one, and words that are another person's or
    have two letters swapped.
    """
    return people.select(_spoiled(people[name], name in numeric, share, draws) for name in columns)


def _spoiled(cells: pl.Series, numeric: bool, share: float, draws: np.random.Generator) -> pl.Series:
    texts = cells.cast(pl.String).fill_null("")
    kind = np.where(draws.random(len(texts)) < share, draws.integers(3, size=len(texts)), -1)
    others = texts.gather(draws.permutation(len(texts)))
    off = numbers(texts) + np.where(draws.integers(2, size=len(texts)) == 1, 1, -1)
    spoiled_texts = []
    for text, other, moved, error_kind in zip(
        texts.to_list(), others.to_list(), off.tolist(), kind.tolist(), strict=True
    ):
        if error_kind < 0:
            spoiled_texts.append(text)
        elif error_kind == 0:
            spoiled_texts.append("")
        elif numeric and not np.isnan(moved):
            spoiled_texts.append(f"{moved:.15g}")
        else:
            spoiled_texts.append(other if error_kind == 1 else text[1:2] + text[:1] + text[2:])
    return pl.Series(cells.name, spoiled_texts, dtype=pl.String)


# How well the lines of a register and the rows of a release agree, and what that says: m and u probabilities.
#
# For every column a line and a row agree, nearly agree, disagree, or nothing is known. Let m be the probability of a
# level of agreement where line and row are the same person, and u where they are not. The logarithm of m/u is the
# weight of that level; weights of columns add up, as if columns erred independently of each other.


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
        columns = [_column(subject, name, register[name], near) for name in subject.quasi]
        return cls(
            tables=tuple(table for table, _ in columns),
            values=np.stack([codes for _, codes in columns]),
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
        is_agreeing = np.zeros(len(self.sizes), np.bool_)
        for column in columns:
            is_agreeing |= (self.tables[column][self.values[column, line]] == AGREE).take(self.labels[column])
        return np.flatnonzero(is_agreeing).astype(np.int64)

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
        weights = np.log(self.m) - np.log(self.u)
        weights[:, MISSING] = 0.0
        return np.asarray(weights)

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
    distinct_patterns, place = np.unique(patterns, return_inverse=True)
    place = place.reshape(-1)
    powers = LEVELS ** np.arange(columns - 1, -1, -1)
    levels = (distinct_patterns[None, :] // powers[:, None]) % LEVELS
    indicators = np.stack([levels == level for level in (DISAGREE, NEAR, AGREE)], axis=2).astype(np.float64)
    every = _sums(place, counts, len(distinct_patterns))
    state = Learned(m=_start(columns), u=_shares(indicators, every, 0.0), inside=0.9)
    for _ in range(rounds):
        weight = np.take_along_axis(state.weights, levels, axis=1).sum(axis=0)
        ratio = np.exp(np.clip(weight, -500, 500))[place]
        total = _sums(line, ratio * counts, len(lines))
        same = state.surely(ratio, total[line], rows) * counts
        matched = _sums(place, same, len(distinct_patterns))
        inside = min(max(float(same.sum()) / max(len(lines), 1), 0.01), 0.99)
        others = _shares(indicators, every - matched, 0.0)
        before, state = state, Learned(m=_agreeing(_shares(indicators, matched, 2.0), others), u=others, inside=inside)
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
    shares = m.copy()
    shares[:, [DISAGREE, NEAR]] *= scale[:, None]
    shares[:, AGREE] = np.where(low, least, m[:, AGREE])
    return shares


def _counted(comparison: Comparison, lines: Ints) -> tuple[Ints, Ints, Floats]:
    """How many rows show each pattern beside each line: the line's number, the pattern, the rows."""
    numbers_of, patterns, counts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.float64)]
    for index, line in enumerate(lines.tolist()):
        distinct_patterns, rows = _tally(comparison.patterns(line), comparison.sizes, LEVELS ** len(comparison.tables))
        numbers_of.append(np.full(len(distinct_patterns), index, np.int64))
        patterns.append(distinct_patterns)
        counts.append(rows)
    return np.concatenate(numbers_of), np.concatenate(patterns), np.concatenate(counts)


def _tally(patterns: Ints, sizes: Ints, different: int) -> tuple[Ints, Floats]:
    if different <= 16 * len(patterns):
        total = np.bincount(patterns, weights=sizes)
        distinct_patterns = np.flatnonzero(total).astype(np.int64)
        return distinct_patterns, total[distinct_patterns].astype(np.float64)
    distinct_patterns, where = np.unique(patterns, return_inverse=True)
    return distinct_patterns, np.bincount(where.reshape(-1), weights=sizes).astype(np.float64)


def _sums(groups: Ints, weights: Floats, count: int) -> Floats:
    return np.bincount(groups, weights=weights, minlength=count).astype(np.float64)


def _start(columns: int) -> Floats:
    return np.tile(np.array([0.05, 0.05, 0.9, 1.0]), (columns, 1))


def _shares(indicators: Floats, counts: Floats, before: float) -> Floats:
    """The share of each level among pairs where something is known, as if some had been seen before; never quite 0."""
    sums = np.einsum("cgl,g->cl", indicators, counts) + before * _start(1)[0, :MISSING] + 1e-3
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


# Linking a register with errors to a release: probabilistic record linkage.


_LEARNERS = 200
"""So many lines are compared with every row to learn how columns err,"""
_PAIRS = 20_000_000
"""or as many as make so many pairs, but not below 50."""
_MANY = 20000
"""From so many classes on, a line is scored only beside classes that agree in one of two selective columns."""
_KEPT = 20
"""So many classes are remembered for each line."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Links:
    """Whom the attacker linked to what."""

    classes: Ints
    """The class of released rows that each line was linked to; -1 for none."""
    weights: Floats
    """How much speaks for it."""
    learned: Learned
    """What was learned about errors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FellegiSunter:
    """Somebody holds a register with names, of people who are in the release; some of its cells are missing or wrong.

    The attacker wants to know whose row is whose. Joining on all columns finds only people without an error. So the
    attacker compares every line with every row, column by column, learns how often columns agree for the same person
    and for others, and links first the pairs for which most speaks; a row is given to one line only. It takes lines
    times rows comparisons, or fewer if only rows are compared that agree in a selective column. Where nothing speaks
    for any row the line stays alone: a failed trial. Without the release the attacker can only pick a row: once in as
    many as there are. Whoever is not in the release has no row, so nothing is right in the control run.

    The register is made from the people, with errors in a share of the cells, or handed in (``against``).

    Cost: lines times classes in numbers of one byte. Source: Fellegi and Sunter 1969, A theory for record linkage;
        Winkler 1988 for learning m and u.
    """

    name: ClassVar[str] = "fellegi-sunter"
    threat: ClassVar[str] = "re-identification"

    trials: int = 2000
    """At most so many lines."""
    errors: float = 0.1
    """The share of the register's cells that are missing or wrong."""
    near: float = 1.0
    """Numbers that differ by no more than this nearly agree."""
    surely: float = 0.0
    """Lines are linked only where a match is at least so probable."""
    block: tuple[str, ...] = ()
    """Only rows that agree in one of these columns are looked at; in a large release two are chosen by themselves."""

    def __post_init__(self) -> None:
        """Refuse nonsense."""
        at_least("trials", self.trials, 1)
        between("errors", self.errors, 0, 1)
        between("surely", self.surely, 0, 1)
        if number("near", self.near) < 0:
            raise ParameterError(f"near must not be negative, not {self.near}")
        if isinstance(self.block, str):
            raise ParameterError(f"block must name columns, not {self.block!r}")

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        if not subject.quasi or not subject.people.height:
            return "there are no quasi-identifiers of anybody"
        if unknown := [name for name in self.block if name not in subject.quasi]:
            return f"{unknown[0]!r} is no quasi-identifier"
        return "" if subject.release.height else "the release has no rows"

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Link a register made from some of the people."""
        people = subject.some(self.trials, chance)
        draws = chance.generator().spawn(2)
        register = with_errors(people, subject.quasi, subject.numeric, self.errors, draws[0])
        control = None
        if subject.control is not None:
            others = subject.some(self.trials, chance, control=True)
            theirs = with_errors(others, subject.quasi, subject.numeric, self.errors, draws[1])
            alone = self.link(subject, theirs, chance).classes < 0
            control = Rate(hits=0.0, trials=others.height, failed=int(alone.sum()))
        return self.against(subject, register, people, chance, limit, control=control)

    def against(
        self,
        subject: Subject,
        register: pl.DataFrame,
        people: pl.DataFrame,
        chance: Chance,
        limit: Limit | None = None,
        *,
        control: Rate | None = None,
    ) -> Finding:
        """Link a register whose lines are these people, as only the experimenter knows.

        A line counts as right with the chance that the row is theirs: 0 where the class does not fit what is true of
        them, otherwise one over all rows that fit.
        """
        links = self.link(subject, register, chance)
        linked = links.classes >= 0
        rows = np.maximum(fitting_rows(subject, people), 1)
        right = np.where(_covered(subject, people, links.classes) & linked, 1.0 / rows, 0.0)
        exact = fitting_rows(subject, register)
        joined = np.where((exact > 0) & _same(subject, register, people), 1.0 / np.maximum(exact, 1), 0.0)
        lines, released = people.height, subject.release.height
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows=f"a register with errors in {self.errors:.0%} of the cells, and that its people are in the release",
            does="tell whose row is whose",
            rate=Rate(hits=float(right.sum()), trials=lines, failed=int((~linked).sum())),
            naive=Rate(hits=lines / released if released else 0.0, trials=lines, exact=True),
            control=control,
            limit=limit,
            worst=float(right.max()) if lines else None,
            figures={
                "linked": float(linked.mean()) if lines else 0.0,
                "right_of_linked": float(right.sum() / linked.sum()) if linked.any() else 0.0,
                "exact_join": float(joined.mean()) if lines else 0.0,
            },
        )

    def link(self, subject: Subject, register: pl.DataFrame, chance: Chance) -> Links:
        """Give each line the class for which most speaks, the best first, as long as the class has rows left."""
        draws = chance.generator().spawn(3)[2]
        compared = Comparison.of(subject, register, self.near)
        learners = max(min(_LEARNERS, _PAIRS // max(len(compared.sizes), 1)), 50)
        some = np.sort(draws.permutation(compared.lines)[:learners]).astype(np.int64)
        learned = learn(compared, some)
        blocks = self._blocks(subject, compared)
        pairs = [_best(compared, line, blocks, learned, draws) for line in range(compared.lines)]
        line = np.repeat(np.arange(compared.lines), [len(classes) for classes, _, _ in pairs])
        classes, scores, surely = (np.concatenate(part) for part in zip(*pairs, strict=True))
        enough = (scores > 1e-9) & (surely >= self.surely)
        given, got = _greedy(line[enough], classes[enough], scores[enough], compared, draws)
        return Links(classes=given, weights=got, learned=learned)

    def _blocks(self, subject: Subject, compared: Comparison) -> tuple[int, ...]:
        if self.block or len(compared.sizes) <= _MANY:
            return tuple(subject.quasi.index(name) for name in self.block)
        shares = [
            float((table == AGREE)[:, labels].mean(axis=0).mean()) if table.size < 10**7 else 0.0
            for table, labels in zip(compared.tables, compared.labels[:, :_MANY], strict=True)
        ]
        return tuple(int(column) for column in np.argsort(shares, kind="stable")[:2])


def _best(
    compared: Comparison, line: int, blocks: tuple[int, ...], learned: Learned, draws: np.random.Generator
) -> tuple[Ints, Floats, Floats]:
    """The classes for which most speaks, how much, and how probable it is; who is equal is drawn by lot."""
    near = compared.agreeing(line, blocks)
    scores = compared.scores(line, near, learned.weights)
    total = float((np.exp(np.clip(scores, -500, 500)) * compared.sizes[near]).sum())
    if len(near) > _KEPT:
        lots = scores + 1e-9 * draws.random(len(near))
        kept = np.argpartition(-lots, _KEPT)[:_KEPT]
        near, scores = near[kept], scores[kept]
    ratios = np.exp(np.clip(scores, -500, 500))
    return near, scores, learned.surely(ratios, total, int(compared.sizes.sum()))


def _greedy(
    line: Ints, classes: Ints, scores: Floats, compared: Comparison, draws: np.random.Generator
) -> tuple[Ints, Floats]:
    """One class for each line and one line for each row, by falling weight."""
    given, got = np.full(compared.lines, -1, np.int64), np.zeros(compared.lines, np.float64)
    left = compared.sizes.copy()
    order = np.lexsort((draws.random(len(line)), -np.round(scores, 9)))
    for pair in order.tolist():
        if given[line[pair]] < 0 and left[classes[pair]] > 0:
            given[line[pair]], got[line[pair]] = classes[pair], scores[pair]
            left[classes[pair]] -= 1
    return given, got


def _covered(subject: Subject, people: pl.DataFrame, classes: Ints) -> Mask:
    """Whether the class of each person covers what is true of them."""
    labels, _, _ = subject.classes
    is_covered = np.ones(people.height, np.bool_)
    for column, codes in enumerate(subject.coded(people)):
        covers = subject.coverage[subject.quasi[column]].covers
        every = np.concatenate([covers, covers.all(axis=1, keepdims=True)], axis=1)
        is_covered &= every[labels[column][classes], codes]
    return is_covered


def _same(subject: Subject, register: pl.DataFrame, people: pl.DataFrame) -> Mask:
    """Lines without an error: only their exact join can be right, as far as can be told."""
    return np.asarray((subject.coded(register) == subject.coded(people)).all(axis=0))
