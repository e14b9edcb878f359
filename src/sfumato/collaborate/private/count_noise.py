"""What each of two parties adds to its own part of a count before anything is told.

Two ways. *Whole* noise of both, as in the thesis (errata 7: "2 x Lap" are two independent noises): every published
count has two discrete Laplace noises, and each party's own is enough against the other: epsilon holds against an
outsider and against the other party. *Shared* noise: two numbers that add up to one discrete Laplace noise; half the
variance, epsilon against an outsider, and against the other party, who knows its own share, what
`noise.share_privacy.remaining_epsilon` says of one half.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.budget.events import Pure
from sfumato.budget.purse import Cost
from sfumato.collaborate.conversation import Conversation
from sfumato.collaborate.noisy.summed_noise import refuse_unlikely
from sfumato.collaborate.private.gap_weights import LEAST
from sfumato.collaborate.releases.two_parties import OpenedNumbers
from sfumato.ground.errors import ParameterError
from sfumato.noise import Noisy, noisy_counts
from sfumato.noise.noise_shares import laplace_share
from sfumato.noise.share_privacy import remaining_epsilon

Counts = NDArray[np.int64]
Drawn = Callable[[tuple[int, ...], Fraction, int], Counts]
"""From a shape, an epsilon and the number of parties to what one party adds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountNoise:
    """How parties make the noise of a count."""

    name: str
    """whole or shared."""
    draw: Drawn
    """What one party adds."""
    whole: bool
    """Whether every party adds a whole noise; else all parties' together are one."""

    def noises(self, parties: int) -> int:
        """How many whole noises a published count has."""
        return parties if self.whole else 1

    def against_party(self, epsilon: Fraction) -> Fraction:
        """The epsilon of a count against the other of two parties, who knows what it added itself."""
        return epsilon if self.whole else remaining_epsilon(epsilon, Fraction(1, 2))


def _whole(shape: tuple[int, ...], epsilon: Fraction, parties: int) -> Counts:
    """A discrete Laplace noise from OpenDP, on zeros."""
    return np.asarray(noisy_counts(np.zeros(shape, np.int64), epsilon=epsilon, what="noise of a party").values)


WHOLE = CountNoise(name="whole", draw=_whole, whole=True)
SHARED = CountNoise(name="shared", draw=laplace_share, whole=False)


class JointCounts:
    """Noisy counts of which each party has a part: its own records, or a share. Only noisy parts are sent."""

    def __init__(self, conversation: Conversation, noise: CountNoise, *, wraps: bool) -> None:
        """``wraps``: parts add up modulo 2^32, as shares do, and are sent so."""
        self._opened, self._most = OpenedNumbers(conversation, signed=True), conversation.max_records
        self._noise, self._wraps = noise, wraps
        self._parties = conversation.seat.count

    def __call__(self, own: NDArray[Any], cost: Cost) -> Noisy:
        """The sum of all parties' noisy parts."""
        if not isinstance(cost, Pure) or cost.epsilon < LEAST:
            raise ParameterError(f"counts of two parties must cost an epsilon of at least {float(LEAST):g}")
        drawn = self._noise.draw(np.shape(own), cost.epsilon, self._parties)
        total = self._folded(self._opened(self._folded(np.asarray(own, np.int64) + drawn)))
        refuse_unlikely(total, self._most, self._parties, cost.epsilon)
        noises = self._noise.noises(self._parties)
        return Noisy(values=total, event=cost, scale=float(1 / cost.epsilon), law="laplace", draws=noises)

    def _folded(self, values: Counts) -> Counts:
        return values.astype(np.int32).astype(np.int64) if self._wraps else values
