"""Cuckoo hashing with three hash functions: every item in one of its three places, at most one item in each place.

Each function has a third of the table, so the three places of an item differ. The table has 1.3 places for each item
and 256 more: then no placement exists for fewer than about 1 in 2^40 sets of keyed digests, of any size (Pinkas,
Schneider, Zohner 2018 measured 1.27 for large sets; for small ones four items in the same three places are the likely
failure, C(n, 4) (3 / places)^9).

Order, first places and moves come from secret coins, so the table is as likely for one order of the items as for any
other, and an observer who knows the hash functions cannot run the placement again.

Source: Pagh, Rodler 2004; random walks as in Fotakis et al. 2005, all items that wait for a place moved at once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.collaborate.primitives.fixed_key_hash import BLOCK, KeyStreams
from sfumato.collaborate.primitives.ristretto_points import Draw
from sfumato.ground.errors import SessionError

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
