"""Mutants of every mechanism, each with a mistake that is easily made: every one is refuted by the audit.

Mutants draw from numpy with fixed seeds, so what they show is the same in every run. Beside each stands the same
mechanism without the mistake, which is not refuted. Product code is accused with a probability of at most 1e-6 in each
audit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.algorithms.private_table import Mechanisms, Scores
from sfumato.attacks.noise_audit import NoiseAudit, audit_outputs, runs_for, smallest_found
from sfumato.core.errors import ParameterError
from sfumato.dp.accounting import Cost, epsilon_at
from sfumato.dp.events import Pure
from sfumato.dp.noise import Noisy
from sfumato.pipeline.noise_audit import CONFIDENCE, Patience, audit_mechanisms
from sfumato.pipeline.noise_cases import NoiseCase, mechanism_cases, telling_delta
from tests.weights import thorough


def laplace(dice: np.random.Generator, counts: Any, epsilon: float) -> Any:
    """Discrete Laplace noise."""
    ended = 1 - np.exp(-epsilon)
    return counts + dice.geometric(ended, np.shape(counts)) - dice.geometric(ended, np.shape(counts))


def doors(less_counts: float = 1.0, less_choices: float = 1.0, **mistakes: bool) -> Mechanisms:
    """Ways to look at rows with so many times less noise than they need, or with a named mistake, by numpy."""
    dice = np.random.default_rng(7)

    def count(counts: Any, cost: Cost) -> Noisy:
        if isinstance(cost, Pure):
            values = laplace(dice, counts, less_counts * float(cost.epsilon))
        else:
            sigma = float(1 / (2 * cost.rho)) ** 0.5 / less_counts
            values = counts + np.rint(dice.normal(0, sigma, counts.shape)).astype(np.int64)
        if mistakes.get("bare_zeros"):
            values = np.where(counts > 5, values, counts)
        return Noisy(values=values, event=cost, scale=1.0, law="laplace")

    def choose(scores: Scores, cost: Cost) -> int:
        spread = 1.0 if scores.monotonic or mistakes.get("no_factor_2") else 2.0
        spread *= 1.0 if mistakes.get("no_sensitivity") else scores.sensitivity
        if isinstance(cost, Pure):
            noise = dice.exponential(spread / (less_choices * float(cost.epsilon)), len(scores.values))
        else:
            noise = dice.gumbel(0, spread / (less_choices * float(8 * cost.rho) ** 0.5), len(scores.values))
        return int(np.argmax(scores.values + noise))

    return Mechanisms(choose=choose, count=count)


def audits(looking: Mechanisms | None, *names: str) -> dict[str, NoiseAudit]:
    cases = [case for case in mechanism_cases(1, looking) if not names or case.name in names]
    return {one.what: one.audit for one in audit_mechanisms(cases=cases)}


APART, ALIKE = "choice, scores moved apart", "choice, one score moved"
FIVE, GUMBEL = "choice, scores that move by 5", "choice, Gumbel noise"
LAPLACE, GAUSS = "counts, Laplace noise", "counts, Gaussian noise"
MUTANTS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "counts with half of their noise": ({"less_counts": 2.0}, (LAPLACE, GAUSS)),
    "counts with a quarter of their noise": ({"less_counts": 4.0}, (LAPLACE, GAUSS)),
    "choices with half of their noise": ({"less_choices": 2.0}, (APART, ALIKE, FIVE, GUMBEL)),
    "choices that overspend 20 times": ({"less_choices": 20.0}, (APART, ALIKE, FIVE, GUMBEL)),
    "a choice without the factor 2": ({"no_factor_2": True}, (APART, FIVE, GUMBEL)),
    "a choice without its sensitivity": ({"no_sensitivity": True}, (FIVE,)),
    "small counts without noise": ({"bare_zeros": True}, (LAPLACE,)),
}


@pytest.mark.parametrize("what", MUTANTS)
def test_every_mutant_is_refuted(what: str):
    mistakes, names = MUTANTS[what]
    found = audits(doors(**mistakes), *names)
    assert set(found) == set(names)
    assert all(one.refuted for one in found.values()), {name: str(one) for name, one in found.items()}


def test_without_a_mistake_none_is_refuted():
    found = audits(doors(), LAPLACE, GAUSS, APART, ALIKE, FIVE, GUMBEL)
    assert not [str(one) for one in found.values() if one.refuted]


@pytest.mark.parametrize("factor", [8.0, pytest.param(2.0 if thorough() else 3.0, marks=pytest.mark.slow)])
def test_the_product_keeps_every_promise_and_says_what_would_be_found(factor: float):
    """Twelve audits: all together accuse product code with a probability of at most 2e-5."""
    every = list(audit_mechanisms(patience=Patience(factor=factor)))
    found, power = {one.what: one.audit for one in every}, {one.what: one.factor for one in every}
    assert len(found) == 12
    for name, one in found.items():
        assert not one.refuted, (name, str(one))
        assert one.confidence == CONFIDENCE
        assert power[name] is not None
        assert power[name] <= factor + 0.001, "as many runs as the factor needs"


# Mistakes that are none of one mechanism.


def audited(draw: Callable[[np.random.Generator, int, int], Any], declared: float, *, delta: float = 0.0) -> NoiseAudit:
    dice, runs = np.random.default_rng(3), runs_for(declared, (1 - CONFIDENCE) / 2, 2.0, delta)
    sides = [draw(dice, side, runs) for side in (0, 1)]
    return audit_outputs(*sides, confidence=CONFIDENCE, declared=declared, delta=delta)


def drawn_twice(dice: np.random.Generator, side: int, runs: int) -> Any:
    """The mean of two answers, of which one was paid."""
    return (laplace(dice, np.full(runs, side), 1.0) + laplace(dice, np.full(runs, side), 1.0)) / 2


def quantile_of(less: float) -> Callable[[np.random.Generator, int, int], Any]:
    """A choice of a candidate by ranks, with less noise."""

    def draw(dice: np.random.Generator, side: int, runs: int) -> Any:
        scores = np.array([[-1.0, -1.0], [0.0, -2.0]])[side]
        return np.argmax(scores + dice.exponential(2 / less, (runs, 2)), axis=1)

    return draw


def emptiness_of(bare: bool) -> Callable[[np.random.Generator, int, int], Any]:
    """Whether a set is empty, by its count with or without noise."""
    return lambda dice, side, runs: (np.full(runs, side) if bare else laplace(dice, np.full(runs, side), 1.0)) > 0


def answers_of(epsilon: float) -> Callable[[np.random.Generator, int, int], Any]:
    """Randomized answers of two categories."""
    return lambda dice, side, runs: np.where(dice.random(runs) < 1 / (1 + np.exp(-epsilon)), side, 1 - side)


def words_of(leak: bool) -> Callable[[np.random.Generator, int, int], Any]:
    """A noisy count, and words beside it that may tell the true number of rows."""

    def draw(dice: np.random.Generator, side: int, runs: int) -> list[str]:
        rows = 40 + side
        return [f"of {rows if leak else 'some'} rows" for _ in range(runs)]

    return draw


def threshold_of(data: bool) -> Callable[[np.random.Generator, int, int], Any]:
    """Counts above a threshold, which may be the mean of the true counts."""

    def draw(dice: np.random.Generator, side: int, runs: int) -> Any:
        counts = np.array([4, 4 + 1 * side])
        noisy = laplace(dice, np.tile(counts, (runs, 1)), 1.0)
        limit = counts.mean() if data else 4
        return np.column_stack([noisy > limit, np.full(runs, limit)])

    return draw


OTHERS: dict[str, tuple[Any, Any]] = {
    "answers averaged that were paid once": (drawn_twice, lambda d, s, n: laplace(d, np.full(n, s), 1.0)),
    "a quantile with half of its noise": (quantile_of(2.0), quantile_of(1.0)),
    "a quantile with a twentieth of its noise": (quantile_of(20.0), quantile_of(1.0)),
    "emptiness without noise": (emptiness_of(True), emptiness_of(False)),
    "randomized answers for twice the budget": (answers_of(2.0), answers_of(1.0)),
    "words that tell the number of rows": (words_of(True), words_of(False)),
    "a threshold from the data": (threshold_of(True), threshold_of(False)),
}


@pytest.mark.parametrize("what", OTHERS)
def test_other_mistakes_are_refuted_and_their_absence_is_not(what: str):
    bad, good = OTHERS[what]
    runs = 16 if what == "answers averaged that were paid once" else 1
    found = audited(lambda dice, side, n: bad(dice, side, runs * 2 * n), 1.0)
    assert found.refuted, found
    assert not audited(good, 1.0).refuted


def gaussian(sigma: float) -> Callable[[np.random.Generator, int, int], Any]:
    return lambda dice, side, runs: side + dice.normal(0, sigma, runs)


@pytest.mark.parametrize("rho", [Fraction(1, 8), Fraction(1, 2)])
def test_gaussian_noise_is_audited_at_a_delta(rho: Fraction):
    """Half of sigma costs four times rho."""
    sigma, declared, dice = float(1 / (2 * rho)) ** 0.5, epsilon_at(rho, telling_delta(rho)), np.random.default_rng(3)
    for less, refuted in ((2.0, True), (1.0, False)):
        sides = [gaussian(sigma / less)(dice, side, 4000) for side in (0, 1)]
        assert (
            audit_outputs(*sides, confidence=CONFIDENCE, declared=declared, delta=telling_delta(rho)).refuted == refuted
        )


def test_a_bound_with_delta_is_that_of_the_definition():
    """(right - delta) / wrong, and the false alarm that forgetting delta would be."""
    dice, runs = np.random.default_rng(1), 4000
    shown = [np.where(dice.random(runs) < 0.1, side, 2) for side in (0, 1)]
    with_delta = audit_outputs(*shown, confidence=CONFIDENCE, declared=0.1, delta=0.15)
    assert (with_delta.refuted, with_delta.epsilon_low, with_delta.delta) == (False, 0.0, 0.15)
    assert "with a delta of 0.15 was promised" in str(with_delta)
    assert audit_outputs(*shown, confidence=CONFIDENCE, declared=0.1).refuted
    less = audit_outputs(*shown, confidence=CONFIDENCE, declared=0.1, delta=0.01)
    assert less.epsilon_low == pytest.approx(np.log((less.more - 0.01) / less.less))


@pytest.mark.parametrize("declared", [0.1, 0.5, 1.0, 2.0])
def test_auto_runs_are_the_fewest_that_find_the_factor(declared: float):
    missed, factor = 0.0005, 2.0
    runs = runs_for(declared, missed, factor)
    assert (smallest_found(declared, runs // 2, missed) or 99) <= factor * declared
    if runs > 100:
        assert (smallest_found(declared, int(0.45 * runs), missed) or 99) > factor * declared


def test_refusals():
    with pytest.raises(ParameterError, match="factor"):
        runs_for(1.0, 0.0005, 1.0)
    with pytest.raises(ParameterError, match="audit at another epsilon"):
        runs_for(1e-5, 0.0005)
    with pytest.raises(ParameterError, match="runs"):
        list(audit_mechanisms(patience=Patience(runs=2), cases=[replace(mechanism_cases()[0])]))
    with pytest.raises(ParameterError, match="delta"):
        audit_outputs([1] * 10, [1] * 10, declared=1, delta=1.0)
    assert isinstance(mechanism_cases()[0], NoiseCase)
