"""Noise has the law, the scale and the price that it says; what cannot be drawn is refused.

Statistical tests count how often noise falls into a set whose probability is known, and ask an exact binomial test.
Each raises a false alarm with probability 1e-9 at most.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp, inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, norm

from sfumato.core.errors import ParameterError
from sfumato.dp.events import Concentrated, Pure
from sfumato.dp.mechanisms import LARGEST, costs, opendp, within
from sfumato.dp.noise import (
    Noisy,
    chosen,
    chosen_quantile,
    gaussian_counts,
    noisy_counts,
    noisy_reals,
    randomized_responses,
)
from tests.weights import examples

FALSE_ALARM = 1e-9
DRAWS = 20_000
BUDGETS = st.fractions(min_value=Fraction(1, 10**6), max_value=Fraction(50), max_denominator=10**9)


def agrees(hits: int, draws: int, probability: float) -> bool:
    """Whether so many hits are believable; wrong with probability 1e-9 at most."""
    return binomtest(int(hits), draws, probability).pvalue > FALSE_ALARM


def within_by_geometry(scale: float, m: int) -> float:
    """The probability that discrete Laplace noise is at most m away, summed from its definition."""
    a = exp(-1 / scale)
    return sum((1 - a) / (1 + a) * a ** abs(k) for k in range(-m, m + 1))


@pytest.mark.parametrize(("epsilon", "sensitivity"), [("1/2", 1), ("2", 3), ("1/10", 1)])
def test_counts_have_discrete_laplace_noise_of_the_stated_scale(epsilon, sensitivity):
    found = noisy_counts(np.full(DRAWS, 7), epsilon=epsilon, sensitivity=sensitivity)
    noise = found.values - 7
    assert found.scale == pytest.approx(sensitivity / float(Fraction(epsilon)))
    for m in (0, 1, int(found.scale), int(3 * found.scale)):
        assert agrees((np.abs(noise) <= m).sum(), DRAWS, within_by_geometry(found.scale, m)), m
    assert agrees((noise > 0).sum(), int((noise != 0).sum()), 0.5)


def test_a_wrong_scale_would_be_noticed():
    """The statistical tests have teeth: half the noise is found out."""
    noise = noisy_counts(np.zeros(DRAWS, int), epsilon=1).values
    assert not agrees((np.abs(noise) <= 2).sum(), DRAWS, within_by_geometry(2.0, 2))
    assert not agrees((noise + 1 > 0).sum(), int((noise + 1 != 0).sum()), 0.5)


@pytest.mark.parametrize("sensitivity", [0.25, 3.0])
def test_reals_have_laplace_noise_of_the_stated_scale(sensitivity):
    found = noisy_reals(np.full(DRAWS, -2.5), epsilon=0.5, sensitivity=sensitivity)
    noise = found.values + 2.5
    for share in (0.5, 0.9):
        reach = found.scale * -np.log(1 - share)
        assert agrees((np.abs(noise) <= reach).sum(), DRAWS, share)
    assert agrees((noise > 0).sum(), DRAWS, 0.5)


def test_gaussian_noise_has_the_stated_deviation():
    found = gaussian_counts(np.zeros(DRAWS, int), rho="1/200")
    assert found.scale == pytest.approx(10.0)
    weights = {k: exp(-(k**2) / 200) for k in range(-200, 201)}
    for m in (0, 5, 15):
        probability = sum(weights[k] for k in range(-m, m + 1)) / sum(weights.values())
        assert agrees((np.abs(found.values) <= m).sum(), DRAWS, probability)
    assert agrees((found.values > 0).sum(), int((found.values != 0).sum()), 0.5)


@pytest.mark.parametrize("epsilon", ["3", "1", "1/10"])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_margins_of_counts_hold_by_the_definition(epsilon, confidence):
    """A margin reaches its confidence, and the next smaller one does not."""
    found = noisy_counts(np.zeros(1, int), epsilon=epsilon)
    m = int(found.margin(confidence))
    assert within_by_geometry(found.scale, m) >= confidence - 1e-12
    assert m == 0 or within_by_geometry(found.scale, m - 1) < confidence


def test_margins_of_other_laws():
    reals = Noisy(values=np.zeros(1), event=Pure(epsilon=1), scale=2.0, law="laplace")
    assert reals.margin(0.95) == pytest.approx(2 * np.log(20))
    normal = Noisy(values=np.zeros(1, int), event=Concentrated(rho=1), scale=10.0, law="gaussian")
    assert normal.margin(0.95) == np.ceil(10 * norm.ppf(0.975))
    assert normal.margin(1.0) == inf
    assert (reals.expected_error, round(normal.expected_error, 3)) == (2.0, 7.979)
    for bad in (0, 1.1, nan):
        with pytest.raises(ParameterError, match="confidence"):
            reals.margin(bad)


@pytest.mark.parametrize("monotonic", [False, True])
def test_choosing_is_no_worse_than_the_exponential_mechanism(monotonic):
    """Permute and flip takes the best score at least as often (McKenna and Sheldon 2020)."""
    scores, draws = [0.0, 2.0, 3.0], 3000
    picks = [chosen(scores, epsilon=1, sensitivity=1, monotonic=monotonic)[0] for _ in range(draws)]
    weights = np.exp(np.array(scores) / (1 if monotonic else 2))
    assert binom.cdf(picks.count(2), draws, weights[2] / weights.sum()) > FALSE_ALARM
    assert set(picks) == {0, 1, 2}


def test_a_quantile_is_near_and_does_not_need_numbers():
    numbers = np.arange(1001)
    found, event = chosen_quantile(numbers, range(0, 1001, 10), share=0.9, epsilon=5)
    assert 850 <= found <= 950
    assert event == Pure(epsilon=5, what="quantile")
    empty = [chosen_quantile(np.zeros(0), [1, 2], share=0.5, epsilon=9)[0] for _ in range(200)]
    assert agrees(empty.count(1.0), 200, 0.5)


@pytest.mark.parametrize("categories", [2, 5])
def test_randomized_answers_are_kept_as_often_as_stated(categories):
    names = [str(n) for n in range(categories)]
    said, event, kept = randomized_responses(["0"] * 3000, names, epsilon=1)
    assert kept == pytest.approx(exp(1) / (exp(1) + categories - 1))
    assert agrees(said.count("0"), 3000, kept)
    assert agrees(said.count("1"), 3000, (1 - kept) / (categories - 1))
    assert event == Pure(epsilon=1, what="answers")


MECHANISMS = {
    "counts": lambda e: noisy_counts(np.array([3]), epsilon=e),
    "reals": lambda e: noisy_reals(np.array([3.0]), epsilon=e, sensitivity=1.5),
    "gaussian": lambda e: gaussian_counts(np.array([3]), rho=e),
    "choice": lambda e: chosen([1.0, 2.0], epsilon=e, sensitivity=1),
    "quantile": lambda e: chosen_quantile(np.array([1.0]), [1.0, 2.0], share=0.5, epsilon=e),
    "answers": lambda e: randomized_responses(["a"], ["a", "b", "c"], epsilon=e),
}


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("bad", [0, -1, 0.0, nan, inf, -inf, "x", "1/0", None, True, "0", [1]])
def test_a_budget_that_is_none_is_refused(name, bad):
    with pytest.raises(ParameterError, match=r"epsilon|rho"):
        MECHANISMS[name](bad)


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("extreme", ["1e-400", "1e-300", 1e-17, 1e3, 1e300, "1e400", np.float64(0.1), np.int64(2)])
def test_an_extreme_budget_is_drawn_for_or_refused_in_words(name, extreme):
    try:
        found = MECHANISMS[name](extreme)
    except ParameterError as error:
        found = str(error)
    assert not isinstance(found, str) or "must be a budget for which" in found


@pytest.mark.parametrize("bad", [0, -1, 0.0, nan, inf, -inf, None, True, "1", 10**400, LARGEST * 2])
def test_a_sensitivity_that_is_none_is_refused(bad):
    for run in (
        lambda: noisy_counts(np.array([1]), epsilon=1, sensitivity=bad),
        lambda: noisy_reals(np.array([1.0]), epsilon=1, sensitivity=bad),
        lambda: gaussian_counts(np.array([1]), rho=1, sensitivity=bad),
        lambda: chosen([1.0], epsilon=1, sensitivity=bad),
    ):
        with pytest.raises(ParameterError, match="sensitivity"):
            run()


def test_counts_need_a_whole_sensitivity_and_whole_counts():
    with pytest.raises(ParameterError, match="sensitivity must be a whole number"):
        noisy_counts(np.array([1]), epsilon=1, sensitivity=1.5)
    for draw in (lambda c: noisy_counts(c, epsilon=1), lambda c: gaussian_counts(c, rho=1)):
        with pytest.raises(ParameterError, match="whole numbers"):
            draw(np.array([1.0]))
        for large in (np.array([LARGEST + 1]), np.array([-LARGEST - 1]), np.array([2**64 - 1], np.uint64)):
            with pytest.raises(ParameterError, match="beyond"):
                draw(large)


def test_zero_negative_and_no_counts_are_counts():
    found = noisy_counts(np.array([[0, -5], [LARGEST, 2]]), epsilon=100)
    assert found.values.shape == (2, 2)
    assert found.values.tolist() == [[0, -5], [LARGEST, 2]]
    for empty in (noisy_counts(np.zeros(0, int), epsilon=1), gaussian_counts(np.zeros(0, int), rho=1)):
        assert empty.values.shape == (0,)
    assert noisy_reals(np.zeros((0, 2)), epsilon=1, sensitivity=1).values.shape == (0, 2)


def test_what_is_no_finite_number_is_refused():
    for bad in (nan, inf, -inf):
        with pytest.raises(ParameterError, match="finite"):
            noisy_reals(np.array([1.0, bad]), epsilon=1, sensitivity=1)
        with pytest.raises(ParameterError, match="finite"):
            chosen([1.0, bad], epsilon=1, sensitivity=1)
        with pytest.raises(ParameterError, match="finite"):
            chosen_quantile(np.array([1.0]), [1.0, bad], share=0.5, epsilon=1)
    with pytest.raises(ParameterError, match="at least one"):
        chosen([], epsilon=1, sensitivity=1)
    with pytest.raises(ParameterError, match="missing"):
        chosen_quantile(np.array([nan]), [1.0], share=0.5, epsilon=1)
    with pytest.raises(ParameterError, match="share"):
        chosen_quantile(np.array([1.0]), [1.0], share=1.5, epsilon=1)


def test_answers_outside_the_categories_are_refused():
    for categories in (["a"], ["a", "a"], []):
        with pytest.raises(ParameterError, match="categories"):
            randomized_responses(["a"], categories, epsilon=1)
    with pytest.raises(ParameterError, match="declared categories"):
        randomized_responses(["z"], ["a", "b"], epsilon=1)


@examples(60)
@given(budget=BUDGETS, moved=st.integers(1, 1000))
def test_no_mechanism_costs_more_than_was_declared(budget, moved):
    """Built again at the scale that was used, OpenDP's own privacy map is at most the budget, exactly."""
    dp = opendp()
    whole = dp.vector_domain(dp.atom_domain(T="i64"))
    reals = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    counts = noisy_counts(np.array([1]), epsilon=budget, sensitivity=moved)
    assert costs((whole, dp.l1_distance(T="i64")) >> dp.m.then_laplace(scale=counts.scale), moved) <= budget
    sums = noisy_reals(np.array([1.0]), epsilon=budget, sensitivity=moved / 7)
    assert costs((reals, dp.l1_distance(T=float)) >> dp.m.then_laplace(scale=sums.scale), moved / 7) <= budget
    normal = gaussian_counts(np.array([1]), rho=budget, sensitivity=moved)
    assert costs((whole, dp.l2_distance(T=float)) >> dp.m.then_gaussian(scale=normal.scale), float(moved)) <= budget
    assert counts.scale <= moved / budget * (1 + Fraction(1, 10**9)), "no more noise than needed"


@examples(60)
@given(budget=BUDGETS, categories=st.integers(2, 20))
def test_randomized_answers_never_cost_more(budget, categories):
    names = [str(n) for n in range(categories)]
    _, event, kept = randomized_responses(["0"], names, epsilon=budget)
    assert costs(opendp().m.make_randomized_response(names, kept), 1) <= budget
    assert event.epsilon == budget


@examples(60)
@given(budget=BUDGETS, moved=st.floats(1e-3, 1e6), monotonic=st.booleans())
def test_choices_never_cost_more(budget, moved, monotonic):
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float, monotonic=monotonic)
    made, _ = within(
        lambda s: space >> dp.m.then_noisy_max(dp.max_divergence(), scale=s),
        (1 if monotonic else 2) * Fraction(moved) / budget,
        moved,
        budget,
        "epsilon",
    )
    assert costs(made, moved) <= budget


def test_a_mechanism_that_never_meets_the_budget_is_refused():
    class Dear:
        def map(self, moved):
            return inf

    with pytest.raises(ParameterError, match="for which noise can be drawn"):
        within(lambda s: Dear(), Fraction(1), 1, Fraction(1), "epsilon")


@examples(200)
@given(
    numbers=st.lists(st.integers(0, 20), max_size=12),
    one=st.integers(0, 20),
    share=st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 0.9, 1.0]),
)
def test_scores_of_a_quantile_move_by_no_more_than_stated(numbers, one, share):
    """One more record moves no score further than the sensitivity; both are whole, so this holds exactly."""
    from unittest.mock import patch

    from sfumato.dp import selection

    seen = []

    def watch(scores, *, epsilon, sensitivity, what):
        seen.append((np.asarray(scores), sensitivity))
        return 0, Pure(epsilon=1)

    with patch.object(selection, "chosen", watch):
        for given_numbers in (numbers, [*numbers, one]):
            chosen_quantile(np.array(given_numbers), range(21), share=share, epsilon=1)
    (before, moved), (after, _) = seen
    assert before.dtype.kind == "i"
    assert np.abs(after - before).max() <= moved
