"""The mechanisms of two parties as cases for the noise audit: as an outsider sees them, and as one of the parties.

A party sees the outcome and its own part of all randomness. Choices are the circuit of a real session, whose gates are
computed in the open; garbling changes no outcome. ``audit_mechanisms(cases=two_party_cases(1))`` runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.noise_audit import Shown
from sfumato.core.randomness import fresh_key
from sfumato.parties.circuits import Bits, evaluated_runs, unpacked
from sfumato.parties.diffgen.pair import BIAS as LOSS
from sfumato.parties.diffgen.pair import SHARED, WHOLE, CountNoise
from sfumato.parties.diffgen.selection import (
    Shape,
    choice_circuit,
    coin_bits,
    coin_circuit,
    gap_weights,
    joint_inputs,
    own_inputs,
    weight_bits,
)
from sfumato.parties.random_selection import BIAS
from sfumato.pipeline.noise_cases import NoiseCase

Ints = NDArray[np.int64]
Random = Callable[[int, int], Bits]
"""From runs and bits to the random bits of one party, runs x bits."""
CANDIDATES = 8
"""With many candidates of one score a choice shows nearly all of its epsilon."""


def fresh_bits(runs: int, bits: int) -> Bits:
    """From the system."""
    size = -(-bits // 8)
    content = np.frombuffer(fresh_key(runs * size), np.uint8).reshape(runs, size)
    return np.ascontiguousarray(unpacked(content, bits))


@dataclass(frozen=True, slots=True, kw_only=True)
class Doors:
    """Where randomness comes from; a test hands in what it should not be."""

    random: tuple[Random, Random] = (fresh_bits, fresh_bits)
    """The random bits of each party's choices."""
    noises: tuple[CountNoise, ...] = (WHOLE, SHARED)
    """The ways of noise in counts."""


def two_party_cases(epsilon: float | Fraction = 1, doors: Doors | None = None) -> list[NoiseCase]:
    """All mechanisms of two parties at one epsilon."""
    looking, budget = doors or Doors(), Fraction(epsilon)
    counts = [case for noise in looking.noises for case in _counting(noise, budget)]
    return [*_choosing(looking, budget), *counts]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Scores of which one record moves some by one: both parties' inputs, before and after."""

    shape: Shape
    """What is public about them."""
    inputs: tuple[tuple[Bits, Bits], tuple[Bits, Bits]]
    """For each side, the inputs of both parties."""
    flips: bool = False
    """Whether by permute and flip; else by the exponential mechanism."""

    def runs(self, side: int, random: Sequence[Bits], epsilon: Fraction) -> Ints:
        """The chosen index of every run, from the random bits of both parties."""
        circuit = (coin_circuit if self.flips else choice_circuit)(self.shape, gap_weights(epsilon - LOSS))
        many = len(random[0])
        fixed = [np.broadcast_to(values, (many, len(values))) for values in self.inputs[side]]
        both = [np.concatenate([own, bits], axis=1) for own, bits in zip(fixed, random, strict=True)]
        outputs = evaluated_runs(circuit, both[0], both[1]).astype(np.int64)
        return np.asarray(outputs @ (1 << np.arange(outputs.shape[1])))

    def bits(self, epsilon: Fraction) -> int:
        """How many random bits a party puts in."""
        weights = gap_weights(epsilon - LOSS)
        return coin_bits(self.shape.count, weights) if self.flips else weight_bits(self.shape.count, weights) + BIAS


def horizontal_choice() -> Choice:
    """Candidates of one joint score; the second party has a record more that raises all scores but the first."""
    own = [np.array([[1, 0], [0, 2]])] * CANDIDATES
    more = [np.array([[1, 0], [0, 1]])] + [np.array([[2, 0], [0, 1]])] * (CANDIDATES - 1)
    zero, shape = [0] * CANDIDATES, Shape(children=(2,) * CANDIDATES, classes=2)
    less = [np.array([[1, 0], [0, 1]])] * CANDIDATES
    sides = [(joint_inputs(own, zero), joint_inputs(other, zero)) for other in (less, more)]
    return Choice(shape=shape, inputs=(sides[0], sides[1]))


def vertical_choice(moved: int = CANDIDATES - 1, count: int = CANDIDATES) -> Choice:
    """Candidates of one score, of both parties in turn; a record more raises the scores of the last ones."""
    owners = tuple(at % 2 for at in range(count))
    scores = [[5 + (side and at >= count - moved) for at in range(count)] for side in (0, 1)]
    sides = [
        tuple(own_inputs([score for score, owner in zip(side, owners, strict=True) if owner == me]) for me in (0, 1))
        for side in scores
    ]
    return Choice(shape=Shape(owners=owners), inputs=((sides[0][0], sides[0][1]), (sides[1][0], sides[1][1])))


def _choosing(looking: Doors, epsilon: Fraction) -> list[NoiseCase]:
    e = float(epsilon)

    def drawn(choice: Choice, runs: int) -> list[Bits]:
        return [random(runs, choice.bits(epsilon)) for random in looking.random]

    def case(name: str, choice: Choice, party: bool) -> NoiseCase:
        def draw(side: int, runs: int) -> Any:
            random = drawn(choice, runs)
            indices = choice.runs(side, random, epsilon)
            return 4 * indices + random[0][:, -2:] @ np.array([1, 2]) if party else indices

        return NoiseCase(name=name, declared=e, draw=draw, shows=_by_seldom(e, 4 if party else 1, choice.flips))

    two = vertical_choice(1, 2), vertical_choice(0, 2)

    def twice(side: int, runs: int) -> Any:
        first, second = (choice.runs(side, drawn(choice, runs), epsilon) for choice in two)
        return 2 * first + second

    return [
        case(f"two parties, {name} {way}, seen by {who}", replace(choice, flips=flips), party)
        for way, flips in (("choice", False), ("flip", True))
        for name, choice in (("horizontal", horizontal_choice()), ("vertical", vertical_choice()))
        for who, party in (("an outsider", False), ("a party", True))
    ] + [NoiseCase(name="two parties, two choices", declared=2 * e, draw=twice, shows=_by_both(e))]


def _counting(noise: CountNoise, epsilon: Fraction) -> list[NoiseCase]:
    """A count that one record moves by one; a party takes off what it added itself."""

    def drawn(party: bool) -> Callable[[int, int], Any]:
        def draw(side: int, runs: int) -> Any:
            parts = [noise.draw((runs,), epsilon, 2) for _ in range(2)]
            return np.asarray(5 + side + parts[1] + (0 if party else parts[0]))

        return draw

    promised = {False: float(epsilon), True: float(noise.against_party(epsilon))}

    def shows(party: bool) -> Callable[[float], tuple[Shown, ...]]:
        shape = (1 if party else 2) * (1.0 if noise.whole else 0.5)
        return lambda f: (_tail(f * float(epsilon), shape, promised[party]),)

    return [
        NoiseCase(
            name=f"two parties, counts with {noise.name} noise, seen by {who}",
            declared=promised[party],
            draw=drawn(party),
            shows=shows(party),
        )
        for who, party in (("an outsider", False), ("a party", True))
    ]


def _by_seldom(e: float, parts: int, flips: bool) -> Callable[[float], tuple[Shown, ...]]:
    """The first candidate is the rarer the higher all others are; ``parts``: of outputs that come equally often."""
    others = CANDIDATES - 1
    if flips:
        return lambda f: (Shown(right=1 / CANDIDATES / parts, wrong=exp(-f * e) / CANDIDATES / parts, both=False),)
    return lambda f: (Shown(right=1 / (others + 1) / parts, wrong=1 / (1 + others * exp(f * e)) / parts, both=False),)


def _by_both(e: float) -> Callable[[float], tuple[Shown, ...]]:
    """Two choices between two, of which one is moved: with one random value for both, some outcomes never come."""
    return lambda f: (Shown(right=exp(f * e) / (1 + exp(f * e)) - 0.5, wrong=0.0, both=False),)


def _tail(epsilon: float, shape: float, promised: float) -> Shown:
    """Noise that is the difference of two Polya numbers of a shape: guessed from the number on that shows most."""
    number = np.arange(int(60 / epsilon) + 2)
    steps = np.log(np.exp(-epsilon) * (number[:-1] + shape) / (number[:-1] + 1))
    polya = np.exp(np.concatenate([[0.0], steps.cumsum()]))
    law = np.convolve(polya, polya[::-1])
    above = (law / law.sum())[::-1].cumsum()[::-1][len(number) - 2 :]
    right, wrong = above[:-1][:8], np.maximum(above[1:][:8], 1e-300)
    best = int(np.argmax(right * np.maximum(np.log(right / wrong) - promised, 0) ** 2))
    return Shown(right=float(right[best]), wrong=float(wrong[best]), both=False)
