"""Information gains, best splits and requirement checks on counts shared between two parties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from sfumato.algorithms.top_down.validity import Demand
from sfumato.core.errors import DataError, ParameterError
from sfumato.core.randomness import fresh_key
from sfumato.counts.sources import Numbers
from sfumato.parties.circuit_arithmetic import (
    FRACTION,
    add,
    any_of,
    equal,
    fixed_times_log2,
    flat_sum,
    index_of,
    less,
    maximum,
    parity,
    select,
    subtract,
    times_log2,
    wider,
    width_of,
)
from sfumato.parties.circuits import ZERO, Bits, Circuit, CircuitBuilder, Wires, bits_of, numbers_of
from sfumato.parties.conversation import Talk
from sfumato.parties.garbled_circuits import compute
from sfumato.parties.oblivious_transfer import Receiving, Sending
from sfumato.parties.random_selection import random_bits

# Which label has the highest information gain, where two parties hold parts of all counts: neither learns a gain.
#
# The gain of a label is (B - H) / r: its rows r and their entropy B are public, for they follow from the release. H,
# the entropy of what would be below it, is computed by a circuit into shares. A share times the public number 2^64 / r
# is a share of the gain, and another circuit finds the greatest of all gains.
#
# Claim: gains are right to 2^-30, and compared after rounding to 2^-NEAR; of equal ones the first wins, as in a search
# on one table. So the result is that of one table, unless two gains differ by less than 2^-NEAR and are not equal.


NEAR = 24
"""Gains that differ by less than 2^-NEAR may be taken for equal."""
SHARE = 128
"""Binary digits of a share of a gain."""
_SCALE = 64
_POINT = FRACTION + _SCALE
"""Binary digits after the point of a gain."""


def entropy_of(classes: Sequence[int]) -> int:
    """Rows times entropy of the class, in fixed point: of counts that both parties know."""
    return fixed_times_log2(sum(classes)) - sum(map(fixed_times_log2, classes))


def gain_share(whole: Sequence[int], below: int, *, first: bool) -> int:
    """One's own share of the gain of a label, from one's own share of the entropy below it."""
    rows = max(sum(whole), 1)
    factor = ((1 << _SCALE) + rows // 2) // rows
    return factor * ((entropy_of(whole) if first else 0) - below) % (1 << SHARE)


def entropy_below(ready: Sending | Receiving, parts: Numbers, rows: int) -> Talk[int]:
    """One's own share of the entropy of the parts (parts x classes) together; there are at most so many rows."""
    width = max(rows.bit_length(), 1)
    count = 1 << max(len(parts) - 1, 0).bit_length()
    padded = np.zeros((count, parts.shape[1]), np.int64)
    padded[: len(parts)] = parts
    circuit = _entropy(count, parts.shape[1], width)
    return (yield from shared(ready, circuit, bits_of(padded.ravel(), width).ravel()))


def greatest(ready: Sending | Receiving, shares: Sequence[int]) -> Talk[int]:
    """The place of the greatest gain, from one's own shares of all; of equal ones the first."""
    count = 1 << max(len(shares) - 1, 0).bit_length()
    least = (1 << SHARE) - (1 << SHARE - 1)
    padded = [*shares, *[least if isinstance(ready, Sending) else 0] * (count - len(shares))]
    output = yield from compute(ready, _greatest(count), bits_of(padded, SHARE).ravel())
    return numbers_of(output[None])[0] if len(output) else 0


def shared(ready: Sending | Receiving, circuit: Circuit, inputs: Bits) -> Talk[int]:
    """One's own share of a number that a circuit leaves masked to the evaluator."""
    if isinstance(ready, Receiving):
        return numbers_of((yield from compute(ready, circuit, inputs))[None])[0]
    mask = random_bits(SHARE, fresh_key)
    yield from compute(ready, circuit, np.concatenate([inputs, mask]))
    return numbers_of(mask[None])[0]


def entropies(build: CircuitBuilder, classes: Wires) -> Wires:
    """Rows times entropy of the class, along the last axis but one; as wide as a share."""
    rows = flat_sum(build, np.moveaxis(classes, -2, 0))
    every = np.concatenate([rows[..., None, :], classes], axis=-2)
    each = wider(times_log2(build, every), SHARE)
    return subtract(build, each[..., 0, :], flat_sum(build, np.moveaxis(each[..., 1:, :], -2, 0)))


@lru_cache(maxsize=8)
def _entropy(count: int, classes: int, width: int) -> Circuit:
    build = CircuitBuilder()
    ours, mask = build.garbler_input(count, classes, width), build.garbler_input(SHARE)
    theirs = build.evaluator_input(count, classes, width)
    below = flat_sum(build, entropies(build, add(build, ours, theirs)))
    return build.circuit(evaluator=subtract(build, below, mask))


@lru_cache(maxsize=8)
def _greatest(count: int) -> Circuit:
    build = CircuitBuilder()
    gains = add(build, build.garbler_input(count, SHARE), build.evaluator_input(count, SHARE))
    _, index = maximum(build, rounded(build, gains, _POINT - NEAR), signed=True)
    return build.circuit(garbler=index, evaluator=index)


def rounded(build: CircuitBuilder, words: Wires, digits: int) -> Wires:
    """The numbers without so many lowest digits, rounded to the nearest."""
    half = build.constant(1 << digits - 1, words.shape[-1])
    return add(build, words, np.broadcast_to(half, words.shape))[..., digits:]


# Where an interval is best split, where two parties hold parts of all counts: both learn the place and little else.
#
# Both halves must have rows. Of equally good places the first counts; the places up to the next number that occurs
# split the rows alike, and the roundest of these is taken. On one table an edge is put at the roundest number between
# the two that occur beside it, which would tell these: so an edge may be at another number here, and the groups are
# the same.


MOST_PLACES = 2**12
"""An interval with more places to split it at is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """What both parties know of an interval that is to be split."""

    whole: tuple[int, ...]
    """The rows of each class, of both parties; where sizes count, one number: all rows."""
    order: tuple[int, ...]
    """The places to split it at, by number, roundest first."""
    window: tuple[int, int]
    """Places from the first number to below the second are looked at."""
    by_gain: bool
    """Whether places are compared by information gain, else by how even the halves are."""
    tells_half: bool
    """Whether both learn which half has fewer rows, by which a window narrows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenSplit:
    """Where an interval is split."""

    place: int
    """After which of its values."""
    smaller_left: bool
    """Whether the left half has at most half of the rows, where that is told."""
    below: int
    """One's own share of the entropy of both halves; of nothing where sizes count."""


def best_split(ready: Sending | Receiving, interval: Interval, left: Numbers) -> Talk[HiddenSplit | None]:
    """The best place of an interval; None where no place has rows on both sides.

    ``left`` are one's own counts up to each place: places x classes.
    """
    if len(left) > MOST_PLACES:
        raise DataError(
            f"an interval has {len(left):,} places to split it at, and two parties compare at most {MOST_PLACES:,}; "
            "a wider grid would do"
        )
    circuit = _circuit(interval)
    inputs = bits_of(np.asarray(left, np.int64).ravel(), _width(interval)).ravel()
    if isinstance(ready, Receiving):
        output = yield from compute(ready, circuit, inputs)
        public_bits, own = output[:-SHARE], output[-SHARE:]
    else:
        own = random_bits(SHARE, fresh_key)
        public_bits = yield from compute(ready, circuit, np.concatenate([inputs, own]))
    if not public_bits[0]:
        return None
    number = numbers_of(public_bits[None, 2:])[0] if len(public_bits) > 2 else 0
    return HiddenSplit(place=interval.order[number], smaller_left=bool(public_bits[1]), below=numbers_of(own[None])[0])


def _width(interval: Interval) -> int:
    return max(sum(interval.whole).bit_length(), 1)


@lru_cache(maxsize=4)
def _circuit(interval: Interval) -> Circuit:
    build, width = CircuitBuilder(), _width(interval)
    shape = len(interval.order), len(interval.whole), width
    ours, mask = build.garbler_input(*shape), build.garbler_input(SHARE)
    left = add(build, ours, build.evaluator_input(*shape))
    whole = np.stack([build.constant(number, width) for number in interval.whole])
    right = subtract(build, np.broadcast_to(whole, left.shape), left)
    rows = [_rows(build, side) for side in (left, right)]
    proper = build.and_(*(any_of(build, side_rows) for side_rows in rows))
    proper[: interval.window[0]], proper[interval.window[1] :] = ZERO, ZERO
    costs = _entropies(build, left, right) if interval.by_gain else _unevenness(build, *rows)
    alike = _best(build, _coarse(build, interval, costs), proper, rows[0])
    order = list(interval.order)
    picked = _first(build, alike[order])
    chosen = np.empty_like(picked)
    chosen[order] = picked
    half = (
        _at(build, chosen, build.not_(less(build, *rows[::-1]))[:, None]) if interval.tells_half else np.array([ZERO])
    )
    output = np.concatenate([any_of(build, alike)[None], half, index_of(build, picked)])
    below = _at(build, chosen, wider(costs, SHARE)) if interval.by_gain else np.full(SHARE, ZERO)
    return build.circuit(garbler=output, evaluator=np.concatenate([output, subtract(build, below, mask)]))


def _rows(build: CircuitBuilder, classes: Wires) -> Wires:
    total = classes[:, 0]
    for at in range(1, classes.shape[1]):
        total = add(build, total, classes[:, at])
    return total


def _entropies(build: CircuitBuilder, left: Wires, right: Wires) -> Wires:
    """The entropy of both halves together."""
    first, other = entropies(build, np.stack([left, right]))
    return add(build, first, other)


def _unevenness(build: CircuitBuilder, left: Wires, right: Wires) -> Wires:
    """By how many rows the halves differ."""
    return select(build, less(build, left, right), subtract(build, right, left), subtract(build, left, right))


def _coarse(build: CircuitBuilder, interval: Interval, costs: Wires) -> Wires:
    """Costs that differ by next to nothing become equal."""
    if not interval.by_gain:
        return costs
    digits = sum(interval.whole).bit_length() - 1 + FRACTION - NEAR
    return rounded(build, costs[:, : width_of(_width(interval)) + 2], digits)


def _best(build: CircuitBuilder, costs: Wires, proper: Wires, left: Wires) -> Wires:
    """The first place of least cost, and those after it up to the next value that has rows."""
    words = np.concatenate([build.not_(costs), proper[:, None]], axis=1)
    least, _ = maximum(build, words)
    same = build.and_(equal(build, words, np.broadcast_to(least, words.shape)), proper)
    empty = equal(build, left[1:], left[:-1])
    flags, before, running = [], np.array(ZERO), np.array(ZERO)
    for place, flag in enumerate(same):
        starts = build.and_(flag, build.not_(before))
        goes_on = build.and_(running, build.and_(flag, empty[place - 1])) if place else running
        running = build.xor(starts, goes_on)
        before = build.xor(before, starts)
        flags.append(running)
    return np.stack(flags)


def _first(build: CircuitBuilder, flags: Wires) -> Wires:
    """Only the first of the wires that are 1."""
    firsts, before = [], np.array(ZERO)
    for flag in flags:
        starts = build.and_(flag, build.not_(before))
        before = build.xor(before, starts)
        firsts.append(starts)
    return np.stack(firsts)


def _at(build: CircuitBuilder, chosen: Wires, words: Wires) -> Wires:
    """The word at the place whose wire is 1; 0 where none is."""
    return parity(build, build.and_(chosen[:, None], words))


# Whether groups that two parties hold parts of meet a demand: both learn yes or no, and nothing about any group.
#
# Each party puts its own counts of all groups into a garbled circuit, which adds them up and compares. That a share is
# within its limit p/q is q times the watched rows being at most p times all rows: each party computes its part of the
# difference, and the circuit looks at the sign of the sum.


MOST_GROUPS = 2**17
"""More groups than this are not compared at once."""
_ROWS, _SHARE = 40, 64
_FINEST = 10**6


def share_of(limit: float) -> Fraction:
    """A limit as a fraction; one with more than six decimals is refused, so that comparisons are exact."""
    share = Fraction(str(limit))
    if share.denominator > _FINEST:
        raise ParameterError(f"two parties compare shares exactly, up to six decimals; {limit} has more")
    return share


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
    output = yield from compute(ready, _check_circuit(count, groups.shape[1] - 1, demand.k), inputs)
    return not bool(output[0])


@lru_cache(maxsize=32)
def _check_circuit(count: int, watched: int, k: int) -> Circuit:
    build = CircuitBuilder()
    ours = build.garbler_input(count, _ROWS), build.garbler_input(count * watched, _SHARE)
    theirs = build.evaluator_input(count, _ROWS), build.evaluator_input(count * watched, _SHARE)
    rows = add(build, ours[0], theirs[0])
    few = less(build, rows, np.broadcast_to(build.constant(k, _ROWS), rows.shape))
    none = equal(build, rows, np.broadcast_to(build.constant(0, _ROWS), rows.shape))
    failed = build.and_(few, build.not_(none))
    if watched:
        failed = np.concatenate([failed, add(build, ours[1], theirs[1])[:, -1]])
    failure = any_of(build, failed[None])
    return build.circuit(garbler=failure, evaluator=failure)
