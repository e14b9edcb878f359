"""The plan's [attack], [audit] and [frontier]: how a release is attacked, asked and compared."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, field
from msgspec.structs import asdict, force_setattr, replace

from sfumato.bundles.files import MANIFEST
from sfumato.bundles.manifest.document import load
from sfumato.core.errors import BundleError, PlanError, listed
from sfumato.core.records import Number, Record, decoded, missing, must
from sfumato.core.strict_parsing import read_toml
from sfumato.pipeline.plan.sections import Positive, Seconds, Share, Texts

# The plan's [attack]: which attacks a release must stand before it is written, and how much it may give away.


TRIALS = 1000
"""How many people are attacked where nothing is said."""
SECONDS = 60.0
"""How long all attacks together may take where nothing is said."""


class AttackPlan(Record, frozen=True, kw_only=True):
    """How a release is attacked before anyone else can."""

    run: bool = True
    """Whether it is attacked at all."""
    attacks: Texts = ()
    """The attacks by name; the quick ones where none is named."""
    trials: Annotated[int, must("at least 20", ge=20, hint="fewer show nothing")] = TRIALS
    """How many people are attacked."""
    max_risk: Share | None = None
    """The largest excess over guessing that any attack may show; a release that shows more is not written."""
    control: str | None = None
    """A file with people of the same kind who are not in the table."""
    seconds: Annotated[
        Annotated[int, Meta(gt=0)] | Annotated[float, Meta(gt=0, le=1e15)],
        must("above 0", hint="set run = false for no attack"),
    ] = SECONDS
    """No attack begins when so much time has passed; those that are left are told as not made."""
    accept: Texts = ()
    """Attacks that may refute a claim: the release is written all the same, and says so."""
    group: str | None = None
    """A column that tells who belongs together, such as a household: whoever knows all of them looks for one."""
    earlier: Texts = ()
    """Bundles about the same people that are public already: each is laid over this release."""

    def refuse_files(self, folder: Path) -> None:
        """Refuse a control file or an earlier bundle that is not there, before any work is done."""
        if self.control is not None and not (folder / self.control).is_file():
            raise PlanError(f"attack.control: {folder / self.control} does not exist")
        for name in self.earlier:
            refuse_no_bundle(folder / name, "attack.earlier")

    def __post_init__(self) -> None:
        """Refuse a limit on attacks that are not made."""
        if self.max_risk is not None and not self.run:
            raise PlanError("attack.max_risk: without attacks nothing can be said about it; set run = true")


def refuse_no_bundle(folder: Path, key: str) -> Path:
    """The folder of a bundle; refused where it is none."""
    try:
        load(folder / MANIFEST)
    except BundleError as error:
        raise PlanError(f"{key}: {folder} is no bundle, whose folder would hold {MANIFEST}: {error}") from error
    return folder


# The plan's [audit]: which columns are answered about exactly, and to whom.


class SpanPlan(Record, frozen=True, kw_only=True):
    """How near an audited value may be narrowed down."""

    low: Number
    """The least value."""
    high: Number
    """The largest value."""
    width: Number
    """No value may be known to lie in less than this."""
    means: tuple[Number, Number]
    """Two numbers, between which the mean of any k people lies."""


class AuditPlan(Record, frozen=True, kw_only=True):
    """How exact answers are audited."""

    values: Annotated[Texts, missing("name the columns whose numbers are asked for"), Meta(min_length=1)]
    """The audited columns."""
    public: Texts | None = None
    """The columns that conditions may use; the quasi-identifiers when absent."""
    k: int = 2
    """No sum of fewer people may follow."""
    groups: Annotated[tuple[Texts, ...], must('a list of lists of analysts such as [["ann", "bob"], ["eve"]]')] = ()
    """Analysts who talk to each other; without groups, all do."""
    width: dict[str, SpanPlan] = field(default_factory=dict)
    """For an audited column: low, high, width and means."""
    log: str | None = None
    """The file of the log."""


# What a plan's [frontier] table says: which algorithms, parameters and metrics are compared, and for how long.


Tree = Mapping[str, Any]
Grid = Mapping[str, tuple[Any, ...]]
if TYPE_CHECKING:
    Named = Tree
else:  # a file may give the name alone
    Named = str | dict[str, Any]


class FrontierPlan(Record, frozen=True, kw_only=True):
    """What is compared; nothing said means a choice that fits the plan."""

    algorithms: Annotated[tuple[Named, ...], must("a list of names or tables")] = ()
    """Tables like [algorithm]: a name, and options."""
    metrics: Texts = ()
    """The axes of utility."""
    attacks: Texts = ()
    """Attacks whose gain over guessing is an axis of privacy."""
    seconds: Seconds | None = None
    """How long points may be begun."""
    jobs: Positive | None = None
    """How many processes work at once."""
    grid: Mapping[str, Any] = field(default_factory=dict)
    """Key paths of the plan, and the values that each takes."""

    def __post_init__(self) -> None:
        """Bring names and tables into one form; whether they are known is asked when they are used."""
        tables = tuple(_algorithm(item, f"frontier.algorithms[{i}]") for i, item in enumerate(self.algorithms))
        for i, table in enumerate(tables):
            if table in tables[:i]:
                raise PlanError(f"frontier.algorithms[{i}]: {table['name']!r} is listed twice")
        force_setattr(self, "algorithms", tables)
        for key in ("metrics", "attacks"):
            _once(getattr(self, key), f"frontier.{key}")
        pairs = [pair for key, value in self.grid.items() for pair in _lists(key, value, f"frontier.grid.{key}")]
        force_setattr(self, "grid", dict(pairs))

    def changed(
        self,
        *,
        algorithms: str | None = None,
        grid: Sequence[str] = (),
        seconds: float | None = None,
        jobs: int | None = None,
    ) -> FrontierPlan:
        """With what the command line says instead."""
        given = {"seconds": seconds, "jobs": jobs}
        tree = asdict(self) | {key: value for key, value in given.items() if value is not None}
        if algorithms is not None:
            tree["algorithms"] = [name.strip() for name in algorithms.split(",") if name.strip()]
            if not tree["algorithms"]:
                raise PlanError(f"--algorithms {algorithms}: no algorithm is named; use --algorithms optimal,mondrian")
        return replace(decoded(tree, FrontierPlan, "frontier"), grid={**self.grid, **dict(map(_spoken, grid))})


def _algorithm(item: str | Tree, where: str) -> Tree:
    """A name as a table, and a table with its name."""
    if isinstance(item, str):
        return {"name": item}
    if not isinstance(item.get("name"), str) or not item["name"]:
        raise PlanError(f"{where}.name is missing; it is a text such as 'optimal'")
    return item


def _lists(key: str, value: Any, where: str) -> list[tuple[str, tuple[Any, ...]]]:
    """A key path with its values; TOML tables stand for the keys inside them."""
    if isinstance(value, Mapping):
        return [pair for inner, item in value.items() for pair in _lists(f"{key}.{inner}", item, f"{where}.{inner}")]
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise PlanError(f"{where} must be a list of values, not {value!r}")
    if not value:
        raise PlanError(f"{where} must not be empty; list the values that the key takes")
    return [(key, _once(tuple(value), where))]


def _once(values: tuple[Any, ...], where: str) -> tuple[Any, ...]:
    """The values, none of them twice."""
    for place, value in enumerate(values):
        if value in values[:place]:
            raise PlanError(f"{where}: {value!r} is listed twice")
    return values


def _spoken(text: str) -> tuple[str, tuple[Any, ...]]:
    """A key path and its values from ``key.path=value,value``; what is not TOML is text."""
    key, mark, values = text.partition("=")
    if not mark or not key.strip() or not values.strip():
        raise PlanError(f"--grid {text}: must look like privacy.k_anonymity=2,5,10")
    try:
        parsed_values = read_toml(f"values = [{values}]")["values"]
    except tomllib.TOMLDecodeError:
        parsed_values = [_value(part.strip()) for part in values.split(",")]
    except ValueError as error:
        raise PlanError(f"--grid {key.strip()}: {error}") from None
    if not parsed_values:
        raise PlanError(f"--grid {text}: names no value; it must look like privacy.k_anonymity={listed([2, 5])}")
    return key.strip(), _once(tuple(parsed_values), f"--grid {key.strip()}")


def _value(text: str) -> Any:
    try:
        return read_toml(f"value = {text}")["value"]
    except ValueError:
        return text
