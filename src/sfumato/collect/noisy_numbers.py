"""Numbers with noise of a declared law on a declared grid: uniform, Gaussian or Laplace (document 000, 20.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import log
from statistics import NormalDist
from typing import Any, ClassVar, Literal

from sfumato.collect.amounts_of_privacy import LocalEpsilon, decimal, exact_number
from sfumato.collect.coins import Below, gaussian, laplace, system, uniform
from sfumato.ground.arguments import one_of, text
from sfumato.ground.errors import DataError, ParameterError

Law = Literal["uniform", "gaussian", "laplace"]
MAX_STEP = 2**53
"""Answers further from the range are refused: their steps are no whole numbers of 64 bits, or not exact ones."""
LAWS = ("uniform", "gaussian", "laplace")
SIZES = {"uniform": "reach", "gaussian": "deviation", "laplace": "scale"}
"""What the size of each law is called."""
MOST_STEPS = 100_000
"""A range may have so many steps, and noise may reach so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyNumber:
    """A number in a declared range, rounded to the grid, plus noise that is a whole number of steps.

    Claim: Laplace noise keeps local epsilon = (high - low) / scale exactly. Uniform and Gaussian noise promise no
        epsilon; they state how wide an interval one must name to be right with a given probability.
    Source: document 000, section 20.2; Agrawal and Srikant 2000 (intervals); Canonne, Kamath and Steinke 2020 (draws).
    Does not protect against: prior knowledge. Uniform noise rules values out: a shown value at an end is one of few.

    >>> age = NoisyNumber.declared("age", "uniform", low=0, high=100, step=1, size=50)
    >>> age.width(0.95)
    95.95
    """

    kinds: ClassVar[tuple[str, ...]] = LAWS

    name: str
    """The question."""
    law: Law
    """Of the noise."""
    low: Fraction
    """The smallest number that can be answered."""
    high: Fraction
    """The largest."""
    step: Fraction
    """Answers and noise are multiples of this."""
    size: Fraction
    """How far uniform noise reaches, the deviation of Gaussian noise, or the scale of Laplace noise."""

    def __post_init__(self) -> None:
        text("name", self.name)
        one_of("law", self.law, LAWS)
        where, size = f"question {self.name!r}", SIZES[self.law]
        if self.high <= self.low:
            raise ParameterError(f"{where}: high must be above low ({self.low}), not {self.high}")
        if self.step <= 0 or ((self.high - self.low) / self.step).denominator != 1:
            raise ParameterError(
                f"{where}: step must divide the range of {self.high - self.low} into equal steps, not {self.step}"
            )
        if self.size <= 0 or (self.law == "uniform" and (self.size / self.step).denominator != 1):
            more = " and a multiple of step" if self.law == "uniform" else ""
            raise ParameterError(f"{where}: {size} must be above 0{more}, not {self.size}")
        if self.steps > MOST_STEPS or self.size / self.step > MOST_STEPS:
            raise ParameterError(
                f"{where}: range and {size} must have at most {MOST_STEPS:,} steps; take a larger step"
            )
        for value in (self.low, self.step):
            decimal(value)

    @classmethod
    def declared(cls, name: str, law: Law, *, low: Any, high: Any, step: Any, size: Any) -> NoisyNumber:
        """From numbers as people write them."""
        named = {"low": low, "high": high, "step": step, "size": size}
        given = {key: exact_number(f"question {name!r}: {key}", value) for key, value in named.items()}
        return cls(name=name, law=law, **given)

    @property
    def kind(self) -> str:
        """How a specification calls it."""
        return self.law

    @property
    def steps(self) -> int:
        """How many steps the range has; answers are coded 0 to this."""
        return int((self.high - self.low) / self.step)

    @property
    def spread(self) -> Fraction:
        """The size of the noise in steps."""
        return self.size / self.step

    @property
    def epsilon(self) -> LocalEpsilon | None:
        """What is promised of one answer; None where nothing is."""
        return LocalEpsilon(plain=(self.high - self.low) / self.size) if self.law == "laplace" else None

    @property
    def lasting(self) -> LocalEpsilon | None:
        """What is promised of all answers that stand on one remembered draw."""
        return self.epsilon

    def width(self, confidence: float) -> float:
        """How wide an interval around a shown value must be to hold the true one with this probability.

        Of the continuous law: 0.95 of all that uniform noise covers, 3.92 deviations, and so on.
        """
        if not 0 < confidence < 1:
            raise ParameterError(f"confidence must lie in (0, 1), not {confidence}")
        if self.law == "uniform":
            return round(confidence * float(2 * self.size + self.step), 12)
        each = NormalDist().inv_cdf((1 + confidence) / 2) if self.law == "gaussian" else log(1 / (1 - confidence))
        return 2 * each * float(self.size)

    def code(self, answer: Any) -> int:
        """The nearest step of an answer in the range; another is refused."""
        try:
            value = exact_number("answer", answer.strip() if isinstance(answer, str) else answer)
        except ParameterError:
            value = self.high + 1
        if not self.low <= value <= self.high:
            raise DataError(
                f"question {self.name!r}: {answer!r} is no number from {decimal(self.low)} to {self._end()}; "
                "ask again, or declare a wider range before anybody has answered"
            )
        return int((value - self.low) / self.step + Fraction(1, 2)) if value < self.high else self.steps

    def draw(self, code: int, below: Below = system) -> int:
        """The step that is shown, also outside the range."""
        if self.law == "uniform":
            return code + uniform(int(self.spread), below)
        return code + (laplace if self.law == "laplace" else gaussian)(self.spread, below)

    def again(self, shown: int, below: Below = system) -> int:
        """What a repeated answer shows: the same."""
        return shown

    def write(self, shown: int) -> str:
        """A shown step as a number."""
        return decimal(self.low + shown * self.step)

    def read(self, written: str) -> int:
        """The step of a shown number; what cannot have been shown is refused."""
        try:
            step = (exact_number("answer", written.strip()) - self.low) / self.step
        except ParameterError:
            step = Fraction(1, 2)
        far = self.law == "uniform" and not -self.spread <= step <= self.steps + self.spread
        if abs(step) > MAX_STEP:
            raise DataError(f"question {self.name!r}: {written[:40]!r} is too far from its range to be an answer")
        if step.denominator != 1 or far:
            raise DataError(
                f"question {self.name!r}: {written!r} was not shown by it; it shows {decimal(self.low)} plus "
                f"a multiple of {decimal(self.step)}"
                + (f", at most {decimal(self.size)} outside the range" if far else "")
            )
        return int(step)

    def to_json(self) -> dict[str, Any]:
        """As a specification has it."""
        found = {"low": decimal(self.low), "high": self._end(), "step": decimal(self.step)}
        return {"name": self.name, "kind": self.law, **found, SIZES[self.law]: str(self.size)}

    @classmethod
    def from_json(cls, tree: Mapping[str, Any]) -> NoisyNumber:
        """The question that a specification states."""
        law: Law = tree["kind"]
        size = tree[SIZES[law]]
        return cls.declared(tree["name"], law, low=tree["low"], high=tree["high"], step=tree["step"], size=size)

    @classmethod
    def keys(cls, kind: str) -> tuple[str, ...]:
        """The keys of a question of this kind."""
        return "low", "high", "step", SIZES[kind]

    def _end(self) -> str:
        return decimal(self.high)
