"""What the steward's report shows of a sample with weights."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.attacks.identity.sample_risk import SampleRisk


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedMean:
    """The mean of a column of numbers, every row counted by its weight."""

    column: str
    """The column, which is published as it is."""
    before: float
    """Over all rows."""
    after: float
    """Over the released rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleFacts:
    """A sample before and after."""

    column: str
    """The column of weights."""
    published: bool
    """Whether it is published, as it is."""
    before: SampleRisk
    """Risks of the original."""
    after: SampleRisk
    """Risks of the release."""
    loss: float
    """The loss metric with every row counted by its weight."""
    means: tuple[WeightedMean, ...]
    """What weights make of the numbers that are published."""
