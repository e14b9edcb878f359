"""One of N, and k of N messages, without telling which.

Claim: the receiver gets the messages that it chose and learns nothing of the others; the sender learns how many were
chosen and nothing else.

Source: Naor, Pinkas 1999, protocol 3.1: a pair of keys for every binary digit of an index, one of which the receiver
gets by a transfer of one of two; message I is masked with a hash of the keys of all digits of I. k of N is done k times
with fresh keys, all at once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.collaborate.exchange import Exchange, Talk
from sfumato.collaborate.leakage import Leakage, Told
from sfumato.collaborate.primitives.extended_transfers import Rows, receive_random, send_random
from sfumato.collaborate.primitives.fixed_key_hash import Blocks, FixedKeyHash
from sfumato.collaborate.primitives.transfer_extension import Receiving, Sending
from sfumato.ground.errors import ParameterError

LABEL = "transfer/many"

LEAKAGE = Leakage(
    protocol="oblivious transfer, k of N",
    result=(Told(to="receiver", what="the messages that it chose"),),
    beyond=(
        Told(to="sender", what="how many messages were chosen"),
        Told(to="receiver", what="how many messages there are, and their length"),
    ),
    withstands="either party alone",
    limits="a party that does not follow the protocol; a receiver may choose a message twice",
)


def send_many(ready: Sending, messages: Rows, times: int = 1) -> Talk[None]:
    """The receiver gets as many of these messages as it may choose; all have one length."""
    if messages.ndim != 2 or not len(messages):
        raise ParameterError("messages of a transfer are rows of bytes, at least one")
    count, length = messages.shape
    digits = _digits(count)
    zeros, ones = yield from send_random(ready, times * digits)
    hashed = FixedKeyHash(ready.seat.session, "one of many")
    masked = np.empty((times, count, length), np.uint8)
    for at in range(times):
        own = slice(at * digits, (at + 1) * digits)
        masked[at] = _pads(hashed, np.stack([zeros[own], ones[own]]), np.arange(count), length) ^ messages
    yield Exchange(label=LABEL, send={ready.peer: masked.tobytes()})


def receive_many(ready: Receiving, choices: ArrayLike, count: int, length: int) -> Talk[Rows]:
    """The messages that are chosen by their index, of so many messages of so many bytes each."""
    chosen = np.asarray(choices, np.int64).reshape(-1)
    if chosen.size and (chosen.min() < 0 or chosen.max() >= count):
        raise ParameterError(f"a message is chosen by an index from 0 to {count - 1}")
    digits = _digits(count)
    keys = yield from receive_random(ready, (chosen[:, None] >> np.arange(digits) & 1).ravel())
    came = yield Exchange(label=LABEL, expect={ready.peer: len(chosen) * count * length})
    masked = np.frombuffer(came[ready.peer], np.uint8).reshape(len(chosen), count, length)
    hashed = FixedKeyHash(ready.seat.session, "one of many")
    found = np.empty((len(chosen), length), np.uint8)
    for at, index in enumerate(chosen.tolist()):
        own = keys[at * digits : (at + 1) * digits]
        found[at] = _pads(hashed, np.stack([own, own]), np.array([index]), length)[0] ^ masked[at, index]
    return found


def _digits(count: int) -> int:
    """Binary digits of an index."""
    return max(1, (count - 1).bit_length())


def _pads(hashed: FixedKeyHash, keys: Blocks, indices: NDArray[np.int64], length: int) -> Rows:
    """What masks each message: the hashes of the keys of all its digits, together."""
    found = np.zeros((len(indices), length), np.uint8)
    for digit in range(keys.shape[1]):
        found ^= hashed.wide(keys[indices >> digit & 1, digit], indices.astype(np.uint64), length)
    return found
