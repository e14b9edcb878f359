"""Points and scalars of ristretto255: a group of prime order without the traps of the curve beneath it.

Source: RFC 9496; the arithmetic is libsodium's, through ``rbcl``. Points are 32 bytes with one spelling each. A point
that a peer sent is checked by whoever multiplies or adds it: what is no point ends the session.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from typing import Any

from sfumato.ground.errors import SessionError
from sfumato.ground.extras import extra

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
