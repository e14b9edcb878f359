"""A release of collected answers, ready to be shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sfumato.attacks.frame.trials import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class PromiseShown:
    """What one question promises."""

    name: str
    """The question."""
    kind: str
    """How it is randomized."""
    epsilon: str | None
    """Its local epsilon, exactly; None where there is none."""
    about: float | None
    """The same as a decimal."""
    width: float | None
    """How wide an interval must be to hold the true answer, where there is no epsilon."""
    of_range: float | None
    """The same as a share of the declared range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateShown:
    """What was received of one question, and what is estimated."""

    name: str
    """The question."""
    kind: str
    """How it is randomized."""
    cells: tuple[tuple[str, float, float, float, float], ...]
    """The cells: a label, the share shown, the share estimated, and its interval."""
    outside: tuple[float, float]
    """Of numbers: the shares shown below and above the range."""
    true: tuple[float, ...] | None
    """Of a study: the true shares."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedFacts:
    """One release of collected answers."""

    made: str
    """The day it was made."""
    version: str
    """The version of sfumato."""
    rows: int
    """How many people answered."""
    left_out: int
    """Rows left out because an answer was missing."""
    marks: tuple[str, ...]
    """Warnings that belong on the first screen."""
    repeats: str
    """What happens to people who are asked again."""
    most: int
    """How often they are asked at most."""
    everything: tuple[str, float] | None
    """The local epsilon of all answers of a person, exactly and as a decimal."""
    promises: tuple[PromiseShown, ...]
    """Question by question."""
    beside: tuple[str, ...]
    """The columns that are published as collected."""
    estimates: tuple[EstimateShown, ...]
    """Question by question."""
    pairs: tuple[tuple[str, str, bool, tuple[float | None, ...]], ...]
    """Two questions, whether both are numbers, and how they go together: shown, estimated, and an interval's ends."""
    errors: tuple[tuple[str, float, float, float], ...]
    """Of numbers: the question, how far away the shown number is, the mean of all, and the best filter."""
    confidence: float
    """Of the intervals."""
    findings: tuple[Finding, ...]
    """What attacks found."""
    skipped: Mapping[str, str]
    """The attacks that were not made."""
    inside: bool
    """Whether the page is the collector's own."""
    study: bool
    """Whether true answers are shown."""
