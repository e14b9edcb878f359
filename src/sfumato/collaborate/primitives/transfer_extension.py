"""From 128 base transfers to any number: millions of oblivious transfers for the price of symmetric ciphers.

Claim: for each transfer i the receiver has a block t_i, and the sender t_i xor (c_i S), where c_i is the receiver's
choice and S the sender's secret of 128 bits. A correlation-robust hash of such blocks makes independent keys, of which
the receiver knows one (`extended_transfers`). The sender learns nothing about the choices beyond what the generator of
pseudo-random bits (AES in counter mode) gives away; semi-honest parties.

Source: Ishai, Kilian, Nissim, Petrank 2003, with the seeds of Asharov, Lindell, Schneider, Zohner 2013.

`ready_to_send` and `ready_to_receive` pay for the base transfers once for two parties and a direction; whatever they
return serves any number of later steps. Both sides count transfers alike, so no tweak and no bit of a stream is used
twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.collaborate.exchange import Exchange, Seat, Talk
from sfumato.collaborate.leakage import Leakage, Told
from sfumato.collaborate.primitives.bit_matrix import packed, rows_of, unpacked
from sfumato.collaborate.primitives.fixed_key_hash import BLOCK, Blocks, FixedKeyHash, KeyStreams
from sfumato.collaborate.primitives.oblivious_transfer import receive_base, send_base
from sfumato.collaborate.primitives.ristretto_points import Draw
from sfumato.ground.secret_key import fresh_key

WIDTH = 128
"""Base transfers, and bits of security."""
LABEL = "transfer/extension"

LEAKAGE = Leakage(
    protocol="extension of oblivious transfers",
    result=(
        Told(to="sender", what="two random keys for each transfer"),
        Told(to="receiver", what="the one key of each pair that it chose"),
    ),
    beyond=(Told(to="everybody", what="how many transfers there are"),),
    withstands="either party alone",
    limits="a receiver that does not follow the protocol: it can learn bits of the sender's secret, and with it other "
    "keys",
)


@dataclass(slots=True, kw_only=True)
class Sending:
    """A sender who is ready: its secret, and the streams that the secret chose."""

    seat: Seat
    """Its own place."""
    peer: int
    """The receiver."""
    secret: Blocks
    """S, as one block."""
    streams: KeyStreams
    """Of each pair of streams the one that a bit of S chose."""
    hash: FixedKeyHash
    """The hash of this direction."""
    done: int = 0
    """Transfers so far; the next tweak."""


@dataclass(slots=True, kw_only=True)
class Receiving:
    """A receiver who is ready: both streams of every pair."""

    seat: Seat
    """Its own place."""
    peer: int
    """The sender."""
    zeros: KeyStreams
    """The first stream of each pair."""
    ones: KeyStreams
    """The second stream of each pair."""
    hash: FixedKeyHash
    """The hash of this direction."""
    done: int = 0
    """Transfers so far; the next tweak."""


def ready_to_send(seat: Seat, peer: int, *, draw: Draw = fresh_key) -> Talk[Sending]:
    """Base transfers, in which the sender of the extension is the receiver."""
    secret = draw(BLOCK)
    chosen = yield from receive_base(seat, peer, unpacked(secret, WIDTH).tolist(), draw=draw)
    return Sending(
        seat=seat,
        peer=peer,
        secret=np.frombuffer(secret, np.uint64).reshape(1, 2),
        streams=KeyStreams(chosen),
        hash=_hash(seat, seat.me, peer),
    )


def ready_to_receive(seat: Seat, peer: int, *, draw: Draw = fresh_key) -> Talk[Receiving]:
    """Base transfers, in which the receiver of the extension is the sender."""
    pairs = yield from send_base(seat, peer, WIDTH, draw=draw)
    zeros, ones = (KeyStreams([pair[at] for pair in pairs]) for at in (0, 1))
    return Receiving(seat=seat, peer=peer, zeros=zeros, ones=ones, hash=_hash(seat, peer, seat.me))


def extend_sending(ready: Sending, count: int) -> Talk[Blocks]:
    """The sender's blocks of so many transfers: t_i xor (c_i S)."""
    length = -(-count // 8)
    came = yield Exchange(label=LABEL, expect={ready.peer: WIDTH * length})
    columns = ready.streams.read(length)
    chose = unpacked(ready.secret.tobytes(), WIDTH).astype(bool)
    columns[chose] ^= np.frombuffer(came[ready.peer], np.uint8).reshape(WIDTH, length)[chose]
    ready.done += count
    return _blocks(columns, count)


def extend_receiving(ready: Receiving, choices: NDArray[np.uint8]) -> Talk[Blocks]:
    """The receiver's blocks t_i of one transfer for each choice, 0 or 1."""
    bits = packed(choices)
    zeros, ones = ready.zeros.read(len(bits)), ready.ones.read(len(bits))
    ones ^= zeros
    ones ^= bits
    yield Exchange(label=LABEL, send={ready.peer: ones.tobytes()})
    ready.done += len(choices)
    return _blocks(zeros, len(choices))


def _blocks(columns: NDArray[np.uint8], count: int) -> Blocks:
    found: Blocks = rows_of(columns).view(np.uint64)[:count]
    return found


def _hash(seat: Seat, sender: int, receiver: int) -> FixedKeyHash:
    return FixedKeyHash(seat.session, f"transfers from {sender} to {receiver}")
