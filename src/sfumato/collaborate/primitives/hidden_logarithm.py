"""The number x log2 x of numbers that nobody knows, in fixed point: what entropies of hidden counts are made of.

Claim: ``times_log2`` builds a circuit that computes, for every word x, the whole number that `fixed_times_log2` gives.
That is x log2 x 2^FRACTION with an error below x 2^4, so entropies in bits are right to 2^-36 or so; doubling x doubles
the result and adds exactly 2x, and equal numbers give equal results.

Source: multiplicative normalization (Muller 2016, Elementary functions, section 8.1): a mantissa is multiplied by those
factors 1 + 2^-i that keep it below 2, and the logarithms of these are public. After half of the digits the rest is
linear.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from sfumato.collaborate.primitives.circuit import ZERO, Wires
from sfumato.collaborate.primitives.circuit_builder import CircuitBuilder
from sfumato.collaborate.primitives.circuit_words import (
    add,
    any_of,
    flat_sum,
    looked_up,
    product,
    select,
    subtract,
    wider,
)

FRACTION = 40
"""Binary digits after the point of a logarithm."""
NARROW = 8
"""Words of up to so many digits are looked up."""
_GUARD = 4
_DIGITS = FRACTION + _GUARD
"""Binary digits after the point inside."""
_FACTORS = _DIGITS // 2
_WHOLE = 6
"""Binary digits before the point: numbers are below 2^63."""


@cache
def _constants() -> tuple[tuple[int, ...], int]:
    """The logarithms of the factors, and that of e, in fixed point."""
    from decimal import Decimal, localcontext

    with localcontext() as context:
        context.prec = 50
        two = Decimal(2).ln()
        scale = Decimal(1 << _DIGITS)
        logs = tuple(int((1 + Decimal(2) ** -i).ln() / two * scale) for i in range(1, _FACTORS + 1))
        return logs, int(scale / two) >> _FACTORS


def fixed_times_log2(x: int) -> int:
    """The number x log2 x 2^FRACTION, as the circuit computes it.

    >>> fixed_times_log2(8) == 24 << FRACTION, fixed_times_log2(0), round(fixed_times_log2(3) / 2**FRACTION, 9)
    (True, 0, 4.754887502)
    """
    if x <= 1:
        return 0
    logs, slope = _constants()
    exponent = x.bit_length() - 1
    mantissa = x << _DIGITS >> exponent
    taken = 0
    for at, log in enumerate(logs, start=1):
        tried = mantissa + (mantissa >> at)
        if tried < 2 << _DIGITS:
            mantissa, taken = tried, taken + log
    rest = (2 << _DIGITS) - mantissa
    taken += (rest >> 1) * slope >> _DIGITS - _FACTORS
    found = ((exponent + 1) << _DIGITS) - taken
    return x * (found + (1 << _GUARD - 1) >> _GUARD)


def times_log2(build: CircuitBuilder, words: Wires) -> Wires:
    """The number x log2 x 2^FRACTION of every word; `width_of` says how wide the results are.

    Narrow words are looked up among all their values, wider ones are computed.
    """
    if words.shape[-1] <= NARROW:
        values = [fixed_times_log2(x) for x in range(1 << words.shape[-1])]
        return wider(looked_up(build, words, values), width_of(words.shape[-1]))
    mantissa, exponent = _normalized(build, words)
    logs, slope = _constants()
    taken = []
    for at, log in enumerate(logs, start=1):
        tried = add(build, wider(mantissa, _DIGITS + 2), wider(mantissa[..., at:], _DIGITS + 2))
        fits = build.not_(tried[..., -1])
        mantissa = select(build, fits, tried[..., :-1], mantissa)
        taken.append(build.and_(fits[..., None], build.constant(log, _DIGITS)))
    nearly = np.full((*words.shape[:-1], 1), ZERO)
    rest = subtract(build, nearly, mantissa[..., : _DIGITS - _FACTORS + 3])[..., 1:]
    taken.append(wider(times(build, rest, slope)[..., _DIGITS - _FACTORS :], _DIGITS)[..., :_DIGITS])
    whole = np.concatenate([np.full((*words.shape[:-1], _DIGITS), ZERO), _more(build, exponent)], axis=-1)
    parts = np.stack([wider(one, whole.shape[-1]) for one in taken])
    exact = subtract(build, whole, flat_sum(build, parts))
    rounded = add(build, exact, build.constant(1 << _GUARD - 1, exact.shape[-1]))[..., _GUARD:]
    return product(build, rounded, words)


def width_of(width: int) -> int:
    """How wide the results for words of some width are."""
    return FRACTION + _WHOLE + width


def times(build: CircuitBuilder, words: Wires, factor: int) -> Wires:
    """The whole product of each word and a public number."""
    width = words.shape[-1] + factor.bit_length()
    return flat_sum(build, np.stack([shifted(words, at, width) for at in range(width) if factor >> at & 1]))


def _normalized(build: CircuitBuilder, words: Wires) -> tuple[Wires, Wires]:
    """Mantissas from 1 to below 2, and exponents; those of 0 mean nothing."""
    width = words.shape[-1]
    step, shifts = 1 << (width - 1).bit_length() - 1 if width > 1 else 0, []
    while step:
        none = build.not_(any_of(build, words[..., width - step :]))
        words = select(build, none, shifted(words, step, width), words)
        shifts.append(none)
        step //= 2
    digits = np.stack(shifts[::-1], axis=-1) if shifts else np.empty((*words.shape[:-1], 0), np.int64)
    exponent = subtract(build, build.constant(width - 1, _WHOLE), wider(digits, _WHOLE))
    padding = np.full((*words.shape[:-1], max(_DIGITS + 1 - width, 0)), ZERO)
    return np.concatenate([padding, words], axis=-1)[..., -(_DIGITS + 1) :], exponent


def _more(build: CircuitBuilder, exponent: Wires) -> Wires:
    return add(build, exponent, build.constant(1, _WHOLE))


def shifted(words: Wires, by: int, width: int) -> Wires:
    """The numbers times 2^by, modulo 2^width."""
    low = np.full((*words.shape[:-1], by), ZERO)
    return wider(np.concatenate([low, words], axis=-1), width)[..., :width]
