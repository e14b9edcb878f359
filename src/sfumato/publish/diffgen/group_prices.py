"""How far to specialize, and what a group costs: public rules on a noisy number of records and the noise to come."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor, log2, pi, sqrt

from sfumato.budget.events import Pure
from sfumato.budget.purse import Cost

PART = Fraction(1, 50)
"""The part of the budget that the noisy number of records costs."""
RECORDS = 25.0
"""So many times the noise of a count should be in a group where it is specialized by halves."""
PRICE = 0.1
"""The score that a new group must bring, in times the noise of its counts."""
FEW = 4
"""So many groups are possible however few records there seem to be: of a small table their number is mostly noise."""
MOST_STEPS = 30
MOST_GROUPS = 2**20
"""No specialization is a candidate that would make more leaf partitions than this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What a search may make, and what it costs there: public."""

    steps: int
    """The most specializations."""
    most: int = MOST_GROUPS
    """The most groups."""
    group: float = 0.0
    """What one more group takes off a score."""
    records: int | None = None
    """The noisy number of records, where it was bought."""
    halves: bool = False
    """Whether nodes with many nodes below may be specialized by halves."""
    stops: bool = False
    """Whether to stop is one more candidate."""


def noise_of(cost: Cost) -> float:
    """The mean absolute noise of a count that costs so much.

    >>> noise_of(Pure(epsilon=Fraction(1, 4)))
    4.0
    """
    return float(1 / cost.epsilon) if isinstance(cost, Pure) else 1 / sqrt(pi * float(cost.rho))


def supported(records: int, noise: float, classes: int, *, stops: bool, unit: float = 1.0) -> Prices:
    """What so many records support where counts have so much noise; ``unit`` is the score of one record.

    Steps: as many as halve the records into groups of 25 times the noise; then noise hardly changes a group's majority.
    Groups: their noise together, over all classes, is not more than the records; but four in any case. A new group
    takes a tenth of its own noise off the score of what makes it.

    >>> [supported(30_000, 4 / e, 2, stops=True).steps for e in (0.1, 0.25, 0.5, 1)]
    [4, 6, 7, 8]
    >>> supported(60_000, 4.0, 2, stops=True).most, supported(-5, 4.0, 2, stops=True).most
    (7500, 4)
    """
    there = max(records, 1)
    halvings = floor(log2(max(there / (RECORDS * noise), 1.0)))
    return Prices(
        steps=min(max(halvings, 1), MOST_STEPS),
        most=min(max(floor(there / (classes * noise)), FEW), MOST_GROUPS),
        group=PRICE * noise * classes * unit,
        records=there,
        halves=True,
        stops=stops,
    )
