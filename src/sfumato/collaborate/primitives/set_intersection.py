"""Which of one's identifiers the other party has too, and nothing about the others.

Claim: the receiver learns the positions of the common identifiers in its own list; where both are to know, the sender
learns them in its own. Each learns how many identifiers the other has. An identifier is found to be common wrongly with
a probability below 2^-40 in a whole run.

Source: Kolesnikov, Kumaresan, Rosulek, Trieu 2016 (`batched_oprf`), with the cuckoo hashing of Pinkas, Schneider,
Zohner 2018: the receiver has at most one identifier in each bin, the sender computes the function of each of its own in
all three bins where the receiver might have it, and sends the values in sorted order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.collaborate.exchange import Exchange, Seat, Talk
from sfumato.collaborate.leakage import Leakage, Told
from sfumato.collaborate.primitives.batched_oprf import Values, receive_function, send_function
from sfumato.collaborate.primitives.bit_matrix import packed, unpacked
from sfumato.collaborate.primitives.cuckoo_table import HASHES, placed, places, third
from sfumato.collaborate.primitives.ristretto_points import Draw
from sfumato.collaborate.primitives.set_items import as_items, digests
from sfumato.ground.errors import SessionError
from sfumato.ground.secret_key import fresh_key

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
    table = placed(places(own[:, 2:], len(items)))
    blocks = np.frombuffer(draw(16 * len(table)), np.uint64).reshape(-1, 2).copy()
    full = table >= 0
    blocks[full] = own[table[full], :2]
    length = value_length(len(items), theirs)
    values = yield from receive_function(seat, peer, blocks, length, draw=draw)
    came = yield Exchange(label=LABEL, expect={peer: HASHES * theirs * length})
    lists = np.frombuffer(came[peer], np.uint8).reshape(HASHES, theirs, length)
    size = third(len(items))
    positions, hits = [], np.zeros((HASHES, theirs), np.uint8)
    for at in range(HASHES):
        bins = at * size + np.flatnonzero(full[at * size : (at + 1) * size])
        found = matched(values[bins], lists[at])
        positions.append(table[bins[found >= 0]])
        hits[at, found[found >= 0]] = 1
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
    orders, lists = [], []
    for at in range(HASHES):
        values = key.values(bins[:, at], own[:, :2], length)
        high, low = _words(values)
        orders.append(np.lexsort((low, high)))
        lists.append(values[orders[-1]].tobytes())
    yield Exchange(label=LABEL, send={peer: b"".join(lists)})
    if not both:
        return None
    came = yield Exchange(label=COMMON, expect={peer: HASHES * -(-len(items) // 8)})
    hits = unpacked(np.frombuffer(came[peer], np.uint8).reshape(HASHES, -1), len(items)).astype(bool)
    found: Positions = np.unique(np.concatenate([order[hit] for order, hit in zip(orders, hits, strict=True)]))
    return found


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
    """For each value its place among others, which are sorted; -1 where it is not there."""
    high, low = _words(values)
    highs, lows = _words(others)
    at = np.searchsorted(highs, high)
    found = np.full(len(values), -1)
    left = np.arange(len(values))
    while len(left):
        left = left[at[left] < len(highs)]
        left = left[highs[at[left]] == high[left]]
        hit = lows[at[left]] == low[left]
        found[left[hit]] = at[left[hit]]
        left = left[~hit]
        at[left] += 1
    return found


def _words(values: Values) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Each value as two words that sort as its bytes do."""
    filled = np.zeros((len(values), 16), np.uint8)
    filled[:, : values.shape[1]] = values
    words = filled.view(">u8").astype(np.uint64)
    return np.ascontiguousarray(words[:, 0]), np.ascontiguousarray(words[:, 1])
