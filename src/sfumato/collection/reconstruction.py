"""Reconstructs the distribution of true answers: iterative Bayes, EM, inversion, bootstrap intervals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np

from sfumato.collection.channels import Channel, Evidence, Reals
from sfumato.core.arguments import above, at_least, between, one_of
from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance
from sfumato.core.short_repr import Brief
from sfumato.core.special import chi_square_quantile

# The distribution of original answers from shown ones: iterative Bayes, and the EM that converges.


Rule = Literal["chi-square", "mean-change", "likelihood"]
RULES = ("chi-square", "mean-change", "likelihood")
Method = Literal["em", "bayes", "inversion"]
METHODS = ("em", "bayes", "inversion")
_LIMITS = {"chi-square": 0.01, "mean-change": 1e-3, "likelihood": 1e-9}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopping:
    """When an iteration ends.

    Source: Agrawal and Srikant 2000: rounds differ by less than 1 % of what a chi-square test at 95 % would notice;
        document 000, section 20.2.1: the mean change of the densities.
    """

    rule: Rule = "chi-square"
    """chi-square: between two rounds; mean-change: of a cell's share against an equal share; likelihood: its gain for
    an answer."""
    limit: float | None = None
    """Below which it ends: a share of the test's threshold (0.01), a change (0.001) or a gain (1e-9)."""
    rounds: int = 5_000
    """At most so many."""

    def __post_init__(self) -> None:
        one_of("rule", self.rule, RULES)
        at_least("rounds", self.rounds, 1)
        if self.limit is not None:
            above("limit", self.limit, 0)

    def over(self, before: Reals, after: Reals, answers: float, gain: float) -> bool:
        """Whether two rounds, or the likelihood of an answer in them, differ by too little to go on."""
        limit = _LIMITS[self.rule] if self.limit is None else self.limit
        if self.rule == "likelihood":
            return gain < limit
        if self.rule == "mean-change":
            return float(np.abs(after - before).mean() * after.size) < limit
        held = before > 0
        apart = answers * float(((after - before)[held] ** 2 / before[held]).sum())
        return apart < limit * _noticed(after.size - 1)


@lru_cache(maxsize=256)
def _noticed(freedom: int) -> float:
    """What a chi-square test at 95 % notices."""
    return chi_square_quantile(0.95, max(freedom, 1))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Distribution(Brief):
    """What the originals are like: a share for every cell, and counts that stand for answers."""

    channel: Channel
    """The column and its cells."""
    shares: Reals
    """They add up to 1, and none is negative."""
    answers: int
    """How many shown answers it was learnt from."""
    method: Method
    """How."""
    rounds: int = 0
    """Of an iteration."""
    likelihoods: tuple[float, ...] = ()
    """Of EM: the mean log-likelihood of an answer before every round, and at the end."""
    low: Reals | None = None
    """Where an interval was asked for, its lower ends."""
    high: Reals | None = None
    """Its upper ends."""

    @property
    def name(self) -> str:
        """The column."""
        return self.channel.name

    @property
    def labels(self) -> tuple[str, ...]:
        """The cells."""
        return self.channel.labels

    @property
    def counts(self) -> Reals:
        """How many people stand behind each cell: real numbers."""
        return self.shares * self.answers


def reconstruct(seen: Evidence, *, method: Method = "em", stopping: Stopping | None = None) -> Distribution:
    """The distribution of the originals of some shown answers.

    Claim: EM climbs the likelihood of the cells' shares and ends at its maximum, if it is let; the likelihood is
        concave, so no other maximum is higher. Iterative Bayes takes densities at midpoints for probabilities of cells;
        it is near, and no likelihood is known that it climbs. Both stay non-negative and add up to 1.
    Cost: a round is two products with a matrix of outcomes x cells, whatever the number of answers.
    Source: document 000, section 20.2.1; Agrawal and Srikant 2000; Agrawal and Aggarwal 2001 (EM).
    """
    one_of("method", method, METHODS)
    if method == "inversion":
        return inverted(seen)
    matrix = seen.channel.matrix
    if method == "bayes":
        if seen.channel.densities is None:
            raise ParameterError(f"question {seen.channel.name!r}: bayes is for numbers; take em or inversion")
        matrix = seen.channel.densities
    shares, rounds, likelihoods = climbed(seen.counts, matrix, stopping or usual(seen.channel))
    return Distribution(
        channel=seen.channel,
        shares=shares,
        answers=seen.answers,
        method=method,
        rounds=rounds,
        likelihoods=tuple(likelihoods) if method == "em" else (),
    )


def usual(channel: Channel) -> Stopping:
    """When an iteration ends where nothing is said: early for numbers, which smooths; at its end for categories."""
    return Stopping() if channel.edges is not None else Stopping(rule="likelihood")


def climbed(counts: Reals, matrix: Reals, stopping: Stopping) -> tuple[Reals, int, list[float]]:
    """Shares after as many rounds as the rule asks for, from equal ones; and the likelihoods on the way."""
    held = counts > 0
    counts, matrix = counts[held], np.ascontiguousarray(matrix[held])
    answers = float(counts.sum())
    shares = np.full(matrix.shape[1], 1 / matrix.shape[1])
    likelihoods = [likelihood(shares, counts, matrix)]
    for turn in range(1, stopping.rounds + 1):
        after = stepped(shares, counts, matrix)
        likelihoods.append(likelihood(after, counts, matrix))
        over = stopping.over(shares, after, answers, likelihoods[-1] - likelihoods[-2])
        shares = after
        if over:
            return shares, turn, likelihoods
    return shares, stopping.rounds, likelihoods


def stepped(shares: Reals, counts: Reals, matrix: Reals) -> Reals:
    """One round: every answer is spread over the cells by Bayes' rule, and the cells' parts are added up (20.5).

    Shares and counts may be rows of several problems with one matrix.
    """
    predicted = shares @ matrix.T
    posterior = shares * (_divided(counts, predicted, 0.0) @ matrix)
    return _divided(posterior, posterior.sum(axis=-1, keepdims=True), shares)


def _divided(above: Reals, below: Reals, otherwise: Reals | float) -> Reals:
    """A quotient where it is divided by more than nothing, and otherwise something else."""
    good = below > 0
    if good.all():
        return above / below
    return np.where(
        good,
        np.divide(above, below, out=np.zeros(np.broadcast_shapes(above.shape, below.shape)), where=good),
        otherwise,
    )


def likelihood(shares: Reals, counts: Reals, matrix: Reals) -> float:
    """The mean log-likelihood of an answer; answers that no cell explains are left out."""
    predicted = matrix @ shares
    good = predicted > 0
    return float((counts[good] * np.log(predicted[good])).sum() / counts[good].sum()) if good.any() else float("-inf")


def deviation(shares: Reals, edges: Reals | None) -> Reals:
    """Of numbers that lie evenly in their cells; 0 for others. Rows of shares have one each."""
    if edges is None:
        return np.zeros(shares.shape[:-1])
    middle, wide = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    centred = middle - (shares @ middle)[..., None]
    return np.asarray(np.sqrt((shares * (centred**2 + wide**2 / 12)).sum(axis=-1)))


# Categories by inversion: the unbiased estimate, and the nearest distribution to it.


def inverted(seen: Evidence) -> Distribution:
    """The shares that would show what was shown, moved to the nearest distribution.

    Claim: before it is moved, the estimate is unbiased: its mean over all draws of the coins is the true distribution.
    Source: Warner 1965; Erlingsson, Pihur and Korolova 2014 (bits); Duchi and others 2008 (projection).
    """
    return Distribution(
        channel=seen.channel, shares=onto_simplex(unbiased(seen)), answers=seen.answers, method="inversion"
    )


def unbiased(seen: Evidence) -> Reals:
    """The unbiased estimate of the shares; some of them may be negative."""
    if seen.channel.edges is not None:
        raise ParameterError(
            f"question {seen.channel.name!r}: inversion is for categories; of noise on numbers it makes more noise, so "
            "take em or bayes"
        )
    counts, bits = seen.counts / seen.answers, seen.channel.bits
    if bits is None:
        return np.linalg.solve(seen.channel.matrix, counts)
    return np.asarray((counts @ bits.rows - bits.flip) / (bits.keep - bits.flip))


def onto_simplex(shares: Reals) -> Reals:
    """The nearest numbers that are not negative and add up to 1.

    >>> onto_simplex(np.array([0.9, 0.3, -0.2])).round(6).tolist()
    [0.8, 0.2, 0.0]
    """
    ordered = np.sort(shares)[::-1]
    over = np.cumsum(ordered) - 1
    last = int(np.flatnonzero(ordered * np.arange(1, len(shares) + 1) > over)[-1])
    return np.asarray(np.maximum(shares - over[last] / (last + 1), 0.0))


# Bootstrap intervals of reconstructed shares: the answers are drawn again, and reconstructed again, many times.


RESAMPLES = 200
"""So many where nothing is said."""
FURTHER = Stopping(rule="mean-change", limit=1e-4)
"""When the iteration ends where nothing is said: later than for a distribution alone, so that intervals hold."""


def with_intervals(
    seen: Evidence,
    *,
    method: Method = "em",
    stopping: Stopping | None = None,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    chance: Chance | None = None,
) -> Distribution:
    """A reconstructed distribution with an interval for every cell.

    Claim: in simulations an interval holds the true share about as often as ``confidence`` says, where the shares do
        not depend on when the iteration ended: categories, and numbers whose iteration ran to its end. A rule that
        ends early smooths; what it smooths away no interval knows of.
    Cost: ``resamples`` reconstructions, all at once.
    Source: Efron 1979 (percentiles).
    """
    between("confidence", confidence, 0.0, 1.0, open_low=True)
    at_least("resamples", resamples, 20)
    distribution = reconstruct(seen, method=method, stopping=stopping or FURTHER)
    drawn = _drawn(seen, resamples, chance or Chance())
    if method == "inversion":
        shares = np.array([onto_simplex(row) for row in _inverted(seen, drawn)])
    else:
        matrix = seen.channel.matrix if method == "em" or seen.channel.densities is None else seen.channel.densities
        shares = np.full((resamples, seen.channel.cells), 1 / seen.channel.cells)
        held = drawn.any(axis=0)
        counts, kernel = drawn[:, held], np.ascontiguousarray(matrix[held])
        for _ in range(distribution.rounds):
            shares = stepped(shares, counts, kernel)
    low, high = np.quantile(shares, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return replace(distribution, low=np.minimum(low, distribution.shares), high=np.maximum(high, distribution.shares))


def _drawn(seen: Evidence, many: int, chance: Chance) -> Reals:
    """Counts of outcomes as they might have been."""
    counts = seen.counts
    return chance.generator().multinomial(seen.answers, counts / counts.sum(), size=many).astype(np.float64)


def _inverted(seen: Evidence, drawn: Reals) -> Reals:
    """The unbiased estimate is linear in the counts, so its matrix is found once."""
    outcomes = len(seen.channel.matrix)
    one_each = np.array([unbiased(Evidence(channel=seen.channel, codes=np.array([n]))) for n in range(outcomes)])
    return np.asarray(drawn @ one_each / seen.answers)
