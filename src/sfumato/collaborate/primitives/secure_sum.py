"""The sum of all parties' numbers, and nothing else about any of them: masks that cancel.

Claim: whatever up to n - 2 of n semi-honest parties see together is as likely for every input of the others that has
the same sum. Each masked vector is uniform modulo 2^64, given all others, but for their total.

Source: Bonawitz et al. 2017, section 4, without its part for parties that drop out: here such a party ends the session.
003 section 5.4.2 sums along a ring, where the two neighbours of a party together learn its numbers (``ring_sum``).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sfumato.collaborate.exchange import Exchange, Seat, Talk, to_all
from sfumato.collaborate.leakage import Leakage, Told
from sfumato.collaborate.primitives.pairwise_masks import PairwiseKeys, Words, words_read, words_written
from sfumato.ground.errors import ParameterError

Counts = NDArray[np.int64]

LEAKAGE = Leakage(
    protocol="secure sum",
    result=(Told(to="everybody", what="the sum of all parties' numbers"),),
    beyond=(Told(to="everybody", what="how many numbers are summed"),),
    withstands="any n - 2 of n parties that put together what they saw",
    limits="n - 1 parties, who subtract their own numbers from the sum; a party that sends wrong numbers",
)
_ONCE = 4096
"""Up to so many numbers, everybody sends everything to everybody; beyond, each party adds up one part for all."""


def secure_sum(seat: Seat, keys: PairwiseKeys, values: Counts) -> Talk[Counts]:
    """The sum of the parties' vectors modulo 2^64, read as signed numbers; all vectors have the same length.

    Between two parties a sum tells each the other's numbers, so fewer than three are refused.
    """
    if seat.count < 3:
        raise ParameterError(
            f"a secure sum of {seat.count} parties hides nothing: each subtracts its own numbers; it needs three"
        )
    given = np.ascontiguousarray(values, np.int64).reshape(-1).view(np.uint64)
    masked = given + keys.mask(len(given))
    if len(given) <= _ONCE:
        total = _added(masked, (yield to_all(seat, "sum/masked", words_written(masked))))
    else:
        total = yield from _in_parts(seat, masked)
    return total.view(np.int64).reshape(np.shape(values))


def _in_parts(seat: Seat, masked: Words) -> Talk[Words]:
    """Party j adds up the j-th part of everybody's vector and tells all."""
    parts = np.array_split(masked, seat.count)
    mine = parts[seat.me]
    came = yield Exchange(
        label="sum/part",
        send={other: words_written(parts[other]) for other in seat.others},
        expect=dict.fromkeys(seat.others, mine.nbytes),
    )
    parts[seat.me] = _added(mine, came)
    whole = yield Exchange(
        label="sum/whole",
        send=dict.fromkeys(seat.others, words_written(parts[seat.me])),
        expect={other: parts[other].nbytes for other in seat.others},
    )
    return np.concatenate([parts[one] if one == seat.me else words_read(whole[one]) for one in range(seat.count)])


def _added(own: Words, came: Mapping[int, bytes]) -> Words:
    total = own.copy()
    for content in came.values():
        total += words_read(content)
    return total
