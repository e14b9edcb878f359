"""The textbook's secure sum: a masked total goes round a ring, and each party adds its numbers.

Claim: no single semi-honest party of at least three learns more than the sum. The two neighbours of a party together
learn its numbers: one knows what came in, the other what went out. Use ``secure_sum``; this one is here because the
literature describes it, and a test shows the two neighbours at work.

Source: 003 section 5.4.2; Clifton et al. 2002.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.collaborate.exchange import Exchange, Seat, Talk
from sfumato.collaborate.leakage import Leakage, Told
from sfumato.collaborate.primitives.pairwise_masks import words_read, words_written
from sfumato.ground.errors import ParameterError
from sfumato.ground.secret_key import fresh_key

Counts = NDArray[np.int64]

LEAKAGE = Leakage(
    protocol="ring sum",
    result=(Told(to="everybody", what="the sum of all parties' numbers"),),
    beyond=(Told(to="everybody", what="how many numbers are summed"),),
    withstands="no two parties: the two neighbours of a party learn its numbers if they put together what they saw",
    limits="neighbours that work together; a party that sends wrong numbers",
)


def ring_sum(seat: Seat, values: Counts) -> Talk[Counts]:
    """The sum of the parties' vectors modulo 2^64, read as signed numbers."""
    if seat.count < 3:
        raise ParameterError(f"a ring of {seat.count} parties hides nothing; it needs three")
    given = np.ascontiguousarray(values, np.int64).reshape(-1).view(np.uint64)
    after, before = (seat.me + 1) % seat.count, (seat.me - 1) % seat.count
    here = {before: given.nbytes}
    if seat.me == 0:
        mask = np.frombuffer(fresh_key(given.nbytes), np.uint64)
        yield Exchange(label="ring/add", send={after: words_written(given + mask)})
        back = yield Exchange(label="ring/add", expect=here)
        total = words_read(back[before]) - mask
        yield Exchange(label="ring/sum", send=dict.fromkeys(seat.others, words_written(total)))
    else:
        came = yield Exchange(label="ring/add", expect=here)
        yield Exchange(label="ring/add", send={after: words_written(words_read(came[before]) + given)})
        told = yield Exchange(label="ring/sum", expect={0: given.nbytes})
        total = words_read(told[0])
    return total.view(np.int64).reshape(np.shape(values))
