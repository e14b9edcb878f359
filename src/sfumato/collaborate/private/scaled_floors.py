"""The thesis's whole weights: floors of exponentials times a power of ten, and what their rounding costs.

They are kept for its examples (7.4.3, table 7.3) and as a measure of what `gap_weights` spares: parties do not choose
by them.

Claim: where every weight is at least m before and after one record, choosing by floors costs the epsilon of the
    exponentials and 2 ln(1 + 1/m) more; where one may be 0, no epsilon holds.
Proof: a floor of at least m is at most its number and at least m / (m + 1) of it. So is a sum of floors. The
    probability of a candidate, a quotient of the two, is off by a factor between m / (m + 1) and (m + 1) / m, on each
    of two neighbouring tables.
Source: document 003, section 7.4.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import floor, inf, log1p


def scaled_floors(weights: Sequence[Decimal | Fraction | float], digits: int) -> list[int]:
    """Weights as whole numbers with so many digits behind the point.

    >>> scaled_floors([Decimal("54.59815003"), Decimal("403.4287935"), Decimal("7.389056099")], 1)
    [545, 4034, 73]
    """
    return [floor(Fraction(one) * 10**digits) for one in weights]


def rounding_cost(least: int) -> float:
    """What floors cost beside the epsilon of the exponentials, where none is below ``least``.

    >>> round(rounding_cost(545), 5), rounding_cost(0)
    (0.00367, inf)
    """
    return 2 * log1p(1 / least) if least > 0 else inf
