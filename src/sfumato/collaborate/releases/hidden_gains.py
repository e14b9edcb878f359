"""Which label has the highest information gain, where two parties hold parts of all counts: neither learns a gain.

The gain of a label is (B - H) / r: its rows r and their entropy B are public, for they follow from the release. H, the
entropy of what would be below it, is computed by a circuit into shares. A share times the public number 2^64 / r is a
share of the gain, and another circuit finds the greatest of all gains.

Claim: gains are right to 2^-30, and compared after rounding to 2^-NEAR; of equal ones the first wins, as in a search on
one table. So the result is that of one table, unless two gains differ by less than 2^-NEAR and are not equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from sfumato.collaborate.exchange import Talk
from sfumato.collaborate.primitives.circuit import Bits, Circuit, Wires
from sfumato.collaborate.primitives.circuit_builder import CircuitBuilder
from sfumato.collaborate.primitives.circuit_words import add, flat_sum, maximum, subtract, wider
from sfumato.collaborate.primitives.garbled_talk import compute
from sfumato.collaborate.primitives.hidden_logarithm import FRACTION, fixed_times_log2, times_log2
from sfumato.collaborate.primitives.random_value import random_bits
from sfumato.collaborate.primitives.transfer_extension import Receiving, Sending
from sfumato.collaborate.primitives.wire_bits import bits_of, numbers_of
from sfumato.ground.secret_key import fresh_key
from sfumato.group.cut_counts import Numbers

NEAR = 24
"""Gains that differ by less than 2^-NEAR may be taken for equal."""
SHARE = 128
"""Binary digits of a share of a gain."""
_SCALE = 64
_POINT = FRACTION + _SCALE
"""Binary digits after the point of a gain."""


def entropy_of(classes: Sequence[int]) -> int:
    """Rows times entropy of the class, in fixed point: of counts that both parties know."""
    return fixed_times_log2(sum(classes)) - sum(map(fixed_times_log2, classes))


def gain_share(whole: Sequence[int], below: int, *, first: bool) -> int:
    """One's own share of the gain of a label, from one's own share of the entropy below it."""
    rows = max(sum(whole), 1)
    factor = ((1 << _SCALE) + rows // 2) // rows
    return factor * ((entropy_of(whole) if first else 0) - below) % (1 << SHARE)


def entropy_below(ready: Sending | Receiving, parts: Numbers, rows: int) -> Talk[int]:
    """One's own share of the entropy of the parts (parts x classes) together; there are at most so many rows."""
    width = max(rows.bit_length(), 1)
    count = 1 << max(len(parts) - 1, 0).bit_length()
    padded = np.zeros((count, parts.shape[1]), np.int64)
    padded[: len(parts)] = parts
    circuit = _entropy(count, parts.shape[1], width)
    return (yield from shared(ready, circuit, bits_of(padded.ravel(), width).ravel()))


def greatest(ready: Sending | Receiving, shares: Sequence[int]) -> Talk[int]:
    """The place of the greatest gain, from one's own shares of all; of equal ones the first."""
    count = 1 << max(len(shares) - 1, 0).bit_length()
    least = (1 << SHARE) - (1 << SHARE - 1)
    padded = [*shares, *[least if isinstance(ready, Sending) else 0] * (count - len(shares))]
    found = yield from compute(ready, _greatest(count), bits_of(padded, SHARE).ravel())
    return numbers_of(found[None])[0] if len(found) else 0


def shared(ready: Sending | Receiving, circuit: Circuit, inputs: Bits) -> Talk[int]:
    """One's own share of a number that a circuit leaves masked to the evaluator."""
    if isinstance(ready, Receiving):
        return numbers_of((yield from compute(ready, circuit, inputs))[None])[0]
    mask = random_bits(SHARE, fresh_key)
    yield from compute(ready, circuit, np.concatenate([inputs, mask]))
    return numbers_of(mask[None])[0]


def entropies(build: CircuitBuilder, classes: Wires) -> Wires:
    """Rows times entropy of the class, along the last axis but one; as wide as a share."""
    rows = flat_sum(build, np.moveaxis(classes, -2, 0))
    every = np.concatenate([rows[..., None, :], classes], axis=-2)
    each = wider(times_log2(build, every), SHARE)
    return subtract(build, each[..., 0, :], flat_sum(build, np.moveaxis(each[..., 1:, :], -2, 0)))


@lru_cache(maxsize=8)
def _entropy(count: int, classes: int, width: int) -> Circuit:
    build = CircuitBuilder()
    ours, mask = build.garbler_input(count, classes, width), build.garbler_input(SHARE)
    theirs = build.evaluator_input(count, classes, width)
    below = flat_sum(build, entropies(build, add(build, ours, theirs)))
    return build.circuit(evaluator=subtract(build, below, mask))


@lru_cache(maxsize=8)
def _greatest(count: int) -> Circuit:
    build = CircuitBuilder()
    gains = add(build, build.garbler_input(count, SHARE), build.evaluator_input(count, SHARE))
    _, index = maximum(build, rounded(build, gains, _POINT - NEAR), signed=True)
    return build.circuit(garbler=index, evaluator=index)


def rounded(build: CircuitBuilder, words: Wires, digits: int) -> Wires:
    """The numbers without so many lowest digits, rounded to the nearest."""
    half = build.constant(1 << digits - 1, words.shape[-1])
    return add(build, words, np.broadcast_to(half, words.shape))[..., digits:]
