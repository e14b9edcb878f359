"""What an audit of so many runs can find: its power, computed before it is run."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from sfumato.attacks.answers.noise_guesses import highest, lowest
from sfumato.ground.errors import ParameterError
from sfumato.ground.special import beta_quantile, binomial_floor

POWER = 0.95
"""The probability with which a violation is found that an audit says it finds."""
LEAST_RUNS = 100
"""From so many runs on, tests have measured that the power is as stated."""
MOST_RUNS = 20_000_000
"""More runs than this are never asked for."""
COUNTED = 0.98
"""The part of it that is computed: a right guess is enough with this probability. The rest is left for the choice of a
guess on few runs; tests measure that it suffices."""


def refuting(declared: float, guesses: int, missed: float, delta: float = 0.0) -> int | None:
    """How many of so many guesses must be right to refute a promise; None where all together do not."""
    low, high = 0, guesses + 1
    while low < high:
        middle = (low + high) // 2
        more, less = lowest(middle, guesses, missed), highest(guesses - middle, guesses, missed)
        if more > delta and log((more - delta) / less) > declared:
            high = middle
        else:
            low = middle + 1
    return low if low <= guesses else None


def smallest_found(declared: float, counted: int, missed: float, delta: float = 0.0) -> float | None:
    """The least true epsilon that is found with probability ``POWER`` in so many counted runs on each input.

    Claim: it is meant for one count with discrete Laplace noise that one record moves by 1. The threshold between the
        two counts guesses right with probability e^epsilon / (1 + e^epsilon), so the power of counting is exact. No
        mechanism of the same epsilon shows more: on two inputs all of them are this one, looked at through something
        random (Kairouz, Oh and Viswanath 2015). Where a record moves the output less, or several noises lie over each
        other, less is found. With a delta it is the least pure epsilon of such a count that breaks (declared, delta).
    Edges: None where the promise is so high that even guesses that are all right do not refute it.
    """
    guesses = 2 * counted
    needed = refuting(declared, guesses, missed, delta)
    if needed is None:
        return None
    right = beta_quantile(needed, guesses - needed + 1, COUNTED)
    return log(right / (1 - right))


def runs_for(declared: float, missed: float, factor: float = 2.0, delta: float = 0.0) -> int:
    """The fewest runs on each input after which a true epsilon of ``factor`` times the promise is found.

    >>> runs_for(1.0, 0.0005)
    204
    """
    if not declared > 0 or not factor > 1:
        raise ParameterError(f"factor must be above 1 and the promise above 0, not {factor:g} and {declared:g}")
    enough = LEAST_RUNS // 2
    while not _finds(declared, enough, missed, factor, delta):
        enough *= 2
        if enough > MOST_RUNS:
            raise ParameterError(
                f"runs must be chosen: no {MOST_RUNS:,} of them find {factor:g} times an epsilon of {declared:g}; "
                "audit at another epsilon, between 1 and 2 if possible"
            )
    low = LEAST_RUNS // 4
    while low + 1 < enough:
        middle = (low + enough) // 2
        low, enough = (low, middle) if _finds(declared, middle, missed, factor, delta) else (middle, enough)
    return max(2 * enough, LEAST_RUNS)


def _finds(declared: float, counted: int, missed: float, factor: float, delta: float) -> bool:
    found = smallest_found(declared, counted, missed, delta)
    return found is not None and found <= factor * declared


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """How well a guess tells two inputs apart: what a mechanism with too little noise shows."""

    right: float
    """The share of right guesses."""
    wrong: float
    """The share of wrong ones."""
    both: bool = True
    """Whether both inputs are ever guessed; then shares are of the outputs of both."""

    def needs(self, declared: float, missed: float, delta: float = 0.0) -> int | None:
        """The runs on each input after which the guess refutes a promise with probability ``POWER``; None for never.

        Both counts of guesses are taken at a quantile of 0.99; a quarter more runs are left for choosing the guess.
        """
        if self.right <= delta or log((self.right - delta) / max(self.wrong, 1e-300)) <= declared:
            return None
        low, enough = LEAST_RUNS // 4, LEAST_RUNS // 2
        while not self._refutes(declared, enough, missed, delta):
            low, enough = enough, 2 * enough
            if enough > MOST_RUNS:
                return None
        while low + 1 < enough:
            middle = (low + enough) // 2
            low, enough = (low, middle) if self._refutes(declared, middle, missed, delta) else (middle, enough)
        return enough * 5 // 2

    def _refutes(self, declared: float, counted: int, missed: float, delta: float) -> bool:
        guesses = 2 * counted if self.both else counted
        right = binomial_floor(0.01, guesses, self.right)
        wrong = min(binomial_floor(0.99, guesses, self.wrong) + 1, guesses)
        more, less = lowest(right, guesses, missed), highest(wrong, guesses, missed)
        return more > delta and log((more - delta) / less) > declared
