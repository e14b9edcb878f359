"""The plan's [attack], [audit] and [frontier]: how a release is attacked, asked and compared."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sfumato.bundles.files import MANIFEST
from sfumato.bundles.manifest.document import load
from sfumato.core.errors import BundleError, PlanError, listed
from sfumato.core.strict_parsing import read_toml
from sfumato.pipeline.plan.keys import Keys

# The plan's [attack]: which attacks a release must stand before it is written, and how much it may give away.


TRIALS = 1000
"""How many people are attacked where nothing is said."""
SECONDS = 60.0
"""How long all attacks together may take where nothing is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackPlan:
    """How a release is attacked before anyone else can."""

    run: bool = True
    """Whether it is attacked at all."""
    attacks: tuple[str, ...] = ()
    """The attacks by name; the quick ones where none is named."""
    trials: int = TRIALS
    """How many people are attacked."""
    max_risk: float | None = None
    """The largest excess over guessing that any attack may show; a release that shows more is not written."""
    control: str | None = None
    """A file with people of the same kind who are not in the table."""
    seconds: float = SECONDS
    """No attack begins when so much time has passed; those that are left are told as not made."""
    accept: tuple[str, ...] = ()
    """Attacks that may refute a claim: the release is written all the same, and says so."""
    group: str | None = None
    """A column that tells who belongs together, such as a household: whoever knows all of them looks for one."""
    earlier: tuple[str, ...] = ()
    """Bundles about the same people that are public already: each is laid over this release."""

    def refuse_files(self, folder: Path) -> None:
        """Refuse a control file or an earlier bundle that is not there, before any work is done."""
        if self.control is not None and not (folder / self.control).is_file():
            raise PlanError(f"attack.control: {folder / self.control} does not exist")
        for name in self.earlier:
            refuse_no_bundle(folder / name, "attack.earlier")

    @classmethod
    def of(cls, keys: Keys) -> AttackPlan:
        """Read the section."""
        keys.only("run", "attacks", "trials", "max_risk", "control", "seconds", "accept", "earlier", "group")
        risk = keys.number("max_risk")
        if risk is not None and not 0 <= risk <= 1:
            raise PlanError(f"{keys.at('max_risk')} must be a share between 0 and 1, not {risk}")
        trials = keys.whole("trials", TRIALS) or 0
        if trials < 20:
            raise PlanError(f"{keys.at('trials')} must be at least 20, not {trials}; fewer show nothing")
        run = keys.flag("run", default=True)
        if risk is not None and not run:
            raise PlanError(f"{keys.at('max_risk')}: without attacks nothing can be said about it; set run = true")
        seconds = keys.number("seconds", SECONDS) or 0.0
        if not 0 < seconds < float("inf"):
            raise PlanError(f"{keys.at('seconds')} must be above 0, not {seconds:g}; set run = false for no attack")
        return cls(
            run=run,
            attacks=keys.texts("attacks"),
            trials=trials,
            max_risk=risk,
            control=keys.text("control"),
            seconds=seconds,
            accept=keys.texts("accept"),
            earlier=keys.texts("earlier"),
            group=keys.text("group"),
        )


def refuse_no_bundle(folder: Path, key: str) -> Path:
    """The folder of a bundle; refused where it is none."""
    try:
        load(folder / MANIFEST)
    except BundleError as error:
        raise PlanError(f"{key}: {folder} is no bundle, whose folder would hold {MANIFEST}: {error}") from error
    return folder


# The plan's [audit]: which columns are answered about exactly, and to whom.


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPlan:
    """How exact answers are audited."""

    values: tuple[str, ...]
    """The audited columns."""
    public: tuple[str, ...] | None = None
    """The columns that conditions may use; the quasi-identifiers when absent."""
    k: int = 2
    """No sum of fewer people may follow."""
    groups: tuple[tuple[str, ...], ...] = ()
    """Analysts who talk to each other; without groups, all do."""
    width: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """For an audited column: low, high, width and means."""
    log: str | None = None
    """The file of the log."""

    @classmethod
    def of(cls, keys: Keys) -> AuditPlan:
        """Read the section."""
        keys.only("values", "public", "k", "groups", "width", "log")
        values = keys.texts("values")
        if not values:
            raise PlanError(f"{keys.at('values')} is missing; name the columns whose numbers are asked for")
        groups = keys.table.get("groups", [])
        if not isinstance(groups, list):
            raise PlanError(
                f'{keys.at("groups")} must be a list of lists of analysts such as [["ann", "bob"], ["eve"]]'
            )
        width = Keys.of(keys.table.get("width", {}), keys.at("width"))
        return cls(
            values=values,
            public=keys.texts("public") if "public" in keys.table else None,
            k=2 if "k" not in keys.table else keys.whole("k") or 0,
            groups=tuple(
                Keys(table={"group": group}, path=f"{keys.at('groups')}[{place}]").texts("group")
                for place, group in enumerate(groups)
            ),
            width={name: _span(Keys.of(span, width.at(name))) for name, span in width.table.items()},
            log=keys.text("log"),
        )


def _span(keys: Keys) -> dict[str, Any]:
    keys.only("low", "high", "width", "means")
    span: dict[str, Any] = {name: keys.number(name) for name in ("low", "high", "width")}
    for name, value in span.items():
        if value is None:
            raise PlanError(f"{keys.at(name)} is missing")
    means = keys.numbers("means")
    if len(means) != 2:
        raise PlanError(f"{keys.at('means')} must be two numbers, between which the mean of any k people lies")
    return {**span, "means": means}


# What a plan's [frontier] table says: which algorithms, parameters and metrics are compared, and for how long.


Tree = Mapping[str, Any]
Grid = Mapping[str, tuple[Any, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierPlan:
    """What is compared; nothing said means a choice that fits the plan."""

    algorithms: tuple[Tree, ...] = ()
    """Tables like [algorithm]: a name, and options."""
    metrics: tuple[str, ...] = ()
    """The axes of utility."""
    attacks: tuple[str, ...] = ()
    """Attacks whose gain over guessing is an axis of privacy."""
    seconds: float | None = None
    """How long points may be begun."""
    jobs: int | None = None
    """How many processes work at once."""
    grid: Grid = field(default_factory=dict)
    """Key paths of the plan, and the values that each takes."""

    @classmethod
    def of(cls, keys: Keys) -> FrontierPlan:
        """Read the table; whether its names are known is asked when it is used."""
        keys.only("algorithms", "metrics", "attacks", "seconds", "jobs", "grid")
        seconds, jobs = keys.number("seconds"), keys.whole("jobs")
        if seconds is not None and not seconds > 0:
            raise PlanError(f"{keys.at('seconds')} must be above 0, not {seconds}")
        if jobs is not None and jobs < 1:
            raise PlanError(f"{keys.at('jobs')} must be at least 1, not {jobs}")
        grid = Keys.of(keys.table.get("grid", {}), keys.at("grid"))
        return cls(
            algorithms=_algorithms(keys),
            metrics=_once(keys.texts("metrics"), keys.at("metrics")),
            attacks=_once(keys.texts("attacks"), keys.at("attacks")),
            seconds=seconds,
            jobs=jobs,
            grid=dict(pair for key, value in grid.table.items() for pair in _lists(key, value, grid.at(key))),
        )

    def changed(
        self,
        *,
        algorithms: str | None = None,
        grid: Sequence[str] = (),
        seconds: float | None = None,
        jobs: int | None = None,
    ) -> FrontierPlan:
        """With what the command line says instead."""
        tree: dict[str, Any] = {
            "algorithms": list(self.algorithms),
            "metrics": list(self.metrics),
            "attacks": list(self.attacks),
        }
        if algorithms is not None:
            tree["algorithms"] = [name.strip() for name in algorithms.split(",") if name.strip()]
            if not tree["algorithms"]:
                raise PlanError(f"--algorithms {algorithms}: no algorithm is named; use --algorithms optimal,mondrian")
        given = {"seconds": self.seconds if seconds is None else seconds, "jobs": self.jobs if jobs is None else jobs}
        frontier_plan = FrontierPlan.of(Keys.of(tree | {k: v for k, v in given.items() if v is not None}, "frontier"))
        return replace(frontier_plan, grid={**self.grid, **dict(map(_spoken, grid))})


def _algorithms(keys: Keys) -> tuple[Tree, ...]:
    value = keys.table.get("algorithms", ())
    if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
        raise PlanError(f"{keys.at('algorithms')} must be a list of names or tables, not {value!r}")
    algorithms = [_algorithm(item, f"{keys.at('algorithms')}[{place}]") for place, item in enumerate(value)]
    for place, item in enumerate(algorithms):
        if item in algorithms[:place]:
            raise PlanError(f"{keys.at('algorithms')}[{place}]: {item['name']!r} is listed twice")
    return tuple(algorithms)


def _algorithm(item: Any, where: str) -> Tree:
    if isinstance(item, str):
        return {"name": item}
    inner = Keys.of(item, where)
    inner.required_text("name")
    return inner.table


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
