"""Population uniques: formulas by hand, simulated populations whose uniques are known, and the ends."""

from __future__ import annotations

from math import comb, isnan

import numpy as np
import pytest

from sfumato.attacks.population_uniques import pitman, population_uniques, shlosser, snb, zayatz
from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance


def sampled(of_person: np.ndarray, fraction: float, draws: np.random.Generator) -> np.ndarray:
    """Class sizes in a sample of so many people."""
    chosen = draws.permutation(len(of_person))[: round(fraction * len(of_person))]
    sizes = np.bincount(of_person[chosen])
    return sizes[sizes > 0]


def restaurant(theta: float, alpha: float, people: int, draws: np.random.Generator) -> np.ndarray:
    """A population of Pitman's model, by its definition: everybody sits down at a table, new or taken."""
    table, sizes = np.zeros(people, np.int64), []
    for person in range(people):
        if draws.random() * (theta + person) < theta + alpha * len(sizes):
            table[person] = len(sizes)
            sizes.append(1)
            continue
        while True:
            at = table[draws.integers(person)]
            if draws.random() * sizes[at] < sizes[at] - alpha:
                break
        table[person] = at
        sizes[at] += 1
    return table


def test_zayatz_by_hand():
    """Two uniques and a pair in 4 of 8 people: h(1) = 4/8, h(2) = 4 * 4 / 28; P = 2 h(1) / (2 h(1) + h(2)) = 7/11.

    So of the two uniques 14/11 are population uniques, and 28/11 in the whole population.
    """
    once = comb(4, 1) * comb(4, 1) / comb(8, 2)
    assert once == pytest.approx(4 / 7)
    assert zayatz(np.array([1, 1, 2]), 0.5) == pytest.approx(2 * (1 / (1 + once)) / 0.5)
    assert zayatz(np.array([1, 1, 2]), 0.5) == pytest.approx(28 / 11)


def test_shlosser_by_hand():
    """s = (2, 1), f = 1/2: A = 2/4 + 2/4 * 3/4, B = 2 * (3/4 - 1/2) + (9/16 - 1/4), C = 2/2 + 1/4, D = 1 + 1/2."""
    a, b, c, d = 2 / 4 + 2 / 4 * 3 / 4, 2 * (3 / 4 - 1 / 2) + (9 / 16 - 1 / 4), 5 / 4, 3 / 2
    assert shlosser(np.array([1, 1, 2]), 0.5) == pytest.approx(3 + 2 * a / b * (c / d) ** 2)


@pytest.mark.parametrize(("theta", "alpha"), [(50.0, 0.5), (5.0, 0.8)])
def test_pitman_finds_the_uniques_of_its_own_model(theta, alpha):
    """12 populations of 6,000, samples of a tenth: the mean relative error is 0 but for 5 standard errors and 5 %.

    If the estimator is unbiased to 5 %, this fails with probability below 1e-4 (Student, 11 degrees of freedom).
    """
    draws = Chance(seed=4).generator()
    errors = []
    for _ in range(12):
        people = restaurant(theta, alpha, 6000, draws)
        truth = (np.bincount(people) == 1).sum()
        errors.append(pitman(sampled(people, 0.1, draws), 0.1) / truth - 1)
    assert abs(np.mean(errors)) <= 0.05 + 5 * np.std(errors, ddof=1) / 12**0.5
    assert np.std(errors) < 0.5


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 0.5), (0.5, 0.2)])
def test_the_slide_negative_binomial_finds_the_uniques_of_its_own_model(alpha, beta):
    """20 populations of 4,000 classes, samples of 60 %: the mean relative error is 0 but for 10 %.

    Shlosser's estimate of the number of classes is not unbiased; 10 % is what it costs here. At a standard error below
    2 % a mean error of 0 would fail with probability below 1e-6.
    """
    draws = Chance(seed=4).generator()
    errors = []
    for _ in range(20):
        sizes = 1 + draws.negative_binomial(alpha, beta, 4000)
        found = snb(sampled(np.repeat(np.arange(4000), sizes), 0.6, draws), 0.6)
        errors.append(found / (sizes == 1).sum() - 1)
    assert abs(np.mean(errors)) < 0.1
    assert np.std(errors) / 20**0.5 < 0.02


def test_the_rule_of_dankar():
    """Up to a tenth Pitman; above, the smaller of Zayatz and the slide negative binomial."""
    sizes = np.array([1] * 300 + [2] * 100 + [3] * 50 + [9] * 20)
    few, many = population_uniques(sizes, 0.1), population_uniques(sizes, 0.5)
    assert few.chosen == "pitman"
    assert few.value == few.pitman
    assert many.value == min(many.zayatz, many.snb)
    assert population_uniques(np.array([1, 1, 1, 3, 3]), 0.5).chosen == "zayatz"
    assert isnan(population_uniques(np.array([1, 1, 1, 3, 3]), 0.5).snb)
    assert population_uniques(np.array([1, 1, 1, 3, 3]), 0.5).to_json()["snb"] is None


@pytest.mark.parametrize("fraction", [0.05, 0.5, 1.0])
def test_the_ends(fraction):
    none = population_uniques(np.array([2, 3, 3]), fraction)
    assert (none.zayatz, none.pitman, none.snb, none.value, none.share) == (0, 0, 0, 0, 0)
    every = population_uniques(np.ones(40, np.int64), fraction)
    assert (every.zayatz, every.pitman, every.snb) == (40 / fraction,) * 3
    assert every.share == pytest.approx(1.0)
    nobody = population_uniques(np.zeros(0, np.int64), fraction)
    assert (nobody.value, nobody.share) == (0, 0)


def test_the_whole_population_needs_no_estimate():
    found = population_uniques(np.array([1, 1, 2, 5]), 1.0)
    assert (found.zayatz, found.pitman, found.snb, found.population) == (2, 2, 2, 9)


def test_nonsense_is_refused():
    for fraction in (0.0, 1.1, float("nan")):
        with pytest.raises(ParameterError, match="fraction"):
            population_uniques(np.array([1]), fraction)
    with pytest.raises(ParameterError, match="sizes"):
        population_uniques(np.array([0, 1]), 0.5)
