"""The audit never refutes a mechanism that keeps its promise, and refutes those that are known to break it.

The false alarm rate of every audit here is 1e-9. Outputs of independent runs are drawn as one vector where that is
quicker.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp, log
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom

from sfumato.attacks.distinguishers import highest, lowest
from sfumato.attacks.noise_audit import (
    COUNTED,
    LEARNT,
    NoiseAudit,
    audit_noise,
    audit_outputs,
    refuting,
    smallest_found,
)
from sfumato.core.errors import ParameterError
from sfumato.dp.noise import chosen, chosen_quantile, gaussian_counts, noisy_counts, noisy_reals, randomized_responses
from sfumato.queries import answers as estimates
from sfumato.queries.answers import quantile
from sfumato.tables.schema import Numbers
from sfumato.tables.table import Table
from tests.weights import examples

SURE = 1 - 1e-9
RUNS = 8000


def counts(value: int, epsilon: object, runs: int = RUNS, sensitivity: int = 1) -> np.ndarray:
    """So many independent runs on one count."""
    return noisy_counts(np.full(runs, value), epsilon=epsilon, sensitivity=sensitivity).values


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_noisy_counts_keep_their_promise(epsilon):
    found = audit_outputs(counts(5, epsilon), counts(6, epsilon), confidence=SURE, declared=epsilon)
    assert not found.refuted
    assert found.epsilon_low <= epsilon
    if epsilon >= 1:
        assert found.epsilon_low > 0.6 * epsilon, "the audit has teeth"


def test_noisy_reals_keep_their_promise():
    draw = lambda value: noisy_reals(np.full(RUNS, value), epsilon=1, sensitivity=2.5).values  # noqa: E731
    found = audit_outputs(draw(0.0), draw(2.5), confidence=SURE, declared=1)
    assert 0.6 < found.epsilon_low <= 1


def test_gaussian_noise_has_no_pure_epsilon():
    """With rho = 1/2 no promise of a small pure epsilon holds: the tail tells."""
    draw = lambda value: gaussian_counts(np.full(20_000, value), rho="1/2").values  # noqa: E731
    assert audit_outputs(draw(0), draw(1), confidence=SURE, declared=1).refuted


def test_choices_keep_their_promise():
    pick = lambda scores: chosen(scores, epsilon=2, sensitivity=1)[0]  # noqa: E731
    found = audit_noise(pick, [0.0, 1.0, 1.0], [1.0, 0.0, 0.0], runs=1500, confidence=SURE, declared=2)
    assert 0 < found.epsilon_low <= 2


def test_quantiles_keep_their_promise():
    pick = lambda numbers: chosen_quantile(np.array(numbers), [0.0, 1.0], share=0.5, epsilon=2)[0]  # noqa: E731
    found = audit_noise(pick, [0.0], [0.0, 1.0], runs=1500, confidence=SURE, declared=2)
    assert found.epsilon_low <= 2


def test_randomized_answers_keep_their_promise():
    def draw(answer: str) -> list[str]:
        return randomized_responses([answer] * 3000, ["a", "b", "c"], epsilon=2)[0]

    found = audit_outputs(draw("a"), draw("b"), confidence=SURE, declared=2)
    assert 1.3 < found.epsilon_low <= 2


@pytest.mark.parametrize("run", [estimates.total, estimates.mean, estimates.variance])
def test_answers_to_queries_keep_their_promise(run):
    """One more record, the furthest that the bounds allow. Groups are as many independent runs."""
    bounds, runs = Numbers(low=0, high=10), 4000

    def draw(numbers: list[float]) -> np.ndarray:
        place = np.repeat(np.arange(runs), len(numbers))
        return run(np.tile(numbers, runs), place, runs, bounds, Fraction(1), 0.95).values

    found = audit_outputs(draw([5.0, 5.0]), draw([5.0, 5.0, 10.0]), confidence=SURE, declared=1)
    assert found.epsilon_low <= 1


def test_a_whole_quantile_with_its_interval_keeps_its_promise():
    def draw(numbers: list[float]) -> np.ndarray:
        runs, bounds = 300, Numbers(low=0, high=3)
        place = np.repeat(np.arange(runs), len(numbers))
        found = quantile(np.tile(numbers, runs), place, runs, bounds, Fraction(1), 0.5, share=0.5)
        return np.stack([found.values, found.low, found.high], axis=1)

    assert audit_outputs(draw([0.0, 0.0]), draw([0.0, 0.0, 3.0]), confidence=SURE, declared=1).epsilon_low <= 1


def test_half_the_noise_is_refuted():
    found = audit_outputs(counts(0, 2), counts(1, 2), confidence=SURE, declared=1)
    assert found.refuted
    assert 1 < found.epsilon_low <= 2


def test_a_domain_from_the_data_is_refuted():
    """Only values that occur get a count: that a value is shown at all tells of its only record."""

    def histogram(rows: list[str]) -> dict[str, int]:
        names, sizes = np.unique(rows, return_counts=True)
        return dict(zip(names.tolist(), noisy_counts(sizes, epsilon=1).values.tolist(), strict=True))

    found = audit_noise(
        lambda rows: tuple(histogram(rows)), ["flu"] * 9, [*["flu"] * 9, "HIV"], runs=400, confidence=SURE, declared=1
    )
    assert found.refuted
    bounds = audit_noise(
        lambda rows: noisy_reals(np.array([sum(rows)]), epsilon=1, sensitivity=max(rows)).values,
        [1.0] * 9,
        [*[1.0] * 9, 1e6],
        runs=400,
        confidence=SURE,
        declared=1,
    )
    assert bounds.refuted, "bounds that are read off the rows"


def test_zeros_without_noise_are_refuted():
    def draw(value: int) -> np.ndarray:
        true = np.full(RUNS, value)
        return np.where(true > 0, counts(value, 1), 0)

    assert audit_outputs(draw(0), draw(1), confidence=SURE, declared=1).refuted


def test_a_budget_that_is_spent_twice_is_refuted():
    def draw(value: int) -> np.ndarray:
        return np.stack([counts(value, 1, 20_000), counts(value, 1, 20_000)], axis=1)

    found = audit_outputs(draw(0), draw(1), confidence=SURE, declared=1)
    assert found.refuted
    assert found.epsilon_low <= 2


def test_an_ignored_sensitivity_is_refuted():
    """A sum of ages with noise for counts."""
    assert audit_outputs(counts(0, 1), counts(90, 1), confidence=SURE, declared=1).refuted
    assert not audit_outputs(
        counts(0, 1, sensitivity=90), counts(90, 1, sensitivity=90), confidence=SURE, declared=1
    ).refuted


def test_noise_that_is_rounded_after_it_was_drawn_as_a_float_is_refuted():
    """Laplace noise by a formula on floats: some outputs can only come from one of the inputs (Mironov 2012)."""
    draw = np.random.default_rng(5)

    def naive(value: float, runs: int = 8000) -> np.ndarray:
        uniform = (draw.integers(1, 2**8, runs) - 2**7) / 2**8
        return value - 1.3 * np.sign(uniform) * np.log(1 - 2 * np.abs(uniform) + 1e-12)

    assert audit_outputs(naive(0.0), naive(1.0), confidence=SURE, declared=1).refuted


def test_nothing_is_found_where_nothing_is():
    same = audit_outputs(counts(3, 1), counts(3, 1), confidence=SURE, declared=0)
    assert (same.epsilon_low, same.refuted) == (0.0, False)
    constant = audit_noise(lambda rows: "always", [1], [1, 2], runs=50, declared=0)
    assert (constant.epsilon_low, constant.refuted) == (0.0, False)


def test_a_bound_has_an_end():
    """Even a mechanism that gives the data away is only bounded by the number of runs."""
    bare = audit_noise(len, [1], [1, 2], runs=2000, confidence=0.999, declared=4)
    assert bare.refuted
    assert bare.epsilon_low == pytest.approx(log(lowest(2000, 2000, 0.0005) / highest(0, 2000, 0.0005)))
    assert bare.to_json()["refuted"] is True


@settings(deadline=None)
@given(runs=st.integers(1, 5000), share=st.floats(0, 1), missed=st.sampled_from([0.05, 1e-3, 1e-9]))
def test_bounds_are_those_of_clopper_and_pearson(runs, share, missed):
    hits = round(share * runs)
    low = beta.ppf(missed, hits, runs - hits + 1) if hits > 1 else 0.0
    high = beta.ppf(1 - missed, hits + 1, runs - hits) if hits < runs - 1 else 1.0
    assert lowest(hits, runs, missed) == pytest.approx(low, abs=1e-9)
    assert highest(hits, runs, missed) == pytest.approx(high, abs=1e-6)


def test_the_bound_is_too_high_no_more_often_than_stated():
    """500 audits at confidence 0.9 of a mechanism whose epsilon is known: the share of false alarms is bounded."""
    draw = np.random.default_rng(1)
    alarms = 0
    for _ in range(500):
        answers = [(draw.random(80) < p).astype(int) for p in (1 / (1 + np.e), np.e / (1 + np.e))]
        alarms += audit_outputs(*answers, confidence=0.9, declared=1).refuted
    assert binom.sf(alarms - 1, 500, 0.1) > 1e-9


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"runs": 4}, "runs"),
        ({"runs": 2.5}, "runs"),
        ({"confidence": 0}, "confidence"),
        ({"confidence": 1}, "confidence"),
        ({"declared": -1}, "declared"),
    ],
)
def test_refusals(change, said):
    with pytest.raises(ParameterError, match=said):
        audit_noise(len, [1], [1, 2], **{"runs": 10, **change})
    with pytest.raises(ParameterError, match="as many outputs"):
        audit_outputs([1] * 10, [1] * 9)


# What an audit can find.


def laplace(dice: np.random.Generator, value: int, epsilon: float, runs: int) -> np.ndarray:
    """Counts with discrete Laplace noise, by numpy."""
    ended = 1 - np.exp(-epsilon)
    return value + dice.geometric(ended, runs) - dice.geometric(ended, runs)


def share_found(runs: int, confidence: float, declared: float, epsilon: float, audits: int = 100) -> int:
    """How many of so many audits refute one noisy count of this true epsilon."""
    dice = np.random.default_rng(1)
    draw = lambda value: laplace(dice, value, epsilon, runs)  # noqa: E731
    found = [audit_outputs(draw(0), draw(1), confidence=confidence, declared=declared) for _ in range(audits)]
    return sum(one.refuted for one in found)


@pytest.mark.parametrize(
    ("runs", "confidence", "declared"), [(120, 0.99, 1.0), (300, 1 - 1e-6, 1.0), (300, 1 - 1e-6, 0.5), (500, SURE, 2)]
)
def test_what_an_audit_says_that_it_finds_is_found(runs: int, confidence: float, declared: float):
    """In 19 of 20 audits; a power of 0.95 would show so few hits in 100 audits with a probability below 1e-6."""
    told = audit_outputs([0, 1] * (runs // 2), [0, 1] * (runs // 2), confidence=confidence, declared=declared)
    assert told.finds is not None
    assert told.finds > declared
    assert share_found(runs, confidence, declared, told.finds) >= 82
    assert binom.cdf(81, 100, 0.95) < 1e-6
    assert share_found(runs, confidence, declared, (told.finds + declared) / 2) < 82, "and not much less is"


@examples(60)
@given(counted=st.integers(5, 120), declared=st.floats(0, 3), missed=st.sampled_from([0.05, 1e-3, 1e-9]))
def test_power_is_that_of_the_definition(counted: int, declared: float, missed: float):
    """Every number of right guesses tried, and the binomial law added up."""
    guesses = 2 * counted
    enough = [
        right
        for right in range(guesses + 1)
        if lowest(right, guesses, missed) > exp(declared) * highest(guesses - right, guesses, missed)
    ]
    needed = refuting(declared, guesses, missed)
    assert needed == (min(enough) if enough else None)
    found = smallest_found(declared, counted, missed)
    if needed is None:
        assert found is None
    else:
        assert binom.sf(needed - 1, guesses, 1 / (1 + exp(-found))) == pytest.approx(COUNTED)


@examples(200)
@given(
    each=st.integers(1, 15),
    first=st.integers(0, 10_000),
    second=st.integers(0, 10_000),
    missed=st.sampled_from([0.25, 0.05, 1e-3]),
)
@example(each=1, first=506, second=0, missed=0.05)
def test_bounds_hold_for_coins_of_two_kinds(each: int, first: int, second: int, missed: float):
    """Hoeffding's theorem, recomputed: the law of hits on both inputs, and how often their mean is outside a bound."""
    law = np.convolve(*(binom.pmf(np.arange(each + 1), each, one / 10_000) for one in (first, second)))
    mean, runs = (first + second) / 20_000, 2 * each
    above = sum(law[hits] for hits in range(runs + 1) if lowest(hits, runs, missed) > mean + 1e-12)
    below = sum(law[hits] for hits in range(runs + 1) if highest(hits, runs, missed) < mean - 1e-12)
    assert above <= missed + 1e-9
    assert below <= missed + 1e-9


def test_the_page_states_the_power_as_it_is():
    """The table of factors of the docs, computed anew."""
    lines = (Path(__file__).parents[2] / "docs" / "attacks" / "noise-audit.md").read_text().split("| 4 |\n")[1]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines.split("\n\n")[0].splitlines()[1:]]
    assert [row[0] for row in rows] == ["200", "1,000", "2,000", "8,000"]
    for runs, *told in rows:
        many = int(runs.replace(",", ""))
        found = [(smallest_found(one, many - 2 * (many // LEARNT), 0.0005), one) for one in (0.1, 0.5, 1, 2, 4)]
        assert told == ["none" if low is None else f"{low / one:.2f}" for low, one in found]


def test_the_power_is_printed_with_the_result():
    found = audit_outputs(counts(0, 2), counts(1, 2), confidence=0.999, declared=1)
    assert "refuted. 8000 runs on each input at confidence 0.999 find an epsilon of 1.14, 1.14 times" in str(found)
    assert found.to_json()["finds"] == found.finds
    assert found.to_json()["factor"] == pytest.approx(1.14, abs=0.005)
    assert found.to_json()["power"] == 0.95
    assert "finds=1.137" in repr(found)
    few: NoiseAudit = audit_outputs([1] * 20, [2] * 20, confidence=0.999, declared=3)
    assert (few.finds, few.factor, few.refuted) == (None, None, False)
    assert "20 runs on each input at confidence 0.999 cannot refute this promise" in str(few)
    unknown = audit_outputs([1] * 20, [2] * 20)
    assert (unknown.finds, unknown.factor) == (None, None)
    assert str(unknown).startswith("epsilon is 0.77 or more")


def test_figures_are_weighed_together():
    """Ten answers, each for a tenth of twice the budget: no single one shows it, all together do."""
    dice = np.random.default_rng(3)
    draw = lambda value: np.stack([laplace(dice, value, 0.2, 8000) for _ in range(10)], axis=1)  # noqa: E731
    assert audit_outputs(draw(0), draw(1), confidence=SURE, declared=0.5).refuted
    assert not audit_outputs(draw(0)[:, :1], draw(1)[:, :1], confidence=SURE, declared=0.5).refuted


@pytest.mark.parametrize("specializations", [1, 2])
def test_diffgen_keeps_its_promise_on_a_tiny_domain(specializations):
    """End to end: groups, labels and counts of a whole release, for two tables that differ by one record."""
    from sfumato.algorithms.diffgen import DiffGen
    from sfumato.core.run_context import Work
    from sfumato.pipeline.methods.private.domains import declared_table
    from sfumato.pipeline.plan.plan import Plan

    plan = Plan.parse(
        {
            "columns": {
                "job": {"role": "quasi", "hierarchy": {"tree": {"any": {"blue": ["a", "b"], "white": ["c"]}}}},
                "age": {"role": "quasi", "hierarchy": {"kind": "grown", "low": 0, "high": 4}},
                "class": {"role": "target", "values": ["n", "y"]},
            }
        }
    )
    rows = {"job": ["a", "c"], "age": ["1", "3"], "class": ["n", "y"]}
    more = {"job": ["a", "c", "c"], "age": ["1", "3", "3"], "class": ["n", "y", "y"]}

    def mechanism(table):
        made = DiffGen(epsilon=1, specializations=specializations)(table, Work())
        return made.labels, made.keys, made.counts

    first, second = (declared_table(plan, Table(frame=pl.DataFrame(one))) for one in (rows, more))
    found = audit_noise(mechanism, first, second, runs=400, confidence=SURE, declared=1)
    assert not found.refuted
