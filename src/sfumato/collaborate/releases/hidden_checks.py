"""Whether groups that two parties hold parts of meet a demand: both learn yes or no, and nothing about any group.

Each party puts its own counts of all groups into a garbled circuit, which adds them up and compares. That a share is
within its limit p/q is q times the watched rows being at most p times all rows: each party computes its part of the
difference, and the circuit looks at the sign of the sum.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from sfumato.collaborate.exchange import Talk
from sfumato.collaborate.primitives.circuit import Circuit
from sfumato.collaborate.primitives.circuit_builder import CircuitBuilder
from sfumato.collaborate.primitives.circuit_words import add, any_of, equal, less
from sfumato.collaborate.primitives.garbled_talk import compute
from sfumato.collaborate.primitives.transfer_extension import Receiving, Sending
from sfumato.collaborate.primitives.wire_bits import bits_of
from sfumato.ground.errors import DataError, ParameterError
from sfumato.group.cut_counts import Numbers
from sfumato.publish.top_down.demands import Demand

MOST_GROUPS = 2**17
"""More groups than this are not compared at once."""
_ROWS, _SHARE = 40, 64
_FINEST = 10**6


def share_of(limit: float) -> Fraction:
    """A limit as a fraction; one with more than six decimals is refused, so that comparisons are exact."""
    found = Fraction(str(limit))
    if found.denominator > _FINEST:
        raise ParameterError(f"two parties compare shares exactly, up to six decimals; {limit} has more")
    return found


def hold_together(ready: Sending | Receiving, groups: Numbers, demand: Demand) -> Talk[bool]:
    """Whether the sums of both parties' groups (lines of rows and watched values) meet the demand where they occur."""
    count = 1 << max(len(groups) - 1, 0).bit_length()
    if count > MOST_GROUPS:
        raise DataError(f"{len(groups):,} groups are too many for two parties to compare; a smaller l would do")
    whole = np.zeros((count, groups.shape[1]), np.int64)
    whole[: len(groups)] = np.rint(groups)
    limit = share_of(demand.limit)
    rows = bits_of(whole[:, 0], _ROWS).ravel()
    spare = limit.numerator * whole[:, :1] - limit.denominator * whole[:, 1:]
    inputs = np.concatenate([rows, bits_of(spare.ravel(), _SHARE, signed=True).ravel()])
    found = yield from compute(ready, _circuit(count, groups.shape[1] - 1, demand.k), inputs)
    return not bool(found[0])


@lru_cache(maxsize=32)
def _circuit(count: int, watched: int, k: int) -> Circuit:
    build = CircuitBuilder()
    ours = build.garbler_input(count, _ROWS), build.garbler_input(count * watched, _SHARE)
    theirs = build.evaluator_input(count, _ROWS), build.evaluator_input(count * watched, _SHARE)
    rows = add(build, ours[0], theirs[0])
    few = less(build, rows, np.broadcast_to(build.constant(k, _ROWS), rows.shape))
    none = equal(build, rows, np.broadcast_to(build.constant(0, _ROWS), rows.shape))
    failed = build.and_(few, build.not_(none))
    if watched:
        failed = np.concatenate([failed, add(build, ours[1], theirs[1])[:, -1]])
    found = any_of(build, failed[None])
    return build.circuit(garbler=found, evaluator=found)
