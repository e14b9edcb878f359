"""Permute and flip on scores that nobody knows, in one garbled circuit: a better choice for the same epsilon.

Every candidate passes with probability w(gap) / w(0), by a coin of its own; the best always passes. One of those that
passed is chosen, each as likely. That is the first head of coins flipped in random order.

Claim: two parties learn the chosen index and nothing else, for the epsilon of the weights and 2^-63 more, where one
    record more moves no score down and none by more than 1. The expected score is never below the exponential
    mechanism's (`choice_circuit`) with the same weights.
Proof: let p_j be the probability that j passes. P(i) = p_i f with f = the integral from 0 to 1 of the product of
    1 - p_j t over all j but i, since 1/(1+N) is the integral of t^N. By `gap_weights` one record more multiplies either
    all p_j by factors from 1 to c = e^epsilon, or all by factors from 1/c to 1. In the first case p_i grows by c at
    most and f does not grow, so P(i) grows by c at most. And f shrinks by c at most: 1 - p'_j t >= 1 - c p_j t >= 0 for
    t <= 1/c, and the integral of the product of 1 - c p_j t from 0 to 1/c is f / c. The second case is the first one
    backwards.
Source: McKenna, Sheldon 2020 (permute and flip); the circuit and the proof for whole weights are ours.
Cost: less than the exponential mechanism: sums and the random value are as wide as a number of candidates.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from sfumato.collaborate.exchange import Talk
from sfumato.collaborate.primitives.circuit import ZERO, Bits, Circuit
from sfumato.collaborate.primitives.circuit_builder import CircuitBuilder
from sfumato.collaborate.primitives.circuit_words import chosen_index, less, prefix_sums
from sfumato.collaborate.primitives.garbled_talk import compute
from sfumato.collaborate.primitives.random_value import BIAS, random_bits, scaled
from sfumato.collaborate.primitives.ristretto_points import Draw
from sfumato.collaborate.primitives.transfer_extension import Receiving, Sending
from sfumato.collaborate.primitives.wire_bits import numbers_of
from sfumato.collaborate.private.choice_circuit import weighed, wide
from sfumato.collaborate.private.gap_weights import GapWeights, gap_weights
from sfumato.collaborate.private.hidden_scores import Shape, scores_of
from sfumato.ground.secret_key import fresh_key


def flipped(ready: Sending | Receiving, shape: Shape, inputs: Bits, epsilon: Fraction) -> Talk[int]:
    """The index of the chosen candidate, from one's own part of the scores."""
    return (yield from flipped_by(ready, shape, inputs, gap_weights(epsilon)))


def flipped_by(
    ready: Sending | Receiving, shape: Shape, inputs: Bits, weights: GapWeights, *, draw: Draw = fresh_key
) -> Talk[int]:
    """The same by given weights, with random bits from where they are said to come from."""
    random = random_bits(coin_bits(shape.count, weights), draw)
    found = yield from compute(ready, coin_circuit(shape, weights), np.concatenate([inputs, random]), draw=draw)
    return numbers_of(found[None])[0] if len(found) else 0


def coin_bits(count: int, weights: GapWeights) -> int:
    """How many random bits each party puts in: a coin for each candidate, then a value below how many passed."""
    return count * coin_width(weights) + count.bit_length() + BIAS


def coin_width(weights: GapWeights) -> int:
    """Binary digits of a coin: the highest weight is two to this."""
    return weights.highest.bit_length() - 1


@lru_cache(maxsize=16)
def coin_circuit(shape: Shape, weights: GapWeights) -> Circuit:
    """The circuit of one choice; both parties build the same."""
    build, digits, count = CircuitBuilder(), coin_width(weights), shape.count
    width = count.bit_length()
    ours, coins = build.garbler_input(shape.bits(0)), build.garbler_input(count, digits)
    random = build.garbler_input(width + BIAS)
    theirs, others = build.evaluator_input(shape.bits(1)), build.evaluator_input(count, digits)
    other = build.evaluator_input(width + BIAS)
    scores = scores_of(build, shape, ours, theirs)
    tossed = wide(build.xor(coins, others), digits + 1)
    passed = less(build, tossed, wide(weighed(build, scores, weights), digits + 1))
    words = np.full((count, width), ZERO)
    words[:, 0] = passed
    sums = prefix_sums(build, words)
    value = scaled(build, sums[-1], random, other)
    index = chosen_index(build, build.not_(less(build, value, sums[:-1])))
    return build.circuit(garbler=index, evaluator=index)
