"""Points and scalars of ristretto255, and short texts embedded in points."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from sfumato.core.errors import DataError, SessionError
from sfumato.core.extras import extra

# Points and scalars of ristretto255: a group of prime order without the traps of the curve beneath it.
#
# Source: RFC 9496; the arithmetic is libsodium's, through ``rbcl``. Points are 32 bytes with one spelling each. A
# point that a peer sent is checked by whoever multiplies or adds it: what is no point ends the session.


POINT = 32
"""Bytes of a point, and of a scalar."""

Draw = Callable[[int], bytes]
"""Where random bytes come from: ``fresh_key``; tests alone hand in another."""


@cache
def _rbcl() -> Any:
    return extra("rbcl", "a protocol on ristretto255")


def hashed_to_point(content: bytes) -> bytes:
    """The point of a text: nobody knows its logarithm to any base.

    >>> hashed_to_point(b"one") == hashed_to_point(b"one"), len(hashed_to_point(b"two"))
    (True, 32)
    """
    return bytes(_rbcl().crypto_core_ristretto255_from_hash(hashlib.sha512(content).digest()))


def is_point(content: bytes) -> bool:
    """Whether 32 bytes are the spelling of a point."""
    return bool(_rbcl().crypto_core_ristretto255_is_valid_point(content))


def random_point(draw: Draw) -> bytes:
    """A point, each as likely as the others."""
    return bytes(_rbcl().crypto_core_ristretto255_from_hash(draw(64)))


def random_scalar(draw: Draw) -> bytes:
    """A scalar, uniform but for a bias below 2^-250."""
    return bytes(_rbcl().crypto_core_ristretto255_scalar_reduce(draw(64)))


def inverse(scalar: bytes) -> bytes:
    """The scalar that undoes a multiplication."""
    return bytes(_rbcl().crypto_core_ristretto255_scalar_invert(scalar))


def base_times(scalar: bytes) -> bytes:
    """A multiple of the base point."""
    return bytes(_rbcl().crypto_scalarmult_ristretto255_base(scalar))


def times(scalar: bytes, point: bytes) -> bytes:
    """A multiple of a point; the session ends where the bytes are no point, or the neutral one."""
    try:
        return bytes(_rbcl().crypto_scalarmult_ristretto255(scalar, point))
    except RuntimeError:
        raise SessionError(f"a peer sent {point.hex()[:16]}..., which is no point of ristretto255") from None


def minus(point: bytes, other: bytes) -> bytes:
    """The difference of two points."""
    try:
        return bytes(_rbcl().crypto_core_ristretto255_sub(point, other))
    except (RuntimeError, ValueError):
        raise SessionError("a peer sent bytes that are no point of ristretto255") from None


def split(message: bytes) -> list[bytes]:
    """The points of a message, in order."""
    return [message[at : at + POINT] for at in range(0, len(message), POINT)]


# Short texts as points of ristretto255, reversibly: every party can encrypt a text, and all can read it at the end.
#
# About one in eight 32-byte strings is the encoding of a point. A text is cut into pieces; each piece is written with
# a tag of the whole text and a counter that is raised until the string is such an encoding. Equal texts become equal
# points.


_PIECE = 16
"""Bytes of a text in one point."""
_MOST = 255 * _PIECE


def embedded(text: bytes) -> list[bytes]:
    """The points of a text of up to 4,080 bytes.

    A string is: 0, the piece's counter (2), tag of the text (8), number of the piece, pieces in all, bytes in it (1
    each), the bytes (16), and zeros: even and below the field's order, as encodings must be.
    """
    if len(text) > _MOST:
        raise DataError(f"an item of {len(text)} bytes is too long to be told together; at most {_MOST} bytes")
    pieces = [text[start : start + _PIECE] for start in range(0, max(len(text), 1), _PIECE)]
    tag = hashlib.sha256(b"sfumato item 1" + text).digest()[:8]
    rest = [
        b"".join([tag, bytes([place, len(pieces), len(piece)]), piece.ljust(_PIECE, b"\0"), bytes(2)])
        for place, piece in enumerate(pieces)
    ]
    return [_point(content) for content in rest]


def _point(content: bytes) -> bytes:
    """The first string with this content that encodes a point; none exists with a chance below 2^-6000."""
    for counter in range(2**16):
        candidate = b"\0" + counter.to_bytes(2, "big") + content
        if is_point(candidate):
            return candidate
    raise DataError("an item cannot be written as points of the group")


def read_texts(points: Iterable[bytes]) -> list[bytes]:
    """The texts whose pieces are all there, in order; points that are no piece of a text are passed over."""
    pieces: dict[bytes, dict[int, tuple[int, bytes]]] = defaultdict(dict)
    for point in points:
        tag, place, count, length = point[3:11], point[11], point[12], point[13]
        if point[0] == 0 and point[30:] == b"\0\0" and place < count and length <= _PIECE:
            pieces[tag][place] = (count, point[14 : 14 + length])
    texts = []
    for tag, held in pieces.items():
        text = b"".join(held[place][1] for place in sorted(held))
        whole = {count for count, _piece in held.values()} == {len(held)}
        if whole and hashlib.sha256(b"sfumato item 1" + text).digest()[:8] == tag:
            texts.append(text)
    return sorted(texts)
