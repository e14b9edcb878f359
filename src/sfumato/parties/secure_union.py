"""The union of the parties' sets; nobody learns who brought an item.

Claim: among semi-honest parties that do not work together, each learns the union, and beyond it what `LEAKAGE` tells.
How: items become points of ristretto255. Each party's points go round, and every party multiplies them by a secret
    scalar of its own and shuffles them. The order of scalars does not matter, so equal items are equal in the end, and
    are kept once. Then every party takes its scalar away in turn. Fake points fill each party's list up to a power of
    two; they are points that no text is written as, so they drop out at the end.
Source: Kantarcioglu and Clifton 2004, section 4.1 (union of locally large itemsets); 003 section 5.6 with errata 9: the
    group is ristretto255, not plain modular exponentiation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.core.errors import DataError, ParameterError, SessionError
from sfumato.core.randomness import fresh_key
from sfumato.parties.conversation import Exchange, Leakage, Seat, Talk, Told, to_all
from sfumato.parties.ristretto import POINT, embedded, inverse, random_point, random_scalar, read_texts, split, times

MAX_POINTS = 1 << 20
"""Points of one party's list: 32 MB."""

LEAKAGE = Leakage(
    protocol="secure union",
    result=(Told(to="everybody", what="which items at least one party has"),),
    beyond=(
        Told(
            to="everybody", what="in how many pieces of 16 bytes each party's items are, rounded up to a power of two"
        ),
        Told(
            to="everybody",
            what="how many pieces there are at more than one party, counted once for each party after the first, but "
            "not which",
        ),
        Told(
            to="the first party",
            what="for every group of parties, how many pieces these and no others have, but not which",
        ),
    ),
    withstands="no two parties: neighbours in the ring that work together can follow an item to its owner",
    limits="guessing the owner from the union itself, as with three parties where two items are your own",
)


def secure_union(seat: Seat, items: Sequence[bytes]) -> Talk[list[bytes]]:
    """The distinct items of all parties, in order; duplicates of one's own are taken once. Needs two parties or more.

    With two parties everybody knows whose items the others are.
    """
    if seat.count < 2:
        raise ParameterError("a union needs two parties or more")
    scalar = random_scalar(fresh_key)
    own = [point for item in sorted(set(items)) for point in embedded(item)]
    size = 1 << max(len(own) - 1, 0).bit_length()
    if size > MAX_POINTS:
        raise DataError(f"a union takes items of {MAX_POINTS:,} pieces of 16 bytes; this party has {len(own):,}")
    own += [random_point(fresh_key) for _ in range(size - len(own))]
    contents = yield to_all(seat, "union/size", size.to_bytes(8, "big"))
    sizes = {seat.me: size, **{peer: _size(peer, content) for peer, content in contents.items()}}
    whole = yield from _encrypted(seat, scalar, own, sizes)
    return read_texts((yield from _opened(seat, scalar, whole, sum(sizes.values()))))


def _size(peer: int, content: bytes) -> int:
    """The announced length of a party's list."""
    size = int.from_bytes(content, "big")
    if not 0 < size <= MAX_POINTS or size & (size - 1):
        raise SessionError(f"party {peer} announces {size:,} points, which is not a power of two up to {MAX_POINTS:,}")
    return size


def _encrypted(seat: Seat, scalar: bytes, own: list[bytes], sizes: dict[int, int]) -> Talk[list[bytes] | None]:
    """Everybody's points under all scalars, with the first party; duplicates are gone there."""
    after, before = (seat.me + 1) % seat.count, (seat.me - 1) % seat.count
    held = _shuffled(_raised(own, scalar))
    for hop in range(1, seat.count):
        owner = (seat.me - hop) % seat.count
        came = yield Exchange(
            label=f"union/encrypt {hop}",
            send={after: b"".join(held)},
            expect={before: POINT * sizes[owner]},
        )
        held = _shuffled(_raised(split(came[before]), scalar))
    owners = {party: (party + 1) % seat.count for party in range(seat.count)}
    if seat.me:
        yield Exchange(label="union/gather", send={0: b"".join(held)})
        return None
    lengths = {party: POINT * sizes[owners[party]] for party in seat.others}
    came = yield Exchange(label="union/gather", expect=lengths)
    every = {*held, *(point for content in came.values() for point in split(content))}
    return _shuffled(sorted(every))


def _opened(seat: Seat, scalar: bytes, whole: list[bytes] | None, most: int) -> Talk[list[bytes]]:
    """Every party takes its scalar away in turn; the last one tells all."""
    after, before, last = (seat.me + 1) % seat.count, (seat.me - 1) % seat.count, seat.count - 1
    if whole is None:
        length = yield Exchange(label="union/count", expect={before: 8})
        count = int.from_bytes(length[before], "big")
        if count > most:
            raise SessionError(f"party {before} announces {count:,} points of a union, and all lists have {most:,}")
        came = yield Exchange(label="union/open", expect={before: POINT * count})
        whole = split(came[before])
    points = _shuffled(_raised(whole, inverse(scalar)))
    content, number = b"".join(points), len(points).to_bytes(8, "big")
    if seat.me != last:
        yield Exchange(label="union/count", send={after: number})
        yield Exchange(label="union/open", send={after: content})
        contents = yield Exchange(label="union/told", expect={last: len(content)})
        return split(contents[last])
    yield Exchange(label="union/told", send=dict.fromkeys(seat.others, content))
    return points


def _raised(points: Sequence[bytes], scalar: bytes) -> list[bytes]:
    """Every point times a scalar: an encryption that commutes, and that the inverse scalar takes away."""
    return [times(scalar, point) for point in points]


def _shuffled(points: list[bytes]) -> list[bytes]:
    """The points in an order that nobody can guess: sorted by fresh random keys."""
    keys = np.frombuffer(fresh_key(16 * len(points)), "S16") if points else np.empty(0, "S16")
    return [points[place] for place in np.argsort(keys, kind="stable").tolist()]
