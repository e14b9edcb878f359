"""Where an interval is best split, where two parties hold parts of all counts: both learn the place and little else.

Both halves must have rows. Of equally good places the first counts; the places up to the next number that occurs split
the rows alike, and the roundest of these is taken. On one table an edge is put at the roundest number between the two
that occur beside it, which would tell these: so an edge may be at another number here, and the groups are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sfumato.collaborate.exchange import Talk
from sfumato.collaborate.primitives.circuit import ZERO, Circuit, Wires
from sfumato.collaborate.primitives.circuit_builder import CircuitBuilder
from sfumato.collaborate.primitives.circuit_words import (
    add,
    any_of,
    equal,
    index_of,
    less,
    maximum,
    parity,
    select,
    subtract,
    wider,
)
from sfumato.collaborate.primitives.garbled_talk import compute
from sfumato.collaborate.primitives.hidden_logarithm import FRACTION, width_of
from sfumato.collaborate.primitives.random_value import random_bits
from sfumato.collaborate.primitives.transfer_extension import Receiving, Sending
from sfumato.collaborate.primitives.wire_bits import bits_of, numbers_of
from sfumato.collaborate.releases.hidden_gains import NEAR, SHARE, entropies, rounded
from sfumato.ground.errors import DataError
from sfumato.ground.secret_key import fresh_key
from sfumato.group.cut_counts import Numbers

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
        found = yield from compute(ready, circuit, inputs)
        told, own = found[:-SHARE], found[-SHARE:]
    else:
        own = random_bits(SHARE, fresh_key)
        told = yield from compute(ready, circuit, np.concatenate([inputs, own]))
    if not told[0]:
        return None
    number = numbers_of(told[None, 2:])[0] if len(told) > 2 else 0
    return HiddenSplit(place=interval.order[number], smaller_left=bool(told[1]), below=numbers_of(own[None])[0])


def _width(interval: Interval) -> int:
    return max(sum(interval.whole).bit_length(), 1)


@lru_cache(maxsize=4)
def _circuit(interval: Interval) -> Circuit:
    build, width = CircuitBuilder(), _width(interval)
    shape = len(interval.order), len(interval.whole), width
    ours, mask = build.garbler_input(*shape), build.garbler_input(SHARE)
    left = add(build, ours, build.evaluator_input(*shape))
    whole = np.stack([build.constant(one, width) for one in interval.whole])
    right = subtract(build, np.broadcast_to(whole, left.shape), left)
    rows = [_rows(build, one) for one in (left, right)]
    proper = build.and_(*(any_of(build, one) for one in rows))
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
    told = np.concatenate([any_of(build, alike)[None], half, index_of(build, picked)])
    below = _at(build, chosen, wider(costs, SHARE)) if interval.by_gain else np.full(SHARE, ZERO)
    return build.circuit(garbler=told, evaluator=np.concatenate([told, subtract(build, below, mask)]))


def _rows(build: CircuitBuilder, classes: Wires) -> Wires:
    found = classes[:, 0]
    for at in range(1, classes.shape[1]):
        found = add(build, found, classes[:, at])
    return found


def _entropies(build: CircuitBuilder, left: Wires, right: Wires) -> Wires:
    """The entropy of both halves together."""
    one, other = entropies(build, np.stack([left, right]))
    return add(build, one, other)


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
    found, before, running = [], np.array(ZERO), np.array(ZERO)
    for place, one in enumerate(same):
        starts = build.and_(one, build.not_(before))
        goes_on = build.and_(running, build.and_(one, empty[place - 1])) if place else running
        running = build.xor(starts, goes_on)
        before = build.xor(before, starts)
        found.append(running)
    return np.stack(found)


def _first(build: CircuitBuilder, flags: Wires) -> Wires:
    """Only the first of the wires that are 1."""
    found, before = [], np.array(ZERO)
    for one in flags:
        starts = build.and_(one, build.not_(before))
        before = build.xor(before, starts)
        found.append(starts)
    return np.stack(found)


def _at(build: CircuitBuilder, chosen: Wires, words: Wires) -> Wires:
    """The word at the place whose wire is 1; 0 where none is."""
    return parity(build, build.and_(chosen[:, None], words))
