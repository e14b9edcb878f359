"""A statistical audit of noise: how private a mechanism is at best, judged by its outputs alone.

The auditor runs a mechanism many times on two neighbouring inputs. On some of the runs he looks for a set of outputs
that comes much more often from one input than from the other; on the others he counts how often it really does. If a
mechanism is epsilon-differentially private, no set is more than e^epsilon times as likely. He knows nothing of how the
mechanism is made: it is handed to him as a function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.answers.noise_events import Outputs, OutputSet, candidates, encoded
from sfumato.ground.arguments import at_least, between, number
from sfumato.ground.errors import ParameterError


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseAudit:
    """What the audit found."""

    epsilon_low: float
    """With the stated confidence, no smaller epsilon holds; 0 where nothing was found."""
    confidence: float
    """The bound is too high with probability 1 - confidence at most: the rate of false alarms."""
    declared: float | None
    """The epsilon that was promised, if any."""
    runs: int
    """Runs on each input."""
    outputs: str
    """The set of outputs that told the inputs apart best."""
    more: float
    """Its probability on one input is at least this."""
    less: float
    """Its probability on the other input is at most this."""

    @property
    def refuted(self) -> bool:
        """Whether the promise is broken. If not, it is not proved: other inputs or more runs may break it."""
        return self.declared is not None and self.epsilon_low > self.declared

    def to_json(self) -> dict[str, Any]:
        """As a manifest could have it."""
        return asdict(self) | {"refuted": self.refuted}


def audit_noise(
    mechanism: Callable[[Any], Any],
    first: Any,
    second: Any,
    *,
    runs: int = 2000,
    confidence: float = 0.999,
    declared: float | None = None,
) -> NoiseAudit:
    """A lower bound on the epsilon of a mechanism, from runs on two inputs that differ by one record.

    Claim: the bound is above the true epsilon with probability 1 - confidence at most, whatever the mechanism is; so a
        promise that holds is refuted no more often than that.
    How: a quarter of the runs suggests sets of outputs, a quarter chooses one of them, half counts it. Its two
        probabilities are bounded by Clopper and Pearson, each with half of the error; the bound is the logarithm of
        their ratio.
    Needs: runs that are independent of each other; outputs that are numbers, arrays or keys.
    Cost: 2 runs of the mechanism for each of ``runs``, and a few hundred counts for each figure of an output.
    Does not show: that a mechanism is private. It looks at two inputs, and n runs at confidence 0.999 bound no more
        than about ln(n/15).
    Source: Clopper and Pearson 1934; Ding, Wang, Wang, Zhang and Kifer 2018; Jagielski, Ullman and Oprea 2020.
    """
    at_least("runs", runs, 8)
    return audit_outputs(
        [mechanism(first) for _ in range(runs)],
        [mechanism(second) for _ in range(runs)],
        confidence=confidence,
        declared=declared,
    )


def audit_outputs(
    first: Sequence[Any] | NDArray[Any],
    second: Sequence[Any] | NDArray[Any],
    *,
    confidence: float = 0.999,
    declared: float | None = None,
) -> NoiseAudit:
    """The same from outputs that are there already: one run after the other, as many on each input."""
    runs = len(first)
    at_least("runs", runs, 8)
    if len(second) != runs:
        raise ParameterError(f"second must have as many outputs as first, {runs}, not {len(second)}")
    between("confidence", confidence, 0, 1, open_low=True)
    if confidence == 1:
        raise ParameterError("confidence must be below 1")
    if declared is not None and number("declared", declared) < 0:
        raise ParameterError(f"declared must not be negative, not {declared}")
    suggests, chooses, counts = _split(encoded(list(first), list(second)), runs)
    chosen, swapped = _best(suggests, chooses, confidence)
    low, more, less = _ratio(chosen.holds(counts), counts.second, confidence, swapped=swapped)
    return NoiseAudit(
        epsilon_low=low,
        confidence=confidence,
        declared=None if declared is None else float(declared),
        runs=runs,
        outputs=chosen.name,
        more=more,
        less=less,
    )


def _split(outputs: Outputs, runs: int) -> tuple[Outputs, Outputs, Outputs]:
    """A quarter, a quarter and half of the runs on each input."""
    run = np.arange(2 * runs) % runs
    quarter = runs // 4
    parts = (run < quarter, (run >= quarter) & (run < 2 * quarter), run >= 2 * quarter)
    return outputs.taken(parts[0]), outputs.taken(parts[1]), outputs.taken(parts[2])


def _best(suggests: Outputs, chooses: Outputs, confidence: float) -> tuple[OutputSet, bool]:
    """The set with the highest bound, and whether the second input makes it less likely."""
    found: tuple[float, OutputSet, bool] = (0.0, OutputSet(name="nothing"), False)
    for one in candidates(suggests):
        inside = one.holds(chooses)
        for swapped in (False, True):
            low = _ratio(inside, chooses.second, confidence, swapped=swapped)[0]
            if low > found[0]:
                found = (low, one, swapped)
    return found[1], found[2]


def _ratio(
    inside: NDArray[np.bool_], second: NDArray[np.bool_], confidence: float, *, swapped: bool
) -> tuple[float, float, float]:
    """The logarithm of the ratio of the bounds, and the bounds."""
    often, rarely = (inside[~second], inside[second]) if swapped else (inside[second], inside[~second])
    missed = (1 - confidence) / 2
    more = _lowest(int(often.sum()), len(often), missed)
    less = _highest(int(rarely.sum()), len(rarely), missed)
    return (max(log(more / less), 0.0) if more > 0 else 0.0), more, less


def _lowest(hits: int, runs: int, missed: float) -> float:
    """The smallest probability that is believable after so many hits."""
    from scipy.special import betaincinv

    return float(betaincinv(hits, runs - hits + 1, missed)) if hits else 0.0


def _highest(hits: int, runs: int, missed: float) -> float:
    """The largest probability that is believable after so many hits.

    >>> round(_highest(0, 100, 0.05), 4)
    0.0295
    """
    return 1 - _lowest(runs - hits, runs, missed)
