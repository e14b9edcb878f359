"""Correlated columns give perturbed numbers away; independent ones do not."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.attacks.finding import Finding, Outcome
from sfumato.attacks.spectral_filter import Spectral, reconstructed
from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance
from tests.attacks import kit


def table(rows: int, columns: int, factors: int, seed: int = 1) -> np.ndarray:
    """Columns that are mixtures of a few factors; as many factors as columns are the columns themselves."""
    draw = np.random.default_rng(seed)
    hidden = draw.normal(size=(rows, factors))
    if factors == columns:
        return hidden * 10 + 50
    mixed = hidden @ draw.normal(size=(factors, columns)) + 0.05 * draw.normal(size=(rows, columns))
    return 50 + 10 * mixed / mixed.std(axis=0)


def attacked(true: np.ndarray, noise: float = 10.0, **options: object) -> Finding:
    seen = true + np.random.default_rng(7).normal(scale=noise, size=true.shape)
    return Spectral(**options).run(seen, true, noise, Chance(seed=1))


@pytest.mark.parametrize("method", ["pca", "spectral", "bayes"])
def test_correlated_columns_are_reconstructed(method: str):
    found = attacked(table(4000, 12, 2), method=method, tolerance=0.05)
    assert found.outcome is Outcome.REFUTED
    assert found.rate.value > 1.5 * found.naive.value
    assert found.figures[f"error_{method}"] < 0.6 < found.figures["error_shrunk"] < found.figures["error_cell"]


@pytest.mark.parametrize("method", ["pca", "spectral", "bayes"])
def test_independent_columns_are_not(method: str):
    found = attacked(table(4000, 12, 12), method=method)
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.figures[f"error_{method}"] > 0.69, "no better than each column by itself"


def test_two_equal_columns_by_hand():
    """Noise of deviation 1 on two equal columns: the direction (1, 1) is kept, and both become their mean."""
    true = np.repeat(np.arange(-50.0, 51.0)[:, None], 2, axis=1)
    seen = true + np.array([0.5, -0.5]) * np.where(np.arange(101) % 2, 1, -1)[:, None]
    assert reconstructed(seen, np.ones(2), "spectral") == pytest.approx(true, abs=0.05)


def test_noise_of_another_size_in_each_column():
    true = table(4000, 6, 1)
    noise = np.array([2.0, 5, 10, 10, 20, 20])
    seen = true + np.random.default_rng(3).normal(size=true.shape) * noise
    found = Spectral(tolerance=0.05).run(seen, true, noise, Chance(seed=1))
    assert found.outcome is Outcome.REFUTED


def test_repeated_and_refused():
    true = table(200, 4, 1)
    assert attacked(true).to_json() == attacked(true).to_json()
    assert attacked(true[:15]).outcome is Outcome.INCONCLUSIVE
    kit.refuses(Spectral, method="guess", tolerance=0, trials=0)
    for seen, deviation in ((true[:3], 1), (true[0], 1), (true, 0), (true, np.array([1, 1, 1, -1]))):
        with pytest.raises(ParameterError):
            Spectral().run(seen, true, deviation, Chance(seed=1))
