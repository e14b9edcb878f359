"""A pseudo-random function that two parties compute obliviously, once for each of many bins.

Claim: for each bin the receiver learns F_bin at the one item that it put in; the sender gets the key and can compute
F_bin anywhere. The sender learns nothing about the receiver's items; values of F at items that the receiver did not put
in look random to it.

Source: Kolesnikov, Kumaresan, Rosulek, Trieu 2016: the extension of transfers with a pseudo-random code C of 448 bits
instead of repeated choices. The receiver has t, the sender q = t xor (C(y) and S); F(x) = SHA-256(bin, q xor (C(x) and
S)), which is SHA-256(bin, t) where x = y. Codes of any two items that meet in a bin differ in 128 bits or more, but for
about 1 in 2^40 runs with up to 2^24 items.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.collaborate.exchange import Exchange, Seat, Talk
from sfumato.collaborate.primitives.bit_matrix import columns_of, rows_of, unpacked
from sfumato.collaborate.primitives.fixed_key_hash import Blocks, FixedKeyHash, KeyStreams
from sfumato.collaborate.primitives.oblivious_transfer import receive_base, send_base
from sfumato.collaborate.primitives.ristretto_points import Draw
from sfumato.ground.secret_key import fresh_key

WIDTH = 448
"""Bits of a code."""
WORDS = WIDTH // 64
LABEL = "function/code"
Values = NDArray[np.uint8]
"""Values of the function, one a row of bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionKey:
    """What the sender computes the function with."""

    seat: Seat
    """The sender's place; its session makes the code."""
    secret: NDArray[np.uint64]
    """S, as 7 words."""
    rows: NDArray[np.uint64]
    """q, one row of 7 words for each bin."""

    def values(self, bins: NDArray[np.int64], items: Blocks, length: int) -> Values:
        """So many bytes of the function of each bin at the item beside it."""
        return _hashed((_code(self.seat, items) & self.secret) ^ self.rows[bins], bins, length)


def send_function(seat: Seat, peer: int, bins: int, *, draw: Draw = fresh_key) -> Talk[FunctionKey]:
    """The sender's side: the key of so many bins."""
    secret = draw(WIDTH // 8)
    bits = unpacked(secret, WIDTH)
    chosen = yield from receive_base(seat, peer, bits.tolist(), draw=draw)
    length = -(-bins // 8)
    came = yield Exchange(label=LABEL, expect={peer: WIDTH * length})
    columns = KeyStreams(chosen).read(length)
    chose = bits.astype(bool)
    columns[chose] ^= np.frombuffer(came[peer], np.uint8).reshape(WIDTH, length)[chose]
    return FunctionKey(seat=seat, secret=np.frombuffer(secret, np.uint64), rows=rows_of(columns).view(np.uint64))


def receive_function(seat: Seat, peer: int, items: Blocks, length: int, *, draw: Draw = fresh_key) -> Talk[Values]:
    """The receiver's side: so many bytes of each bin's function at the one item in it."""
    pairs = yield from send_base(seat, peer, WIDTH, draw=draw)
    filled = np.zeros((-(-len(items) // 8) * 8, 2), np.uint64)
    filled[: len(items)] = items
    columns = columns_of(_code(seat, filled).view(np.uint8))
    zeros = KeyStreams([pair[0] for pair in pairs]).read(columns.shape[1])
    columns ^= zeros
    columns ^= KeyStreams([pair[1] for pair in pairs]).read(columns.shape[1])
    yield Exchange(label=LABEL, send={peer: columns.tobytes()})
    del columns
    return _hashed(rows_of(zeros).view(np.uint64)[: len(items)], np.arange(len(items)), length)


def _code(seat: Seat, items: Blocks) -> NDArray[np.uint64]:
    """C of each item: AES under four keys of the session, cut to 448 bits."""
    parts = [FixedKeyHash(seat.session, f"code {part}").permuted(items) for part in range(4)]
    return np.hstack(parts)[:, :WORDS].copy()


def _hashed(rows: NDArray[np.uint64], bins: NDArray[np.int64], length: int) -> Values:
    content = np.hstack([rows, bins.astype(np.uint64)[:, None]]).tobytes()
    step, digest = 8 * (WORDS + 1), hashlib.sha256
    found = b"".join([digest(content[at : at + step]).digest()[:length] for at in range(0, len(content), step)])
    return np.frombuffer(found, np.uint8).reshape(-1, length)
