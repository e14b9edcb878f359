"""Masks that every two parties share and nobody else knows: added by one, taken away by the other, they cancel.

Source: Bonawitz et al. 2017, section 4. Each pair agrees on a key by X25519; AES-256 in counter mode, keyed by the
pair, the session and the round, stretches it to as many numbers modulo 2^64 as are needed.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sfumato.collaborate.exchange import Seat, Talk, to_all
from sfumato.ground.errors import SessionError
from sfumato.ground.secret_key import fresh_key

Words = NDArray[np.uint64]
_ABOUT = b"sfumato pairwise masks 1"


class PairwiseKeys:
    """The keys of one party with every other, and the rounds that they have been used for.

    A round number is used once. The same mask twice would tell the difference of two masked messages.
    """

    def __init__(self, seat: Seat, keys: Mapping[int, bytes]) -> None:
        """Fresh keys, by party; no round is used yet."""
        self.seat = seat
        self._keys = dict(keys)
        self._used = -1

    def mask(self, count: int, round_number: int | None = None) -> Words:
        """The masks of the next round, or of a later one: over all parties they add up to zero modulo 2^64."""
        number = self._used + 1 if round_number is None else round_number
        if number <= self._used:
            raise SessionError(f"round {number} of masks was used already; a round number is never used twice")
        self._used = number
        total = np.zeros(count, np.uint64)
        for peer, key in self._keys.items():
            stream = _stream(key, number, count)
            if peer > self.seat.me:
                total += stream
            else:
                total -= stream
        return total


def _stream(key: bytes, round_number: int, count: int) -> Words:
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import AES
    from cryptography.hazmat.primitives.ciphers.modes import CTR

    start = round_number.to_bytes(8, "big") + bytes(8)
    zeros = bytes(8 * count)
    return np.frombuffer(Cipher(AES(key), CTR(start)).encryptor().update(zeros), "<u8")


def agree_keys(seat: Seat) -> Talk[PairwiseKeys]:
    """Every two parties agree on a key that is good for this session only (X25519, HKDF)."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

    own = X25519PrivateKey.from_private_bytes(fresh_key(32))
    shown = own.public_key().public_bytes_raw()
    came = yield to_all(seat, "keys/public", shown)
    keys = {}
    for peer, content in came.items():
        try:
            secret = own.exchange(X25519PublicKey.from_public_bytes(content))
        except ValueError:
            raise SessionError(f"party {peer} sent a public key that is no point of the curve") from None
        keys[peer] = _derived(secret, seat, peer, sorted((shown, content)))
    return PairwiseKeys(seat, keys)


def _derived(secret: bytes, seat: Seat, peer: int, shown: list[bytes]) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    pair = sorted((seat.me, peer))
    about = b"".join([_ABOUT, *(one.to_bytes(4, "big") for one in pair), *shown])
    return HKDF(algorithm=SHA256(), length=32, salt=seat.session, info=about).derive(secret)


def words_written(words: Words) -> bytes:
    """Numbers as they are sent."""
    return words.astype("<u8", copy=False).tobytes()


def words_read(content: bytes) -> Words:
    """Numbers as they came."""
    return np.frombuffer(content, "<u8").astype(np.uint64, copy=False)
