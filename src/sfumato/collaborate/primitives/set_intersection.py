"""Which of one's identifiers the other party has too, and nothing about the others.

Claim: the receiver learns the positions of the common identifiers in its own list; where both are to know, the sender
learns them in its own. Each learns how many identifiers the other has. An identifier is found to be common wrongly with
a probability below 2^-40 in a whole run.

How: the receiver has at most one identifier in each bin of a cuckoo table. The sender computes the function of each of
its identifiers in all three bins where the receiver might have it, and sends the three values of an identifier as one
row. It shuffles the rows by secret coins, so a row tells the receiver no position. The receiver sends back one bit for
each row, never in which bin it had the identifier: the bin depends on identifiers that only the receiver has, because
they compete for bins. So the bits follow from the sender's result and its own coins, and its view has nothing else of
the table but masked codes. (A placement that fails ends the session and shows that it failed: once in 2^40 sessions.)

Source: Kolesnikov, Kumaresan, Rosulek, Trieu 2016 (`batched_oprf`), with the cuckoo hashing of Pinkas, Schneider,
Zohner 2018.
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
    found = np.full(len(values), -1)
    left = np.arange(len(values))
    while len(left):
        left = left[at[left] < len(highs)]
        left = left[highs[at[left]] == high[left]]
        hit = lows[at[left]] == low[left]
        found[left[hit]] = order[at[left[hit]]]
        left = left[~hit]
        at[left] += 1
    return found


def _words(values: Values) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Each value as two words that sort as its bytes do."""
    filled = np.zeros((len(values), 16), np.uint8)
    filled[:, : values.shape[1]] = values
    words = filled.view(">u8").astype(np.uint64)
    return np.ascontiguousarray(words[:, 0]), np.ascontiguousarray(words[:, 1])
