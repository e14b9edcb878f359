"""Who has more, and what is the greatest: comparisons that tell nothing but their outcome.

Claim: everybody learns the index of the greatest number, of equal ones the first, and its value only where that is
asked for. Two parties compute a garbled circuit, several a circuit on shares; no comparison on the way is told, unlike
in a tournament whose matches are played in the open.

Source: Yao 1986; Kolesnikov, Sadeghi, Schneider 2009 for the circuits. Numbers are unsigned, or signed in two's
complement; sums of shares are taken modulo 2^bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sfumato.core.errors import ParameterError
from sfumato.parties.circuit_arithmetic import add, flat_sum, index_width, less, maximum
from sfumato.parties.circuits import Bits, Circuit, CircuitBuilder, Numbers, Wires, bits_of, numbers_of
from sfumato.parties.conversation import Leakage, Talk, Told
from sfumato.parties.garbled_circuits import compute
from sfumato.parties.gmw import Sharing, compute_shared
from sfumato.parties.oblivious_transfer import Receiving, Sending

LEAKAGE = Leakage(
    protocol="secure maximum",
    result=(Told(to="everybody", what="the index of the greatest number, and its value where that is asked for"),),
    beyond=(Told(to="everybody", what="how many numbers each party has, and their public width in bits"),),
    withstands="either party alone of two; any n - 1 of n parties",
    limits="a party that does not follow the protocol, or puts in other numbers; of two parties the evaluator learns "
    "the outcome first and may stop then",
)

Ready = Sending | Receiving
"""A party of two that is ready to compute circuits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Greatest:
    """The outcome of a secure maximum."""

    index: int
    """Which number is the greatest, from 0; of equal ones the first."""
    value: int | None = None
    """The number itself, where it was asked for."""


def compare(ready: Ready, numbers: Numbers, *, bits: int = 64, signed: bool = False) -> Talk[NDArray[np.bool_]]:
    """For each position, whether the number of the party with the lower seat is below the other party's."""
    inputs = bits_of(numbers, bits, signed=signed).ravel()
    output = yield from compute(ready, _comparison(len(numbers), bits, signed), inputs)
    return output.astype(bool)


def maximum_of_values(
    ready: Ready, numbers: Numbers, theirs: int, *, bits: int = 64, signed: bool = False, tell_value: bool = False
) -> Talk[Greatest]:
    """The greatest of both parties' numbers, those of the lower seat first; the other party has ``theirs``."""
    sizes = (len(numbers), theirs) if isinstance(ready, Sending) else (theirs, len(numbers))
    circuit = _of_values(sizes, bits, signed, tell_value)
    output = yield from compute(ready, circuit, bits_of(numbers, bits, signed=signed).ravel())
    return _greatest(output, sum(sizes), signed)


def maximum_of_shares(
    ready: Ready, shares: Numbers, *, bits: int = 64, signed: bool = False, tell_value: bool = False
) -> Talk[Greatest]:
    """The greatest of the sums of both parties' shares."""
    circuit = _of_shares(len(shares), bits, signed, tell_value)
    output = yield from compute(ready, circuit, _share_bits(shares, bits))
    return _greatest(output, len(shares), signed)


def joint_maximum_of_values(
    ready: Sharing,
    numbers: Numbers,
    sizes: Sequence[int],
    *,
    bits: int = 64,
    signed: bool = False,
    tell_value: bool = False,
) -> Talk[Greatest]:
    """The greatest of all parties' numbers, party after party; ``sizes`` says how many each party has."""
    if sizes[ready.seat.me] != len(numbers):
        raise ParameterError(f"party {ready.seat.me} has {len(numbers)} numbers, not {sizes[ready.seat.me]}")
    circuit = _jointly(1, sum(sizes), bits, signed, tell_value)
    inputs = bits_of(numbers, bits, signed=signed).ravel()
    output = yield from compute_shared(ready, circuit, inputs, [bits * size for size in sizes])
    return _greatest(output, sum(sizes), signed)


def joint_maximum_of_shares(
    ready: Sharing, shares: Numbers, *, bits: int = 64, signed: bool = False, tell_value: bool = False
) -> Talk[Greatest]:
    """The greatest of the sums of all parties' shares."""
    count, parties = len(shares), ready.seat.count
    circuit = _jointly(parties, count, bits, signed, tell_value)
    output = yield from compute_shared(ready, circuit, _share_bits(shares, bits), [bits * count] * parties)
    return _greatest(output, count, signed)


def _share_bits(shares: Numbers, bits: int) -> Bits:
    """Shares modulo 2^bits, negative ones too."""
    if isinstance(shares, np.ndarray) and bits == 64 and shares.dtype.kind in "iu":
        return bits_of(shares.astype(np.int64).view(np.uint64) if shares.dtype.kind == "i" else shares, bits).ravel()
    return bits_of([int(share) % (1 << bits) for share in shares], bits).ravel()


def _greatest(output: Bits, count: int, signed: bool) -> Greatest:
    digits = index_width(count)
    value = numbers_of(output[None, digits:], signed=signed)[0] if len(output) > digits else None
    return Greatest(index=numbers_of(output[None, :digits])[0] if digits else 0, value=value)


def _outcome(build: CircuitBuilder, words: Wires, signed: bool, tell_value: bool, flat: bool | None = None) -> Wires:
    value, index = maximum(build, words, signed=signed, flat=flat)
    return np.concatenate([index, value]) if tell_value else index


@lru_cache(maxsize=8)
def _comparison(count: int, bits: int, signed: bool) -> Circuit:
    build = CircuitBuilder()
    ours, theirs = build.garbler_input(count, bits), build.evaluator_input(count, bits)
    output = less(build, ours, theirs, signed=signed)
    return build.circuit(garbler=output, evaluator=output)


@lru_cache(maxsize=8)
def _of_values(sizes: tuple[int, int], bits: int, signed: bool, tell_value: bool) -> Circuit:
    build = CircuitBuilder()
    words = np.concatenate([build.garbler_input(sizes[0], bits), build.evaluator_input(sizes[1], bits)])
    output = _outcome(build, words, signed, tell_value)
    return build.circuit(garbler=output, evaluator=output)


@lru_cache(maxsize=8)
def _of_shares(count: int, bits: int, signed: bool, tell_value: bool) -> Circuit:
    build = CircuitBuilder()
    words = add(build, build.garbler_input(count, bits), build.evaluator_input(count, bits))
    output = _outcome(build, words, signed, tell_value)
    return build.circuit(garbler=output, evaluator=output)


@lru_cache(maxsize=8)
def _jointly(parties: int, count: int, bits: int, signed: bool, tell_value: bool) -> Circuit:
    build = CircuitBuilder()
    words = flat_sum(build, build.garbler_input(parties, count, bits))
    return build.circuit(garbler=_outcome(build, words, signed, tell_value, flat=True))
