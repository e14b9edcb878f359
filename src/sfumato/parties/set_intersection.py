"""Private set intersection: by an oblivious pseudo-random function, and by Diffie-Hellman."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.core.errors import DataError, SessionError
from sfumato.core.randomness import fresh_key
from sfumato.parties.circuits import columns_of, packed, rows_of, unpacked
from sfumato.parties.conversation import Exchange, Leakage, Seat, Talk, Told
from sfumato.parties.oblivious_transfer import BLOCK, Blocks, FixedKeyHash, KeyStreams, receive_base, send_base
from sfumato.parties.ristretto import POINT, Draw, hashed_to_point, random_scalar, split, times

# Identifiers as items of a set: bytes, each once, and their keyed digests.


def as_items(identifiers: Sequence[str | bytes]) -> list[bytes]:
    """Each identifier as bytes, text in UTF-8; one that stands there twice is refused.

    >>> as_items(["a", b"b"])
    [b'a', b'b']
    """
    items = [identifier.encode() if isinstance(identifier, str) else bytes(identifier) for identifier in identifiers]
    if len(set(items)) < len(items):
        seen: set[bytes] = set()
        at = next(at for at, item in enumerate(items) if item in seen or seen.add(item))  # type: ignore[func-returns-value]
        raise DataError(f"identifier {at + 1} stands in the list twice; an intersection takes each once")
    return items


def digests(items: Sequence[bytes], key: bytes, words: int) -> NDArray[np.uint64]:
    """So many 64-bit words for each item, at most 8, from BLAKE2b under a key of at most 64 bytes."""
    start = hashlib.blake2b(key=key, digest_size=8 * words)
    digest_bytes = []
    for item in items:
        hasher = start.copy()
        hasher.update(item)
        digest_bytes.append(hasher.digest())
    return np.frombuffer(b"".join(digest_bytes), np.uint64).reshape(-1, words)


# Cuckoo hashing with three hash functions: every item in one of its three places, at most one item in each place.
#
# Each function has a third of the table, so the three places of an item differ. The table has 1.3 places for each item
# and 256 more: then no placement exists for fewer than about 1 in 2^40 sets of keyed digests, of any size (Pinkas,
# Schneider, Zohner 2018 measured 1.27 for large sets; for small ones four items in the same three places are the
# likely failure, C(n, 4) (3 / places)^9).
#
# Order, first places and moves come from secret coins, so the table is as likely for one order of the items as for any
# other, and an observer who knows the hash functions cannot run the placement again.
#
# Source: Pagh, Rodler 2004; random walks as in Fotakis et al. 2005, all items that wait for a place moved at once.


HASHES = 3
ROUNDS = 5_000
"""Moves after which placing is given up."""
Places = NDArray[np.int64]


def third(count: int) -> int:
    """Places of each function, for so many items.

    >>> third(0), third(1_000_000)
    (86, 433419)
    """
    return -(-(13 * count + 2560) // 30)


def places(digests: NDArray[np.uint64], count: int) -> Places:
    """The three places of each item in the table for ``count`` items, from three words of its digest."""
    size = third(count)
    return (digests % np.uint64(size)).astype(np.int64) + size * np.arange(HASHES)


def placed(items: Places, draw: Draw) -> Places:
    """The item in each place of the table, -1 where there is none; ``draw`` gives the coins."""
    coins = KeyStreams([draw(BLOCK)])
    table = np.full(HASHES * third(len(items)), -1)
    waiting = np.argsort(coins.read(8 * len(items)).view(np.uint64)[0])
    chosen = (coins.read(8 * len(items)).view(np.uint64)[0] % np.uint64(HASHES)).astype(np.int64)
    for _ in range(ROUNDS):
        if not len(waiting):
            return table
        target = items[waiting, chosen[waiting]]
        before = table[target]
        table[target] = waiting
        won = table[target] == waiting
        out = before[won]
        waiting = np.concatenate([out[out >= 0], waiting[~won]])
        chosen[waiting] = (chosen[waiting] + 1 + (coins.read(len(waiting))[0] & 1)) % HASHES
    raise SessionError("no place was found for every identifier, which happens once in 2^40 sessions; start another")


# A pseudo-random function that two parties compute obliviously, once for each of many bins.
#
# Claim: for each bin the receiver learns F_bin at the one item that it put in; the sender gets the key and can compute
# F_bin anywhere. The sender learns nothing about the receiver's items; values of F at items that the receiver did not
# put in look random to it.
#
# Source: Kolesnikov, Kumaresan, Rosulek, Trieu 2016: the extension of transfers with a pseudo-random code C of 448
# bits instead of repeated choices. The receiver has t, the sender q = t xor (C(y) and S); F(x) = SHA-256(bin, q xor
# (C(x) and S)), which is SHA-256(bin, t) where x = y. Codes of any two items that meet in a bin differ in 128 bits or
# more, but for about 1 in 2^40 runs with up to 2^24 items.


WIDTH = 448
"""Bits of a code."""
WORDS = WIDTH // 64
OPRF_LABEL = "function/code"
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
    came = yield Exchange(label=OPRF_LABEL, expect={peer: WIDTH * length})
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
    yield Exchange(label=OPRF_LABEL, send={peer: columns.tobytes()})
    del columns
    return _hashed(rows_of(zeros).view(np.uint64)[: len(items)], np.arange(len(items)), length)


def _code(seat: Seat, items: Blocks) -> NDArray[np.uint64]:
    """C of each item: AES under four keys of the session, cut to 448 bits."""
    parts = [FixedKeyHash(seat.session, f"code {part}").permuted(items) for part in range(4)]
    return np.hstack(parts)[:, :WORDS].copy()


def _hashed(rows: NDArray[np.uint64], bins: NDArray[np.int64], length: int) -> Values:
    content = np.hstack([rows, bins.astype(np.uint64)[:, None]]).tobytes()
    step, digest = 8 * (WORDS + 1), hashlib.sha256
    hashes = b"".join([digest(content[at : at + step]).digest()[:length] for at in range(0, len(content), step)])
    return np.frombuffer(hashes, np.uint8).reshape(-1, length)


# Which of one's identifiers the other party has too, and nothing about the others.
#
# Claim: the receiver learns the positions of the common identifiers in its own list; where both are to know, the
# sender learns them in its own. Each learns how many identifiers the other has. An identifier is found to be common
# wrongly with a probability below 2^-40 in a whole run.
#
# How: the receiver has at most one identifier in each bin of a cuckoo table. The sender computes the function of each
# of its identifiers in all three bins where the receiver might have it, and sends the three values of an identifier as
# one row. It shuffles the rows by secret coins, so a row tells the receiver no position. The receiver sends back one
# bit for each row, never in which bin it had the identifier: the bin depends on identifiers that only the receiver
# has, because they compete for bins. So the bits follow from the sender's result and its own coins, and its view has
# nothing else of the table but masked codes. (A placement that fails ends the session and shows that it failed: once
# in 2^40 sessions.)
#
# Source: Kolesnikov, Kumaresan, Rosulek, Trieu 2016 (`batched_oprf`), with the cuckoo hashing of Pinkas, Schneider,
# Zohner 2018.


LABEL = "intersection/values"
SIZES = "intersection/sizes"
COMMON = "intersection/common"
MOST = 1 << 24
"""More identifiers than this need a longer code."""
Positions = NDArray[np.int64]

LEAKAGE = Leakage(
    protocol="private set intersection",
    result=(
        Told(to="receiver", what="which of its own identifiers the sender has too"),
        Told(to="sender", what="which of its own identifiers the receiver has too, where both are to know"),
    ),
    beyond=(Told(to="everybody", what="how many identifiers the other party has"),),
    withstands="either party alone",
    limits="a party that puts in identifiers which it does not have, to try them out; the receiver learns the result "
    "first and may stop then",
)


def intersect_receiving(
    seat: Seat, peer: int, identifiers: Sequence[str | bytes], *, both: bool = False, draw: Draw = fresh_key
) -> Talk[Positions]:
    """The receiver's side: the positions of common identifiers in its list, in order."""
    items = as_items(identifiers)
    theirs = yield from exchanged_sizes(seat, peer, len(items))
    if not items or not theirs:
        return np.empty(0, np.int64)
    own = digests(items, seat.session, 2 + HASHES)
    table = placed(places(own[:, 2:], len(items)), draw)
    blocks = np.frombuffer(draw(16 * len(table)), np.uint64).reshape(-1, 2).copy()
    full = table >= 0
    blocks[full] = own[table[full], :2]
    length = value_length(len(items), theirs)
    values = yield from receive_function(seat, peer, blocks, length, draw=draw)
    came = yield Exchange(label=LABEL, expect={peer: theirs * HASHES * length})
    rows = np.frombuffer(came[peer], np.uint8).reshape(theirs, HASHES, length)
    size = third(len(items))
    positions, hits = [], np.zeros(theirs, np.uint8)
    for at in range(HASHES):
        bins = at * size + np.flatnonzero(full[at * size : (at + 1) * size])
        row = matched(values[bins], rows[:, at])
        positions.append(table[bins[row >= 0]])
        hits[row[row >= 0]] = 1
    if both:
        yield Exchange(label=COMMON, send={peer: packed(hits).tobytes()})
    return np.sort(np.concatenate(positions))


def intersect_sending(
    seat: Seat, peer: int, identifiers: Sequence[str | bytes], *, both: bool = False, draw: Draw = fresh_key
) -> Talk[Positions | None]:
    """The sender's side: where both are to know, the positions of common identifiers in its list, in order."""
    items = as_items(identifiers)
    theirs = yield from exchanged_sizes(seat, peer, len(items))
    nothing = np.empty(0, np.int64)
    if not items or not theirs:
        return nothing if both else None
    own = digests(items, seat.session, 2 + HASHES)
    bins = places(own[:, 2:], theirs)
    length = value_length(len(items), theirs)
    key = yield from send_function(seat, peer, HASHES * third(theirs), draw=draw)
    order = np.argsort(np.frombuffer(draw(8 * len(items)), np.uint64))
    rows = np.stack([key.values(bins[order, at], own[order, :2], length) for at in range(HASHES)], axis=1)
    yield Exchange(label=LABEL, send={peer: rows.tobytes()})
    if not both:
        return None
    came = yield Exchange(label=COMMON, expect={peer: -(-len(items) // 8)})
    return np.sort(order[unpacked(came[peer], len(items)).astype(bool)])


def exchanged_sizes(seat: Seat, peer: int, size: int) -> Talk[int]:
    """How many identifiers the other party has; too many are refused on either side."""
    came = yield Exchange(label=SIZES, send={peer: size.to_bytes(8, "little")}, expect={peer: 8})
    theirs = int.from_bytes(came[peer], "little")
    if max(size, theirs) > MOST:
        raise SessionError(
            f"party {seat.me} has {size:,} identifiers and party {peer} {theirs:,}; at most {MOST:,} are taken"
        )
    return theirs


def value_length(size: int, other: int) -> int:
    """Bytes of a value: two of different identifiers are the same with a probability below 2^-40 in a whole run.

    >>> value_length(1, 1), value_length(1_000_000, 1_000_000)
    (6, 11)
    """
    return -(-(40 + 2 + size.bit_length() + other.bit_length()) // 8)


def matched(values: Values, others: Values) -> Positions:
    """For each value its place among others; -1 where it is not there."""
    high, low = _words(values)
    highs, lows = _words(others)
    order = np.lexsort((lows, highs))
    highs, lows = highs[order], lows[order]
    at = np.searchsorted(highs, high)
    positions = np.full(len(values), -1)
    left = np.arange(len(values))
    while len(left):
        left = left[at[left] < len(highs)]
        left = left[highs[at[left]] == high[left]]
        hit = lows[at[left]] == low[left]
        positions[left[hit]] = order[at[left[hit]]]
        left = left[~hit]
        at[left] += 1
    return positions


def _words(values: Values) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Each value as two words that sort as its bytes do."""
    filled = np.zeros((len(values), 16), np.uint8)
    filled[:, : values.shape[1]] = values
    words = filled.view(">u8").astype(np.uint64)
    return np.ascontiguousarray(words[:, 0]), np.ascontiguousarray(words[:, 1])


# The same intersection by Diffie-Hellman: slower, and short enough to be read in one sitting.
#
# Claim: as `set_intersection`. Identifiers are hashed to points of ristretto255, each party multiplies by a secret of
# its own, and products of both secrets are the same just for common identifiers. Secure if Diffie-Hellman is hard to
# decide there and the hash to the group is a random oracle.
#
# Source: Meadows 1986; Huberman, Franklin, Hogg 1999. Errata: never the identifier itself as a number, never the x
# coordinate alone (points of the twist tell a bit of each identifier).


ASKED = "intersection/points"
ANSWERED = "intersection/twice"
TAG = 16
"""Bytes of the digest of a point: different identifiers share one with a probability below 2^-80 for 2^24 of them."""

DIFFIE_HELLMAN_LEAKAGE = Leakage(
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
    positions = [place.get(answer[at : at + TAG], -1) for at in range(0, len(answer), TAG)]
    if both:
        hits = np.zeros(theirs, np.uint8)
        hits[[at for at in positions if at >= 0]] = 1
        yield Exchange(label=COMMON, send={peer: packed(hits).tobytes()})
    return np.flatnonzero(np.array(positions, np.int64) >= 0)


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
