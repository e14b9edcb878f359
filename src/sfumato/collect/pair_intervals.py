"""Bootstrap intervals of how two questions go together: the answers are drawn again, and measured again, many times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.collect.bootstrap import RESAMPLES
from sfumato.collect.channels import Evidence
from sfumato.collect.joint import JointDistribution
from sfumato.collect.noise_laws import Reals, Whole
from sfumato.collect.reconstruct import deviation, stepped
from sfumato.ground.chance import Chance

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
        found = np.empty((self.resamples, len(values), len(values)))
        spread = [
            deviations(weights @ _counted(one, group, many), one, turns)
            for one, turns in zip(seen, rounds, strict=True)
        ]
        for i, row in enumerate(pairs):
            products = weights @ _summed(np.array(row), group, many).T
            for j in range(i + 1):
                both = (products[:, j] - sums[:, i] * sums[:, j] / counted) / np.maximum(counted - 1, 1)
                apart = spread[i] * spread[j]
                found[:, i, j] = found[:, j, i] = np.divide(both, apart, out=np.zeros_like(both), where=apart > 0)
        return np.clip(found, -1, 1)

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
        first, second = (np.linalg.inv(one.channel.matrix) for one in seen)
        every = first @ np.concatenate([table[None], again]).reshape(-1, *sizes) @ second.T
        rows, columns = (every.sum(axis=axis, keepdims=True) for axis in (2, 1))
        least = 1 / joint.answers
        alone = np.maximum(joint.shares.sum(axis=1), least)[:, None] * np.maximum(joint.shares.sum(axis=0), least)
        squares = ((every - rows * columns) ** 2 / alone).sum(axis=(1, 2)) / (min(sizes) - 1)
        ends = []
        for power, found in ((0.5, squares), (1.0, np.sqrt(squares))):
            low, high = np.quantile(found[1:], self.tails)
            ends.append([max(2 * found[0] - end, 0.0) ** power for end in (high, low)])
        low, high = min(one[0] for one in ends), max(one[1] for one in ends)
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
    return np.array([np.bincount(group, weights=one, minlength=many) for one in values])


def _counted(seen: Evidence, group: Whole, many: int) -> Reals:
    """Groups x outcomes: how many answers."""
    size = len(seen.channel.matrix)
    found = np.bincount(group * size + seen.codes, minlength=many * size)
    return found.reshape(many, size).astype(np.float64)
