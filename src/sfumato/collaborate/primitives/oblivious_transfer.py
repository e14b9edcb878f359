"""One of two, without telling which: the base transfers that everything faster is extended from.

Claim: the sender ends with two random keys for every transfer, and the receiver with the one that it chose. The sender
learns nothing about the choice, whatever it computes: both cases look alike to it. The receiver learns nothing about
the other key if Diffie-Hellman is hard on ristretto255 and SHA-256 is a random oracle.

Source: Naor, Pinkas 2001, section 3, with one exponent for all transfers; the point C, whose logarithm nobody knows, is
hashed from the session, so both messages cross in one step. The receiver sends P0, where its own key is P_choice = kG
and P0 + P1 = C; the sender sends rG; key b is a hash of r P_b.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from sfumato.collaborate.exchange import Exchange, Seat, Talk
from sfumato.collaborate.leakage import Leakage, Told
from sfumato.collaborate.primitives.ristretto_points import (
    POINT,
    Draw,
    base_times,
    hashed_to_point,
    minus,
    random_scalar,
    split,
    times,
)
from sfumato.ground.secret_key import fresh_key

LABEL = "transfer/base"
KEY = 16
"""Bytes of a key."""

LEAKAGE = Leakage(
    protocol="oblivious transfer, 1 of 2",
    result=(
        Told(to="sender", what="two random keys for each transfer"),
        Told(to="receiver", what="the one key of each pair that it chose"),
    ),
    beyond=(Told(to="everybody", what="how many transfers there are"),),
    withstands="either party alone",
    limits="a party that does not follow the protocol: a receiver may know both keys of no pair, but a sender that "
    "gives other keys to later steps is not found out",
)


def send_base(seat: Seat, peer: int, count: int, *, draw: Draw = fresh_key) -> Talk[list[tuple[bytes, bytes]]]:
    """The sender's side: so many pairs of keys."""
    scalar = random_scalar(draw)
    came = yield Exchange(label=LABEL, send={peer: base_times(scalar)}, expect={peer: POINT * count})
    whole = times(scalar, _unknown(seat))
    keys = []
    for at, first in enumerate(split(came[peer])):
        point = times(scalar, first)
        known = _known(seat, seat.me, peer, at, first)
        keys.append((_key(known, 0, point), _key(known, 1, minus(whole, point))))
    return keys


def receive_base(seat: Seat, peer: int, choices: Sequence[int], *, draw: Draw = fresh_key) -> Talk[list[bytes]]:
    """The receiver's side: of each pair the key that it chose, 0 or 1."""
    unknown = _unknown(seat)
    scalars = [random_scalar(draw) for _ in choices]
    own = [base_times(one) for one in scalars]
    firsts = [minus(unknown, point) if choice else point for choice, point in zip(choices, own, strict=True)]
    came = yield Exchange(label=LABEL, send={peer: b"".join(firsts)}, expect={peer: POINT})
    return [
        _key(_known(seat, peer, seat.me, at, first), int(choice), times(scalar, came[peer]))
        for at, (choice, scalar, first) in enumerate(zip(choices, scalars, firsts, strict=True))
    ]


def _unknown(seat: Seat) -> bytes:
    return hashed_to_point(b"sfumato transfer " + seat.session)


def _known(seat: Seat, sender: int, receiver: int, at: int, first: bytes) -> bytes:
    """What both know of one transfer."""
    return b"".join((seat.session, *(number.to_bytes(4, "little") for number in (sender, receiver, at)), first))


def _key(known: bytes, choice: int, point: bytes) -> bytes:
    return hashlib.sha256(b"sfumato base transfer" + bytes([choice]) + known + point).digest()[:KEY]
