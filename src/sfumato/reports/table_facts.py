"""The facts of a table's report, with claims and sample figures, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sfumato.algorithms.problem import Trail
from sfumato.attacks.finding import Finding
from sfumato.attacks.risk import Risk, SampleRisk
from sfumato.core.claims import Claim
from sfumato.counts.near_unique import NearUnique
from sfumato.reports.language import translated

if TYPE_CHECKING:
    from sfumato.metrics.classification import Errors

# A claim as a page shows it.


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFacts:
    """A claim with words around it."""

    claim: Claim
    """What was promised and what was reached."""
    title: str
    """The model's name with its parameters, as a person says it."""
    meaning: str
    """What it means if it holds, in one sentence."""
    limits: str
    """What it does not protect against, in one sentence."""
    people: bool = False
    """Whether people are counted, and not rows."""


# What the steward's report shows of a sample with weights.


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


# Everything a report shows, as plain values; whoever makes a release fills it in.


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFacts:
    """What happened to one column."""

    name: str
    """Its name."""
    role: str
    """Its part in the release."""
    done: str
    """What was done, in words: generalized to level 2 of 4, unchanged, dropped, pseudonymized."""
    level: int | None = None
    """The level of a quasi-identifier."""
    height: int | None = None
    """The levels that its hierarchy has."""
    loss: float | None = None
    """The share of what it could tell that was lost, between 0 and 1: 1 where one label is left."""
    distinct_before: int | None = None
    """Different values in the original, or in its declared domain; None where neither may be told."""
    distinct_after: int | None = None
    """Different values in the release."""
    before: tuple[tuple[str, int], ...] = ()
    """The original distribution, in the order of the values; as raw values only in an inside report."""
    after: tuple[tuple[str, int], ...] = ()
    """The released distribution, in the order of the values."""
    same_labels: bool = True
    """Whether both distributions are over the same labels, so that they can stand side by side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityFacts:
    """One metric's value with its scale."""

    name: str
    """The metric."""
    value: float
    """Its value."""
    better: str
    """lower or higher."""
    low: float
    """The smallest possible value."""
    high: float
    """The largest possible value; may be infinite."""
    chosen: bool
    """Whether the search minimized this one."""
    meaning: str
    """What it measures, in one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFacts:
    """One search on the table, and what it would lose."""

    algorithm: str
    """Its name."""
    value: float | None
    """What the plan's metric says of it; None where it gave no table."""
    alike: bool
    """Whether every value reads the same in every row."""
    taken: bool = False
    """Whether its rows are the released ones."""
    cut: bool = False
    """Whether the time budget stopped it, so that it might lose less."""
    why: str = ""
    """Why it gave no table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFacts:
    """One release, ready to be shown."""

    title: str
    """What the page is called."""
    made: str
    """The day it was made."""
    version: str
    """The version of sfumato."""
    inside: bool
    """Whether this is the steward's own report, with figures that must not be published."""
    rows_before: int
    """Rows of the original."""
    rows_after: int
    """Rows of the release."""
    rows_suppressed: int
    """Rows removed or starred."""
    suppressed_how: str
    """remove or star."""
    suppressed_limit: float
    """The share of rows that might be suppressed."""
    claims: tuple[ClaimFacts, ...]
    """What was promised and reached."""
    smallest_class: Mapping[str, int]
    """k under the two readings of unknown cells: value and wildcard."""
    columns: tuple[ColumnFacts, ...]
    """Column by column."""
    class_sizes: tuple[tuple[int, int], ...]
    """Class size, in people where these are counted, and how many classes have it, ascending."""
    risk_before: Risk | None
    """Risks of the original; the steward's to know."""
    risk_after: Risk
    """Risks of the release."""
    utility: tuple[UtilityFacts, ...]
    """What was lost, as far as it may be told."""
    algorithm: str
    """The algorithm."""
    why: str
    """Why this algorithm."""
    metric: str = ""
    """The metric that the search made best; it need not be among those that may be told."""
    effort: Mapping[str, int | float | str] = field(default_factory=dict)
    """What the search did; the steward's to know."""
    proven: bool = True
    """Whether the result is proven optimal for the chosen metric."""
    trail: Trail | None = None
    """The steps by which it was found, where they may be shown."""
    searches: tuple[SearchFacts, ...] = ()
    """The search that was taken and those that were tried beside it; in an inside report only."""
    errors: Errors | None = None
    """What a learner makes of it; in an inside report only."""
    marks: tuple[str, ...] = ()
    """Warnings that belong on the first screen."""
    unit: str | None = None
    """The column that tells people apart; where there is none, rows are counted."""
    people_before: int | None = None
    """People of the original."""
    people_suppressed: int | None = None
    """People who lost a row."""

    @property
    def noun(self) -> str:
        """What groups are counted in."""
        return translated("rows" if self.unit is None else "people")

    near_unique: tuple[NearUnique, ...] = ()
    """The released columns that nearly single people out; each has its warning among the marks."""
    findings: tuple[Finding, ...] = ()
    """What the attacks found."""
    skipped_attacks: Mapping[str, str] = field(default_factory=dict)
    """The attacks that could not be made, with the reason."""
    sample: SampleFacts | None = None
    """Where rows have sampling weights: what these tell; in an inside report only."""
    session: Mapping[str, Any] | None = None
    """Where several parties made it: who they are, what each learnt, and what the party of this copy sent."""
