"""Filters and guesses on randomized answers, against literal twins and against what is promised."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attacks.randomized_answers import (
    BayesGuess,
    Coin,
    CoinedQuestion,
    NoisyColumns,
    RandomizedAnswers,
    posterior,
    promised,
)
from sfumato.attacks.spectral_filter import NoiseFilter, best_linear, expected_errors
from sfumato.core.randomness import Chance
from tests.weights import examples


def coined(coin: Coin, epsilon: float) -> RandomizedAnswers:
    question = CoinedQuestion(name="q", coins=(coin,), epsilon=epsilon, promise=f"{epsilon:g}")
    return RandomizedAnswers(rows=len(coin.codes), numbers=None, questions=(question,))


@examples(80)
@given(data=st.data())
def test_the_guess_by_its_definition_and_within_its_bound(data):
    """Every coin, every shown answer, every guess: none is right more often, and none beyond the bound."""
    many = data.draw(st.integers(2, 4))
    weights = st.lists(st.integers(1, 9), min_size=many, max_size=many)
    shares = np.array(data.draw(weights), float)
    shares /= shares.sum()
    chances = np.array([data.draw(weights) for _ in range(many)], float).T
    chances /= chances.sum(axis=0)
    epsilon = float(np.log(max(row.max() / row.min() for row in chances)))
    codes = np.array(data.draw(st.lists(st.integers(0, many - 1), min_size=25, max_size=40)))
    coin = Coin(chances=chances, shares=shares, codes=codes)
    found = BayesGuess().run(coined(coin, epsilon), Chance(seed=1))
    total = 0.0
    for code in codes:
        joint = [shares[answer] * chances[code, answer] for answer in range(many)]
        total += max(joint) / sum(joint)
    assert found.rate.hits == pytest.approx(total)
    assert found.naive.value == pytest.approx(shares.max())
    assert found.limit is not None
    assert found.worst is not None
    assert found.worst <= found.limit.value + 1e-9
    best = max(
        sum(shares[guess[code]] * chances[code, guess[code]] for code in range(many))
        for guess in product(range(many), repeat=many)
    )
    mine = posterior(coin).argmax(axis=1).tolist()
    assert sum(shares[mine[code]] * chances[code, mine[code]] for code in range(many)) == pytest.approx(best)
    assert best <= found.limit.value + 1e-9


def test_a_coin_that_says_nothing_adds_nothing():
    coin = Coin(chances=np.full((2, 2), 0.5), shares=np.array([0.3, 0.7]), codes=np.arange(40) % 2)
    found = BayesGuess().run(coined(coin, 0.0), Chance(seed=1))
    assert found.risk == 0
    assert promised(coined(coin, 0.0).questions[0], [coin.shares]).value == pytest.approx(0.7)
    assert BayesGuess().measured(coined(coin, 0.0), Chance(seed=1)) is None


def people(rows: int = 3_000, columns: int = 6) -> tuple[NoisyColumns, np.ndarray]:
    """Columns that one factor drives, each with noise as large as itself."""
    draw = np.random.default_rng(5)
    true = draw.normal(size=(rows, 1)) + 0.3 * draw.normal(size=(rows, columns))
    noise = np.full(columns, 1.0)
    seen = NoisyColumns(
        names=tuple("abcdef"[:columns]),
        shown=true + draw.normal(size=true.shape) * noise,
        deviation=noise,
        spread=true.std(axis=0),
        span=np.full(columns, 8.0),
        true=true,
    )
    return seen, true


def test_expected_errors_are_those_that_are_measured():
    """One fixed seed; with 3,000 rows errors differ by a few hundredths."""
    seen, true = people()
    errors = expected_errors(seen)
    apart = np.sqrt(((best_linear(seen) - true) ** 2).mean(axis=0))
    assert apart == pytest.approx(errors["filtered"], rel=0.12)
    assert np.sqrt(((seen.shown - true) ** 2).mean(axis=0)) == pytest.approx(errors["shown"], rel=0.06)
    assert (errors["filtered"] < 0.7 * errors["alone"]).all()
    subject = RandomizedAnswers(rows=len(true), numbers=seen, questions=())
    attack = NoiseFilter(trials=3_000)
    expected, measured = attack.run(subject, Chance(seed=1)), attack.measured(subject, Chance(seed=1))
    assert measured is not None
    assert measured.rate.value == pytest.approx(expected.rate.value, abs=0.04)
    assert expected.risk > 0.1
    assert measured.figures["error_filtered"] <= measured.figures["error_spectral"] + 1e-3


def test_independent_columns_are_filtered_no_better_than_alone():
    draw = np.random.default_rng(6)
    true = draw.normal(size=(4_000, 4))
    seen = NoisyColumns(
        names=("a", "b", "c", "d"),
        shown=true + draw.normal(size=true.shape),
        deviation=np.ones(4),
        spread=np.ones(4),
        span=np.full(4, 8.0),
    )
    errors = expected_errors(seen)
    assert errors["filtered"] == pytest.approx(errors["alone"], rel=0.01)
    assert errors["alone"] == pytest.approx(np.full(4, np.sqrt(0.5)))


def test_they_say_why_they_cannot_be_made():
    nothing = RandomizedAnswers(rows=2, numbers=None, questions=())
    assert "no question is about numbers" in NoiseFilter().fits(nothing)
    assert "about numbers" in BayesGuess().fits(nothing)
    seen, _ = people()
    few = RandomizedAnswers(rows=2, numbers=seen, questions=())
    assert "too few" in NoiseFilter().fits(few)
