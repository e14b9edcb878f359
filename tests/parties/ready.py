"""Parties that are ready for transfers, from keys instead of base transfers; and random bytes that can be repeated."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator
from typing import Any

import numpy as np

from sfumato.core.randomness import fresh_key
from sfumato.parties.circuits import unpacked
from sfumato.parties.conversation import Exchange, Seat
from sfumato.parties.oblivious_transfer import WIDTH, FixedKeyHash, KeyStreams, Receiving, Sending
from sfumato.parties.simulation import seats


def ready_pair(draw: Callable[[int], bytes] = fresh_key, places: tuple[Seat, Seat] | None = None):
    """A sender and a receiver, as base transfers would leave them."""
    one, other = seats(2) if places is None else places
    pairs = [(draw(16), draw(16)) for _ in range(WIDTH)]
    secret = draw(16)
    chosen = [pair[bit] for pair, bit in zip(pairs, unpacked(secret, WIDTH).tolist(), strict=True)]
    sending = Sending(
        seat=one,
        peer=1,
        secret=np.frombuffer(secret, np.uint64).reshape(1, 2),
        streams=KeyStreams(chosen),
        hash=FixedKeyHash(one.session, "test"),
    )
    zeros, ones = (KeyStreams([pair[at] for pair in pairs]) for at in (0, 1))
    return sending, Receiving(seat=other, peer=0, zeros=zeros, ones=ones, hash=FixedKeyHash(other.session, "test"))


def dealt_pairs(seat: Seat, count: int) -> list[tuple[bytes, bytes]]:
    """Pairs of keys that a dealer would hand out: made from the session, so fit for tests of what comes after."""
    deal = Repeatable(seat.session)
    return [(deal(16), deal(16)) for _ in range(count)]


def dealt_sending(seat: Seat, peer: int, count: int, *, draw: Any = None):
    """Instead of `send_base`, without any message."""
    yield from ()
    return dealt_pairs(seat, count)


def dealt_receiving(seat: Seat, peer: int, choices: Any, *, draw: Any = None):
    """Instead of `receive_base`, without any message."""
    yield from ()
    return [pair[choice] for pair, choice in zip(dealt_pairs(seat, len(choices)), choices, strict=True)]


class Repeatable:
    """Random bytes from a seed, for golden values only."""

    def __init__(self, seed: bytes) -> None:
        self.seed = seed
        self.count = 0

    def __call__(self, length: int) -> bytes:
        self.count += 1
        return hashlib.shake_256(self.seed + self.count.to_bytes(8, "little")).digest(length)


def one_after_the_other(*talks: Any) -> Generator[Exchange, Any, list[Any]]:
    """Several talks of one party as one."""
    found: list[Any] = []
    for talk in talks:
        result = yield from talk
        found.append(result)
    return found
