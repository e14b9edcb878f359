"""Oblivious transfer: base transfers, their extension, derived transfers, and one of N."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import ArrayLike, NDArray

from sfumato.core.errors import ParameterError
from sfumato.core.randomness import fresh_key
from sfumato.parties.circuits import packed, rows_of, unpacked
from sfumato.parties.conversation import Exchange, Leakage, Seat, Talk, Told
from sfumato.parties.ristretto import POINT, Draw, base_times, hashed_to_point, minus, random_scalar, split, times

# A hash of many 128-bit blocks at once that keeps its promises although all blocks hide the same secret.
#
# Claim: for one secret S and blocks x, the values H(x xor S, tweak) look random to whoever knows the x, even if they
# are mixed with S itself (a tweakable circular correlation-robust hash), where AES under one public key is an ideal
# permutation p. H(x, tweak) = p(p(x) xor tweak) xor p(x).
#
# Source: Guo, Katz, Wang, Yu 2020, section 7.4 (TMMO). A tweak is never used twice with one secret. The key of p is
# made from the session, so what somebody computes in advance helps against no session.


Blocks = NDArray[np.uint64]
"""128-bit blocks, one a row of two words."""
BLOCK = 16
"""Bytes of a block."""
AT_ONCE = 1 << 13
"""Blocks that fit into a fast cache."""


class FixedKeyHash:
    """The hash of one session and purpose."""

    def __init__(self, session: bytes, purpose: str) -> None:
        """Both parties name the same session and purpose."""
        key = hashlib.sha256(f"sfumato {purpose} ".encode() + session).digest()[:BLOCK]
        self._cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
        self._out = bytearray(AT_ONCE * BLOCK + BLOCK - 1)

    def __call__(self, blocks: Blocks, tweaks: NDArray[np.uint64], part: int = 0) -> Blocks:
        """The hash of each block under its own tweak; ``part`` is the upper half of all tweaks."""
        hashes = np.empty_like(blocks, order="C")
        for at in range(0, len(blocks), AT_ONCE):
            chunk = slice(at, at + AT_ONCE)
            once = self.permuted(blocks[chunk])
            tweaked = once.copy()
            tweaked[:, 0] ^= tweaks[chunk]
            if part:
                tweaked[:, 1] ^= np.uint64(part)
            np.bitwise_xor(self.permuted(tweaked), once, out=hashes[chunk])
        return hashes

    def wide(self, blocks: Blocks, tweaks: NDArray[np.uint64], length: int) -> NDArray[np.uint8]:
        """So many bytes for each block, from as many hashes as that takes."""
        parts: Sequence[Blocks] = [self(blocks, tweaks, part) for part in range(-(-length // BLOCK))]
        if not parts:
            return np.empty((len(blocks), 0), np.uint8)
        return np.hstack(parts).view(np.uint8)[:, :length]

    def permuted(self, blocks: Blocks) -> Blocks:
        """AES of each block."""
        content = np.ascontiguousarray(blocks)
        size = content.nbytes
        out = self._out if size + BLOCK - 1 <= len(self._out) else bytearray(size + BLOCK - 1)
        self._cipher.update_into(content.tobytes(), out)
        return np.frombuffer(bytes(memoryview(out)[:size]), np.uint64).reshape(-1, 2)


class KeyStreams:
    """Endless random bits from many keys, row by row: AES in counter mode, each row read on from where it stopped."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        """One row for every key of 16 bytes."""
        zero = bytes(BLOCK)
        self._rows = [Cipher(algorithms.AES(key), modes.CTR(zero)).encryptor() for key in keys]

    def read(self, length: int) -> NDArray[np.uint8]:
        """The next bytes of every row."""
        output = np.empty((len(self._rows), length), np.uint8)
        zeros = bytes(length)
        for at, row in enumerate(self._rows):
            output[at] = np.frombuffer(row.update(zeros), np.uint8)
        return output


# One of two, without telling which: the base transfers that everything faster is extended from.
#
# Claim: the sender ends with two random keys for every transfer, and the receiver with the one that it chose. The
# sender learns nothing about the choice, whatever it computes: both cases look alike to it. The receiver learns
# nothing about the other key if Diffie-Hellman is hard on ristretto255 and SHA-256 is a random oracle.
#
# Source: Naor, Pinkas 2001, section 3, with one exponent for all transfers; the point C, whose logarithm nobody knows,
# is hashed from the session, so both messages cross in one step. The receiver sends P0, where its own key is P_choice
# = kG and P0 + P1 = C; the sender sends rG; key b is a hash of r P_b.


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
    own = [base_times(scalar) for scalar in scalars]
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


# From 128 base transfers to any number: millions of oblivious transfers for the price of symmetric ciphers.
#
# Claim: for each transfer i the receiver has a block t_i, and the sender t_i xor (c_i S), where c_i is the receiver's
# choice and S the sender's secret of 128 bits. A correlation-robust hash of such blocks makes independent keys, of
# which the receiver knows one (`extended_transfers`). The sender learns nothing about the choices beyond what the
# generator of pseudo-random bits (AES in counter mode) gives away; semi-honest parties.
#
# Source: Ishai, Kilian, Nissim, Petrank 2003, with the seeds of Asharov, Lindell, Schneider, Zohner 2013.
#
# `ready_to_send` and `ready_to_receive` pay for the base transfers once for two parties and a direction; whatever they
# return serves any number of later steps. Both sides count transfers alike, so no tweak and no bit of a stream is used
# twice.


WIDTH = 128
"""Base transfers, and bits of security."""
EXTENSION_LABEL = "transfer/extension"

EXTENSION_LEAKAGE = Leakage(
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
    came = yield Exchange(label=EXTENSION_LABEL, expect={ready.peer: WIDTH * length})
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
    yield Exchange(label=EXTENSION_LABEL, send={ready.peer: ones.tobytes()})
    ready.done += len(choices)
    return _blocks(zeros, len(choices))


def _blocks(columns: NDArray[np.uint8], count: int) -> Blocks:
    blocks: Blocks = rows_of(columns).view(np.uint64)[:count]
    return blocks


def _hash(seat: Seat, sender: int, receiver: int) -> FixedKeyHash:
    return FixedKeyHash(seat.session, f"transfers from {sender} to {receiver}")


# Random, chosen and correlated transfers, from the blocks of an extension.
#
# Claim: with H a correlation-robust hash, transfer i has the keys H(i, q_i) and H(i, q_i xor S), where q_i is the
# sender's block; the receiver's t_i is the one of the two that it chose.
#
# * random: both parties use the keys;
# * chosen: the sender masks two messages of any length with them;
# * correlated: the sender ends with r_i, the receiver with r_i + c_i d_i modulo 2^64 (or xor, for blocks and for bits):
#   one message instead of two, since r_i is a key itself.
#
# Source: Ishai et al. 2003; Asharov, Lindell, Schneider, Zohner 2013, section 5.4. Leakage: as of the extension.


Words = NDArray[np.uint64]
"""Numbers modulo 2^64."""
Rows = NDArray[np.uint8]
"""Messages of one length, one a row."""


def send_random(ready: Sending, count: int) -> Talk[tuple[Blocks, Blocks]]:
    """Two random blocks for each transfer."""
    first = ready.done
    blocks = yield from extend_sending(ready, count)
    indices = _tweaks(first, count)
    return ready.hash(blocks, indices), ready.hash(blocks ^ ready.secret, indices)


def receive_random(ready: Receiving, choices: ArrayLike) -> Talk[Blocks]:
    """Of each two random blocks the one that was chosen."""
    chosen, first = as_choices(choices), ready.done
    blocks = yield from extend_receiving(ready, chosen)
    return ready.hash(blocks, _tweaks(first, len(chosen)))


def send_chosen(ready: Sending, zeros: Rows, ones: Rows) -> Talk[None]:
    """The receiver gets row i of ``zeros`` or of ``ones``, as it chooses."""
    if zeros.shape != ones.shape or zeros.ndim != 2:
        raise ParameterError(f"the messages of a transfer have one shape, not {zeros.shape} and {ones.shape}")
    first, (count, length) = ready.done, zeros.shape
    blocks = yield from extend_sending(ready, count)
    indices = _tweaks(first, count)
    masked = [ready.hash.wide(blocks, indices, length) ^ zeros]
    masked.append(ready.hash.wide(blocks ^ ready.secret, indices, length) ^ ones)
    yield Exchange(label="transfer/chosen", send={ready.peer: b"".join(part.tobytes() for part in masked)})


def receive_chosen(ready: Receiving, choices: ArrayLike, length: int) -> Talk[Rows]:
    """For each choice a message of so many bytes."""
    chosen, first = as_choices(choices), ready.done
    count = len(chosen)
    blocks = yield from extend_receiving(ready, chosen)
    came = yield Exchange(label="transfer/chosen", expect={ready.peer: 2 * count * length})
    masked = np.frombuffer(came[ready.peer], np.uint8).reshape(2, count, length)
    messages: Rows = ready.hash.wide(blocks, _tweaks(first, count), length) ^ masked[chosen, np.arange(count)]
    return messages


def send_correlated(ready: Sending, differences: Words) -> Talk[Words]:
    """Random r_i, where the receiver gets r_i or r_i + d_i modulo 2^64."""
    first, count = ready.done, len(differences)
    blocks = yield from extend_sending(ready, count)
    indices = _tweaks(first, count)
    own = ready.hash(blocks, indices)[:, 0]
    step = own - ready.hash(blocks ^ ready.secret, indices)[:, 0] + differences
    yield Exchange(label="transfer/correlated", send={ready.peer: step.tobytes()})
    return own


def receive_correlated(ready: Receiving, choices: ArrayLike) -> Talk[Words]:
    """For each choice r_i or r_i + d_i modulo 2^64."""
    chosen, first = as_choices(choices), ready.done
    blocks = yield from extend_receiving(ready, chosen)
    came = yield Exchange(label="transfer/correlated", expect={ready.peer: 8 * len(chosen)})
    own = ready.hash(blocks, _tweaks(first, len(chosen)))[:, 0]
    result: Words = own + np.frombuffer(came[ready.peer], np.uint64) * chosen
    return result


def send_offset(ready: Sending, count: int, offset: Blocks) -> Talk[Blocks]:
    """Random blocks w_i, where the receiver gets w_i or w_i xor the offset: the labels of a garbled circuit."""
    first = ready.done
    blocks = yield from extend_sending(ready, count)
    indices = _tweaks(first, count)
    own = ready.hash(blocks, indices)
    step = own ^ ready.hash(blocks ^ ready.secret, indices) ^ offset
    yield Exchange(label="transfer/offset", send={ready.peer: step.tobytes()})
    return own


def receive_offset(ready: Receiving, choices: ArrayLike) -> Talk[Blocks]:
    """For each choice w_i or w_i xor the offset."""
    chosen, first = as_choices(choices), ready.done
    blocks = yield from extend_receiving(ready, chosen)
    came = yield Exchange(label="transfer/offset", expect={ready.peer: BLOCK * len(chosen)})
    own = ready.hash(blocks, _tweaks(first, len(chosen)))
    step = np.frombuffer(came[ready.peer], np.uint64).reshape(-1, 2)
    result: Blocks = own ^ np.where(chosen[:, None] == 1, step, np.uint64(0))
    return result


def send_bits(ready: Sending, differences: NDArray[np.uint8]) -> Talk[NDArray[np.uint8]]:
    """Random bits r_i, where the receiver gets r_i or r_i xor d_i: shares of the product of two bits."""
    first, count = ready.done, len(differences)
    blocks = yield from extend_sending(ready, count)
    indices = _tweaks(first, count)
    own = _lowest(ready.hash(blocks, indices))
    step = own ^ _lowest(ready.hash(blocks ^ ready.secret, indices)) ^ differences
    yield Exchange(label="transfer/bits", send={ready.peer: packed(step).tobytes()})
    return own


def receive_bits(ready: Receiving, choices: ArrayLike) -> Talk[NDArray[np.uint8]]:
    """For each choice r_i or r_i xor d_i."""
    chosen, first = as_choices(choices), ready.done
    count = len(chosen)
    blocks = yield from extend_receiving(ready, chosen)
    came = yield Exchange(label="transfer/bits", expect={ready.peer: -(-count // 8)})
    return _lowest(ready.hash(blocks, _tweaks(first, count))) ^ (unpacked(came[ready.peer], count) & chosen)


def as_choices(choices: ArrayLike) -> NDArray[np.uint8]:
    """Choices as an array of 0 and 1; anything else is refused."""
    array = np.asarray(choices)
    if array.ndim != 1 or (array.size and not np.isin(array, (0, 1)).all()):
        raise ParameterError("choices are a row of 0 and 1")
    return array.astype(np.uint8)


def _lowest(blocks: Blocks) -> NDArray[np.uint8]:
    return (blocks[:, 0] & np.uint64(1)).astype(np.uint8)


def _tweaks(first: int, count: int) -> NDArray[np.uint64]:
    return np.arange(first, first + count, dtype=np.uint64)


# One of N, and k of N messages, without telling which.
#
# Claim: the receiver gets the messages that it chose and learns nothing of the others; the sender learns how many were
# chosen and nothing else.
#
# Source: Naor, Pinkas 1999, protocol 3.1: a pair of keys for every binary digit of an index, one of which the receiver
# gets by a transfer of one of two; message I is masked with a hash of the keys of all digits of I. k of N is done k
# times with fresh keys, all at once.


ONE_OF_N_LABEL = "transfer/many"

ONE_OF_N_LEAKAGE = Leakage(
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
    yield Exchange(label=ONE_OF_N_LABEL, send={ready.peer: masked.tobytes()})


def receive_many(ready: Receiving, choices: ArrayLike, count: int, length: int) -> Talk[Rows]:
    """The messages that are chosen by their index, of so many messages of so many bytes each."""
    chosen = np.asarray(choices, np.int64).reshape(-1)
    if chosen.size and (chosen.min() < 0 or chosen.max() >= count):
        raise ParameterError(f"a message is chosen by an index from 0 to {count - 1}")
    digits = _digits(count)
    keys = yield from receive_random(ready, (chosen[:, None] >> np.arange(digits) & 1).ravel())
    came = yield Exchange(label=ONE_OF_N_LABEL, expect={ready.peer: len(chosen) * count * length})
    masked = np.frombuffer(came[ready.peer], np.uint8).reshape(len(chosen), count, length)
    hashed = FixedKeyHash(ready.seat.session, "one of many")
    messages = np.empty((len(chosen), length), np.uint8)
    for at, index in enumerate(chosen.tolist()):
        own = keys[at * digits : (at + 1) * digits]
        messages[at] = _pads(hashed, np.stack([own, own]), np.array([index]), length)[0] ^ masked[at, index]
    return messages


def _digits(count: int) -> int:
    """Binary digits of an index."""
    return max(1, (count - 1).bit_length())


def _pads(hashed: FixedKeyHash, keys: Blocks, indices: NDArray[np.int64], length: int) -> Rows:
    """What masks each message: the hashes of the keys of all its digits, together."""
    pads = np.zeros((len(indices), length), np.uint8)
    for digit in range(keys.shape[1]):
        pads ^= hashed.wide(keys[indices >> digit & 1, digit], indices.astype(np.uint64), length)
    return pads
