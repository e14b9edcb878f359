"""Every mechanism that draws noise, as a case for the noise audit: two inputs on which one record moves it furthest.

A case states what is promised. Pure mechanisms promise epsilon. Gaussian noise promises rho, which is audited as
(epsilon, delta) at one delta: rho-zCDP holds for every delta, so it must hold for this one. A choice with Gumbel noise
is the exponential mechanism of epsilon = sqrt(8 rho), and is audited as that, which is the stricter promise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import erfc, exp, inf, sqrt
from typing import Any

import numpy as np

from sfumato.algorithms.private_table import Mechanisms, Scores
from sfumato.attacks.noise_audit import LEAST_RUNS, Shown
from sfumato.collection.mechanisms import KeptCategory, NoisyNumber, UnaryBits
from sfumato.core.errors import ParameterError
from sfumato.dp.accounting import epsilon_at
from sfumato.dp.events import Concentrated, Pure
from sfumato.dp.noise import chosen_quantile, noisy_reals, randomized_responses

DELTAS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4)
"""Deltas at which a promise in rho may be audited: large, so that few runs tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseCase:
    """One mechanism on two neighbouring inputs."""

    name: str
    """What is audited."""
    declared: float
    """The epsilon that is promised."""
    delta: float = 0.0
    """The delta beside it."""
    draw: Callable[[int, int], Sequence[Any]]
    """From the input, 0 or 1, and a number of runs to as many outputs."""
    shows: Callable[[float], tuple[Shown, ...]]
    """What single guesses would show if noise were so many times too small: the law of the mechanism, by hand."""

    def runs(self, factor: float, missed: float) -> int:
        """As many runs as are needed to find noise that is so many times too small."""
        needs = [guess.needs(self.declared, missed, self.delta) for guess in self.shows(factor)]
        enough = [n_runs for n_runs in needs if n_runs is not None]
        if not enough:
            raise ParameterError(
                f"factor must be larger for {self.name}: at a promise of {self.declared:g} no guess shows noise that "
                f"is {factor:g} times too small"
            )
        return max(min(enough), LEAST_RUNS)

    def found(self, runs: int, missed: float) -> float | None:
        """How many times too small noise must be to be found in so many runs; None where 100 times is not."""
        low, high = 1.0, 100.0
        if not self._finds(high, runs, missed):
            return None
        for _ in range(20):
            middle = (low * high) ** 0.5
            low, high = (low, middle) if self._finds(middle, runs, missed) else (middle, high)
        return high

    def _finds(self, factor: float, runs: int, missed: float) -> bool:
        needs = [guess.needs(self.declared, missed, self.delta) for guess in self.shows(factor)]
        return any(n_runs is not None and n_runs <= runs for n_runs in needs)


def mechanism_cases(epsilon: float | Fraction = 1, doors: Mechanisms | None = None) -> list[NoiseCase]:
    """All mechanisms at one epsilon; ``doors`` are the product's ways to look at rows, unless a test says otherwise."""
    looking, budget = doors or Mechanisms(), Fraction(epsilon)
    return [*_counting(looking, budget), *_choosing(looking, budget), *_others(budget), *_at_the_source(budget)]


def _counting(looking: Mechanisms, epsilon: Fraction) -> list[NoiseCase]:
    """Counts that one record moves by one."""
    rho, e = epsilon**2 / 2, float(epsilon)
    delta = _telling(e)

    def counts(cost: Any) -> Callable[[int, int], Any]:
        return lambda side, runs: looking.count(np.full(runs, 5 + side, np.int64), cost).values

    return [
        NoiseCase(
            name="counts, Laplace noise",
            declared=e,
            draw=counts(Pure(epsilon=epsilon)),
            shows=lambda f: (_kept(f * e, 2),),
        ),
        NoiseCase(
            name="counts, Gaussian noise",
            declared=epsilon_at(rho, delta),
            delta=delta,
            draw=counts(Concentrated(rho=rho)),
            shows=lambda f: _gaussian(f * e),
        ),
    ]


def _choosing(looking: Mechanisms, epsilon: Fraction) -> list[NoiseCase]:
    """Choices between scores that one record moves by all of their sensitivity: apart, or one of them upwards."""
    e, pure, rho = float(epsilon), Pure(epsilon=epsilon), Concentrated(rho=epsilon**2 / 8)
    apart, alike = ((3.0, 2.0), (2.0, 3.0)), ((2.0, 2.0), (3.0, 2.0))
    seldom = ((0.0, 2.0, 2.0, 2.0), (1.0, 1.0, 1.0, 1.0))

    def case(name: str, moved: Any, cost: Any, shows: Any, monotonic: bool = False, wide: float = 1.0) -> NoiseCase:
        def draw(side: int, runs: int) -> list[int]:
            scores = Scores(values=np.array(moved[side]) * wide, sensitivity=wide, monotonic=monotonic)
            return [looking.choose(scores, cost) for _ in range(runs)]

        return NoiseCase(name=name, declared=e, draw=draw, shows=shows)

    def by_lower(f: float) -> tuple[Shown, ...]:
        lower = exp(-f * e / 2) / 2
        return (Shown(right=1 - lower, wrong=lower),)

    def by_equals(f: float) -> tuple[Shown, ...]:
        return (Shown(right=0.5, wrong=exp(-f * e) / 2, both=False),)

    def by_seldom(f: float) -> tuple[Shown, ...]:
        return (Shown(right=0.25, wrong=1 / (1 + 3 * exp(f * e)), both=False),)

    return [
        case("choice, scores moved apart", apart, pure, by_lower),
        case("choice, one score moved", alike, pure, by_equals, monotonic=True),
        case("choice, scores that move by 5", apart, pure, by_lower, wide=5.0),
        case("choice, Gumbel noise", seldom, rho, by_seldom),
    ]


def _others(epsilon: Fraction) -> list[NoiseCase]:
    """Sums, quantiles and answers."""
    e, numbers = float(epsilon), ([0.0, 5.0, 11.0], [0.0, 0.0, 5.0, 11.0])

    def sums(side: int, runs: int) -> Any:
        return noisy_reals(np.full(runs, 2.5 * side), epsilon=epsilon, sensitivity=2.5).values

    def quantiles(side: int, runs: int) -> list[float]:
        given = np.array(numbers[side])
        return [chosen_quantile(given, [1.0, 10.0], share=0.5, epsilon=epsilon)[0] for _ in range(runs)]

    def answers(side: int, runs: int) -> list[str]:
        return randomized_responses(["ab"[side]] * runs, ["a", "b", "c"], epsilon=epsilon)[0]

    def by_ends(f: float) -> tuple[Shown, ...]:
        half = exp(-f * e / 2) / 2
        return Shown(right=0.5, wrong=exp(-f * e) / 2), Shown(right=1 - half, wrong=half)

    def by_rank(f: float) -> tuple[Shown, ...]:
        return (Shown(right=0.5, wrong=exp(-f * e) / 2, both=False),)

    return [
        NoiseCase(name="sums, Laplace noise", declared=e, draw=sums, shows=by_ends),
        NoiseCase(name="quantile, choice of a candidate", declared=e, draw=quantiles, shows=by_rank),
        NoiseCase(name="randomized answers", declared=e, draw=answers, shows=lambda f: (_kept(f * e, 3),)),
    ]


def _at_the_source(epsilon: Fraction) -> list[NoiseCase]:
    """Answers that are randomized where they are given, on two that differ as far as they can."""
    kept = KeptCategory.within("q", ("a", "b", "c"), epsilon=epsilon)
    bits = UnaryBits.within("q", ("a", "b", "c"), epsilon=epsilon)
    number = NoisyNumber.declared("q", "laplace", low=0, high=1, step=1, size=1 / epsilon)
    e = float(epsilon)

    def answers(question: Any, pair: tuple[str, str]) -> Callable[[int, int], list[str]]:
        return lambda side, runs: [question.write(question.draw(question.code(pair[side]))) for _ in range(runs)]

    def by_two_bits(f: float) -> tuple[Shown, ...]:
        flip = 1 / (exp(f * e) + 1)
        return (Shown(right=(1 - flip) / 2, wrong=flip / 2),)

    return [
        NoiseCase(
            name="at the source, kept answers",
            declared=e,
            draw=answers(kept, ("a", "b")),
            shows=lambda f: (_kept(f * e, 3),),
        ),
        NoiseCase(name="at the source, bits", declared=e, draw=answers(bits, ("a", "b")), shows=by_two_bits),
        NoiseCase(
            name="at the source, Laplace noise",
            declared=e,
            draw=answers(number, ("0", "1")),
            shows=lambda f: (_kept(f * e, 2),),
        ),
    ]


def _kept(epsilon: float, many: int) -> Shown:
    """An answer that is kept, or becomes another one of so many; a noisy count is one of two, by its side."""
    others = exp(epsilon) + many - 1
    return Shown(right=exp(epsilon) / others, wrong=1 / others)


def _gaussian(shift: float) -> tuple[Shown, ...]:
    """Two normal laws so many deviations, which are one count, apart; guessed from the middle on or further out."""
    deviations = (shift * (0.5 + counts) for counts in range(4))
    return tuple(Shown(right=_above(at - shift), wrong=_above(at)) for at in deviations)


def telling_delta(rho: Fraction) -> float:
    """Of some deltas the one at which Gaussian noise of half the deviation is found with the fewest runs.

    Any delta would do: rho-zCDP promises an epsilon for each. It depends on rho alone, not on outputs.
    """
    return _telling(sqrt(2 * rho))


def _telling(shift: float) -> float:
    def runs(delta: float) -> float:
        declared = epsilon_at(shift**2 / 2, delta)
        needs = [guess.needs(declared, 5e-7, delta) for guess in _gaussian(2 * shift)]
        return min((n_runs for n_runs in needs if n_runs is not None), default=inf)

    return min(DELTAS, key=runs)


def _above(deviations: float) -> float:
    return erfc(deviations / sqrt(2)) / 2
