"""Who must be the largest or the smallest, where sets of maxima and of minima have people in common.

Every maximum needs somebody at their upper bound, every minimum somebody at their lower bound, and nobody with two
different bounds is at both. With equal values allowed this is satisfiability, so only small cases are decided.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.queries.exact.person_atoms import Counts, Mask

MOST_CONTESTED = 12
"""So many people may be at either bound, each alone in their atom, in a case that is decided."""
Verdict = Literal["cannot be", "told", "fits", "undecided"]
FAR = 2**62
"""Beyond every value."""
Clauses = list[frozenset[int]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Told:
    """Some maxima and minima that were answered, over atoms."""

    largest: Mask
    """Which of them are maxima."""
    values: NDArray[np.int64]
    """Their answers."""
    members: Mask
    """Which atoms each of them is about, one line for each."""
    sizes: Counts
    """How many people each atom has."""

    def bounds(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The lower and the upper bound of everybody in an atom."""
        low, high = np.full(len(self.sizes), -FAR), np.full(len(self.sizes), FAR)
        for largest, value, members in zip(self.largest, self.values, self.members, strict=True):
            if largest:
                high[members] = np.minimum(high[members], value)
            else:
                low[members] = np.maximum(low[members], value)
        return low, high


def judged(told: Told) -> tuple[Verdict, frozenset[int]]:
    """Whether some data agree with all answers, and the atoms of people whose value is the same in all that do."""
    low, high = told.bounds()
    people = told.sizes > 0
    if (low > high)[people].any():
        return "cannot be", frozenset()
    ends = [
        frozenset(np.flatnonzero(members & people & ((high if largest else low) == value)).tolist())
        for largest, value, members in zip(told.largest, told.values, told.members, strict=True)
    ]
    tops = [one for one, largest in zip(ends, told.largest, strict=True) if largest]
    bottoms = [one for one, largest in zip(ends, told.largest, strict=True) if not largest]
    alone = {int(one) for one in np.flatnonzero(told.sizes == 1)}
    equal = {int(one) for one in np.flatnonzero(people & (low == high))}
    both = (frozenset().union(*tops) & frozenset().union(*bottoms) & alone) - equal
    if len(both) > MOST_CONTESTED:
        return "undecided", frozenset()
    if not _possible(tops, bottoms, both):
        return "cannot be", frozenset()
    forced = frozenset(one for one in alone - equal if _forced(one, tops, bottoms, both)) | equal
    return ("told" if forced else "fits"), forced


def _forced(person: int, tops: Clauses, bottoms: Clauses, both: frozenset[int] | set[int]) -> bool:
    """Whether somebody has the same value whatever else is so."""
    gone = frozenset([person])
    if not any(person in one for one in (*tops, *bottoms)):
        return False
    less_high, less_low, rest = [one - gone for one in tops], [one - gone for one in bottoms], set(both) - gone
    if _possible(less_high, less_low, rest):
        return False
    return person not in both or not (_possible(tops, less_low, rest) and _possible(less_high, bottoms, rest))


def _possible(tops: Clauses, bottoms: Clauses, both: frozenset[int] | set[int]) -> bool:
    """Whether all sets can have somebody at the bound, where those in ``both`` can be at one bound only."""
    if not all(tops) or not all(bottoms):
        return False
    open_tops = [one for one in tops if one <= both]
    open_bottoms = [one for one in bottoms if one <= both]
    if not open_tops or not open_bottoms:
        return True
    person = min(sorted(open_tops, key=len)[0])
    gone = frozenset([person])
    rest = set(both) - gone
    at_top = _possible([one for one in open_tops if person not in one], [one - gone for one in open_bottoms], rest)
    return at_top or _possible(
        [one - gone for one in open_tops], [one for one in open_bottoms if person not in one], rest
    )
