"""Many scalar products at once, each into two shares, and what the parties do with the shares.

Claim: each share alone is uniform, as of one scalar product. ``reaching`` tells both parties which products reach a
    number and nothing else about them, and ``put_together`` tells both the products of the shares that it is given.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sfumato.collaborate.exchange import Exchange, Talk
from sfumato.collaborate.primitives.circuit import Circuit
from sfumato.collaborate.primitives.circuit_builder import CircuitBuilder
from sfumato.collaborate.primitives.circuit_words import add, less
from sfumato.collaborate.primitives.extended_transfers import Words, receive_correlated, send_correlated
from sfumato.collaborate.primitives.garbled_talk import compute
from sfumato.collaborate.primitives.transfer_extension import Receiving, Sending
from sfumato.collaborate.primitives.wire_bits import bits_of

_BLOCK = 2**21
"""So many transfers are made at a time."""


def products_of_numbers(ready: Sending, numbers: Words) -> Talk[Words]:
    """A share of each product, for the party that holds numbers: products x positions."""
    found = []
    for some in _blocks(*numbers.shape):
        own = yield from send_correlated(ready, np.ascontiguousarray(numbers[some]).reshape(-1))
        found.append(np.uint64(0) - own.reshape(-1, numbers.shape[1]).sum(axis=1, dtype=np.uint64))
    return np.concatenate([np.empty(0, np.uint64), *found])


def products_of_bits(ready: Receiving, bits: NDArray[np.uint8]) -> Talk[Words]:
    """A share of each product, for the party that holds bits: products x positions."""
    found = []
    for some in _blocks(*bits.shape):
        own = yield from receive_correlated(ready, bits[some].reshape(-1))
        found.append(own.reshape(-1, bits.shape[1]).sum(axis=1, dtype=np.uint64))
    return np.concatenate([np.empty(0, np.uint64), *found])


def _blocks(products: int, positions: int) -> list[slice]:
    step = max(_BLOCK // max(positions, 1), 1)
    return [slice(first, first + step) for first in range(0, products, step)]


def reaching(ready: Sending | Receiving, shares: Words, least: int) -> Talk[NDArray[np.bool_]]:
    """Which products reach ``least``; products are below 2^63."""
    if not len(shares):
        return np.empty(0, np.bool_)
    found = yield from compute(ready, _reached(len(shares), least), bits_of(shares, 64).ravel())
    return ~found.astype(bool)


@lru_cache(maxsize=8)
def _reached(count: int, least: int) -> Circuit:
    build = CircuitBuilder()
    sums = add(build, build.garbler_input(count, 64), build.evaluator_input(count, 64))
    limit = np.broadcast_to(build.constant(least, 64), sums.shape)
    found = less(build, sums, limit)
    return build.circuit(garbler=found, evaluator=found)


def put_together(peer: int, shares: Words) -> Talk[Words]:
    """The products of some shares, for both parties."""
    content = shares.astype("<u8").tobytes()
    came = yield Exchange(label="products/shares", send={peer: content}, expect={peer: len(content)})
    return shares + np.frombuffer(came[peer], "<u8").astype(np.uint64)
