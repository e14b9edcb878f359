"""Joint distributions of several questions, and pairwise associations with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Any, Literal, Protocol

import numpy as np
import polars as pl

from sfumato.collection.channels import Channel, Evidence, NoiseLaw, Reals, Whole, evidence
from sfumato.collection.mechanisms import KeptCategory, NoisyNumber
from sfumato.collection.reconstruction import RESAMPLES, Distribution, Stopping, deviation, stepped
from sfumato.collection.specification import Question
from sfumato.core.errors import DataError, ParameterError, listed
from sfumato.core.randomness import Chance
from sfumato.core.short_repr import Brief
from sfumato.counts.local_cuts import CodedColumn, WeightedCells
from sfumato.counts.sources import ROWS, Figure, Numbers

# Several columns at once: the joint distribution of originals, and what stands on counts stands on it.


MOST_OUTCOMES = 20_000_000
"""A joint may have so many combinations of outcomes, and of cells."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class JointDistribution(Brief):
    """A share for every combination of cells of some columns."""

    channels: tuple[Channel, ...]
    """The columns."""
    shares: Reals
    """One axis per column."""
    answers: int
    """How many records it was learnt from."""
    rounds: int = 0
    """Of the iteration."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(channel.name for channel in self.channels)

    @property
    def counts(self) -> Reals:
        """How many people stand behind each combination: real numbers."""
        return self.shares * self.answers

    def marginal(self, name: str) -> Distribution:
        """One column by itself."""
        place = self._place(name)
        others = tuple(n for n in range(len(self.channels)) if n != place)
        return Distribution(
            channel=self.channels[place],
            shares=self.shares.sum(axis=others),
            answers=self.answers,
            method="em",
            rounds=self.rounds,
        )

    def table(self) -> pl.DataFrame:
        """Every combination with its estimated count, as a table."""
        codes = np.indices(self.shares.shape).reshape(len(self.channels), -1)
        named = [pl.Series(c.name, list(c.labels)).gather(place) for c, place in zip(self.channels, codes, strict=True)]
        return pl.DataFrame([*named, pl.Series("count", self.counts.reshape(-1))])

    def source(self, counted: str | None = None) -> WeightedCells:
        """A source of counts under a cut: what searches, trees and naive Bayes ask. ``counted`` is a class column."""
        figures: dict[Figure, Numbers] = {}
        counts, channels = self.counts, list(self.channels)
        if counted is not None:
            place = self._place(counted)
            channels.pop(place)
            counts = np.moveaxis(counts, place, -1)
            figures = {(counted, (code,)): counts[..., code].reshape(-1) for code in range(counts.shape[-1])}
            counts = counts.sum(axis=-1)
        codes = np.indices(counts.shape).reshape(len(channels), -1).astype(np.int32)
        columns = tuple(CodedColumn(codes=c, size=channel.cells) for c, channel in zip(codes, channels, strict=True))
        return WeightedCells(columns=columns, weights={ROWS: counts.reshape(-1), **figures})

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise ParameterError(f"there is no column {name!r}; the joint has {listed(self.names)}")
        return self.names.index(name)


def reconstruct_joint(seen: Sequence[Evidence], *, stopping: Stopping | None = None) -> JointDistribution:
    """The joint distribution of the originals of several columns, each randomized by itself, by EM.

    Claim: as for one column: the likelihood never falls, and has one maximum. The coins of different columns must be
        independent, and they are: every question draws its own.
    Cost: a round is two products per column with the table of all combinations of outcomes.
    Source: document 000, section 20.2.1; Agrawal and Aggarwal 2001.
    """
    if not seen or len({column.answers for column in seen}) != 1:
        raise DataError(f"columns must have equally many answers; they have {[column.answers for column in seen]}")
    outcomes, cells = [len(column.channel.matrix) for column in seen], [column.channel.cells for column in seen]
    if max(prod(outcomes), prod(cells)) > MOST_OUTCOMES:
        raise ParameterError(
            f"the columns have {prod(outcomes):,} combinations of outcomes and {prod(cells):,} of cells; at most "
            f"{MOST_OUTCOMES:,} are counted, so take fewer columns or cells"
        )
    place = np.ravel_multi_index([column.codes for column in seen], outcomes)
    counts = np.bincount(place, minlength=prod(outcomes)).astype(np.float64).reshape(outcomes)
    rule, shares = stopping or Stopping(), np.full(cells, 1 / prod(cells))
    matrices = [column.channel.matrix for column in seen]
    before, turn, over = -np.inf, 0, False
    while turn < rule.rounds and not over:
        turn += 1
        predicted = _along(shares, matrices)
        held = (counts > 0) & (predicted > 0)
        likelihood = float((counts[held] * np.log(predicted[held])).sum() / counts.sum())
        weights = np.divide(counts, predicted, out=np.zeros_like(predicted), where=held)
        after = shares * _along(weights, [matrix.T for matrix in matrices])
        after /= after.sum()
        over = rule.over(shares.reshape(-1), after.reshape(-1), seen[0].answers, likelihood - before)
        shares, before = after, likelihood
    return JointDistribution(
        channels=tuple(column.channel for column in seen), shares=shares, answers=seen[0].answers, rounds=turn
    )


def _along(table: Reals, matrices: Sequence[Reals]) -> Reals:
    """A table with every axis multiplied by its matrix."""
    for axis, matrix in enumerate(matrices):
        table = np.moveaxis(np.tensordot(matrix, table, axes=(1, axis)), 0, axis)
    return table


# Bootstrap intervals of how two questions go together: the answers are drawn again, and measured again, many times.


GROUPS = 1_000
"""Of more answers than this, so many groups are drawn again in place of single ones."""
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """How answers are drawn again."""

    confidence: float = 0.95
    """Of the intervals."""
    resamples: int = RESAMPLES
    """How often."""
    seed: int = 0
    """Whoever draws again must draw the same."""

    @property
    def tails(self) -> Interval:
        """The quantiles at which an interval ends."""
        return (1 - self.confidence) / 2, (1 + self.confidence) / 2

    def correlations(self, values: Reals, seen: Sequence[Evidence], rounds: Sequence[int]) -> Reals:
        """Resamples x numbers x numbers: correlations of the true answers as they might have been estimated.

        ``values`` are numbers x answers as shown; each of ``seen`` was reconstructed in so many ``rounds``.
        Covariances and reconstructed deviations come from the same draws. Answers are put into groups by lot, whatever
        their order was, and groups are drawn: that varies as single answers do, and costs one look at each answer.
        """
        draw = Chance(seed=self.seed).generator()
        many, rows = min(GROUPS, values.shape[1]), values.shape[1]
        group = np.empty(rows, np.int64)
        group[np.lexsort(values)[draw.permutation(rows)]] = np.arange(rows) % many
        weights = draw.multinomial(many, np.full(many, 1 / many), size=self.resamples).astype(np.float64)
        counted = weights @ np.bincount(group, minlength=many)
        centred = values - values.mean(axis=1, keepdims=True)
        sums = weights @ _summed(centred, group, many).T
        pairs = [[centred[i] * centred[j] for j in range(i + 1)] for i in range(len(values))]
        correlations = np.empty((self.resamples, len(values), len(values)))
        spread = [
            deviations(weights @ _counted(column, group, many), column, turns)
            for column, turns in zip(seen, rounds, strict=True)
        ]
        for i, row in enumerate(pairs):
            products = weights @ _summed(np.array(row), group, many).T
            for j in range(i + 1):
                both = (products[:, j] - sums[:, i] * sums[:, j] / counted) / np.maximum(counted - 1, 1)
                apart = spread[i] * spread[j]
                correlations[:, i, j] = correlations[:, j, i] = np.divide(
                    both, apart, out=np.zeros_like(both), where=apart > 0
                )
        return np.clip(correlations, -1, 1)

    def percentiles(self, drawn: Reals, estimate: float) -> Interval:
        """Where the middle of what was drawn lies; the estimate lies inside."""
        low, high = np.quantile(drawn, self.tails)
        return min(float(low), estimate), max(float(high), estimate)

    def association(self, seen: Sequence[Evidence], joint: JointDistribution, estimate: float) -> Interval:
        """An interval of Cramér's V of two categories.

        V cannot be negative, so what is drawn again lies above it, by as much as V itself lies above the truth:
        the distances from V are turned round (basic bootstrap). They are taken for V and for its square, and the wider
        ends count. Tables are inverted and not moved to the simplex, which would hide that distance.
        Source: Efron 1979; Davison and Hinkley 1997, section 2.4 (basic).
        """
        sizes = joint.shares.shape
        table = np.bincount(seen[0].codes * sizes[1] + seen[1].codes, minlength=joint.shares.size) / joint.answers
        draw = Chance(seed=self.seed).generator()
        again = draw.multinomial(joint.answers, table, size=self.resamples) / joint.answers
        first, second = (np.linalg.inv(column.channel.matrix) for column in seen)
        every = first @ np.concatenate([table[None], again]).reshape(-1, *sizes) @ second.T
        rows, columns = (every.sum(axis=axis, keepdims=True) for axis in (2, 1))
        least = 1 / joint.answers
        alone = np.maximum(joint.shares.sum(axis=1), least)[:, None] * np.maximum(joint.shares.sum(axis=0), least)
        squares = ((every - rows * columns) ** 2 / alone).sum(axis=(1, 2)) / (min(sizes) - 1)
        ends = []
        for power, statistics in ((0.5, squares), (1.0, np.sqrt(squares))):
            low, high = np.quantile(statistics[1:], self.tails)
            ends.append([max(2 * statistics[0] - end, 0.0) ** power for end in (high, low)])
        low, high = min(interval[0] for interval in ends), max(interval[1] for interval in ends)
        return min(float(low), estimate), max(min(float(high), 1.0), estimate)


def deviations(counts: Reals, seen: Evidence, rounds: int) -> Reals:
    """The standard deviations of distributions that are reconstructed from rows of counts, all at once."""
    shares = np.full((len(counts), seen.channel.cells), 1 / seen.channel.cells)
    held = counts.any(axis=0)
    counts, matrix = counts[:, held], np.ascontiguousarray(seen.channel.matrix[held])
    for _ in range(rounds):
        shares = stepped(shares, counts, matrix)
    return deviation(shares, seen.channel.edges)


def _summed(values: Reals, group: Whole, many: int) -> Reals:
    """Rows x groups: sums."""
    return np.array([np.bincount(group, weights=row, minlength=many) for row in values])


def _counted(seen: Evidence, group: Whole, many: int) -> Reals:
    """Groups x outcomes: how many answers."""
    size = len(seen.channel.matrix)
    counts = np.bincount(group * size + seen.codes, minlength=many * size)
    return counts.reshape(many, size).astype(np.float64)


# How answers to two questions go together: as shown, and as estimated for the true ones.


MOST_PAIRS = 60
"""So many pairs are told, in the order of the questions."""
_MOST_CELLS = 10_000
_ENDS = Stopping(rule="likelihood", limit=1e-7, rounds=500)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two questions."""

    questions: tuple[str, str]
    """Their names."""
    measure: Literal["correlation", "cramers-v"]
    """Pearson's r of two numbers, or Cramér's V of two categories."""
    shown: float | None
    """Of the shown answers; None where one of them never changes."""
    estimate: float | None
    """Of the true ones, estimated; None where they do not differ."""
    low: float | None
    """Where its interval begins."""
    high: float | None
    """Where it ends."""

    @property
    def figures(self) -> dict[str, float | None]:
        """All that is measured."""
        return {"shown": self.shown, "estimate": self.estimate, "low": self.low, "high": self.high}

    def to_json(self) -> dict[str, Any]:
        """As a manifest has it."""
        return {"questions": list(self.questions), "measure": self.measure, **self.figures}


class Reconstructing(Protocol):
    """How answers were reconstructed."""

    @property
    def confidence(self) -> float:
        """Of intervals."""

    def seen(self, question: Question, answers: Sequence[str]) -> Evidence:
        """The answers to a question in the cells of its distribution."""


def pairs_of(
    how: Reconstructing,
    questions: Sequence[Question],
    answers: Mapping[str, Sequence[str]],
    known: Mapping[str, tuple[float, int]],
) -> tuple[Pair, ...]:
    """All pairs of numbers, and all pairs of kept categories, up to as many as are told, with bootstrap intervals.

    ``known`` are the deviations of the estimated distributions of numbers, and after how many rounds they were found.
    Claim: in simulations an interval holds the true figure about as often as the confidence says; of Cramér's V near 0
        more often, because no V is negative and its interval begins there.
    """
    drawing = Drawing(confidence=how.confidence)
    numbers = [question for question in questions if isinstance(question, NoisyNumber)]
    pairs = _numbers(how, numbers, answers, known, drawing) if len(numbers) > 1 else []
    kept = [question for question in questions if isinstance(question, KeptCategory)]
    for question, other in combinations(kept, 2):
        if len(pairs) < MOST_PAIRS and len(question.values) * len(other.values) <= _MOST_CELLS:
            pairs.append(_categories(question, other, answers, drawing))
    return tuple(pairs[:MOST_PAIRS])


def noise_variance(question: NoisyNumber) -> float:
    """The variance of a question's noise, in units of its answers."""
    law = NoiseLaw.of(question)
    at = np.arange(-law.reach, law.reach + 1, dtype=np.float64)
    return float((law.mass * at**2).sum()) * float(question.step) ** 2


def _numbers(
    how: Reconstructing,
    questions: Sequence[NoisyNumber],
    answers: Mapping[str, Sequence[str]],
    known: Mapping[str, tuple[float, int]],
    drawing: Drawing,
) -> list[Pair]:
    """Correlations. Independent noise adds nothing to a covariance, so that of the true answers is the one shown.

    Their deviations are those of the estimated distributions. The difference of shown variance and noise would be
    unbiased, and useless where noise is ten times as large as what it hides: it is negative as often as not.
    Source: document 000, section 20.2; Fuller 1987 (attenuation).
    """
    seen = np.array([[float(answer) for answer in answers[question.name]] for question in questions])
    wide = np.atleast_2d(np.cov(seen)) if seen.shape[1] > 1 else np.zeros((len(seen), len(seen)))
    true = [known[question.name][0] ** 2 for question in questions]
    evidence_of = [how.seen(question, answers[question.name]) for question in questions]
    drawn = drawing.correlations(seen, evidence_of, [known[question.name][1] for question in questions])
    pairs = []
    for (i, number), (j, other) in combinations(enumerate(questions), 2):
        estimate = _correlation(wide[i, j], true[i], true[j])
        low, high = (None, None) if estimate is None else drawing.percentiles(drawn[:, i, j], estimate)
        pairs.append(
            Pair(
                questions=(number.name, other.name),
                measure="correlation",
                shown=_correlation(wide[i, j], wide[i, i], wide[j, j]),
                estimate=estimate,
                low=low,
                high=high,
            )
        )
    return pairs


def _correlation(both: float, variance: float, other: float) -> float | None:
    return float(np.clip(both / np.sqrt(variance * other), -1, 1)) if variance > 0 and other > 0 else None


def _categories(
    category: KeptCategory, other: KeptCategory, answers: Mapping[str, Sequence[str]], drawing: Drawing
) -> Pair:
    """Cramér's V of the table of shown answers, and of the joint distribution that EM finds behind it."""
    seen = [evidence(question, answers[question.name]) for question in (category, other)]
    sizes = len(category.values), len(other.values)
    counted = np.bincount(seen[0].codes * sizes[1] + seen[1].codes, minlength=sizes[0] * sizes[1])
    joint = reconstruct_joint(seen, stopping=_ENDS)
    table, estimate = counted.reshape(sizes) / seen[0].answers, cramers_v(joint.shares)
    low, high = (None, None) if estimate is None else drawing.association(seen, joint, estimate)
    return Pair(
        questions=(category.name, other.name),
        measure="cramers-v",
        shown=cramers_v(table),
        estimate=estimate,
        low=low,
        high=high,
    )


def cramers_v(shares: Reals) -> float | None:
    """Cramér's V of a table of shares: 0 if rows and columns are independent, 1 if one tells the other.

    >>> cramers_v(np.array([[0.5, 0.0], [0.0, 0.5]])), cramers_v(np.array([[0.25, 0.25], [0.25, 0.25]]))
    (1.0, 0.0)
    """
    held = shares[shares.sum(axis=1) > 0][:, shares.sum(axis=0) > 0]
    fewer = min(held.shape) - 1
    if fewer < 1:
        return None
    alone = held.sum(axis=1, keepdims=True) * held.sum(axis=0, keepdims=True)
    return float(min(np.sqrt(((held - alone) ** 2 / alone).sum() / fewer), 1.0))
