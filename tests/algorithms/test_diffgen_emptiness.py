"""Which child partitions of sets pass as non-empty, and the laws of noise and choices."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log, log1p, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.algorithms.diffgen import DiffGen
from sfumato.algorithms.diffgen.partitions import Occupied, empty_that_pass, passing, successes, threshold
from sfumato.algorithms.diffgen.specialization import score
from sfumato.algorithms.private_table import choose, waits
from sfumato.core.errors import ParameterError
from sfumato.core.run_context import Work
from sfumato.dp.events import Pure
from sfumato.dp.noise import counted
from tests.algorithms.diffgen_tables import (
    G7,
    JOB,
    always,
    private,
)
from tests.algorithms.test_diffgen import FALSE_ALARM, groups, literal
from tests.weights import examples


@given(st.fractions(Fraction(1, 1000), 10))
def test_the_threshold_is_the_deviation_of_the_noise(e):
    least = threshold(e, 3, 2**20)
    assert (least - 1) * e < sqrt(2) + 1e-9
    assert least * e >= sqrt(2) - 1e-9


def test_the_threshold_is_raised_where_too_many_would_pass():
    e, subsets = Fraction(1, 10), 2**40
    for room, most in ((1000, 16), (10, 5)):
        least = threshold(e, subsets, room)
        assert subsets * passing(e, least) <= most < subsets * passing(e, least - 20)
    with pytest.raises(ParameterError, match="epsilon must leave at least 1e-09"):
        threshold(Fraction(1, 10**10), 3, 10)
    with pytest.raises(ParameterError, match="epsilon must leave at most 1000"):
        threshold(Fraction(1001), 3, 10)


@given(st.fractions(Fraction(1, 10**9), 1000), st.integers(1, 2**60), st.integers(1, 2**20))
def test_no_chance_is_below_the_least_and_the_test_stays_private(e, subsets, room):
    """Logarithms of P[noise >= least] and P[noise >= least - 1] against that of the chance."""
    least, share_ = threshold(e, subsets, room), float(e)
    chance = passing(e, least)
    tail = -share_ * least - log1p(exp(-share_))
    assert chance >= 2.0**-100
    assert tail <= log(chance)
    assert log(chance) <= share_ + (tail + share_)
    assert 1 - exp(tail + share_) <= exp(min(share_, 700)) * (1 - chance)


@pytest.mark.parametrize("epsilon", [1e6, 1e20])
def test_a_budget_that_hides_no_set_is_refused(epsilon):
    with pytest.raises(ParameterError, match="epsilon must"):
        DiffGen(epsilon=epsilon, specializations=3)(private(G7), Work())


def test_with_a_large_budget_no_empty_partition_passes():
    """One would pass with a probability below 1e-50."""
    for _ in range(20):
        made = DiffGen(epsilon=3000, specializations=3)(private(list(G7) * 9, which=("codes",)), Work())
        assert len(made.counts) == len({codes for _, _, codes, _ in G7})


@pytest.mark.parametrize("chance", [2.0**-100, 2.0**-64, 2.0**-62])
def test_long_waits_do_not_overflow(chance):
    assert len(successes(2**10, chance, waits)) == 0
    most = np.iinfo(np.int64).max
    assert successes(2**60, chance, lambda n, rate: np.full(n, most)).tolist() == []
    assert successes(2**60, chance, lambda n, rate: np.array([5, 2**59, most, most])).tolist() == [5, 2**59 + 6]


@given(st.floats(0.01, 3), st.integers(1, 40))
def test_passing_is_the_tail_of_the_noise_and_the_test_stays_private(e, least):
    q = exp(-e)
    tail = sum((1 - q) / (1 + q) * q**x for x in range(least, least + 20000))
    p = passing(Fraction(e), least)
    assert tail <= p or tail == pytest.approx(p, rel=1e-9)
    with_one = exp(e) * tail
    assert with_one <= exp(e) * p * (1 + 1e-12)
    assert (1 - p) <= exp(e) * (1 - with_one) * (1 + 1e-9) or with_one > 1


@examples(80)
@given(st.integers(1, 3), st.integers(0, 1), st.data())
def test_every_empty_partition_can_pass_and_no_other(m, first, data):
    last, parents = 2**m - 1, 3
    every = [(p, mask) for p in range(parents) for mask in range(first, last + 1)]
    taken = sorted(data.draw(st.sets(st.sampled_from(every)))) if every else []
    occupied = Occupied(
        parent=np.array([p for p, _ in taken], np.int64), mask=np.array([mask for _, mask in taken], np.int64)
    )
    free = [pair for pair in every if pair not in taken]
    found = empty_that_pass(occupied, first, last, parents, 0.5, always)
    assert list(zip(found.parent.tolist(), found.mask.tolist(), strict=True)) == free
    gap = data.draw(st.integers(0, 5))
    found = empty_that_pass(occupied, first, last, parents, 0.5, lambda n, rate: np.full(n, gap))
    assert list(zip(found.parent.tolist(), found.mask.tolist(), strict=True)) == free[gap :: gap + 1]


def test_successes_have_the_law_of_independent_coins():
    """Counts and places over many trials; a false alarm has a probability below 3e-9."""
    trials, p = 40_000, 0.12
    found = successes(trials, p, waits)
    deviation = sqrt(trials * p * (1 - p))
    assert abs(len(found) - trials * p) < FALSE_ALARM * deviation
    assert abs((found < trials // 2).sum() - trials * p / 2) < FALSE_ALARM * deviation
    together = (np.diff(found) == 1).sum()
    assert abs(together - trials * p * p) < 3 * FALSE_ALARM * sqrt(trials * p * p)
    assert len(successes(0, p, waits)) == 0
    assert len(successes(2**50, 2.0**-46, waits)) < 200


# Noise and choices, by their statistics.


def test_counts_are_unbiased_and_as_noisy_as_declared():
    """5,000 counts of a fixed cut: mean and mean absolute noise; a false alarm has a probability below 3e-9."""
    table = private(list(G7) * 100, which=("job",))
    asked = DiffGen(epsilon=1, specializations=3, score="max", consistent=False)
    noise = []
    for _ in range(625):
        made = asked(table, Work())
        true = literal(table, made)
        noise += [c - t for key, counts in groups(made).items() for c, t in zip(counts, true[key], strict=True)]
        assert made.labels == (JOB,)
        scale = float(made.effort["scale of the noise of a count"])
    values = np.array(noise)
    kept = np.array([t > 50 for counts in literal(table, made).values() for t in counts])
    values = values.reshape(625, -1)[:, kept].ravel()
    assert len(values) > 2000
    q = exp(-1 / scale)
    deviation = sqrt(2 * q) / (1 - q)
    assert abs(values.mean()) < FALSE_ALARM * deviation / sqrt(len(values)) * 1.1
    size = 2 * q / (1 - q * q)
    assert abs(np.abs(values).mean() - size) < FALSE_ALARM * 1.2 * scale / sqrt(len(values))
    assert 1.0 < scale < 2.0


def test_the_best_candidate_is_preferred():
    """A value that is worse by d is chosen at most with e^(-d e'/1) / 2; a false alarm has a probability below 1e-9."""
    how, e, times = score("max", 2), Fraction(1, 10), 2000
    won = sum(choose(how.on(np.array([100.0, 80.0])), Pure(epsilon=e)) == 0 for _ in range(times))
    expected = 1 - exp(-20 * 0.1) / 2
    assert abs(won - times * expected) < FALSE_ALARM * sqrt(times * expected * (1 - expected))


def test_noise_has_the_declared_scale():
    """A false alarm has a probability below 1e-9."""
    noisy = counted(np.zeros(20_000, np.int64), Pure(epsilon=Fraction(1, 5)))
    assert noisy.scale == pytest.approx(5)
    assert abs(np.abs(noisy.values).mean() - 5) < FALSE_ALARM * 5 / sqrt(20_000) + 0.05


# Counts that add up.
