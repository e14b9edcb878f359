"""Statistical audit of a noise mechanism from its outputs, with the power of the audit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import log
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.distinguishers import Guess, Outputs, best_guess, encoded, highest, lowest, statistics
from sfumato.core.arguments import at_least, between, number
from sfumato.core.errors import ParameterError
from sfumato.core.special import beta_quantile, binomial_floor

# What an audit of so many runs can find: its power, computed before it is run.


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
    epsilon = smallest_found(declared, counted, missed, delta)
    return epsilon is not None and epsilon <= factor * declared


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


# A statistical audit of noise: how private a mechanism is at best, judged by its outputs alone.
#
# The auditor runs a mechanism many times on two neighbouring inputs. On some of the runs they learn to guess from an
# output which input it came from; on the others they count how often they are right. If a mechanism is epsilon-
# differentially private, they are not right more than e^epsilon times as often as wrong. They know nothing of how the
# mechanism is made: it is handed to them as a function. The result says how small a violation they can find.


LEARNT = 4
"""One run in so many suggests what to look at, another one chooses; the other half is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseAudit:
    """What the audit found, and what it could have found."""

    epsilon_low: float
    """With the stated confidence, no smaller epsilon holds; 0 where nothing was found."""
    confidence: float
    """The bound is too high with probability 1 - confidence at most: the rate of false alarms."""
    declared: float | None
    """The epsilon that was promised, if any."""
    delta: float
    """The delta that was promised with it: so much more often a guess may be right."""
    runs: int
    """Runs on each input."""
    counted: int
    """Those of them on which guesses were counted."""
    outputs: str
    """The guess that told the inputs apart best."""
    more: float
    """It is right with at least this probability."""
    less: float
    """It is wrong with at most this probability."""
    finds: float | None
    """The power: one noisy count whose true epsilon is at least this is refuted with probability 0.95 (measured from
    100 runs on). None where nothing was promised, or where so few runs refute nothing at all."""

    @property
    def refuted(self) -> bool:
        """Whether the promise is broken. If not, it is not proved: other inputs or more runs may break it."""
        return self.declared is not None and self.epsilon_low > self.declared

    @property
    def factor(self) -> float | None:
        """The same power as a factor: how many times too small the noise must be to be found."""
        return self.finds / self.declared if self.finds is not None and self.declared else None

    def to_json(self) -> dict[str, Any]:
        """As a manifest could have it."""
        return asdict(self) | {"refuted": self.refuted, "factor": self.factor, "power": POWER}

    def __str__(self) -> str:
        """In one line: the bound, the verdict and the power."""
        bound = f"epsilon is {self.epsilon_low:.2f} or more"
        if self.declared is None:
            return f"{bound} ({self.runs} runs on each input, confidence {self.confidence:.10g})"
        verdict = "refuted" if self.refuted else "not refuted"
        with_delta = f" with a delta of {self.delta:g}" if self.delta else ""
        return f"{bound} where {self.declared:g}{with_delta} was promised: {verdict}. {self._power()}"

    def _power(self) -> str:
        many = f"{self.runs} runs on each input at confidence {self.confidence:.10g}"
        if self.finds is None:
            return f"{many} cannot refute this promise."
        times = "" if self.factor is None else f", {self.factor:.2f} times the promise,"
        return f"{many} find an epsilon of {self.finds:.2f}{times} with {POWER:.0%} where one noisy count shows it."


def audit_noise(
    mechanism: Callable[[Any], Any],
    first: Any,
    second: Any,
    *,
    runs: int | Literal["auto"] = 2000,
    confidence: float = 0.999,
    declared: float | None = None,
    delta: float = 0.0,
    factor: float = 2.0,
) -> NoiseAudit:
    """A lower bound on the epsilon of a mechanism, from runs on two inputs that differ by one record.

    Claim: the bound is above the true epsilon with probability 1 - confidence at most, whatever the mechanism is; so a
        promise that holds is refuted no more often than that. ``finds`` is the least true epsilon of one noisy count
        that is refuted with probability 0.95.
    How: on one half of the runs an event is chosen, a guess from an output: a quarter of all runs suggests what to look
        at, a quarter chooses thresholds. On the other half right and wrong guesses are counted. Both shares are bounded
        by Clopper and Pearson, each with half of the error; the bound is the logarithm of their ratio, and with a
        ``delta`` that of (right - delta) / wrong. With ``runs="auto"`` there are as many runs as are needed to find a
        true epsilon of ``factor`` times the promise.
    Needs: runs that are independent of each other; outputs that are numbers, arrays or keys.
    Cost: 2 runs of the mechanism for each of ``runs``, and a few thousand pairs of thresholds for each figure.
    Does not show: that a mechanism is private. It looks at two inputs, and n runs at confidence 0.999 bound no more
        than about ln(n/8).
    Source: Clopper and Pearson 1934; Hoeffding 1956; Ding, Wang, Wang, Zhang and Kifer 2018; Jagielski, Ullman and
        Oprea 2020; Steinke, Nasr and Jagielski 2023.
    """
    many = runs_of(runs, declared, confidence=confidence, factor=factor, delta=delta)
    return audit_outputs(
        [mechanism(first) for _ in range(many)],
        [mechanism(second) for _ in range(many)],
        confidence=confidence,
        declared=declared,
        delta=delta,
    )


def runs_of(
    runs: int | Literal["auto"],
    declared: float | None,
    *,
    confidence: float = 0.999,
    factor: float = 2.0,
    delta: float = 0.0,
) -> int:
    """How many runs on each input: the given number, or as many as a violation by ``factor`` needs."""
    if runs != "auto":
        at_least("runs", runs, 8)
        return runs
    if declared is None:
        raise ParameterError("runs must be a number where nothing was declared: auto is for a promise")
    _check(confidence, declared, delta)
    return runs_for(declared, _missed(confidence), factor, delta)


def audit_outputs(
    first: Sequence[Any] | NDArray[Any],
    second: Sequence[Any] | NDArray[Any],
    *,
    confidence: float = 0.999,
    declared: float | None = None,
    delta: float = 0.0,
) -> NoiseAudit:
    """The same from outputs that are there already: one run after the other, as many on each input."""
    runs = len(first)
    at_least("runs", runs, 8)
    if len(second) != runs:
        raise ParameterError(f"second must have as many outputs as first, {runs}, not {len(second)}")
    _check(confidence, declared, delta)
    missed = _missed(confidence)
    outputs = encoded(list(first), list(second))
    run, part = np.arange(2 * runs) % runs, max(runs // LEARNT, 1)
    counts, counted = outputs.taken(run >= 2 * part), runs - 2 * part
    guess = _best(outputs.taken(run < 2 * part), part, counted, missed, delta)
    low, more, less = guess.bound(counts, missed, delta)
    return NoiseAudit(
        epsilon_low=low,
        confidence=confidence,
        declared=None if declared is None else float(declared),
        delta=float(delta),
        runs=runs,
        counted=counted,
        outputs=guess.name,
        more=more,
        less=less,
        finds=None if declared is None else smallest_found(float(declared), counted, missed, delta),
    )


def _check(confidence: float, declared: float | None, delta: float) -> None:
    between("confidence", confidence, 0, 1, open_low=True)
    if confidence == 1:
        raise ParameterError("confidence must be below 1")
    if declared is not None and number("declared", declared) < 0:
        raise ParameterError(f"declared must not be negative, not {declared}")
    if not 0 <= number("delta", delta) < 1:
        raise ParameterError(f"delta must be at least 0 and below 1, not {delta}")


def _missed(confidence: float) -> float:
    """How often each of the two bounds may fail."""
    return min((1 - confidence) / 2, 0.25)


def _best(outputs: Outputs, part: int, counted: int, missed: float, delta: float) -> Guess:
    """The guess that promises the highest bound on so many other runs.

    Of these outputs, the first ``part`` runs suggest what to look at, the others choose thresholds for it; where
    nothing had to be learnt, all of them do.
    """
    run = np.arange(len(outputs.second)) % (2 * part)
    fresh = outputs.taken(run >= part)
    guesses = [
        best_guess(statistic, fresh if statistic.learnt else outputs, counted, missed, delta)
        for statistic in statistics(outputs.taken(run < part))
    ]
    return max(guesses, key=lambda bound_and_guess: bound_and_guess[0])[1]
