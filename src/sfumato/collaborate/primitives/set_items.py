"""Identifiers as items of a set: bytes, each once, and their keyed digests."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.errors import DataError


def as_items(identifiers: Sequence[str | bytes]) -> list[bytes]:
    """Each identifier as bytes, text in UTF-8; one that stands there twice is refused.

    >>> as_items(["a", b"b"])
    [b'a', b'b']
    """
    items = [one.encode() if isinstance(one, str) else bytes(one) for one in identifiers]
    if len(set(items)) < len(items):
        seen: set[bytes] = set()
        at = next(at for at, one in enumerate(items) if one in seen or seen.add(one))  # type: ignore[func-returns-value]
        raise DataError(f"identifier {at + 1} stands in the list twice; an intersection takes each once")
    return items


def digests(items: Sequence[bytes], key: bytes, words: int) -> NDArray[np.uint64]:
    """So many 64-bit words for each item, at most 8, from BLAKE2b under a key of at most 64 bytes."""
    start = hashlib.blake2b(key=key, digest_size=8 * words)
    found = []
    for item in items:
        one = start.copy()
        one.update(item)
        found.append(one.digest())
    return np.frombuffer(b"".join(found), np.uint64).reshape(-1, words)
