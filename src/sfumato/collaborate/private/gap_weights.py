"""Whole weights for the exponential mechanism that cost no privacy by their rounding.

The thesis takes the floor of exp(e u) 10^l (section 7.4.2): next to a floor the ratio of two weights can be larger than
e^e, up to without limit where a weight becomes 0, and nothing pays for that. Here a weight depends on the gap of a
score to the highest one, and is a product of two whole numbers from public tables, w(d) = upper[d // s] lower[d % s].

Claim: w(d + 1) <= w(d) <= e^epsilon w(d + 1) for every gap d, exactly; from the last gap of the tables on, the weight
    stays as it is. Where one record more moves no score down and none by more than 1, choosing with probabilities in
    proportion to the weights is epsilon-differentially private, and rounding costs nothing.
Proof: one more record raises each score by 0 or 1, and with them the highest. If the highest rises, every gap grows by
    0 or 1 and every weight is multiplied by something between e^-epsilon and 1; if it does not, every gap shrinks by 0
    or 1 and the factors lie between 1 and e^epsilon. Either way the weight of one candidate and the sum of all move in
    the same direction, each by a factor of at most e^epsilon, and so does their ratio.
Source: document 003, section 7.4.2, corrected. The exponent is epsilon times the score, not half of it, as the
    score is monotone (McSherry, Talwar 2007, remark after theorem 6).
Limits: gaps beyond the tables weigh what the last one does, about 2^-20 of the highest weight; steps between
    whole numbers lose up to 1/32 of epsilon's effect, never more than it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, log

from sfumato.ground.errors import ParameterError

SPREAD = 20
"""Binary digits between the highest weight and the lowest."""
STEPS = 32
"""The lowest entries of the tables are so large that a step of epsilon is at least this many whole numbers."""
LEAST = Fraction(1, 10**5)
"""No choice of two parties costs less: the tables would be too long for a circuit."""
_DIGITS = 96


@dataclass(frozen=True, slots=True, kw_only=True)
class GapWeights:
    """The weight of each gap to the highest score."""

    upper: tuple[int, ...]
    """By the gap's upper digits."""
    lower: tuple[int, ...]
    """By its lower digits; their number is a power of two."""

    @property
    def last(self) -> int:
        """The gap from which on the weight stays the same."""
        return len(self.upper) * len(self.lower) - 1

    @property
    def highest(self) -> int:
        """The weight of no gap."""
        return self.upper[0] * self.lower[0]

    def of(self, gap: int) -> int:
        """The weight of one gap."""
        at, rest = divmod(min(gap, self.last), len(self.lower))
        return self.upper[at] * self.lower[rest]


@lru_cache(maxsize=32)
def gap_weights(epsilon: Fraction) -> GapWeights:
    """Tables for which the claim holds; the highest weight is a power of two.

    From the first entry downwards each is the smallest whole number that the one above allows.
    """
    if epsilon < LEAST:
        raise ParameterError(
            f"one choice of two parties must cost an epsilon of at least {float(LEAST):g}, not {float(epsilon):.3g}; "
            "a larger epsilon or fewer specializations would do"
        )
    ratio = exponential_below(epsilon)
    gaps = ceil(SPREAD * log(2) / float(epsilon)) + 1
    size = 1 << (gaps - 1).bit_length() // 2
    floor = max(ceil(STEPS / (ratio - 1)), STEPS).bit_length()
    lower = _descended(floor + ceil(size * float(epsilon) / log(2)), size, ratio)
    upper = _descended(floor + SPREAD, -(-gaps // size), ratio * lower[0] / lower[-1])
    return GapWeights(upper=upper, lower=lower)


def exponential_below(epsilon: Fraction) -> Fraction:
    """A fraction of few digits that is at most e^epsilon, and nearly as much.

    >>> float(exponential_below(Fraction(1)))
    2.718281828459045
    """
    term = total = Fraction(1)
    for number in range(1, 40 + ceil(4 * epsilon)):
        term = term * epsilon / number
        total += term
    return Fraction((total.numerator << _DIGITS) // total.denominator, 1 << _DIGITS)


def _descended(bits: int, size: int, ratio: Fraction) -> tuple[int, ...]:
    """So many numbers from 2^bits downwards, none less than the one above over the ratio."""
    found = [1 << bits]
    while len(found) < size:
        found.append(-(-found[-1] * ratio.denominator // ratio.numerator))
    return tuple(found)
