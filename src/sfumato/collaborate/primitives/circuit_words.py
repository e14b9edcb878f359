"""Numbers in circuits: addition, comparison, selection, maximum, prefix sums and products.

A word is an array of wires whose last axis is the binary digits, lowest first; leading axes hold many words at once.
Numbers are unsigned, or signed in two's complement, which add and subtract alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.collaborate.primitives.circuit import ONE, ZERO, Wires
from sfumato.collaborate.primitives.circuit_builder import CircuitBuilder
from sfumato.ground.errors import ParameterError

FEW = 128
"""Up to so many comparisons are built flat, with more gates in fewer layers; more are built with the fewest gates."""


def add(build: CircuitBuilder, left: Wires, right: Wires, *, carry: int = ZERO) -> Wires:
    """The sum modulo 2^width: one and gate for each digit but the last, whose carry nobody needs."""
    a, b = np.broadcast_arrays(left, right)
    width = a.shape[-1]
    carried = np.full(a.shape[:-1], carry)
    digits = []
    for at in range(width):
        one, other = build.xor(a[..., at], carried), build.xor(b[..., at], carried)
        digits.append(build.xor(one, b[..., at]))
        if at + 1 < width:
            carried = build.xor(carried, build.and_(one, other))
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
        one, other = build.xor(a, c), build.xor(b, c)
        carries = build.xor(c, build.and_(one, other))
        shifted = np.concatenate([np.full_like(carries[..., :1], ZERO), carries[..., :-1]], axis=-1)
        words = np.concatenate([words[3:], build.xor(one, b)[None], shifted[None]])
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
        one, other = build.xor(before, carried), build.xor(digit, carried)
        sums[row + 1, at] = build.xor(one, digit)
        inner = at + 1 < width
        carries[row[inner], at[inner] + 1] = build.xor(carried[inner], build.and_(one[inner], other[inner]))
    return sums[1:]


def product(build: CircuitBuilder, left: Wires, right: Wires) -> Wires:
    """The whole product of two numbers, as wide as both together; cheapest where the right one is the narrower."""
    rows = right.shape[-1]
    total = np.full(np.broadcast_shapes(left.shape[:-1], right.shape[:-1]) + left.shape[-1:], ZERO)
    carries, low = total, []
    for at in range(rows):
        part = build.and_(left, right[..., at, None])
        one, other = build.xor(total, carries), build.xor(part, carries)
        sums = build.xor(one, part)
        carries = build.xor(carries, build.and_(one, other))
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
