"""The thesis's exponential mechanism on hidden scores: maximum, oblivious polynomials, floored weights."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import comb, factorial, floor, inf, log1p

import numpy as np

from sfumato.core.randomness import fresh_key
from sfumato.parties.circuit_arithmetic import less, select, subtract
from sfumato.parties.circuits import ZERO, Bits, Circuit, CircuitBuilder, Wires, numbers_of
from sfumato.parties.conversation import Talk
from sfumato.parties.diffgen.selection import WIDTH, Shape, gaps_of, scores_of
from sfumato.parties.garbled_circuits import compute
from sfumato.parties.oblivious_polynomial import PrivateKey, receive_polynomial, send_polynomial
from sfumato.parties.oblivious_transfer import Receiving, Sending
from sfumato.parties.random_selection import random_bits, selected

# The thesis's whole weights: floors of exponentials times a power of ten, and what their rounding costs.
#
# They are kept for its examples (7.4.3, table 7.3) and as a measure of what `gap_weights` spares: parties do not
# choose by them.
#
# Claim: where every weight is at least m before and after one record, choosing by floors costs the epsilon of the
#     exponentials and 2 ln(1 + 1/m) more; where one may be 0, no epsilon holds.
# Proof: a floor of at least m is at most its number and at least m / (m + 1) of it. So is a sum of floors. The
#     probability of a candidate, a quotient of the two, is off by a factor between m / (m + 1) and (m + 1) / m, on each
#     of two neighbouring tables.
# Source: document 003, section 7.4.2.


def scaled_floors(weights: Sequence[Decimal | Fraction | float], digits: int) -> list[int]:
    """Weights as whole numbers with so many digits behind the point.

    >>> scaled_floors([Decimal("54.59815003"), Decimal("403.4287935"), Decimal("7.389056099")], 1)
    [545, 4034, 73]
    """
    return [floor(Fraction(weight) * 10**digits) for weight in weights]


def rounding_cost(least: int) -> float:
    """What floors cost beside the epsilon of the exponentials, where none is below ``least``.

    >>> round(rounding_cost(545), 5), rounding_cost(0)
    (0.00367, inf)
    """
    return 2 * log1p(1 / least) if least > 0 else inf


# The exponential mechanism on hidden scores as the thesis has it: MAX, oblivious polynomials, then the choice.
#
# Claim: as `choice_circuit`, with the weights D e_w(x), where e_w is the Taylor series of the exponential up to x^w,
#     and x is epsilon times how far the score reaches above the highest less a public span. These are whole numbers,
#     and e_w(x + epsilon) <= e^epsilon e_w(x) for x >= 0, so they satisfy the claim of `gap_weights` and rounding costs
#     nothing: e_w(x + y) = sum of y^j/j! e_(w-j)(x) over j <= w, and e_(w-j) <= e_w.
# Source: document 003, algorithm 7.5 with equation 7.4. The circuit gives shares of the score's height; the thesis
#     takes the score itself, for which a series of w addends is no exponential where epsilon times the score is above
#     w.
# Cost: a polynomial of degree 20 under Paillier's encryption for each candidate, and words of some hundred digits: many
#     times that of one circuit, which is therefore what parties use (`benchmarks/joint_private.py`).
# Limits: a share of a height is hidden but for a distance of 2^-40; an evaluation is wrong with probability 2^-1000.


DEGREE = 20
"""The highest power in the series."""
SPAN = 12
"""The largest exponent: the highest weight is about e^12 times the lowest."""
MASKED = WIDTH + 41
"""Binary digits of a masked height, its sign included."""
_DIGITS = 6


def chosen_by_polynomials(ready: Sending | Receiving, shape: Shape, inputs: Bits, epsilon: Fraction) -> Talk[int]:
    """The index of the chosen candidate, from one's own part of the scores."""
    step = coarse(epsilon)
    circuit = heights_circuit(shape, span(step))
    bits = (shape.count * weight(step, span(step))).bit_length()
    if isinstance(ready, Sending):
        masks = random_bits(shape.count * (MASKED - 1), fresh_key).reshape(-1, MASKED - 1)
        yield from compute(ready, circuit, np.concatenate([inputs, masks.ravel()]))
        shares = yield from _at_points(ready.peer, numbers_of(masks), bits)
    else:
        outputs = yield from compute(ready, circuit, inputs)
        heights = numbers_of(outputs.reshape(-1, MASKED), signed=True)
        shares = []
        for height in heights:
            shares.append((yield from send_polynomial(ready.peer, shifted(step, height))).share)
    return (yield from selected(ready, [share % (1 << bits) for share in shares], bits=bits))


def _at_points(peer: int, points: list[int], bits: int) -> Talk[list[int]]:
    """Shares of the values at some points. Shares add up to the value plus n, so n is taken off here."""
    key, values = PrivateKey.new(), []
    for point in points:
        share = yield from receive_polynomial(peer, point, DEGREE, key)
        values.append(share.share - share.modulus)
    return values


def coarse(epsilon: Fraction) -> Fraction:
    """At most epsilon, with few binary digits: what is lost is less than 1/32 of it.

    >>> coarse(Fraction(1, 10))
    Fraction(51, 512)
    """
    digits = max(_DIGITS - floor(epsilon).bit_length(), 0)
    while epsilon * 2**digits < 2 ** (_DIGITS - 1):
        digits += 1
    return Fraction(floor(epsilon * 2**digits), 2**digits)


def span(step: Fraction) -> int:
    """Heights go from 0 to this."""
    return max(floor(SPAN / step), 1)


def coefficients(step: Fraction) -> list[int]:
    """Of the series in the height, times w! and the denominator to the w: whole numbers, the constant first."""
    p, q = step.numerator, step.denominator
    return [p**i * q ** (DEGREE - i) * (factorial(DEGREE) // factorial(i)) for i in range(DEGREE + 1)]


def weight(step: Fraction, height: int) -> int:
    """The weight of a height."""
    return sum(factor * height**i for i, factor in enumerate(coefficients(step)))


def shifted(step: Fraction, known: int) -> list[int]:
    """The polynomial in z that is the weight of the height known + z."""
    given = coefficients(step)
    return [sum(given[i] * comb(i, j) * known ** (i - j) for i in range(j, DEGREE + 1)) for j in range(DEGREE + 1)]


@lru_cache(maxsize=8)
def heights_circuit(shape: Shape, most: int) -> Circuit:
    """Heights, of which the garbler has a mask and the evaluator learns what is left (algorithm 7.6)."""
    build = CircuitBuilder()
    ours, masks = build.garbler_input(shape.bits(0)), build.garbler_input(shape.count, MASKED - 1)
    scores = scores_of(build, shape, ours, build.evaluator_input(shape.bits(1)))
    gaps = gaps_of(build, scores)
    last = np.broadcast_to(build.constant(most, WIDTH), gaps.shape)
    heights = subtract(build, last, select(build, less(build, last, gaps), last, gaps))
    return build.circuit(evaluator=subtract(build, _wider(heights), _wider(masks)))


def _wider(words: Wires) -> Wires:
    return np.pad(words, [(0, 0), (0, MASKED - words.shape[1])], constant_values=ZERO)
