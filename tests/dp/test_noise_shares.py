"""Shares of noise: together they are discrete Laplace noise, and what is left of it protects as much as is said."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import exp

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2, nbinom

from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance
from sfumato.dp.accounting import epsilon_of, remaining_epsilon, remaining_event
from sfumato.dp.events import Concentrated, Pure, Sequential
from sfumato.dp.noise_shares import BITS, LEAST, Words, distribution, laplace_share, uniform_words

FALSE_ALARM = 1e-9
"""How often a chi-square test that draws anew fails by chance."""


def _polya(epsilon: float, shape: float, reach: int) -> NDArray[np.float64]:
    """The probabilities of a Polya number, from its definition."""
    found: NDArray[np.float64] = nbinom.pmf(np.arange(reach), shape, 1 - exp(-epsilon))
    return found


def _difference(one: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.convolve(one, one[::-1])


@pytest.mark.parametrize("parties", [1, 2, 3, 7])
@pytest.mark.parametrize("epsilon", [Fraction(1, 4), Fraction(1), Fraction(3)])
def test_the_law_of_shares_adds_up_to_discrete_laplace_noise(epsilon: Fraction, parties: int) -> None:
    """The table that is drawn from, convolved n times with itself and its mirror image, is discrete Laplace noise."""
    table = distribution(epsilon, parties)
    law = np.diff(table.low.astype(np.float64), prepend=0.0) / 2.0**BITS
    np.testing.assert_allclose(law, _polya(float(epsilon), 1 / parties, len(law)), atol=1e-14)
    share = whole = _difference(law)
    for _ in range(parties - 1):
        whole = np.convolve(whole, share)
    p, far = exp(-float(epsilon)), np.abs(np.arange(len(whole)) - len(whole) // 2)
    np.testing.assert_allclose(whole, (1 - p) / (1 + p) * p**far, atol=1e-12)


def test_bounds_of_the_distribution_function_hold_it() -> None:
    """They are a unit of 2^-56 apart, in order, and end at 1."""
    table = distribution(Fraction(1, 20), 3)
    assert (table.high - table.low).max() <= 1
    assert (np.diff(table.low.astype(np.int64)) >= 0).all()
    assert int(table.high[-1]) == 2**BITS


def _chi_square(seen: NDArray[np.int64], law: NDArray[np.float64]) -> float:
    """How probable it is to be further from the law than this."""
    expected = law / law.sum() * seen.sum()
    return float(chi2.sf(((seen - expected) ** 2 / expected).sum(), len(law) - 1))


@pytest.mark.parametrize("parties", [1, 2, 3])
def test_drawn_shares_add_up_to_discrete_laplace_noise(parties: int) -> None:
    """20,000 sums in the middle 13 values; false alarm: one in a thousand million."""
    epsilon = Fraction(1, 2)
    total = sum(laplace_share(20_000, epsilon, parties, _seeded(10 + one)) for one in range(parties))
    inside = np.asarray(total)[np.abs(total) <= 6]
    law = exp(-0.5) ** np.abs(np.arange(-6, 7))
    assert _chi_square(np.bincount(inside + 6, minlength=13), law) > FALSE_ALARM
    assert abs(len(inside) / 20_000 - (1 - 2 * exp(-3.5) / (1 + exp(-0.5)))) < 0.02


def test_shares_come_from_opendp() -> None:
    """Drawn anew each time; false alarm: one in a thousand million."""
    drawn = laplace_share((2, 4_000), Fraction(1), 2).sum(axis=0)
    assert not np.array_equal(drawn, laplace_share((2, 4_000), Fraction(1), 2).sum(axis=0))
    inside = drawn[np.abs(drawn) <= 3]
    assert _chi_square(np.bincount(inside + 3, minlength=7), exp(-1) ** np.abs(np.arange(-3, 4))) > FALSE_ALARM


def test_uniform_words_are_uniform_in_their_first_and_last_bits() -> None:
    """False alarm: two in a thousand million."""
    words = uniform_words(8_000)
    assert words.max() < 2**BITS
    for shift in (BITS - 5, 0):
        seen = np.bincount(((words >> np.uint64(shift)) & np.uint64(31)).astype(np.int64), minlength=32)
        assert _chi_square(seen, np.ones(32)) > FALSE_ALARM


def test_words_are_exactly_uniform_on_a_small_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words of two bits from all pairs of numbers below 64, weighed by their probabilities, are equally likely."""
    from sfumato.dp import noise_shares as module

    monkeypatch.setattr(module, "_SIZE", np.int64(4))
    monkeypatch.setattr(module, "_TOP", np.int64(32))
    q, weight = 0.7, np.zeros(4)
    for first in range(64):
        for second in range(64):
            for word in module._kept(np.array([[first], [second]], np.int64)).tolist():
                weight[word] += q**first * (q**second if second < 63 else q**second / (1 - q))
    np.testing.assert_allclose(weight, weight[0], rtol=1e-12)


def _seeded(seed: int) -> Callable[[int], Words]:
    source = Chance(seed=seed).generator()
    return lambda count: source.integers(0, 2**BITS, count, dtype=np.uint64)


def test_draws_between_the_bounds_are_given_more_bits() -> None:
    """First bits that lie on a step of the function do not decide; the bits behind them do."""
    epsilon, table = Fraction(1, 2), distribution(Fraction(1, 2), 2)
    step = int(table.low[0])
    half = BITS // 2
    asked: list[int] = []

    def words(count: int) -> Words:
        asked.append(count)
        if len(asked) == 1:
            return np.array([(step >> half) << half], np.uint64)
        return np.array([(step & (2**half - 1)) << half if len(asked) == 2 else 0], np.uint64)

    found = laplace_share(1, epsilon, 2, words)
    assert asked == [1, 1, 1]
    assert found[0] == 0


@pytest.mark.parametrize("unknown", [Fraction(1, 2), Fraction(1, 3), Fraction(2, 3), Fraction(9, 10)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 20), Fraction(1, 2), Fraction(2)])
def test_the_remaining_epsilon_is_the_largest_ratio_of_neighbours(epsilon: Fraction, unknown: Fraction) -> None:
    """Against all ratios of neighbouring probabilities, from the definition: never below, and hardly above."""
    law = _difference(_polya(float(epsilon), float(unknown), int(60 / epsilon) + 10))
    middle = len(law) // 2
    upper = law[middle : middle + int(20 / epsilon)]
    largest = float(np.log(upper[:-1] / upper[1:]).max())
    bound = float(remaining_epsilon(epsilon, unknown))
    assert largest <= bound <= largest + 3e-6


def test_whole_noise_that_is_unknown_gives_all_of_epsilon() -> None:
    """More than a whole noise gives no less; several releases add up."""
    tenth = Fraction(1, 10)
    assert remaining_epsilon(tenth, Fraction(1)) == remaining_epsilon(tenth, Fraction(2)) == tenth
    both = Sequential(parts=(Pure(epsilon=tenth), Pure(epsilon=2 * tenth)))
    parts = [remaining_epsilon(one, Fraction(1, 2)) for one in (tenth, 2 * tenth)]
    assert epsilon_of(remaining_event(both, Fraction(1, 2))) == sum(parts)
    assert remaining_epsilon(Fraction(40), Fraction(1, 2)) > 40
    with pytest.raises(ParameterError, match="pure epsilon"):
        remaining_event(Concentrated(rho=tenth), Fraction(1, 2))


def test_refusals() -> None:
    """No share without parties, and none for less than can be drawn."""
    with pytest.raises(ParameterError, match="parties"):
        laplace_share(1, Fraction(1), 0)
    with pytest.raises(ParameterError, match=r"at least 0\.0001"):
        laplace_share(1, LEAST / 2, 2)
