"""The frame of every attack: what was tried, how often it worked, what a guesser achieves, and what follows.

An attack is three runs. The target run attacks people who are in the data. The control run makes the same attack on
people who are not: what works on them too is no fault of the release. The guesser answers without looking at the
release. No outcome says that a release resists: an attack that fails shows that this attack failed, and one that could
not try anything was not tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from math import sqrt
from typing import Any

from sfumato.core.errors import ParameterError
from sfumato.core.special import normal_quantile

FEWEST = 20
"""Fewer trials than this show nothing."""
SURE = 0.999
"""How surely the interval of an attack that bets holds the true rate: bets are right by chance now and then, and an
honest release whose classes are all at the bound is refuted once in 2,000 times."""


class Outcome(StrEnum):
    """What an attack shows about a statement."""

    REFUTED = "refuted"
    """The attack works more often than the statement allows."""
    NOT_REFUTED = "not refuted"
    """The attack beats the guesser, and stays within what the statement allows. Others may do better."""
    INCONCLUSIVE = "inconclusive"
    """Too few trials, an attack no better than guessing, or an interval on both sides of the limit."""
    NOT_TRIED = "not tried"
    """No trial could be carried out: there is no rate, not even 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How often something worked, with the interval of Wilson (1927)."""

    hits: float
    """How many trials worked; a trial that works with some probability counts in part."""
    trials: int
    """How many were made, those that could not be carried out among them: they did not work."""
    failed: int = 0
    """Of these, how many could not be carried out."""
    confidence: float = 0.95
    """How surely the interval holds the true rate."""
    exact: bool = False
    """Whether the rate is known, such as the chance to pick one row of many, and has no interval."""

    def __post_init__(self) -> None:
        """Refuse impossible counts."""
        if not 0 <= self.hits <= self.trials + 1e-9 or not 0 <= self.failed <= self.trials:
            raise ParameterError(f"of {self.trials} trials, {self.hits} hits and {self.failed} failed are impossible")

    @property
    def carried_out(self) -> int:
        """How many trials could be carried out."""
        return self.trials - self.failed

    @property
    def value(self) -> float:
        """The share of all trials that worked; for sums only where none was carried out, and then 0."""
        return self.hits / self.trials if self.trials else 0.0

    @property
    def of_carried_out(self) -> float | None:
        """The share that worked of the trials that could be carried out; None where none could."""
        return self.hits / self.carried_out if self.carried_out else None

    @property
    def low(self) -> float:
        """The lower end of the interval; 0 where no trial was carried out."""
        return self._ends()[0]

    @property
    def high(self) -> float:
        """The upper end of the interval; 1 where no trial was carried out."""
        return self._ends()[1]

    def _ends(self) -> tuple[float, float]:
        if not self.carried_out:
            return 0.0, 1.0
        if self.exact:
            return self.value, self.value
        z, n, p = normal_quantile(0.5 + self.confidence / 2), self.trials, self.value
        middle, spread = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        scale = 1 + z * z / n
        low = max((middle - spread) / scale, 0.0) if self.hits else 0.0  # not a trace of rounding above a limit of 0
        return low, min((middle + spread) / scale, 1.0)

    def rounded(self) -> Rate:
        """The rate to four digits, as it may be told: the rest would speak of single people."""
        return replace(self, hits=min(_four(self.value) * self.trials, float(self.carried_out)))

    def to_json(self) -> dict[str, Any]:
        """As the manifest has it; the rate is None where no trial was carried out."""
        return {
            "rate": self.value if self.carried_out else None,
            "low": self.low,
            "high": self.high,
            "trials": self.trials,
            "failed": self.failed,
            "confidence": self.confidence,
        }

    @classmethod
    def from_json(cls, stated: Mapping[str, Any]) -> Rate:
        """A rate as a manifest states it."""
        value, trials = stated["rate"], stated["trials"]
        return cls(
            hits=0.0 if value is None else min(value * trials, float(trials)),
            trials=trials,
            failed=stated["failed"],
            confidence=stated["confidence"],
            exact=value is not None and stated["low"] == value == stated["high"],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """The rate above which a statement is refuted, and who says so."""

    value: float
    """The rate."""
    why: str
    """A claim of the release, or the plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one attack found."""

    attack: str
    """The attack's name in the catalog."""
    threat: str
    """What is threatened: re-identification, attribute disclosure, membership, or the method itself."""
    knows: str
    """What the adversary has, as the rest of a sentence that begins with "somebody who knows"."""
    does: str
    """What the attacker achieves, as the rest of a sentence that begins with "can"."""
    rate: Rate
    """The target run."""
    naive: Rate
    """The guesser: the same question answered without the release."""
    control: Rate | None = None
    """The same attack on people who are not in the data, where there are any."""
    limit: Limit | None = None
    """What the release or the plan promises about this; where nothing is promised, the guesser's rate is the limit."""
    worst: float | None = None
    """The surest single guess."""
    figures: Mapping[str, float] = field(default_factory=dict)
    """More figures, by name."""
    note: str = ""
    """What a reader should know."""
    beyond: bool = False
    """Whether the adversary is given more than others are taken to know: told, and no limit is held against it."""
    exact: bool = False
    """Whether its figures depend on exact values that the release does not show; then only the steward sees them."""

    @property
    def baseline(self) -> Rate:
        """What is achieved without the release: by the better of guesser and control."""
        return self.naive if self.control is None or self.naive.value >= self.control.value else self.control

    @property
    def risk(self) -> float:
        """The excess over the baseline, between 0 and 1: what the release itself gives away."""
        base = self.baseline.value
        return max((self.rate.value - base) / (1 - base), 0.0) if base < 1 else 0.0

    @property
    def risk_interval(self) -> tuple[float, float]:
        """The lowest and highest excess that both intervals allow."""
        low, high = self.baseline.low, self.baseline.high
        return (
            max((self.rate.low - high) / (1 - high), 0.0) if high < 1 else 0.0,
            max((self.rate.high - low) / (1 - low), 0.0) if low < 1 else 0.0,
        )

    @property
    def outcome(self) -> Outcome:
        """What this shows; never that nothing can be done."""
        limit = self.baseline.high if self.limit is None else self.limit.value
        if not self.rate.carried_out:
            return Outcome.NOT_TRIED
        if self.rate.trials >= FEWEST and self.rate.low > limit:
            return Outcome.REFUTED
        if self.rate.carried_out < FEWEST or self.rate.low <= self.baseline.high or self.rate.high > limit:
            return Outcome.INCONCLUSIVE
        return Outcome.NOT_REFUTED

    def rounded(self) -> Finding:
        """The finding with every figure to four digits."""
        return replace(
            self,
            rate=self.rate.rounded(),
            naive=self.naive.rounded(),
            control=None if self.control is None else self.control.rounded(),
            worst=None if self.worst is None else _four(self.worst),
            figures={name: _four(value) for name, value in self.figures.items()},
        )

    def to_json(self) -> dict[str, Any]:
        """As the manifest has it."""
        low, high = self.risk_interval
        risk = self.risk if self.rate.carried_out else None
        return {
            "attack": self.attack,
            "threat": self.threat,
            "knows": self.knows,
            "does": self.does,
            "target": self.rate.to_json(),
            "naive": self.naive.to_json(),
            "control": None if self.control is None else self.control.to_json(),
            "risk": {"value": risk, "low": low, "high": high},
            "limit": None if self.limit is None else asdict(self.limit),
            "worst": self.worst,
            "figures": dict(self.figures),
            "outcome": str(self.outcome),
            "note": self.note,
            **({"beyond": True} if self.beyond else {}),
        }

    @classmethod
    def from_json(cls, stated: Mapping[str, Any]) -> Finding:
        """A finding as a manifest states it; excess and outcome follow from its rates."""
        control, limit = stated["control"], stated["limit"]
        return cls(
            attack=stated["attack"],
            threat=stated["threat"],
            knows=stated["knows"],
            does=stated["does"],
            rate=Rate.from_json(stated["target"]),
            naive=Rate.from_json(stated["naive"]),
            control=None if control is None else Rate.from_json(control),
            limit=None if limit is None else Limit(**limit),
            worst=stated["worst"],
            figures=stated["figures"],
            note=stated["note"],
            beyond=stated.get("beyond", False),
        )


def _four(value: float) -> float:
    """A figure to four digits.

    >>> _four(0.123456), _four(1 / 30162)
    (0.1235, 3.315e-05)
    """
    return float(f"{value:.4g}")
