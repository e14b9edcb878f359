"""Two parties ready for circuits: the noise each adds to its counts, and the steps both partitions share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.diffgen.choices import ByValue
from sfumato.algorithms.diffgen.columns import Candidate
from sfumato.algorithms.diffgen.noisy_specializer import DiffGen
from sfumato.algorithms.private_table import Attribute
from sfumato.core.errors import DataError, ParameterError
from sfumato.core.randomness import fresh_key
from sfumato.dp.accounting import Cost, remaining_epsilon
from sfumato.dp.events import Event, Pure
from sfumato.dp.noise import Noisy, noisy_counts
from sfumato.dp.noise_shares import laplace_share
from sfumato.parties.circuits import Bits
from sfumato.parties.conversation import Conversation
from sfumato.parties.diffgen.many_parties import refuse_unlikely
from sfumato.parties.diffgen.selection import LEAST, MOST, Choosing, Shape, flipped
from sfumato.parties.garbled_circuits import ready_to_compute
from sfumato.parties.oblivious_transfer import Receiving, Sending
from sfumato.parties.releases.two_parties import OpenedNumbers
from sfumato.parties.ristretto import Draw

# What each of two parties adds to its own part of a count before anything is told.
#
# Two ways. *Whole* noise of both, as in the thesis (errata 7: "2 x Lap" are two independent noises): every published
# count has two discrete Laplace noises, and each party's own is enough against the other: epsilon holds against an
# outsider and against the other party. *Shared* noise: two numbers that add up to one discrete Laplace noise; half the
# variance, epsilon against an outsider, and against the other party, who knows its own share, what
# `noise.share_privacy.remaining_epsilon` says of one half.


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


# What both partitions share: two parties that are ready for circuits, and what they can be asked for.


BIAS = Fraction(1, 2**63)
"""What the random value of a choice costs beside its weights; it is taken off their epsilon."""


@dataclass(slots=True, kw_only=True)
class Pair:
    """Two parties that are ready for circuits."""

    conversation: Conversation
    """With the other party."""
    ready: Sending | Receiving
    """For transfers; the party with the lower number garbles."""
    choosing: Choosing = flipped
    """How they choose among hidden scores."""

    @property
    def me(self) -> int:
        """This party's number."""
        return self.conversation.seat.me

    def choose(self, shape: Shape, inputs: Bits, cost: Pure) -> int:
        """The place of the candidate that both learn."""
        return self.conversation.run(self.choosing(self.ready, shape, inputs, cost.epsilon - BIAS))


@dataclass(slots=True, kw_only=True)
class PairSearch(ByValue):
    """The thesis's search by two parties, each of which takes the same steps."""

    pair: Pair
    """This party and the other."""

    def bought(self, what: str) -> Pure:
        """What one choice costs: pure epsilon, as two parties have no other."""
        cost = self.cost(what)
        assert isinstance(cost, Pure)
        return cost

    def taken(self, shape: Shape, inputs: Bits, what: str) -> tuple[int, list[Event]]:
        """A choice among hidden scores, and what it cost."""
        cost = self.bought(what)
        return self.pair.choose(shape, inputs, cost), [cost]

    def whole_prices(self, candidates: list[Candidate]) -> list[int]:
        """Prices in whole records, since scores are whole: public."""
        return [min(round(self.price(candidate)), MOST // 2) for candidate in candidates]


def get_ready(conversation: Conversation, choosing: Choosing = flipped, *, draw: Draw = fresh_key) -> Pair:
    """Base transfers with the other party."""
    seat = conversation.seat
    if seat.count != 2:
        raise ParameterError(f"two parties are needed, not {seat.count}; more add up noisy counts")
    ready = conversation.run(ready_to_compute(seat, 1 - seat.me, draw=draw))
    return Pair(conversation=conversation, ready=ready, choosing=choosing)


def refuse_unfit(settings: DiffGen, attributes: tuple[Attribute, ...], rows: int) -> None:
    """Refuse what circuits cannot do, before anything is said."""
    if settings.score != "max":
        raise ParameterError(
            f'score must be "max" where two parties choose together, not "{settings.score}": a circuit adds and '
            "compares "
            "whole numbers"
        )
    if settings.epsilon is None:
        raise ParameterError("two parties spend an epsilon, not a rho: their noise is Laplace noise")
    sets = [attribute.name for attribute in attributes if attribute.kind == "set"]
    if sets:
        raise ParameterError(
            f"column {sets[0]!r} has sets, whose parts are tested one by one; two parties cannot do that without "
            "showing counts. Leave it out"
        )
    if rows > MOST // 2:
        raise DataError(f"two parties can count up to {MOST // 2:,} records each; there are more")


Ready = Callable[[Conversation, Choosing], Pair]
"""How two parties get ready; a test may spare them base transfers."""
