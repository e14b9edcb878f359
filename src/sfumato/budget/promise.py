"""What a private release promises: pure epsilon, epsilon with a delta, or the rho of zCDP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sfumato.budget.accountants import Unit, cost_in, delta_of, epsilon_at, rho_at, rho_of
from sfumato.budget.events import Event, exactly, written
from sfumato.ground.errors import ParameterError

KEYS = ("epsilon", "delta", "rho")
"""How a promise is written, in plans and in manifests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """Exactly one of three: epsilon; epsilon and delta; rho."""

    epsilon: Fraction | None = None
    """The ratio of probabilities is at most e to this."""
    delta: Fraction | None = None
    """With epsilon: the probability of outputs for which that need not hold."""
    rho: Fraction | None = None
    """Zero-concentrated differential privacy."""

    def __post_init__(self) -> None:
        for name in KEYS:
            given: Any = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, exactly(name, given))
        if (self.epsilon is None) == (self.rho is None):
            raise ParameterError("epsilon must be given, or rho in its place; one of them")
        if self.delta is not None and (self.rho is not None or self.delta >= 1):
            raise ParameterError("delta must be below 1, and goes with epsilon; rho needs none")

    @classmethod
    def of(cls, written_: Mapping[str, Any]) -> Promise:
        """The promise that some keys state; others are not looked at."""
        return cls(**{name: written_[name] for name in KEYS if name in written_})

    @property
    def unit(self) -> Unit:
        """What its parts are counted in: with a delta, in rho."""
        return "epsilon" if self.epsilon is not None and self.delta is None else "rho"

    def amount(self, discovered: Fraction = Fraction(0)) -> Fraction:
        """All that can be spent, in the unit; ``discovered`` is the part of delta that the domains took."""
        if self.rho is not None:
            return self.rho
        epsilon = self.epsilon or Fraction(0)
        return epsilon if self.delta is None else rho_at(epsilon, self.delta - discovered)

    def spent_by(self, event: Event) -> Fraction:
        """What an event costs, in the unit."""
        return cost_in(self.unit, event)

    def kept_by(self, event: Event) -> bool:
        """Whether an event costs all of the promise and no more; with a delta, no more."""
        delta = delta_of(event)
        if self.delta is None:
            return not delta and self.spent_by(event) == (self.epsilon if self.rho is None else self.rho)
        left = self.delta - delta
        return left > 0 and epsilon_at(rho_of(event), left) <= float(self.epsilon or 0)

    def to_json(self) -> dict[str, str]:
        """As a manifest has it."""
        return {name: str(getattr(self, name)) for name in KEYS if getattr(self, name) is not None}

    def __str__(self) -> str:
        """In words: epsilon = 1, delta = 1e-06."""
        return ", ".join(f"{name} = {written(getattr(self, name))}" for name in KEYS if getattr(self, name) is not None)
