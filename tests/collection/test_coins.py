"""Exact draws: coins by listing all dice, noise against its law; twins with the wrong law are noticed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from math import exp, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from sfumato.collection import mechanisms
from tests.collection.dice import dice
from tests.weights import examples

DRAWS = 6_000


@given(st.fractions(min_value=0, max_value=1, max_denominator=50))
@examples(40)
def test_a_coin_falls_exactly_as_often_as_it_says(chance: Fraction):
    falls = [mechanisms.coin(chance, lambda n, one=one: one) for one in range(chance.denominator)]
    assert Fraction(sum(falls), len(falls)) == chance


def law(name: str, size: float) -> Callable[[int], float]:
    weight = {
        "uniform": lambda y: float(abs(y) <= size),
        "laplace": lambda y: exp(-abs(y) / size),
        "gaussian": lambda y: exp(-(y**2) / (2 * size**2)),
    }[name]
    total = sum(weight(y) for y in range(-2000, 2001))
    return lambda y: weight(y) / total


def fits(drawn: list[int], chance: Callable[[int], float]) -> float:
    """The p-value of the draws under a law, ends together."""
    end = max(y for y in range(2000) if DRAWS * chance(y) >= 5)
    counts = Counter(max(-end - 1, min(end + 1, y)) for y in drawn)
    inner = [chance(y) for y in range(-end, end + 1)]
    tail = (1 - sum(inner)) / 2
    told = [tail, *inner, tail] if tail * DRAWS > 1e-6 else inner
    seen = [counts[y] for y in (range(-end - 1, end + 2) if len(told) > len(inner) else range(-end, end + 1))]
    return float(chisquare(seen, np.array(told) / sum(told) * sum(seen)).pvalue)


@pytest.mark.parametrize(("name", "size"), [("uniform", 4), ("laplace", Fraction(7, 3)), ("gaussian", Fraction(5, 2))])
def test_noise_has_its_law(name: str, size: Fraction):
    """The seed is fixed, so there is no false alarm; under another seed it would be one in a thousand."""
    below = dice(1)
    draw = getattr(mechanisms, name)
    drawn = [draw(size if name != "uniform" else int(size), below) for _ in range(DRAWS)]
    assert fits(drawn, law(name, float(size))) > 1e-3
    assert fits([y + (y > 0) for y in drawn], law(name, float(size))) < 1e-6
    assert fits(drawn, law(name, 1.25 * float(size))) < 1e-6


@given(st.fractions(min_value=0, max_value=4, max_denominator=8), st.integers(0, 10))
@examples(20)
def test_an_exponential_coin_is_near_its_chance(rate: Fraction, seed: int):
    """Five deviations: less than one false alarm in a million examples."""
    below, chance = dice(seed), exp(-float(rate))
    falls = sum(mechanisms.coin_exp(rate, below) for _ in range(800))
    assert abs(falls / 800 - chance) <= 5 * sqrt(chance * (1 - chance) / 800) + 1e-9


def test_chance_comes_from_the_operating_system(monkeypatch: pytest.MonkeyPatch):
    asked: list[int] = []
    monkeypatch.setattr("secrets.randbelow", lambda n: asked.append(n) or 0)
    mechanisms.coin(Fraction(3, 7))
    mechanisms.uniform(5)
    assert asked == [7, 11]
