"""Everything the page of a frontier shows, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from sfumato.report.base.plot import How

Values = tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisFacts:
    """One thing that is measured."""

    name: str
    """What it is called."""
    meaning: str
    """What it measures."""
    better: Literal["lower", "higher"]
    """Which side is better."""
    how: How
    """How its values are written."""
    lines: tuple[tuple[str, float], ...] = ()
    """Values to compare with, and their names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PointFacts:
    """One release that was made, or could not be."""

    number: int
    """Its number."""
    series: int
    """Its algorithm, as a place among the series."""
    parameters: tuple[str, ...]
    """The grid's values, one per key."""
    status: str
    """How it ended: verified, refuted, infeasible, refused, failed, not run."""
    reason: str = ""
    """Why it gave no release, in the program's words."""
    privacy: Values = ()
    """One value per axis of privacy."""
    utility: Values = ()
    """One value per axis of utility."""
    suppressed: float | None = None
    """The share of rows that were suppressed."""
    classes: int | None = None
    """How many groups the release has."""
    seconds: float | None = None
    """How long making and verifying took."""
    note: str = ""
    """What a reader should know about the algorithm here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierFacts:
    """Many points, ready to be shown."""

    made: str
    """The day."""
    version: str
    """The version of sfumato."""
    rows: int
    """Rows of the original."""
    target: str | None
    """The column that the classifier tells."""
    risk: tuple[float, float] | None
    """The original's own highest and average risk; None where releases are differentially private."""
    series: tuple[str, ...]
    """The algorithms."""
    keys: tuple[str, ...]
    """The grid's keys."""
    privacy: tuple[AxisFacts, ...]
    """The axes of privacy."""
    utility: tuple[AxisFacts, ...]
    """The axes of utility."""
    points: tuple[PointFacts, ...]
    """All points by number."""
    fronts: Mapping[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)
    """For each pair of axes (privacy, utility), the numbers of the points in its Pareto set."""

    def ended(self, *statuses: str) -> tuple[PointFacts, ...]:
        """The points that ended so."""
        return tuple(point for point in self.points if point.status in statuses)

    @property
    def front(self) -> tuple[int, ...]:
        """The Pareto set of the first pair."""
        return self.fronts.get((0, 0), ())

    def pairs_of(self, number: int) -> int:
        """In how many pairs of axes a point is in the Pareto set."""
        return sum(number in numbers for numbers in self.fronts.values())
