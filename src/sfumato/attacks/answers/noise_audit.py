"""A statistical audit of noise: how private a mechanism is at best, judged by its outputs alone.

The auditor runs a mechanism many times on two neighbouring inputs. On some of the runs they learn to guess from an
output which input it came from; on the others they count how often they are right. If a mechanism is
epsilon-differentially private, they are not right more than e^epsilon times as often as wrong. They know nothing of how
the mechanism is made: it is handed to them as a function. The result says how small a violation they can find.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.answers.noise_events import Outputs, encoded, statistics
from sfumato.attacks.answers.noise_guesses import Guess, best_guess
from sfumato.attacks.answers.noise_power import POWER, runs_for, smallest_found
from sfumato.ground.arguments import at_least, between, number
from sfumato.ground.errors import ParameterError

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
        found = f"epsilon is {self.epsilon_low:.2f} or more"
        if self.declared is None:
            return f"{found} ({self.runs} runs on each input, confidence {self.confidence:.10g})"
        verdict = "refuted" if self.refuted else "not refuted"
        beside = f" with a delta of {self.delta:g}" if self.delta else ""
        return f"{found} where {self.declared:g}{beside} was promised: {verdict}. {self._power()}"

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
    found = [
        best_guess(statistic, fresh if statistic.learnt else outputs, counted, missed, delta)
        for statistic in statistics(outputs.taken(run < part))
    ]
    return max(found, key=lambda one: one[0])[1]
