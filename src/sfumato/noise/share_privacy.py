"""Which epsilon is left against somebody who knows some of the shares of noise.

Let r be the number of unknown shares over the number of shares that make one whole noise. What is unknown of the noise
is the difference D of two Polya numbers of shape r, whatever the known shares are. A count that a record moves by one
is then as private as the largest ratio of neighbouring probabilities of D says.

Claim: for r of 1 or more that epsilon is the one of the whole noise. For r below 1 it is ln(P[D = 0] / P[D = 1]).
Proof: let P(k) be the probability of a Polya number. P(k) / P(k+1) = (k+1) / (p (k+r)), where p = e^-epsilon; for r < 1
    it falls with k and is above 1. P[D = d] / P[D = d+1] is the mean of P(j+d) / P(j+d+1) over j with weights
    proportional to P(j) P(j+d+1). With larger d each of these ratios is smaller, and the weights move to larger j,
    because P(k+1) / P(k) grows with k: so the mean falls with d, and is largest at d = 0. D is symmetric. For r >= 1
    all ratios are at most 1 / p.
As epsilon goes to 0 it does not go to 0 with it unless r is a half or more: for smaller r it stays above ln((1-r)/r).
Source: the law of the shares is that of Goryczka and Xiong 2015; the bound is ours.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, log

import numpy as np

from sfumato.budget.events import Approximate, Concentrated, Event, Grouped, Parallel, Pure, Sequential, exactly
from sfumato.ground.errors import ParameterError

_SMALL = 46.0
"""e to minus this is nothing beside a sum of which it is a part, for the bound below adds it."""
_ROUNDING = 1e-7
"""More than rounding can change the ratio of two sums of up to a million addends."""
_DIGITS = 10**6
"""Bounds are rounded up to millionths."""
_LARGE = 30
"""From here on p is nothing beside 1, and the ratio is 1 / (p r) at most."""


@lru_cache(maxsize=1024)
def remaining_epsilon(epsilon: Fraction, unknown: Fraction) -> Fraction:
    """An upper bound on the epsilon of a count, where ``unknown`` is the part of a whole noise that is not known.

    >>> remaining_epsilon(Fraction(1, 2), Fraction(1)), remaining_epsilon(Fraction(1, 2), Fraction(1, 2))
    (Fraction(1, 2), Fraction(227509, 200000))
    """
    budget, part = exactly("epsilon", epsilon), exactly("unknown", unknown)
    if part >= 1:
        return budget
    if budget >= _LARGE:
        return budget + Fraction(ceil(log(1 / part) * _DIGITS) + 1, _DIGITS)
    p, r = exp(-float(budget)), float(part)
    number = np.arange(ceil(_SMALL / float(budget)) + 2)
    with np.errstate(divide="ignore"):
        steps = np.log(p * (number[:-1] + r) / (number[:-1] + 1.0))
    terms = np.exp(np.concatenate([[0.0], steps.cumsum()]))
    rest = terms[-1] ** 2 * p**2 / (1 - p**2)
    alike, apart = float((terms**2).sum()) + rest, float((terms[:-1] * terms[1:]).sum())
    return Fraction(ceil(log(alike / apart * (1 + _ROUNDING)) * _DIGITS), _DIGITS)


def remaining_event(event: Event, unknown: Fraction, shared: Callable[[Pure], bool] = lambda event: True) -> Event:
    """The same releases as somebody sees them who knows all but this part of each noise; counts under pure epsilon.

    ``shared`` says which of them are counts with shares of noise; the others stay as they are.
    """
    match event:
        case Pure():
            left = remaining_epsilon(event.epsilon, unknown) if shared(event) else event.epsilon
            return Pure(epsilon=left, what=event.what)
        case Sequential() | Parallel():
            parts = tuple(remaining_event(part, unknown, shared) for part in event.parts)
            return type(event)(parts=parts, what=event.what)
        case Grouped():
            return Grouped(part=remaining_event(event.part, unknown, shared), rows=event.rows, what=event.what)
        case Concentrated() | Approximate():
            raise ParameterError("shares of noise are for pure epsilon; Gaussian noise and thresholds have none")
