"""Categories by inversion: the unbiased estimate, and the nearest distribution to it."""

from __future__ import annotations

import numpy as np

from sfumato.collect.channels import Evidence
from sfumato.collect.noise_laws import Reals
from sfumato.collect.reconstruct import Distribution
from sfumato.ground.errors import ParameterError


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
