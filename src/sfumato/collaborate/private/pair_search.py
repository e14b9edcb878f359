"""What both partitions share: two parties that are ready for circuits, and what they can be asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from sfumato.budget.events import Event, Pure
from sfumato.collaborate.conversation import Conversation
from sfumato.collaborate.primitives.circuit import Bits
from sfumato.collaborate.primitives.garbled_talk import ready_to_compute
from sfumato.collaborate.primitives.ristretto_points import Draw
from sfumato.collaborate.primitives.transfer_extension import Receiving, Sending
from sfumato.collaborate.private.choice_circuit import Choosing
from sfumato.collaborate.private.coin_circuit import flipped
from sfumato.collaborate.private.hidden_scores import MOST, Shape
from sfumato.ground.errors import DataError, ParameterError
from sfumato.ground.secret_key import fresh_key
from sfumato.publish.diffgen.by_value import ByValue
from sfumato.publish.diffgen.class_tables import Candidate
from sfumato.publish.diffgen.noisy_specializer import DiffGen
from sfumato.publish.noisy_table import Attribute

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
        return [min(round(self.price(one)), MOST // 2) for one in candidates]


def get_ready(conversation: Conversation, choosing: Choosing = flipped, *, draw: Draw = fresh_key) -> Pair:
    """Base transfers with the other party."""
    seat = conversation.seat
    if seat.count != 2:
        raise ParameterError(f"two parties are needed, not {seat.count}; more add up noisy counts")
    ready = conversation.run(ready_to_compute(seat, 1 - seat.me, draw=draw))
    return Pair(conversation=conversation, ready=ready, choosing=choosing)


def refuse_unfit(asked: DiffGen, attributes: tuple[Attribute, ...], rows: int) -> None:
    """Refuse what circuits cannot do, before anything is said."""
    if asked.score != "max":
        raise ParameterError(
            f'score must be "max" where two parties choose together, not "{asked.score}": a circuit adds and compares '
            "whole numbers"
        )
    if asked.epsilon is None:
        raise ParameterError("two parties spend an epsilon, not a rho: their noise is Laplace noise")
    sets = [one.name for one in attributes if one.kind == "set"]
    if sets:
        raise ParameterError(
            f"column {sets[0]!r} has sets, whose parts are tested one by one; two parties cannot do that without "
            "showing counts. Leave it out"
        )
    if rows > MOST // 2:
        raise DataError(f"two parties can count up to {MOST // 2:,} records each; there are more")


Ready = Callable[[Conversation, Choosing], Pair]
"""How two parties get ready; a test may spare them base transfers."""
