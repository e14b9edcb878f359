"""The same intersection by Diffie-Hellman: slower, and short enough to be read in one sitting.

Claim: as `set_intersection`. Identifiers are hashed to points of ristretto255, each party multiplies by a secret of its
own, and products of both secrets are the same just for common identifiers. Secure if Diffie-Hellman is hard to decide
there and the hash to the group is a random oracle.

Source: Meadows 1986; Huberman, Franklin, Hogg 1999. Errata: never the identifier itself as a number, never the x
coordinate alone (points of the twist tell a bit of each identifier).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from sfumato.collaborate.exchange import Exchange, Seat, Talk
from sfumato.collaborate.leakage import Leakage, Told
from sfumato.collaborate.primitives.bit_matrix import packed, unpacked
from sfumato.collaborate.primitives.ristretto_points import POINT, Draw, hashed_to_point, random_scalar, split, times
from sfumato.collaborate.primitives.set_intersection import Positions, exchanged_sizes
from sfumato.collaborate.primitives.set_items import as_items
from sfumato.ground.secret_key import fresh_key

ASKED = "intersection/points"
ANSWERED = "intersection/twice"
COMMON = "intersection/common"
TAG = 16
"""Bytes of the digest of a point: different identifiers share one with a probability below 2^-80 for 2^24 of them."""

LEAKAGE = Leakage(
    protocol="private set intersection by points",
    result=(
        Told(to="receiver", what="which of its own identifiers the sender has too"),
        Told(to="sender", what="which of its own identifiers the receiver has too, where both are to know"),
    ),
    beyond=(Told(to="everybody", what="how many identifiers the other party has"),),
    withstands="either party alone",
    limits="a party that puts in identifiers which it does not have, to try them out; the receiver learns the result "
    "first and may stop then",
)


def points_receiving(
    seat: Seat, peer: int, identifiers: Sequence[str | bytes], *, both: bool = False, draw: Draw = fresh_key
) -> Talk[Positions]:
    """The receiver's side: the positions of common identifiers in its list, in order."""
    items = as_items(identifiers)
    theirs = yield from exchanged_sizes(seat, peer, len(items))
    secret = random_scalar(draw)
    yield Exchange(label=ASKED, send={peer: _multiplied(seat, items, secret)})
    came = yield Exchange(label=ANSWERED, expect={peer: TAG * len(items) + POINT * theirs})
    answer, points = came[peer][: TAG * len(items)], came[peer][TAG * len(items) :]
    place = {_tag(times(secret, point)): at for at, point in enumerate(split(points))}
    found = [place.get(answer[at : at + TAG], -1) for at in range(0, len(answer), TAG)]
    if both:
        hits = np.zeros(theirs, np.uint8)
        hits[[at for at in found if at >= 0]] = 1
        yield Exchange(label=COMMON, send={peer: packed(hits).tobytes()})
    return np.flatnonzero(np.array(found, np.int64) >= 0)


def points_sending(
    seat: Seat, peer: int, identifiers: Sequence[str | bytes], *, both: bool = False, draw: Draw = fresh_key
) -> Talk[Positions | None]:
    """The sender's side: where both are to know, the positions of common identifiers in its list, in order."""
    items = as_items(identifiers)
    theirs = yield from exchanged_sizes(seat, peer, len(items))
    secret = random_scalar(draw)
    own = split(_multiplied(seat, items, secret))
    order = sorted(range(len(own)), key=own.__getitem__)
    came = yield Exchange(label=ASKED, expect={peer: POINT * theirs})
    tags = [_tag(times(secret, point)) for point in split(came[peer])]
    yield Exchange(label=ANSWERED, send={peer: b"".join([*tags, *(own[at] for at in order)])})
    if not both:
        return None
    back = yield Exchange(label=COMMON, expect={peer: -(-len(items) // 8)})
    return np.sort(np.array(order, np.int64)[unpacked(back[peer], len(items)).astype(bool)])


def _multiplied(seat: Seat, items: Sequence[bytes], secret: bytes) -> bytes:
    return b"".join([times(secret, hashed_to_point(b"sfumato item " + seat.session + item)) for item in items])


def _tag(point: bytes) -> bytes:
    return hashlib.sha256(b"sfumato common item" + point).digest()[:TAG]
