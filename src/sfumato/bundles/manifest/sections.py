"""The sections of a manifest that several types of release share, and names used in them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from sfumato.core.records import (
    Count,
    Digest,
    Listed,
    Mapped,
    Name,
    Names,
    Number,
    Positive,
    Record,
    Sentence,
    ShallowValue,
    Value,
    like,
)
from sfumato.tables.schema import Role
from sfumato.tables.table import Kind
from sfumato.tables.times import Order

# How an attack is called in a manifest: by its name, and by what it was made for.


def is_named(title: str, name: str) -> bool:
    """Whether a finding is one of the attack of this name.

    >>> is_named("definetti of salary", "definetti"), is_named("lkc-adversary, 2 known, worst", "lkc")
    (True, False)
    """
    return title == name or title.startswith((f"{name} ", f"{name},"))


# How a plan asks for condensed groups, and what the claim about them is called.


CONDENSED_KEY = "indistinguishable_groups"
"""The key of [privacy]: the fewest records of a group."""
CONDENSED_MODEL = "indistinguishable-groups"
"""The claim."""
CONDENSED_EPOCH = 719163
"""The day number of 1970-01-01, from which typed columns count days."""

SCHEMA = 2
"""The version of the manifest's schema."""

File = Annotated[str, like(r"[a-z]+\.[a-z]+", most=100)]
Reached = int | float | Literal["inf", "-inf", "nan"]
"""A number, which may be infinite or no number: JSON writes these as texts."""
Roles = Role | Annotated[list[Role], Meta(max_length=2)]
"""The role of a column, or two of them."""


def must_be(value: object, only: object, key: str) -> None:
    """Refuse any value of a key but one, of the same type: a literal that JSON Schema's types cannot say."""
    if type(value) is not type(only) or value != only:
        raise ValueError(f"{key} must be {only!r}".replace("True", "true").replace("False", "false"))


# The plan, without files, paths and values of the table.


class Shift(Record, frozen=True, kw_only=True):
    """By how many days dates are moved at most."""

    days: Positive
    period: tuple[Name, Name] | UnsetType = UNSET
    weeks: bool | UnsetType = UNSET


class ColumnPlan(Record, frozen=True, kw_only=True):
    """A column as the plan describes it."""

    role: Roles
    type: Kind | Literal["set", "trajectory"] | UnsetType = UNSET
    separator: Name | UnsetType = UNSET
    mark: Name | UnsetType = UNSET
    record: Literal["window"] | UnsetType = UNSET
    pseudonym: Literal["keyed"] | UnsetType = UNSET
    hierarchy: Name | UnsetType = UNSET
    base: Positive | UnsetType = UNSET
    time_hierarchy: Name | UnsetType = UNSET
    values: Count | UnsetType = UNSET
    domain_from: Literal["public", "profile", "discover"] | UnsetType = UNSET
    outside: Literal["clamp", "drop", "refuse"] | UnsetType = UNSET
    other: Name | UnsetType = UNSET
    within: tuple[Number, Number] | UnsetType = UNSET
    format: Order | UnsetType = UNSET
    pivot: Positive | UnsetType = UNSET
    shift: Shift | UnsetType = UNSET


class InputPlan(Record, frozen=True, kw_only=True):
    """How the input was read."""

    missing: Names
    on_missing: Literal["keep", "drop"]
    unit: Name | UnsetType = UNSET
    rows_per_unit: Positive | UnsetType = UNSET


class UtilityPlan(Record, frozen=True, kw_only=True):
    """What the search kept losses of low."""

    metric: Name
    purpose: Literal["least-loss"] | UnsetType = UNSET


class AttackPlan(Record, frozen=True, kw_only=True):
    """Which attacks were to be made."""

    run: bool
    attacks: Names
    trials: Count
    max_risk: Number | None
    seconds: Number
    accept: Names
    earlier: Count


class OutputPlan(Record, frozen=True, kw_only=True):
    """How files were written."""

    escape_formulas: bool

    def __post_init__(self) -> None:
        must_be(self.escape_formulas, True, "escape_formulas")


class AboutPlan(Record, frozen=True, kw_only=True):
    """What the plan says for whoever signs the report."""

    language: Literal["de"] | UnsetType = UNSET
    data_set: Sentence | UnsetType = UNSET
    purpose: Sentence | UnsetType = UNSET
    recipient: Sentence | UnsetType = UNSET
    legal_basis: Sentence | UnsetType = UNSET
    responsible: Sentence | UnsetType = UNSET
    contact: Sentence | UnsetType = UNSET
    date: Sentence | UnsetType = UNSET
    version: Sentence | UnsetType = UNSET


class CollectionPlan(Record, frozen=True, kw_only=True):
    """Whether answers were drawn for a study."""

    study: bool


class TreePlan(Record, frozen=True, kw_only=True):
    """What a published tree shows."""

    told: Literal["counts", "hits"]
    form: Literal["tree", "rules"]
    structure: bool


class PublicPlan(Record, frozen=True, kw_only=True):
    """The plan, without files, paths and values of the table."""

    input: InputPlan
    columns: Mapped[ColumnPlan]
    privacy: Mapped[Value]
    utility: UtilityPlan
    algorithm: Mapped[Value]
    attack: AttackPlan
    output: OutputPlan | UnsetType = UNSET
    about: AboutPlan | UnsetType = UNSET
    collection: CollectionPlan | UnsetType = UNSET
    tree: TreePlan | UnsetType = UNSET


# What claims say that rows meet, and what attacks found.


class Readings(Record, frozen=True, kw_only=True):
    """The measured value with suppressed cells read as values, and as anything."""

    value: Reached
    wildcard: Reached


class Claim(Record, frozen=True, kw_only=True):
    """A privacy model that the rows meet."""

    model: Name
    parameters: Mapped[Value]
    holds: bool
    reached: Reached
    sense: Literal["at least", "at most", "above", "below"]
    limit: Reached
    reading: Literal["strict", "value", "wildcard"]
    readings: Readings
    classes_failing: Count
    note: Sentence


class Rate(Record, frozen=True, kw_only=True):
    """How often an attack succeeded, with its interval."""

    rate: Number | None
    low: Number
    high: Number
    trials: Count
    failed: Count
    confidence: Number


class Risk(Record, frozen=True, kw_only=True):
    """What an attack gains over guessing."""

    value: Number | None
    low: Number
    high: Number


class AttackLimit(Record, frozen=True, kw_only=True):
    """The success rate that a claim permits."""

    value: Number
    why: Sentence


class Finding(Record, frozen=True, kw_only=True):
    """The outcome of one attack."""

    attack: Name
    threat: Name
    knows: Sentence
    does: Sentence
    target: Rate
    naive: Rate
    control: Rate | None
    risk: Risk
    limit: AttackLimit | None
    worst: Number | None
    figures: Mapped[Number]
    outcome: Literal["refuted", "not refuted", "inconclusive", "not tried"]
    note: Sentence
    beyond: bool | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.beyond is not UNSET:
            must_be(self.beyond, True, "beyond")


Findings = Annotated[list[Finding], Meta(max_length=20_000)]
NoClaims = Annotated[list[Claim], Meta(max_length=0)]

# The files of a bundle.


class ReportFile(Record, frozen=True, kw_only=True):
    """The report's file and its digest."""

    file: Literal["report.html"]
    sha256: Digest


class PublishedColumn(Record, frozen=True, kw_only=True):
    """A published column."""

    name: Name
    role: Roles
    type: Kind


class Data(Record, frozen=True, kw_only=True):
    """A data file."""

    file: File
    sha256: Digest
    rows: Count


class FullData(Data, frozen=True, kw_only=True):
    """A data file in which no row is suppressed."""

    columns: Listed[PublishedColumn]
    missing: Names
    exempt_suppressed: bool

    def __post_init__(self) -> None:
        must_be(self.exempt_suppressed, False, "exempt_suppressed")


class DocumentColumn(Record, frozen=True, kw_only=True):
    """The one column of a file of documents."""

    name: Literal["document"]
    role: Literal["keep"]
    type: Literal["text"]


class Documents(Data, frozen=True, kw_only=True):
    """A data file with a document a line."""

    columns: Listed[DocumentColumn]


# What happened to columns.


class Rule(Record, frozen=True, kw_only=True):
    """How values of a column became labels."""

    type: Kind
    values: Mapped[Name] | UnsetType = UNSET
    intervals: bool | UnsetType = UNSET
    above: Mapped[ShallowValue] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.intervals is not UNSET:
            must_be(self.intervals, True, "intervals")


class Algorithm(Record, frozen=True, kw_only=True):
    """Which algorithm, and why."""

    algorithm: Name
    why: Sentence


class CompleteRows(Algorithm, frozen=True, kw_only=True):
    """Which algorithm, and how many rows with missing values were removed before."""

    left_out: Positive | UnsetType = UNSET


class TrailStep(Record, frozen=True, kw_only=True):
    """One step of a top-down or bottom-up search."""

    column: Name
    coarse: Name
    fine: Listed[Name]
    score: Number
    anonymity: Count
    loss: Number | None


class Trail(Record, frozen=True, kw_only=True):
    """The steps of a top-down or bottom-up search."""

    direction: Literal["down", "up"]
    score: Name
    anonymity: Count
    loss: Number | None
    steps: Listed[TrailStep]
    enough: Count | None


# A session of several parties.


class Disclosure(Record, frozen=True, kw_only=True):
    """What a protocol reveals to a party."""

    to: Name
    what: Sentence


Disclosures = Annotated[list[Disclosure], Meta(max_length=1_000)]


class Leakage(Record, frozen=True, kw_only=True):
    """What a protocol reveals, and against whom it holds."""

    protocol: Name
    result: Disclosures
    beyond: Disclosures
    withstands: Sentence
    limits: Sentence


class Party(Record, frozen=True, kw_only=True):
    """A party's key."""

    fingerprint: Annotated[str, Meta(max_length=200)]


class Session(Record, frozen=True, kw_only=True):
    """Who took part, in what, on which terms, and what it revealed to whom."""

    protocol: Name
    version: Positive
    run: Digest
    terms: Digest
    frames: Positive
    me: Name
    parties: Mapped[Party]
    parameters: Mapped[Any]
    limits: Mapped[Number]
    leakage: Leakage
    sent: Count
    received: Count
    rounds: Count


class Stream(Record, frozen=True, kw_only=True):
    """Which batch of which stream it is, and the seal of the batch before it."""

    id: Annotated[str, like("[0-9a-f]{32}")]
    batch: Positive
    before: Digest | None
    every: Positive
    read: Positive
    block: Positive
    last: bool


class Payment(Record, frozen=True, kw_only=True):
    """The entry of the ledger that paid."""

    ledger: Name
    event: Count
    head: Digest
