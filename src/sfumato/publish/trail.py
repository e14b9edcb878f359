"""The trail of a step-by-step search: every step is a table of its own, and a point at which one may stop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One specialization (a label replaced by finer ones) or generalization (labels replaced by a coarser one)."""

    column: str
    """The quasi-identifier."""
    coarse: str
    """The label above: what is specialized, or what is made."""
    fine: tuple[str, ...]
    """The labels below, in order."""
    score: float
    """By which the step was chosen."""
    anonymity: int
    """Rows of the smallest class after the step."""
    loss: float | None
    """What the problem's metric says after the step; None where that is not public."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """The steps in order, with the figures before the first of them."""

    direction: Literal["down", "up"]
    """Whether steps specialize or generalize."""
    score: str
    """What the score is."""
    anonymity: int
    """Rows of the smallest class before the first step."""
    loss: float | None
    """What the problem's metric says before the first step; None where that is not public."""
    steps: tuple[Step, ...]
    """In the order in which they were taken."""
    enough: int | None = None
    """After how many steps upward the requirement was first met; every point of a trail downward meets it."""

    @classmethod
    def from_json(cls, stated: Mapping[str, Any]) -> Trail:
        """A trail as a manifest states it."""
        steps = tuple(Step(**{**step, "fine": tuple(step["fine"])}) for step in stated["steps"])
        return cls(**{**stated, "steps": steps})

    def without_loss(self) -> Trail:
        """The same steps without what the metric says, for a metric that is measured against the original."""
        return replace(self, loss=None, steps=tuple(replace(step, loss=None) for step in self.steps))
