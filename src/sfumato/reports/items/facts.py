"""Everything that the report of paths, sets and mixed records shows, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from sfumato.attacks.finding import Finding
from sfumato.counts.near_unique import NearUnique
from sfumato.reports.table_facts import ClaimFacts

Kind = Literal["trajectory", "set", "table"]
"""What the cells of a column are: a path, a set of items, or one value."""
Action = Literal["suppress", "generalize", "strip", "specialize"]
"""Left out everywhere, shown as something coarser, or left out of some records."""
Spot = tuple[str, str]
"""A place and a time, as they are written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GridCounts:
    """Readings by place and time."""

    places: tuple[str, ...]
    """The places, in the order of the picture."""
    times: tuple[str, ...]
    """The times, in order of time."""
    counts: tuple[tuple[int, ...], ...]
    """For every place, the readings at every time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemColumnFacts:
    """What happened to the items of one column."""

    name: str
    """Its name."""
    kind: Kind
    """What its cells are."""
    items_after: int
    """Different items in the release."""
    entries_after: int
    """Readings of a path, items in sets or cells of a table, counted in the release."""
    items_coarser: int = 0
    """Items of the release that stand for several of the original."""
    items_before: int | None = None
    """Different items in the original; the steward's to know, as is all that is left out."""
    entries_before: int | None = None
    """Entries counted in the original."""
    items_left_out: int | None = None
    """Items of the original that are in no record of the release, not even coarser."""
    entries_left_out: int | None = None
    """Entries of the original that the release does not show at all."""
    after: GridCounts | None = None
    """Of a path: readings of the release, by places and times as the release shows them."""
    before: GridCounts | None = None
    """Of a path: readings of the original; drawn in an inside report only."""
    vanished: GridCounts | None = None
    """Of a path: readings of the original that the release does not show at all, by the places and times of ``before``.

    Drawn in an inside report only; if it is not given, nothing is shown coarser and it is before minus after.
    """
    frequent: tuple[tuple[str, int | None, int | None], ...] = ()
    """Of a set or a table: its most frequent items with their records in the original and in the release.

    Nothing or 0 means that it is not there. What is not in the release is shown in an inside report only.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceFacts:
    """One frequent sequence of a path, or one frequent set of items."""

    labels: tuple[str, ...]
    """Its items as the original has them, in order."""
    before: int | None = None
    """Its records in the original; shown in an inside report only."""
    after: int | None = None
    """Its records in the release, as itself or coarser; nothing or 0 if it is lost."""
    shown: tuple[str, ...] = ()
    """Its items as the release has them, where one of them is coarser; empty where they are the same."""
    spots: tuple[Spot, ...] = ()
    """Its places and times in order, where it has any, as the original has them."""
    shown_spots: tuple[Spot, ...] = ()
    """Its places and times as the release has them, where one of its items is coarser."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemUtilityFacts:
    """What the release still tells, in figures."""

    support: int
    """How many records make a set of items frequent."""
    frequent: int
    """How many maximal frequent sets the original has."""
    lost_share: float
    """The share of them that the release does not have, not even coarser."""
    coarser_share: float = 0.0
    """The share of them that the release has with coarser items."""
    changed: int = 0
    """How many of those that are kept have another support in the release."""
    largest_change: float = 0.0
    """The largest change of such a support, as a share of the original's."""
    ncp: float | None = None
    """The share of the items' detail that is lost (normalized certainty penalty), between 0 and 1."""
    queries: int = 0
    """How many random count queries were asked."""
    query_median: float | None = None
    """The median of their relative errors."""
    query_mean: float | None = None
    """The mean of their relative errors."""
    by_size: tuple[tuple[int, float, float], ...] = ()
    """By the number of items that a query names: the median and the mean of the relative errors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFacts:
    """One decision of the search."""

    action: Action
    """What was done."""
    label: str
    """The item."""
    to: str = ""
    """What it is shown as."""
    gain: int = 0
    """How many violating sets that removed."""
    loss: float = 0.0
    """How many frequent sets that lost."""
    left: int = 0
    """How many violating sets were left then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemFacts:
    """One release of paths, sets or mixed records, ready to be shown."""

    title: str
    """What the page is called."""
    made: str
    """The day it was made."""
    version: str
    """The version of sfumato."""
    inside: bool
    """Whether this is the steward's own report, with figures that must not be published."""
    records_before: int
    """Records of the original."""
    records_after: int
    """Records of the release."""
    claims: tuple[ClaimFacts, ...]
    """What was promised and reached; see ``item_sentences.claimed``."""
    columns: tuple[ItemColumnFacts, ...]
    """Column by column."""
    algorithm: str
    """The algorithm."""
    why: str
    """Why this algorithm."""
    utility: ItemUtilityFacts | None = None
    """What was lost, measured against the original: in an inside report only."""
    sequences: tuple[SequenceFacts, ...] = ()
    """The most frequent of the maximal frequent sets, the most frequent first: those of the original in an inside
    report, those of the release elsewhere."""
    steps: tuple[StepFacts, ...] = ()
    """The decisions of the search in order; shown in an inside report only."""
    effort: Mapping[str, int | float | str] = field(default_factory=dict)
    """What the search did, by name."""
    marks: tuple[str, ...] = ()
    """Warnings that belong on the first screen."""
    near_unique: tuple[NearUnique, ...] = ()
    """The columns that nearly single people out; each has its warning among the marks."""
    notes: tuple[str, ...] = ()
    """Remarks on how the release was made."""
    findings: tuple[Finding, ...] = ()
    """What the attacks found."""
