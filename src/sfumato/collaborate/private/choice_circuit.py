"""The exponential mechanism on scores that nobody knows, in one garbled circuit.

Claim: two parties learn the index of the chosen candidate and nothing else. Candidate i is chosen with probability
    w(m - u_i) / S, where m is the highest score, w are `GapWeights` and S is the sum of all weights, but for the factor
    1 +- 2^-64 of the random value: it costs the epsilon of the weights and 2^-63 more.
Source: document 003, algorithms 7.2 and 7.5 to 7.7 in one: MAX, the exponential, SUM, the random value and COMPARISON.
    No share of any of them leaves the circuit. In the thesis the exponential is an oblivious polynomial
    (`polynomial_choice`); a table costs an and gate for each entry.
Cost: about 1,700 and gates for each candidate, most of them for the product of two table entries.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np

from sfumato.collaborate.exchange import Talk
from sfumato.collaborate.primitives.circuit import Bits, Circuit, Wires
from sfumato.collaborate.primitives.circuit_builder import CircuitBuilder
from sfumato.collaborate.primitives.circuit_words import (
    chosen_index,
    less,
    looked_up,
    maximum,
    prefix_sums,
    product,
    select,
    subtract,
    wider,
)
from sfumato.collaborate.primitives.garbled_talk import compute
from sfumato.collaborate.primitives.random_value import BIAS, random_bits, scaled
from sfumato.collaborate.primitives.ristretto_points import Draw
from sfumato.collaborate.primitives.transfer_extension import Receiving, Sending
from sfumato.collaborate.primitives.wire_bits import numbers_of
from sfumato.collaborate.private.gap_weights import GapWeights, gap_weights
from sfumato.collaborate.private.hidden_scores import WIDTH, Shape, scores_of
from sfumato.ground.secret_key import fresh_key

Choosing = Callable[[Sending | Receiving, Shape, Bits, Fraction], Talk[int]]
"""How two parties choose, for what their weights may cost: by coins, in one circuit, or with oblivious polynomials."""


def chosen(ready: Sending | Receiving, shape: Shape, inputs: Bits, epsilon: Fraction) -> Talk[int]:
    """The index of the chosen candidate, from one's own part of the scores."""
    return (yield from chosen_by(ready, shape, inputs, gap_weights(epsilon)))


def chosen_by(
    ready: Sending | Receiving, shape: Shape, inputs: Bits, weights: GapWeights, *, draw: Draw = fresh_key
) -> Talk[int]:
    """The same by given weights, with random bits from where they are said to come from."""
    circuit = choice_circuit(shape, weights)
    random = random_bits(weight_bits(shape.count, weights) + BIAS, draw)
    found = yield from compute(ready, circuit, np.concatenate([inputs, random]), draw=draw)
    return numbers_of(found[None])[0] if len(found) else 0


def weight_bits(count: int, weights: GapWeights) -> int:
    """Binary digits of a sum of so many weights."""
    return (count * weights.highest).bit_length()


@lru_cache(maxsize=16)
def choice_circuit(shape: Shape, weights: GapWeights) -> Circuit:
    """The circuit of one choice; both parties build the same."""
    build, bits = CircuitBuilder(), weight_bits(shape.count, weights)
    ours, random = build.garbler_input(shape.bits(0)), build.garbler_input(bits + BIAS)
    theirs, other = build.evaluator_input(shape.bits(1)), build.evaluator_input(bits + BIAS)
    scores = scores_of(build, shape, ours, theirs)
    found = wide(weighed(build, scores, weights), bits)
    sums = prefix_sums(build, found)
    value = scaled(build, sums[-1], random, other)
    index = chosen_index(build, build.not_(less(build, value, sums[:-1])))
    return build.circuit(garbler=index, evaluator=index)


def gaps_of(build: CircuitBuilder, scores: Wires) -> Wires:
    """How far each score is below the highest."""
    return subtract(build, np.broadcast_to(maximum(build, scores, signed=True)[0], scores.shape), scores)


def weighed(build: CircuitBuilder, scores: Wires, weights: GapWeights) -> Wires:
    """The weight of each score."""
    gaps = gaps_of(build, scores)
    last = np.broadcast_to(build.constant(weights.last, WIDTH), gaps.shape)
    near = select(build, less(build, last, gaps), last, gaps)
    at = len(weights.lower).bit_length() - 1
    end = at + (len(weights.upper) - 1).bit_length()
    upper = looked_up(build, near[:, at:end], weights.upper)
    return product(build, upper, looked_up(build, near[:, :at], weights.lower))


def wide(words: Wires, bits: int) -> Wires:
    """Words of another width; digits that are cut off are 0."""
    return wider(words, bits)[:, :bits]
