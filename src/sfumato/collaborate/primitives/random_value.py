"""A random number below a number that nobody knows: the parties hold shares of both.

Claim: two parties with shares N1 + N2 = N modulo 2^bits, N > 0, end with shares R1 + R2 = R modulo 2^bits, where R is
uniform in 0..N-1 but for a statistical distance below 2^-64. Each share alone is uniform. Neither party, nor a wrong
generator of one of them, decides R: the random bits are an exclusive or of both parties' own.

Source: the Random Value Protocol of Bunn and Ostrovsky 2007, as document 003 uses it in section 7.2, here in one
garbled circuit instead of Paillier's scheme: R = (U N) >> m with U of m = bits + 64 random bits. Every value of R
belongs to floor(2^m / N) or one more values of U, so its probability is off by less than 2^-m, and all N together by
less than N 2^-m <= 2^-64.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from sfumato.collaborate.exchange import Talk
from sfumato.collaborate.leakage import Leakage, Told
from sfumato.collaborate.primitives.bit_matrix import unpacked
from sfumato.collaborate.primitives.circuit import Bits, Circuit, Wires
from sfumato.collaborate.primitives.circuit_builder import CircuitBuilder
from sfumato.collaborate.primitives.circuit_words import add, product, subtract
from sfumato.collaborate.primitives.garbled_talk import compute
from sfumato.collaborate.primitives.ristretto_points import Draw
from sfumato.collaborate.primitives.transfer_extension import Receiving, Sending
from sfumato.collaborate.primitives.wire_bits import bits_of, numbers_of
from sfumato.ground.secret_key import fresh_key

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
