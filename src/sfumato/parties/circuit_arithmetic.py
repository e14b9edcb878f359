"""Arithmetic in circuits: addition, comparison, selection, products, and x log2 x in fixed point."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from sfumato.core.errors import ParameterError
from sfumato.parties.circuits import ONE, ZERO, CircuitBuilder, Wires

# Numbers in circuits: addition, comparison, selection, maximum, prefix sums and products.
#
# A word is an array of wires whose last axis is the binary digits, lowest first; leading axes hold many words at once.
# Numbers are unsigned, or signed in two's complement, which add and subtract alike.


FEW = 128
"""Up to so many comparisons are built flat, with more gates in fewer layers; more are built with the fewest gates."""


def add(build: CircuitBuilder, left: Wires, right: Wires, *, carry: int = ZERO) -> Wires:
    """The sum modulo 2^width: one and gate for each digit but the last, whose carry nobody needs."""
    a, b = np.broadcast_arrays(left, right)
    width = a.shape[-1]
    carried = np.full(a.shape[:-1], carry)
    digits = []
    for at in range(width):
        first, other = build.xor(a[..., at], carried), build.xor(b[..., at], carried)
        digits.append(build.xor(first, b[..., at]))
        if at + 1 < width:
            carried = build.xor(carried, build.and_(first, other))
    return np.stack(digits, axis=-1) if digits else a


def subtract(build: CircuitBuilder, left: Wires, right: Wires) -> Wires:
    """The difference modulo 2^width."""
    return add(build, left, build.not_(right), carry=ONE)


def flat_add(build: CircuitBuilder, left: Wires, right: Wires) -> Wires:
    """The sum modulo 2^width in a layer of and gates for each doubling of the width (Sklansky 1960), but more gates."""
    parity, carries = build.xor(left, right), build.and_(left, right)
    width, passes, step = parity.shape[-1], parity.copy(), 1
    while step < width:
        at = np.flatnonzero(np.arange(width) & step)
        before = at // step * step - 1
        carries[..., at] = build.xor(carries[..., at], build.and_(passes[..., at], carries[..., before]))
        passes[..., at] = build.and_(passes[..., at], passes[..., before])
        step *= 2
    return np.concatenate([parity[..., :1], build.xor(parity[..., 1:], carries[..., :-1])], axis=-1)


def flat_sum(build: CircuitBuilder, words: Wires) -> Wires:
    """The sum modulo 2^width over the first axis: three words to two until two are left."""
    while len(words) > 2:
        a, b, c = words[:3]
        first, other = build.xor(a, c), build.xor(b, c)
        carries = build.xor(c, build.and_(first, other))
        shifted = np.concatenate([np.full_like(carries[..., :1], ZERO), carries[..., :-1]], axis=-1)
        words = np.concatenate([words[3:], build.xor(first, b)[None], shifted[None]])
    return flat_add(build, words[0], words[1]) if len(words) == 2 else words[0]


def less(build: CircuitBuilder, left: Wires, right: Wires, *, signed: bool = False, flat: bool | None = None) -> Wires:
    """Whether each left number is below the right one: a single wire for each."""
    a, b = np.broadcast_arrays(left, right)
    if signed:
        a, b = _shifted(build, a), _shifted(build, b)
    if flat is None:
        flat = a[..., 0].size <= FEW
    return _flat_less(build, a, b) if flat else _narrow_less(build, a, b)


def equal(build: CircuitBuilder, left: Wires, right: Wires) -> Wires:
    """Whether two numbers are the same."""
    same = build.not_(build.xor(left, right))
    while same.shape[-1] > 1:
        half = same.shape[-1] // 2
        both = build.and_(same[..., :half], same[..., half : 2 * half])
        same = np.concatenate([both, same[..., 2 * half :]], axis=-1)
    return same[..., 0]


def select(build: CircuitBuilder, condition: Wires, then: Wires, otherwise: Wires) -> Wires:
    """The first word where the condition holds, the second elsewhere."""
    return build.xor(otherwise, build.and_(np.asarray(condition)[..., None], build.xor(then, otherwise)))


def maximum(
    build: CircuitBuilder, words: Wires, *, signed: bool = False, flat: bool | None = None
) -> tuple[Wires, Wires]:
    """The greatest of the words, and its index; of equal ones the first. Words are rows."""
    count, width = words.shape
    if not count:
        raise ParameterError("the maximum of nothing is not defined")
    digits = index_width(count)
    indices = np.array([build.constant(at, digits) for at in range(count)]).reshape(count, digits)
    rows = np.concatenate([_shifted(build, words) if signed else words, indices], axis=1)
    while len(rows) > 1:
        half = len(rows) // 2
        first, second = rows[: 2 * half : 2], rows[1 : 2 * half : 2]
        better = less(build, first[:, :width], second[:, :width], flat=flat)
        rows = np.concatenate([select(build, better, second, first), rows[2 * half :]])
    best = rows[0, :width]
    return _shifted(build, best) if signed else best, rows[0, width:]


def prefix_sums(build: CircuitBuilder, words: Wires) -> Wires:
    """Row i is the sum of the words up to i, modulo 2^width; digits on one diagonal are built at once."""
    count, width = words.shape
    sums = np.full((count + 1, width), ZERO)
    carries = np.full((count, width + 1), ZERO)
    for diagonal in range(count + width - 1):
        row = np.arange(max(0, diagonal - width + 1), min(count, diagonal + 1))
        at = diagonal - row
        before, digit, carried = sums[row, at], words[row, at], carries[row, at]
        first, other = build.xor(before, carried), build.xor(digit, carried)
        sums[row + 1, at] = build.xor(first, digit)
        inner = at + 1 < width
        carries[row[inner], at[inner] + 1] = build.xor(carried[inner], build.and_(first[inner], other[inner]))
    return sums[1:]


def product(build: CircuitBuilder, left: Wires, right: Wires) -> Wires:
    """The whole product of two numbers, as wide as both together; cheapest where the right one is the narrower."""
    rows = right.shape[-1]
    total = np.full(np.broadcast_shapes(left.shape[:-1], right.shape[:-1]) + left.shape[-1:], ZERO)
    carries, low = total, []
    for at in range(rows):
        part = build.and_(left, right[..., at, None])
        first, other = build.xor(total, carries), build.xor(part, carries)
        sums = build.xor(first, part)
        carries = build.xor(carries, build.and_(first, other))
        low.append(sums[..., :1])
        total = np.concatenate([sums[..., 1:], np.full_like(sums[..., :1], ZERO)], axis=-1)
    return np.concatenate([*low, add(build, total, carries)], axis=-1)


def looked_up(build: CircuitBuilder, address: Wires, table: Sequence[int]) -> Wires:
    """The entry of a public table at each address, which is below its length.

    One and gate for each entry, however wide: of all addresses one wire is 1, and digits are sums of such wires.
    """
    width = max(max(table).bit_length(), 1)
    hot = np.full((*address.shape[:-1], 1), ONE)
    for at in range(address.shape[-1]):
        upper = build.and_(hot, address[..., at, None])
        hot = np.concatenate([build.xor(hot, upper), upper], axis=-1)[..., : len(table)]
    digits = []
    for at in range(width):
        some = hot[..., [place for place, entry in enumerate(table) if entry >> at & 1]]
        digits.append(parity(build, np.moveaxis(some, -1, 0)))
    return np.stack(digits, axis=-1)


def chosen_index(build: CircuitBuilder, steps: Wires) -> Wires:
    """How many of the wires are 1, where those that are come first: no and gate is needed."""
    before = np.append(ONE, steps)
    single = np.append(build.xor(before[:-1], before[1:]), before[-1])
    return index_of(build, single)


def index_of(build: CircuitBuilder, single: Wires) -> Wires:
    """The place of the one wire that is 1: no and gate is needed."""
    numbers = np.arange(len(single))
    digits = [parity(build, single[numbers >> at & 1 == 1]) for at in range(index_width(len(single)))]
    return np.array(digits, np.int64)


def parity(build: CircuitBuilder, words: Wires) -> Wires:
    """Exclusive or over the first axis; of nothing, 0."""
    if not len(words):
        return np.full(words.shape[1:], ZERO)
    while len(words) > 1:
        half = len(words) // 2
        words = np.concatenate([build.xor(words[:half], words[half : 2 * half]), words[2 * half :]])
    return np.asarray(words[0])


def any_of(build: CircuitBuilder, words: Wires) -> Wires:
    """Whether any digit of each word is 1."""
    quiet = build.not_(words)
    while quiet.shape[-1] > 1:
        half = quiet.shape[-1] // 2
        both = build.and_(quiet[..., :half], quiet[..., half : 2 * half])
        quiet = np.concatenate([both, quiet[..., 2 * half :]], axis=-1)
    return build.not_(quiet[..., 0])


def wider(words: Wires, width: int) -> Wires:
    """The same numbers with more digits."""
    padding = np.full((*words.shape[:-1], max(width - words.shape[-1], 0)), ZERO)
    return np.concatenate([words, padding], axis=-1)


def index_width(count: int) -> int:
    """Binary digits of an index below the count.

    >>> [index_width(count) for count in (1, 2, 3, 4, 5)]
    [0, 1, 2, 2, 3]
    """
    return (count - 1).bit_length()


def _shifted(build: CircuitBuilder, words: Wires) -> Wires:
    """Signed numbers as unsigned ones of the same order, and back: the highest digit is turned."""
    return np.concatenate([words[..., :-1], build.not_(words[..., -1:])], axis=-1)


def _narrow_less(build: CircuitBuilder, a: Wires, b: Wires) -> Wires:
    differs = build.xor(a, b)
    below = np.full(a.shape[:-1], ZERO)
    for at in range(a.shape[-1]):
        below = build.xor(below, build.and_(differs[..., at], build.xor(b[..., at], below)))
    return below


def _flat_less(build: CircuitBuilder, a: Wires, b: Wires) -> Wires:
    below, same = build.and_(build.not_(a), b), build.not_(build.xor(a, b))
    while below.shape[-1] > 1:
        even = below.shape[-1] // 2 * 2
        low, high = slice(0, even, 2), slice(1, even, 2)
        merged = build.xor(below[..., high], build.and_(same[..., high], below[..., low]))
        both = build.and_(same[..., high], same[..., low])
        below = np.concatenate([merged, below[..., even:]], axis=-1)
        same = np.concatenate([both, same[..., even:]], axis=-1)
    return below[..., 0]


# The number x log2 x of numbers that nobody knows, in fixed point: what entropies of hidden counts are made of.
#
# Claim: ``times_log2`` builds a circuit that computes, for every word x, the whole number that `fixed_times_log2`
# gives. That is x log2 x 2^FRACTION with an error below x 2^4, so entropies in bits are right to 2^-36 or so; doubling
# x doubles the result and adds exactly 2x, and equal numbers give equal results.
#
# Source: multiplicative normalization (Muller 2016, Elementary functions, section 8.1): a mantissa is multiplied by
# those factors 1 + 2^-i that keep it below 2, and the logarithms of these are public. After half of the digits the
# rest is linear.


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
    logarithm = ((exponent + 1) << _DIGITS) - taken
    return x * (logarithm + (1 << _GUARD - 1) >> _GUARD)


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
    parts = np.stack([wider(term, whole.shape[-1]) for term in taken])
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
