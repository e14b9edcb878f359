"""The exponential mechanism over weights that nobody knows: i is chosen with probability w_i / S, S their sum.

Claim: two parties hold shares of the weights modulo 2^bits, whose sum is below 2^bits and not 0. Both learn the chosen
index and nothing else. The probability of every candidate with a weight is right but for a factor 1 +- 2^-64, and one
with weight 0 is never chosen: what the weights promise by differential privacy holds with 2^-63 added to epsilon.

Source: document 003, algorithm 7.2 and section 7.4, in one garbled circuit: R = (U S) >> m as in `random_value`, prefix
sums P_i of the weights, and the first i with R < P_i. The proof of the factor: candidate i belongs to w_i 2^m / S
values of U, give or take one, and w_i / S >= 2^-bits while m = bits + 64.

A weight that one party computes alone, for a candidate of its own, is a share beside which the other party's is 0.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from sfumato.collaborate.exchange import Talk
from sfumato.collaborate.leakage import Leakage, Told
from sfumato.collaborate.primitives.circuit import Circuit
from sfumato.collaborate.primitives.circuit_builder import CircuitBuilder
from sfumato.collaborate.primitives.circuit_words import add, chosen_index, less, prefix_sums
from sfumato.collaborate.primitives.garbled_talk import compute
from sfumato.collaborate.primitives.random_value import BIAS, random_bits, scaled
from sfumato.collaborate.primitives.ristretto_points import Draw
from sfumato.collaborate.primitives.transfer_extension import Receiving, Sending
from sfumato.collaborate.primitives.wire_bits import Numbers, bits_of, numbers_of
from sfumato.ground.errors import ParameterError, SessionError
from sfumato.ground.secret_key import fresh_key

LEAKAGE = Leakage(
    protocol="exponential mechanism over shared weights",
    result=(Told(to="everybody", what="the index of the chosen candidate"),),
    beyond=(Told(to="everybody", what="how many candidates there are, and the public width of weights in bits"),),
    withstands="either party alone",
    limits="a party that does not follow the protocol; the evaluator learns the index first and may stop then; weights "
    "whose sum is 2^bits or more, which wraps around unnoticed",
)


def selected(ready: Sending | Receiving, shares: Numbers, *, bits: int = 64, draw: Draw = fresh_key) -> Talk[int]:
    """The index of the chosen candidate, from one's own shares of all weights."""
    count = len(shares)
    if not count:
        raise ParameterError("nothing can be chosen from no candidates")
    words = [int(one) % (1 << bits) for one in shares]
    inputs = np.concatenate([bits_of(words, bits).ravel(), random_bits(bits + BIAS, draw)])
    found = numbers_of((yield from compute(ready, _circuit(count, bits), inputs, draw=draw))[None])[0]
    if found == count:
        raise SessionError("the weights of all candidates are 0; one must have a weight")
    return found


@lru_cache(maxsize=8)
def _circuit(count: int, bits: int) -> Circuit:
    build = CircuitBuilder()
    ours, random = build.garbler_input(count, bits), build.garbler_input(bits + BIAS)
    theirs, other = build.evaluator_input(count, bits), build.evaluator_input(bits + BIAS)
    sums = prefix_sums(build, add(build, ours, theirs))
    value = scaled(build, sums[-1], random, other)
    index = chosen_index(build, build.not_(less(build, value, sums)))
    return build.circuit(garbler=index, evaluator=index)
