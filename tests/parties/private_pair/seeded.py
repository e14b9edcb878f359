"""Releases of two parties whose randomness is known beforehand, and the release of one party with the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.algorithms.diffgen import DiffGen
from sfumato.algorithms.diffgen.noisy_specializer import published
from sfumato.algorithms.private_table import Mechanisms, NoisyTable, PrivateTable, Scores
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.dp.accounting import Cost
from sfumato.dp.events import Pure
from sfumato.dp.noise import Noisy
from sfumato.parties import oblivious_transfer
from sfumato.parties.diffgen.pair import BIAS, CountNoise
from sfumato.parties.diffgen.selection import chosen_by, gap_weights
from sfumato.parties.diffgen.two_parties import run_horizontal_pair, run_vertical_pair
from sfumato.parties.simulation import ThreadConversation, in_threads
from tests.algorithms.diffgen_tables import best
from tests.parties.private_pair.plainly import chosen_plainly, held, random_number
from tests.parties.ready import Repeatable, dealt_receiving, dealt_sending

Programs = list[Callable[[ThreadConversation], NoisyTable]]


@pytest.fixture
def dealt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys from a dealer in place of base transfers."""
    monkeypatch.setattr(oblivious_transfer, "send_base", dealt_sending)
    monkeypatch.setattr(oblivious_transfer, "receive_base", dealt_receiving)


def numbers() -> Iterator[int]:
    at = 0
    while True:
        yield at
        at += 1


def seeded_choosing(me: int) -> Any:
    """Choices in a circuit whose random bits are known by the party and the number of the choice."""
    calls = numbers()

    def choosing(ready: Any, shape: Any, inputs: Any, epsilon: Fraction) -> Any:
        seed = b"%d %d" % (me, next(calls))
        return (yield from chosen_by(ready, shape, inputs, gap_weights(epsilon), draw=Repeatable(seed)))

    return choosing


def seeded_noise(me: int) -> CountNoise:
    """Discrete Laplace noise that is known by the party and the number of the count."""
    calls = numbers()

    def draw(shape: tuple[int, ...], epsilon: Fraction, parties: int) -> Any:
        return laplace(me, next(calls), shape, epsilon)

    return CountNoise(name="seeded", draw=draw, whole=True)


def laplace(me: int, call: int, shape: tuple[int, ...], epsilon: Fraction) -> Any:
    dice, ended = Chance(seed=1000 * me + call).generator(), 1 - np.exp(-float(epsilon))
    return dice.geometric(ended, shape) - dice.geometric(ended, shape)


def alone(asked: DiffGen, table: PrivateTable, *, together: Callable[[str], bool]) -> NoisyTable:
    """The release of one party that has all records, from the same randomness.

    ``together`` says by its purpose whether a choice is one of a circuit; the others take the highest score.
    """
    calls, counts = numbers(), numbers()

    def choose(scores: Scores, cost: Cost) -> int:
        assert isinstance(cost, Pure)
        if not together(cost.what):
            return best(scores, cost)
        weights, count, call = gap_weights(cost.epsilon - BIAS), len(scores.values), next(calls)
        sides = [random_number(b"%d %d" % (me, call), count, weights) for me in (0, 1)]
        return chosen_plainly([round(one) for one in scores.values], weights, sides[0] ^ sides[1])

    def count(given: Any, cost: Cost) -> Noisy:
        assert isinstance(cost, Pure)
        call = next(counts)
        drawn = sum(laplace(me, call, given.shape, cost.epsilon) for me in (0, 1))
        return Noisy(values=given + drawn, event=cost, scale=float(1 / cost.epsilon), law="laplace", draws=2)

    return published(asked, table, Work(), Mechanisms(choose=choose, count=count))


def horizontally(asked: DiffGen, parts: list[PrivateTable]) -> list[NoisyTable]:
    def program(me: int) -> Any:
        return lambda talk: run_horizontal_pair(
            talk, asked, parts[me], Work(), noise=seeded_noise(me), choosing=seeded_choosing(me)
        )

    return in_threads([program(me) for me in (0, 1)])


def vertically(asked: DiffGen, table: PrivateTable, owners: tuple[int, ...]) -> list[NoisyTable]:
    def program(me: int) -> Any:
        return lambda talk: run_vertical_pair(
            talk, asked, held(table, owners, me), Work(), noise=seeded_noise(me), choosing=seeded_choosing(me),
            mechanisms=Mechanisms(choose=best),
        )  # fmt: skip

    return in_threads([program(me) for me in (0, 1)])
