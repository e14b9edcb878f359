"""The plan: what is read, what the columns are, what must hold, what should be kept, how it is searched.

The same tree is a TOML file, these records, and the form of a user interface.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, cast

from sfumato.describe.roles import Role
from sfumato.ground.errors import PlanError
from sfumato.utility.learners import LEARNERS
from sfumato.workflow.attack_plan import AttackPlan
from sfumato.workflow.columns import ITEMIZED, ColumnPlan, Tree, column_plan
from sfumato.workflow.frontier_plan import FrontierPlan
from sfumato.workflow.keys import Keys


@dataclass(frozen=True, slots=True, kw_only=True)
class InputPlan:
    """Where the table comes from and how its cells are read."""

    path: str | None = None
    """The file; may instead be named on the command line or be a frame."""
    delimiter: str | None = None
    """The separator of a text file; found out when absent."""
    quote: str = '"'
    """The quoting mark of a text file."""
    encoding: str = "utf-8"
    """The encoding of a text file."""
    header: bool = True
    """Whether the first line names the columns."""
    names: tuple[str, ...] = ()
    """The columns' names where the file has none, or instead of its own."""
    trim: bool = False
    """Whether blanks around cells are cut."""
    missing: tuple[str, ...] = ()
    """The texts that mean a missing value."""
    on_missing: Literal["keep", "drop"] = "keep"
    """Whether rows with a missing quasi-identifier, sensitive or target value stay."""
    population: str | None = None
    """The file of the population that the table is a part of, for delta-presence and k-map."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlgorithmPlan:
    """How the release is searched."""

    name: str = "auto"
    """The algorithm, or auto."""
    max_suppressed: float = 0.0
    """The share of records that may be suppressed."""
    suppressed: Literal["remove", "star"] = "remove"
    """Whether a suppressed record is left out or published as ``*``."""
    exempt_suppressed: bool = False
    """Whether published suppressed records need not meet the requirement."""
    seconds: float | None = None
    """How long an algorithm that can stop early may search."""
    seed: int | None = None
    """For studies only: the manifest marks such a release."""
    options: Tree = field(default_factory=dict)
    """What the named algorithm itself can be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One whole plan."""

    input: InputPlan = field(default_factory=InputPlan)
    """What is read."""
    columns: Mapping[str, ColumnPlan]
    """What the columns are; columns not named are dropped."""
    privacy: Tree
    """What must hold: model keys and their parameters."""
    metric: str = "loss"
    """What should be lost least."""
    learner: str | None = None
    """A learner whose errors on the release are to be told in the inside report, if any."""
    algorithm: AlgorithmPlan = field(default_factory=AlgorithmPlan)
    """How it is searched."""
    format: Literal["csv", "parquet"] | None = None
    """The released file's format; that of the input when absent."""
    attack: AttackPlan = field(default_factory=AttackPlan)
    """How the release is attacked before it is written."""
    frontier: FrontierPlan = field(default_factory=FrontierPlan)
    """What ``sfumato frontier`` compares; a release does not read it."""
    folder: Path = Path()
    """Where relative file names start."""

    @classmethod
    def load(cls, path: str | Path, overrides: Sequence[str] = ()) -> Plan:
        """Read a TOML file; ``overrides`` are ``key.path=value`` with TOML values."""
        place = Path(path)
        try:
            tree = tomllib.loads(place.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise PlanError(
                f"the plan {place} does not exist; `sfumato profile DATA -o plan.toml` drafts one"
            ) from None
        except (OSError, UnicodeDecodeError) as error:
            raise PlanError(f"the plan {place} cannot be read: {error}") from error
        except tomllib.TOMLDecodeError as error:
            raise PlanError(f"the plan {place} is not valid TOML: {error}") from error
        for override in overrides:
            _override(tree, override)
        return cls.parse(tree, folder=place.parent)

    @classmethod
    def parse(cls, tree: Tree, *, folder: Path = Path()) -> Plan:
        """Read a plan from nested tables."""
        top = Keys.of(tree, "")
        top.only("input", "columns", "privacy", "utility", "algorithm", "attack", "output", "frontier")
        columns = Keys.of(tree.get("columns", {}), "columns")
        if not columns.table:
            raise PlanError("columns: the plan describes no column; add [columns.NAME] with a role")
        utility = Keys.of(tree.get("utility", {}), "utility")
        utility.only("metric", "learner")
        output = Keys.of(tree.get("output", {}), "output")
        output.only("format")
        return cls(
            input=_input(Keys.of(tree.get("input", {}), "input")),
            columns={
                name: column_plan(Keys.of(value, columns.at(name)), name) for name, value in columns.table.items()
            },
            privacy=Keys.of(tree.get("privacy", {}), "privacy").table,
            metric=utility.text("metric", "loss") or "loss",
            learner=utility.one_of("learner", LEARNERS, LEARNERS[0]) if "learner" in utility.table else None,
            algorithm=_algorithm(Keys.of(tree.get("algorithm", {}), "algorithm")),
            format=cast(
                "Any", output.one_of("format", ("csv", "parquet"), "csv") if "format" in output.table else None
            ),
            attack=AttackPlan.of(Keys.of(tree.get("attack", {}), "attack")),
            frontier=FrontierPlan.of(Keys.of(tree.get("frontier", {}), "frontier")),
            folder=folder,
        )

    @property
    def output_format(self) -> Literal["csv", "parquet"]:
        """The released file's format: as the plan says, or else like the input."""
        like_input = "parquet" if Path(self.input.path or "").suffix in (".parquet", ".pq") else "csv"
        return self.format or cast("Any", like_input)

    @property
    def itemized(self) -> tuple[str, ...]:
        """The published columns whose cells hold several items; with any, the release is one of sets of items."""
        return tuple(n for n, c in self.columns.items() if c.type in ITEMIZED and c.role is not Role.DROP)

    def public(self) -> dict[str, Any]:
        """The plan as the manifest shows it: without any path."""
        return {
            "input": {"missing": list(self.input.missing), "on_missing": self.input.on_missing},
            "columns": {name: column.public() for name, column in self.columns.items()},
            "privacy": _without_files(self.privacy),
            "utility": {"metric": self.metric},
            "algorithm": {
                "name": self.algorithm.name,
                "max_suppressed": self.algorithm.max_suppressed,
                "suppressed": self.algorithm.suppressed,
                "exempt_suppressed": self.algorithm.exempt_suppressed,
                **self.algorithm.options,
            },
            "attack": {
                "run": self.attack.run,
                "attacks": list(self.attack.attacks),
                "trials": self.attack.trials,
                "max_risk": self.attack.max_risk,
            },
        }


def with_input(plan: Plan, data: Path) -> Plan:
    """The plan with another data file."""
    return replace(plan, input=replace(plan.input, path=str(data.resolve())))


def _input(keys: Keys) -> InputPlan:
    keys.only(
        "path", "delimiter", "quote", "encoding", "header", "names", "trim", "missing", "on_missing", "population"
    )
    return InputPlan(
        path=keys.text("path"),
        delimiter=keys.text("delimiter"),
        quote=keys.text("quote", '"') or '"',
        encoding=keys.text("encoding", "utf-8") or "utf-8",
        header=keys.flag("header", default=True),
        names=keys.texts("names"),
        trim=keys.flag("trim", default=False),
        missing=keys.texts("missing"),
        on_missing=cast("Any", keys.one_of("on_missing", ("keep", "drop"), "keep")),
        population=keys.text("population"),
    )


def _algorithm(keys: Keys) -> AlgorithmPlan:
    known = ("name", "max_suppressed", "suppressed", "exempt_suppressed", "seconds", "seed")
    share = keys.number("max_suppressed", 0.0) or 0.0
    if not 0 <= share <= 1:
        raise PlanError(f"algorithm.max_suppressed must be a share between 0 and 1, not {share}")
    seconds = keys.number("seconds")
    if seconds is not None and not seconds > 0:
        raise PlanError(f"algorithm.seconds must be above 0, not {seconds}")
    seed = keys.whole("seed")
    if seed is not None and seed < 0:
        raise PlanError(f"algorithm.seed must not be negative, not {seed}")
    return AlgorithmPlan(
        name=keys.text("name", "auto") or "auto",
        max_suppressed=share,
        suppressed=cast("Any", keys.one_of("suppressed", ("remove", "star"), "remove")),
        exempt_suppressed=keys.flag("exempt_suppressed", default=False),
        seconds=seconds,
        seed=seed,
        options={name: value for name, value in keys.table.items() if name not in known},
    )


def _override(tree: dict[str, Any], text: str) -> None:
    """Set one key of the tree from ``key.path=value``."""
    key, mark, value = text.partition("=")
    if not mark or not key.strip():
        raise PlanError(f"--set {text}: must look like privacy.k_anonymity=10")
    try:
        parsed = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value
    put(tree, key.strip(), parsed, where=f"--set {text}")


def put(tree: dict[str, Any], key: str, value: Any, *, where: str) -> None:
    """Set the key at a dotted path; tables on the way are made."""
    *path, last = key.split(".")
    node = tree
    for part in path:
        node = node.setdefault(part, {})
        if not isinstance(node, dict):
            raise PlanError(f"{where}: {part} is not a table")
    node[last] = value


def _without_files(tree: Any) -> Any:
    """A copy of nested tables without the names of files, and without whose budget was spent."""
    if isinstance(tree, Mapping):
        return {key: _without_files(value) for key, value in tree.items() if key not in ("file", "ledger", "analyst")}
    return [_without_files(value) for value in tree] if isinstance(tree, list) else tree
