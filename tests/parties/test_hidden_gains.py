"""Entropies, gains and splits of hidden counts equal those of open ones."""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.algorithms.top_down.columns import best_by_gain, best_by_size, gain
from sfumato.core.errors import DataError
from sfumato.parties.circuit_arithmetic import FRACTION, fixed_times_log2, times_log2, width_of
from sfumato.parties.circuits import CircuitBuilder, bits_of, evaluated, numbers_of
from sfumato.parties.releases import hidden_gains
from sfumato.parties.simulation import together
from tests.parties.ready import ready_pair
from tests.weights import examples


@pytest.mark.parametrize("width", [1, 2, 5, 8, 9, 17, 31])
def test_the_circuit_computes_what_its_twin_does(width: int):
    numbers = [0, 1, (1 << width) - 1, *np.random.default_rng(width).integers(0, 1 << width, 13).tolist()]
    build = CircuitBuilder()
    found = times_log2(build, build.garbler_input(len(numbers), width))
    assert found.shape == (len(numbers), width_of(width))
    bits, _ = evaluated(build.circuit(garbler=found), bits_of(numbers, width).ravel(), np.empty(0, np.uint8))
    assert numbers_of(bits.reshape(found.shape)) == [fixed_times_log2(x) for x in numbers]


@given(x=st.integers(1, 2**40))
def test_the_fixed_point_is_near_the_truth(x: int):
    with localcontext() as context:
        context.prec = 60
        true = Decimal(x) * Decimal(x).ln() / Decimal(2).ln() * (1 << FRACTION)
    assert abs(fixed_times_log2(x) - true) <= 2 * x
    assert fixed_times_log2(2 * x) == 2 * fixed_times_log2(x) + (2 * x << FRACTION)


def talked(talk: Any, *inputs: Any) -> list[Any]:
    """What both parties have in the end."""
    return together([talk(ready, own) for ready, own in zip(ready_pair(), inputs, strict=True)])


counts = st.lists(st.lists(st.integers(0, 9), min_size=2, max_size=2), min_size=2, max_size=7)


@examples(12)
@given(ours=counts, theirs=counts)
def test_gains_are_those_of_the_sums(ours: list[list[int]], theirs: list[list[int]]):
    size = min(len(ours), len(theirs))
    mine, other = (np.array(one[:size]) for one in (ours, theirs))
    both = mine + other
    whole = both.sum(axis=0).tolist()
    below = talked(lambda ready, own: hidden_gains.entropy_below(ready, own, sum(whole)), mine, other)
    shares = [hidden_gains.gain_share(whole, one, first=first) for first, one in zip((True, False), below, strict=True)]
    found = sum(shares) % (1 << hidden_gains.SHARE)
    signed = found - (1 << hidden_gains.SHARE) if found >> hidden_gains.SHARE - 1 else found
    assert signed / 2.0**104 == pytest.approx(gain(np.array(whole, float), both.astype(float)), abs=2**-30)


@examples(10)
@given(ours=counts, theirs=counts, by_gain=st.booleans(), retry=st.booleans(), data=st.data())
def test_an_interval_is_split_where_one_table_would_split_it(
    ours: list[list[int]], theirs: list[list[int]], by_gain: bool, retry: bool, data: Any
):
    size = min(len(ours), len(theirs))
    mine, other = (np.array(one[:size]) for one in (ours, theirs))
    if not by_gain:
        mine, other = (one.sum(axis=1, keepdims=True) for one in (mine, other))
    both = (mine + other).astype(float)
    order = data.draw(st.permutations(range(size - 1)))
    interval = hidden_gains.Interval(
        whole=tuple(int(one) for one in both.sum(axis=0)),
        order=tuple(order),
        window=(0, size - 1),
        by_gain=by_gain,
        tells_half=retry,
    )
    left = [np.cumsum(one, axis=0)[:-1] for one in (mine, other)]
    found = talked(lambda ready, own: hidden_gains.best_split(ready, interval, own), *left)
    seen = np.flatnonzero(both.sum(axis=1))
    if len(seen) < 2:
        assert found == [None, None]
        return
    told = both[seen]
    places = (0, len(seen) - 1)
    true = best_by_gain(told, np.zeros(2), places)[0] if by_gain else best_by_size(told.sum(axis=1), places)
    alike = range(seen[true], seen[true + 1])
    roundest = min(alike, key=order.index)
    halves = both[: roundest + 1].sum(), both[roundest + 1 :].sum()
    for one in found:
        assert one is not None
        assert one.place == roundest
        assert one.smaller_left == (retry and halves[0] <= halves[1])


@examples(10)
@given(gains=st.lists(st.integers(-(2**105), 2**106), min_size=1, max_size=6))
def test_the_greatest_gain_wins_and_of_near_ones_the_first(gains: list[int]):
    shares = [int.from_bytes(np.random.default_rng(len(gains)).bytes(16), "big") for _ in gains]
    rest = [(one - share) % (1 << hidden_gains.SHARE) for one, share in zip(gains, shares, strict=True)]
    found = talked(hidden_gains.greatest, shares, rest)
    near = [(one + (1 << 79)) >> 80 for one in gains]
    assert found == [near.index(max(near))] * 2


def test_too_many_places_are_refused_before_anything_is_sent():
    many = hidden_gains.MOST_PLACES + 1
    interval = hidden_gains.Interval(
        whole=(1,), order=tuple(range(many)), window=(0, many), by_gain=False, tells_half=False
    )
    with pytest.raises(DataError, match="a wider grid would do"):
        next(hidden_gains.best_split(None, interval, np.zeros((many, 1))))  # type: ignore[arg-type]
