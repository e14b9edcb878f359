"""The manifest of every type of release, as records: read strictly, and described by one JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from sfumato.bundles.manifest.sections import (
    SCHEMA,
    Algorithm,
    Claim,
    CompleteRows,
    Data,
    Documents,
    File,
    Findings,
    FullData,
    NoClaims,
    Payment,
    PublicPlan,
    PublishedColumn,
    Reached,
    ReportFile,
    Roles,
    Rule,
    Session,
    Stream,
    Trail,
    must_be,
)
from sfumato.core.records import (
    Count,
    Date,
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
    error_in,
    like,
)
from sfumato.tables.table import Kind


class Manifest(Record, frozen=True, kw_only=True):
    """What every manifest begins with."""

    sfumato: Annotated[str, like(r"[0-9A-Za-z.+-]+", most=40)]
    schema: Literal[2]
    kind: str
    made: Date
    marks: Annotated[list[Sentence], Meta(max_length=20_000)]


class PlannedManifest(Manifest, frozen=True, kw_only=True):
    """What every manifest of a plan's release begins with."""

    plan: PublicPlan


Versions = Mapped[Annotated[str, Meta(max_length=80)]]

# Tables.


class TableColumn(PublishedColumn, frozen=True, kw_only=True):
    """A published column of a table."""

    guarded: bool | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.guarded is not UNSET:
            must_be(self.guarded, True, "guarded")


class SensitiveFile(Record, frozen=True, kw_only=True):
    """The file of sensitive values, by group."""

    group: Name
    column: Name
    type: Kind
    file: File
    sha256: Digest


class PartFile(Record, frozen=True, kw_only=True):
    """One of many data files."""

    file: Annotated[str, like(r"data/part-[0-9]{5}\.parquet", most=100)]
    sha256: Digest


class TableData(Record, frozen=True, kw_only=True):
    """One data file, or many in the folder ``data``."""

    file: Annotated[str, like(r"[a-z]+\.[a-z]+|data", most=100)]
    sha256: Digest
    rows: Count
    columns: Listed[TableColumn]
    missing: Names
    exempt_suppressed: bool
    apart: SensitiveFile | UnsetType = UNSET
    population: Listed[Listed[Name | Count]] | UnsetType = UNSET
    parts: Annotated[list[PartFile], Meta(max_length=100_000)] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if (self.file == "data") != (self.parts is not UNSET):
            raise ValueError("file must be 'data' where the data are in parts, and a file's name elsewhere")
        if self.parts is not UNSET and self.apart is not UNSET:
            raise ValueError("data in parts have no file of sensitive values")


class SmallestClass(Record, frozen=True, kw_only=True):
    """Rows of the smallest equivalence class."""

    value: Count
    wildcard: Count


class TableRecodedColumn(Record, frozen=True, kw_only=True):
    """The labels of a column: how high each is in its hierarchy, and how much of the domain it covers."""

    of: Count
    labels: Mapped[Number | None]
    level: Count | UnsetType = UNSET
    form: Literal["boxes", "means", "nodes", "intervals", "distributions"] | UnsetType = UNSET
    rule: Rule | UnsetType = UNSET
    sizes: Mapped[Number] | UnsetType = UNSET
    total: Number | UnsetType = UNSET
    continuous: bool | UnsetType = UNSET


class TableRecoding(Algorithm, frozen=True, kw_only=True):
    """Which labels the columns have."""

    columns: Mapped[TableRecodedColumn]


class Suppression(Record, frozen=True, kw_only=True):
    """How many rows are suppressed."""

    rows: Count
    of: Count
    people: Count | UnsetType = UNSET
    people_of: Count | UnsetType = UNSET
    left_out: Positive | UnsetType = UNSET
    how: Literal["remove", "star"]
    limit: Number


class ReidentificationRisk(Record, frozen=True, kw_only=True):
    """Re-identification risk from the sizes of the classes."""

    prosecutor: Number
    journalist: Number
    marketer: Number
    unique: Number
    at_risk: Number
    population_known: bool


class Search(Record, frozen=True, kw_only=True):
    """What the search proved."""

    proven_optimal: bool


class TableManifest(PlannedManifest, frozen=True, kw_only=True):
    """A release of a table."""

    kind: Literal["table"]
    data: TableData
    claims: Listed[Claim]
    smallest_class: SmallestClass
    recoding: TableRecoding
    suppression: Suppression
    utility: Mapped[Reached]
    risk: ReidentificationRisk
    search: Search
    trail: Trail | None
    attacks: Findings
    attacks_not_made: Mapped[Sentence]
    session: Session | UnsetType = UNSET
    versions: Versions
    report: ReportFile | UnsetType = UNSET
    sha256: Digest


# Paths and sets.


class ItemColumn(Record, frozen=True, kw_only=True):
    """A published column of paths, sets or texts."""

    name: Name
    role: Roles
    type: Literal["text", "set", "trajectory"]
    separator: Name | UnsetType = UNSET
    mark: Name | UnsetType = UNSET


class ItemData(Data, frozen=True, kw_only=True):
    """A data file of paths and sets."""

    columns: Listed[ItemColumn]
    missing: Names


class ItemRecodedColumn(Record, frozen=True, kw_only=True):
    """How many items a column shows, and which are generalized."""

    kind: Literal["trajectory", "set", "table"]
    shown: Count
    entries: Count
    coarser: Listed[Name]
    within: Mapped[Name] | UnsetType = UNSET


class ItemRecoding(CompleteRows, frozen=True, kw_only=True):
    """Which items are suppressed or generalized."""

    columns: Mapped[ItemRecodedColumn]


class ItemManifest(PlannedManifest, frozen=True, kw_only=True):
    """A release of paths and sets."""

    kind: Literal["items"]
    data: ItemData
    claims: Listed[Claim]
    recoding: ItemRecoding
    attacks: Findings
    attacks_not_made: Mapped[Sentence]
    versions: Versions
    report: ReportFile | UnsetType = UNSET
    sha256: Digest


# Noisy rows.

Amount = Annotated[str, like("[0-9]+(/[0-9]+)?", most=200)]


class Pure(Record, frozen=True, kw_only=True, tag_field="kind", tag="pure"):
    """An amount of epsilon."""

    epsilon: Amount
    what: Name


class Concentrated(Record, frozen=True, kw_only=True, tag_field="kind", tag="concentrated"):
    """An amount of rho."""

    rho: Amount
    what: Name


class Approximate(Record, frozen=True, kw_only=True, tag_field="kind", tag="approximate"):
    """An amount of epsilon with delta."""

    epsilon: Amount
    delta: Amount
    what: Name


class Grouped(Record, frozen=True, kw_only=True, tag_field="kind", tag="grouped"):
    """An event for people with several rows."""

    rows: Positive
    what: Name
    part: Event


class Sequential(Record, frozen=True, kw_only=True, tag_field="kind", tag="sequential"):
    """Events on the same rows."""

    what: Name
    parts: Listed[Event]


class Parallel(Record, frozen=True, kw_only=True, tag_field="kind", tag="parallel"):
    """Events on different rows."""

    what: Name
    parts: Listed[Event]


Event = Pure | Concentrated | Approximate | Grouped | Sequential | Parallel
"""Where epsilon went: an amount, or parts that are events again."""

Discovered = Literal["discovered"] | UnsetType
"""The origin of a domain that was discovered and paid for."""
Node = tuple[Name, Annotated[int, Meta(ge=-1)]]


class NumberDomain(Record, frozen=True, kw_only=True, tag_field="kind", tag="number", rename={"origin": "from"}):
    """A declared range on a grid."""

    low: Number
    high: Number
    grid: Number
    origin: Discovered = UNSET


class TreeDomain(Record, frozen=True, kw_only=True, tag_field="kind", tag="tree", rename={"origin": "from"}):
    """A declared hierarchy, as nodes with their parents."""

    nodes: Listed[Node]
    origin: Discovered = UNSET


class SetDomain(Record, frozen=True, kw_only=True, tag_field="kind", tag="set", rename={"origin": "from"}):
    """A declared hierarchy of items."""

    nodes: Listed[Node]
    origin: Discovered = UNSET


class TargetDomain(Record, frozen=True, kw_only=True, rename={"origin": "from"}):
    """The declared values of the target."""

    name: Name
    values: Listed[Name]
    origin: Discovered = UNSET


class Domains(Record, frozen=True, kw_only=True):
    """The declared domains."""

    columns: Mapped[NumberDomain | TreeDomain | SetDomain]
    target: TargetDomain | UnsetType | None = UNSET


class NoisyColumn(Record, frozen=True, kw_only=True):
    """A published column of noisy rows."""

    name: Name
    role: Literal["quasi", "target", "count"]
    type: Literal["integer", "text"]


class NoisyData(Data, frozen=True, kw_only=True):
    """A data file of noisy rows."""

    columns: Listed[NoisyColumn]


class NoisyRecodedColumn(Record, frozen=True, kw_only=True):
    """The labels of a column, all of them leaves, and how far their counts deviate."""

    labels: Mapped[float]
    rule: Rule | UnsetType = UNSET
    deviations: Mapped[Number] | UnsetType = UNSET

    def __post_init__(self) -> None:
        for label, level in self.labels.items():
            must_be(level, 0.0, f"labels/{label}")


class NoisyRecoding(Algorithm, frozen=True, kw_only=True):
    """The labels and steps that the mechanism chose."""

    columns: Mapped[NoisyRecodedColumn]
    steps: Listed[Sentence]
    classes: Mapped[Number] | UnsetType = UNSET


class Guarantee(Record, frozen=True, kw_only=True):
    """What neighbouring tables are, and the privacy loss between them."""

    epsilon: Name | UnsetType = UNSET
    delta: Name | UnsetType = UNSET
    rho: Name | UnsetType = UNSET
    neighbours: Name


class PrivateClaim(Record, frozen=True, kw_only=True):
    """Differential privacy."""

    model: Name
    parameters: Guarantee


class NoisyManifest(PlannedManifest, frozen=True, kw_only=True):
    """What every release of noisy rows states."""

    data: NoisyData
    claims: Any
    domains: Domains
    ledger: Event
    paid: Payment | None
    recoding: NoisyRecoding
    search: Mapped[Number | Name]
    attacks: Annotated[list[Any], Meta(max_length=0)]
    session: Session | UnsetType = UNSET
    versions: Versions
    report: ReportFile | UnsetType = UNSET
    sha256: Digest


class PrivateManifest(NoisyManifest, frozen=True, kw_only=True):
    """A differentially private release."""

    kind: Literal["private"]
    claims: Listed[PrivateClaim]


class ObservedManifest(NoisyManifest, frozen=True, kw_only=True):
    """Noisy rows over domains that were read off the table: nothing is claimed."""

    kind: Literal["observed"]
    claims: NoClaims

    def __post_init__(self) -> None:
        if self.session is not UNSET:
            raise ValueError("it has an unknown key 'session'")


# Rows that no model judges.


class RowManifest(PlannedManifest, frozen=True, kw_only=True):
    """Rows in which every record has a row, with the attacks that were made on them."""

    data: FullData
    claims: Any
    recoding: Any
    attacks: Findings
    attacks_not_made: Mapped[Sentence]
    versions: Versions
    report: ReportFile | UnsetType = UNSET
    sha256: Digest


class UnclaimedRecoding(CompleteRows, frozen=True, kw_only=True):
    """Which columns were changed, with which options."""

    columns: Listed[Name]
    options: Mapped[ShallowValue] | UnsetType = UNSET


class UnclaimedManifest(RowManifest, frozen=True, kw_only=True):
    """Rows of a method that has no record of its own: nothing is claimed."""

    kind: Annotated[str, like(r"[a-z][a-z0-9-]*")]
    claims: NoClaims
    recoding: UnclaimedRecoding


class SwappedRecoding(CompleteRows, frozen=True, kw_only=True):
    """How many rows exchanged values of which columns, with whom."""

    rate: Number
    columns: Listed[Name]
    within: Mapped[Count]


class SwappedManifest(RowManifest, frozen=True, kw_only=True):
    """Rows with exchanged values: nothing is claimed."""

    kind: Literal["swapped"]
    claims: NoClaims
    recoding: SwappedRecoding


class Codes(Record, frozen=True, kw_only=True, tag_field="form", tag="codes"):
    """A column of numbers as codes."""

    digits: Positive


class Aliases(Record, frozen=True, kw_only=True, tag_field="form", tag="aliases"):
    """A column of values as aliases."""

    aliases: Positive


class GradedRecoding(Algorithm, frozen=True, kw_only=True):
    """Which columns have codes and aliases, and the commitment to the sites' secret."""

    agreement: Digest
    columns: Mapped[Codes | Aliases]


class GradedManifest(RowManifest, frozen=True, kw_only=True):
    """Rows with codes and aliases that sites agreed on: nothing is claimed."""

    kind: Literal["graded"]
    claims: NoClaims
    recoding: GradedRecoding


class CondensedRecoding(CompleteRows, frozen=True, kw_only=True):
    """How records were drawn from groups."""

    groups: Literal["mdav", "k-means"]
    output: Literal["rows", "distributions"]
    variance: Number
    copies: Positive
    per_class: bool
    bounds: Mapped[tuple[Number, Number]]
    columns: Mapped[Literal["drawn", "dealt", "mean", "spread"]]
    sizes: Listed[tuple[Positive, Positive]]


class CondensedManifest(RowManifest, frozen=True, kw_only=True):
    """Records drawn from groups, or the groups' means and spreads; perhaps a batch of a stream."""

    kind: Literal["condensed"]
    claims: Listed[Claim]
    recoding: CondensedRecoding
    stream: Stream | UnsetType = UNSET


# Randomized answers.

Shares = Annotated[list[Number], Meta(max_length=1_000)]


class LocalGuarantees(Record, frozen=True, kw_only=True):
    """The local epsilon of every question, of repeated answers, and of all answers."""

    epsilon: Mapped[Name | None]
    lasting: Mapped[Name | None]
    everything: Name | None


class CollectionSpecification(Record, frozen=True, kw_only=True):
    """How answers were randomized at the source."""

    sfumato: Literal["collect"]
    form: Literal[1]
    repeats: Literal["memoize", "charge"]
    questions: Annotated[list[Mapped[Name | Names]], Meta(max_length=1_000)]
    promises: LocalGuarantees
    most: Positive | UnsetType = UNSET


class LocalParameters(Record, frozen=True, kw_only=True):
    """What is claimed of the answers to a question."""

    question: Name
    epsilon: Name | UnsetType = UNSET
    of: Name | UnsetType = UNSET
    confidence: Number | UnsetType = UNSET
    width: Number | UnsetType = UNSET


class LocalClaim(Record, frozen=True, kw_only=True):
    """Local privacy of answers."""

    model: Literal["local-privacy", "interval-privacy"]
    parameters: LocalParameters


class EstimatedQuestion(Record, frozen=True, kw_only=True):
    """The shares of answers, as drawn and as estimated."""

    question: Name
    method: Literal["em", "inversion"]
    rounds: Count
    cells: Names
    shown: Shares
    share: Shares
    low: Shares
    high: Shares
    outside: Shares


class EstimatedPair(Record, frozen=True, kw_only=True):
    """How two questions depend on each other."""

    questions: tuple[Name, Name]
    measure: Literal["correlation", "cramers-v"]
    shown: Number | None
    estimate: Number | None
    low: Number | None
    high: Number | None


class Reconstruction(Record, frozen=True, kw_only=True):
    """What is estimated from the answers."""

    questions: Listed[EstimatedQuestion]
    pairs: Annotated[list[EstimatedPair], Meta(max_length=1_000)]


class CollectedManifest(PlannedManifest, frozen=True, kw_only=True):
    """Answers that were randomized at the source."""

    kind: Literal["collected"]
    data: FullData
    claims: Listed[LocalClaim]
    specification: CollectionSpecification
    reconstruction: Reconstruction
    recoding: CompleteRows
    attacks: Findings
    attacks_not_made: Mapped[Sentence]
    versions: Versions
    report: ReportFile | UnsetType = UNSET
    sha256: Digest


# Sets with hidden rules.


class SanitizedColumn(Record, frozen=True, kw_only=True):
    """A published column of sets or texts."""

    name: Name
    role: Roles
    type: Literal["text", "set"]
    separator: Name | UnsetType = UNSET


class SanitizedData(Data, frozen=True, kw_only=True):
    """A data file of sets."""

    columns: Listed[SanitizedColumn]
    missing: Names


class Hiding(Record, frozen=True, kw_only=True):
    """Thresholds, and commitments to what is hidden."""

    min_support: Number
    min_confidence: Number
    margin: Number
    commitments: Annotated[list[Digest], Meta(max_length=100_000)]


class SanitizedRecoding(Algorithm, frozen=True, kw_only=True):
    """How rules were hidden."""

    unknown: Literal["?"] | UnsetType = UNSET


class SanitizedManifest(PlannedManifest, frozen=True, kw_only=True):
    """Sets without what the steward wants to hide; that is committed to, and not disclosed."""

    kind: Literal["sanitized"]
    data: SanitizedData
    claims: NoClaims
    hiding: Hiding
    recoding: SanitizedRecoding
    attacks: Findings
    attacks_not_made: Mapped[Sentence]
    versions: Versions
    report: ReportFile | UnsetType = UNSET
    sha256: Digest


# Documents.


class TreeSize(Record, frozen=True, kw_only=True):
    """How large a tree is."""

    leaves: Positive
    depth: Count
    records: Count


class Noise(Record, frozen=True, kw_only=True):
    """The noise in the leaves' counts."""

    law: Literal["laplace", "gaussian"]
    scale: Number


class TreeManifest(PlannedManifest, frozen=True, kw_only=True):
    """Trees or rules, one document a line; with a ledger, noisy counts in a declared structure."""

    kind: Literal["tree"]
    data: Documents
    claims: Listed[Claim]
    trees: Annotated[list[TreeSize], Meta(max_length=1_000)]
    recoding: CompleteRows
    ledger: Event | UnsetType = UNSET
    paid: Payment | UnsetType | None = UNSET
    noise: Noise | UnsetType = UNSET
    attacks: Findings
    attacks_not_made: Mapped[Sentence]
    versions: Versions
    report: ReportFile | UnsetType = UNSET
    sha256: Digest


class JointManifest(Manifest, frozen=True, kw_only=True):
    """What several parties computed together: one document, and nothing claimed about people."""

    kind: Literal["joint"]
    data: Documents
    claims: NoClaims
    session: Session
    versions: Versions
    report: ReportFile | UnsetType = UNSET
    sha256: Digest


MANIFESTS: Mapping[str, type[Manifest]] = {
    "table": TableManifest,
    "items": ItemManifest,
    "private": PrivateManifest,
    "observed": ObservedManifest,
    "swapped": SwappedManifest,
    "graded": GradedManifest,
    "collected": CollectedManifest,
    "condensed": CondensedManifest,
    "sanitized": SanitizedManifest,
    "tree": TreeManifest,
    "joint": JointManifest,
}
"""The record of every type of release; methods without one here, of a plugin say, have that of unclaimed rows."""


def error_of(manifest: Mapping[str, Any]) -> str | None:
    """What is wrong with a manifest; None where nothing is."""
    if "kind" not in manifest:
        return "the manifest has no 'kind'"
    kind = manifest["kind"]
    record = MANIFESTS.get(kind, UnclaimedManifest) if isinstance(kind, str) else UnclaimedManifest
    error = error_in(manifest, record)
    if error is not None and record is UnclaimedManifest:
        return f"kind must be one of {', '.join(map(repr, MANIFESTS))}, not {kind!r}"
    return None if error is None else error.replace("the content", "the manifest", 1)


def typed(manifest: Mapping[str, Any]) -> Any:
    """A manifest as the record of its type."""
    return msgspec.convert(manifest, MANIFESTS.get(manifest["kind"], UnclaimedManifest))


def json_schema() -> dict[str, Any]:
    """The JSON Schema of every manifest of this version."""
    schemas, components = msgspec.json.schema_components(MANIFESTS.values(), ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"sfumato manifest, schema {SCHEMA}",
        "oneOf": list(schemas),
        "$defs": components,
    }
