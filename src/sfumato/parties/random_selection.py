"""Random numbers below a hidden bound, and selection with probabilities by hidden weights."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from sfumato.core.errors import ParameterError, SessionError
from sfumato.core.randomness import fresh_key
from sfumato.parties.circuit_arithmetic import add, chosen_index, less, prefix_sums, product, subtract
from sfumato.parties.circuits import Bits, Circuit, CircuitBuilder, Numbers, Wires, bits_of, numbers_of, unpacked
from sfumato.parties.conversation import Leakage, Talk, Told
from sfumato.parties.garbled_circuits import compute
from sfumato.parties.oblivious_transfer import Receiving, Sending
from sfumato.parties.ristretto import Draw

# A random number below a number that nobody knows: the parties hold shares of both.
#
# Claim: two parties with shares N1 + N2 = N modulo 2^bits, N > 0, end with shares R1 + R2 = R modulo 2^bits, where R
# is uniform in 0..N-1 but for a statistical distance below 2^-64. Each share alone is uniform. Neither party, nor a
# wrong generator of one of them, decides R: the random bits are an exclusive or of both parties' own.
#
# Source: the Random Value Protocol of Bunn and Ostrovsky 2007, as document 003 uses it in section 7.2, here in one
# garbled circuit instead of Paillier's scheme: R = (U N) >> m with U of m = bits + 64 random bits. Every value of R
# belongs to floor(2^m / N) or one more values of U, so its probability is off by less than 2^-m, and all N together by
# less than N 2^-m <= 2^-64.


BIAS = 64
"""The distance from uniform is below 2^-BIAS."""

LEAKAGE = Leakage(
    protocol="random value below a shared number",
    result=(Told(to="everybody", what="one share of the random value, uniform modulo 2^bits"),),
    beyond=(Told(to="everybody", what="the public width of the numbers in bits"),),
    withstands="either party alone",
    limits="a party that does not follow the protocol; shares of N = 0, for which the value is 0",
)


def random_value(ready: Sending | Receiving, share: int, *, bits: int = 64, draw: Draw = fresh_key) -> Talk[int]:
    """One's own share of a random value below N, from one's own share of N; both modulo 2^bits."""
    circuit = _circuit(bits)
    inputs = np.concatenate([bits_of([share % (1 << bits)], bits)[0], random_bits(bits + BIAS, draw)])
    if isinstance(ready, Receiving):
        return numbers_of((yield from compute(ready, circuit, inputs))[None])[0]
    mask = random_bits(bits, draw)
    yield from compute(ready, circuit, np.concatenate([inputs, mask]), draw=draw)
    return numbers_of(mask[None])[0]


def scaled(build: CircuitBuilder, total: Wires, left: Wires, right: Wires) -> Wires:
    """A random number below the total, from random bits of both parties that are BIAS wider than it."""
    return product(build, build.xor(left, right), total)[len(left) :]


def random_bits(count: int, draw: Draw) -> Bits:
    """So many random bits."""
    return unpacked(draw(-(-count // 8)), count)


@lru_cache(maxsize=8)
def _circuit(bits: int) -> Circuit:
    build = CircuitBuilder()
    ours, random, mask = (build.garbler_input(width) for width in (bits, bits + BIAS, bits))
    theirs, other = (build.evaluator_input(width) for width in (bits, bits + BIAS))
    value = scaled(build, add(build, ours, theirs), random, other)
    return build.circuit(evaluator=subtract(build, value, mask))


# The exponential mechanism over weights that nobody knows: i is chosen with probability w_i / S, S their sum.
#
# Claim: two parties hold shares of the weights modulo 2^bits, whose sum is below 2^bits and not 0. Both learn the
# chosen index and nothing else. The probability of every candidate with a weight is right but for a factor 1 +- 2^-64,
# and one with weight 0 is never chosen: what the weights promise by differential privacy holds with 2^-63 added to
# epsilon.
#
# Source: document 003, algorithm 7.2 and section 7.4, in one garbled circuit: R = (U S) >> m as in `random_value`,
# prefix sums P_i of the weights, and the first i with R < P_i. The proof of the factor: candidate i belongs to w_i 2^m
# / S values of U, give or take one, and w_i / S >= 2^-bits while m = bits + 64.
#
# A weight that one party computes alone, for a candidate of its own, is a share beside which the other party's is 0.


SELECTION_LEAKAGE = Leakage(
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
    words = [int(share) % (1 << bits) for share in shares]
    inputs = np.concatenate([bits_of(words, bits).ravel(), random_bits(bits + BIAS, draw)])
    index = numbers_of((yield from compute(ready, _selection_circuit(count, bits), inputs, draw=draw))[None])[0]
    if index == count:
        raise SessionError("the weights of all candidates are 0; one must have a weight")
    return index


@lru_cache(maxsize=8)
def _selection_circuit(count: int, bits: int) -> Circuit:
    build = CircuitBuilder()
    ours, random = build.garbler_input(count, bits), build.garbler_input(bits + BIAS)
    theirs, other = build.evaluator_input(count, bits), build.evaluator_input(bits + BIAS)
    sums = prefix_sums(build, add(build, ours, theirs))
    value = scaled(build, sums[-1], random, other)
    index = chosen_index(build, build.not_(less(build, value, sums)))
    return build.circuit(garbler=index, evaluator=index)
