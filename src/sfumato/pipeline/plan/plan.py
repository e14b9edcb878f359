"""The plan: read from TOML, built from objects, or described in one call."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, asdict, dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import structs

from sfumato.core.errors import PlanError, listed, unknown_column
from sfumato.core.input_files import read_text
from sfumato.core.records import INTERNAL, Record, decoded, validated, written
from sfumato.core.strict_parsing import read_toml
from sfumato.pipeline.plan.columns import BOTH, ColumnPlan, check_shifts, column_plan, with_trees
from sfumato.pipeline.plan.evaluation import AttackPlan, AuditPlan, FrontierPlan
from sfumato.pipeline.plan.sections import (
    AboutPlan,
    AlgorithmPlan,
    CollectionPlan,
    InputPlan,
    OutputPlan,
    StreamPlan,
    Tree,
    TreePlan,
    UtilityPlan,
    dated,
    with_options,
)
from sfumato.tables.frames import from_frame
from sfumato.tables.hierarchy_files import Paths
from sfumato.tables.schema import Role
from sfumato.tables.table import has_times

# Models and algorithms as objects in a plan: turned into what a plan file would say.


_PLAIN = {"k-anonymity": "k", "k-map": "k"}
"""Models whose key takes a number alone."""
_KIND = {
    "distinct-l-diversity": "distinct",
    "entropy-l-diversity": "entropy",
    "recursive-l-diversity": "recursive",
    "simple-l-diversity": "simple",
}


def as_column(column: Any, name: str) -> ColumnPlan:
    """A column's record, from itself or from a table as in TOML."""
    return validated(column, f"columns.{name}") if isinstance(column, ColumnPlan) else column_plan(column, name)


def privacy_tree(privacy: Any) -> Tree:
    """The [privacy] table, from itself, from one model or from several.

    >>> from sfumato.models import DistinctLDiversity, KAnonymity
    >>> privacy_tree([KAnonymity(k=5), DistinctLDiversity(l=3, column="ill")])
    {'k_anonymity': 5, 'l_diversity': {'kind': 'distinct', 'l': 3, 'column': 'ill'}}
    """
    if isinstance(privacy, Mapping):
        return privacy
    models = privacy if isinstance(privacy, list | tuple) else [privacy]
    specs_by_key: dict[str, list[Any]] = {}
    for model in models:
        key, spec = _said(model)
        specs_by_key.setdefault(key, []).append(spec)
    return {key: specs[0] if len(specs) == 1 else specs for key, specs in specs_by_key.items()}


def _said(model: Any) -> tuple[str, Any]:
    """The key and what stands there for a model."""
    from sfumato.pipeline.catalog.catalog import catalog

    name = str(getattr(model, "name", ""))
    if name not in catalog().models or not isinstance(model, catalog().models[name].make):
        raise PlanError(f"privacy: {model!r} is no model; known are {listed(catalog().models, most=30)}")
    key = catalog().models[name].key
    if name in _PLAIN:
        return key, getattr(model, _PLAIN[name])
    spec = {field.name: _plain(getattr(model, field.name)) for field in fields(model) if _differs(model, field)}
    if name == "confidence-bounding":
        return key, _template(model)
    spec.pop("paths", None)
    return key, ({"kind": _KIND[name]} if name in _KIND else {}) | spec


def _template(model: Any) -> Any:
    specs = [_plain(asdict(template)) for template in model.templates]
    return specs[0] if len(specs) == 1 else specs


def sensitive_trees(privacy: Any) -> dict[str, Paths]:
    """The trees over sensitive values that models bring; in a plan they are the hierarchies of their columns."""
    if isinstance(privacy, Mapping):
        return {}
    models = privacy if isinstance(privacy, list | tuple) else [privacy]
    return {model.column: Paths(paths=model.paths) for model in models if getattr(model, "paths", None)}


def _differs(model: Any, field: Field[Any]) -> bool:
    """Whether a field differs from its default."""
    default = field.default if field.default_factory is MISSING else field.default_factory()
    return bool(default is MISSING or getattr(model, field.name) != default)


def algorithm_tree(algorithm: Any) -> AlgorithmPlan:
    """The [algorithm] section, from itself, from a name or from an algorithm.

    >>> from sfumato.algorithms.mondrian import Mondrian
    >>> algorithm_tree(Mondrian(output="boxes")).options
    {'output': 'boxes'}
    """
    if isinstance(algorithm, AlgorithmPlan):
        return validated(algorithm, "algorithm")
    if isinstance(algorithm, str):
        return AlgorithmPlan(name=algorithm)
    if isinstance(algorithm, Mapping):
        return AlgorithmPlan.of(algorithm)
    from sfumato.pipeline.catalog.catalog import catalog

    for name, part in catalog().algorithms.items():
        if algorithm is part.found:
            return AlgorithmPlan(name=name)
        if isinstance(part.found, type) and is_dataclass(algorithm) and isinstance(algorithm, part.found):
            options = {
                field.name: _plain(getattr(algorithm, field.name))
                for field in fields(algorithm)
                if _differs(algorithm, field)
            }
            return AlgorithmPlan(
                name=name, options={key: value for key, value in options.items() if key not in ("epsilon", "rho")}
            )
    raise PlanError(f"algorithm: {algorithm!r} is no algorithm; known are {listed(catalog().algorithms, most=30)}")


def _plain(value: Any) -> Any:
    """A value as TOML has it."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple | list) else value


# The plan: what is read, what the columns are, what must hold, what should be kept, how it is searched.
#
# The same tree is a TOML file, these records, and the form of a user interface. Models, hierarchies and algorithms may
# be given as objects; a plan turns them into the tree, so that it reads the same from a file.


class PlanFile(Record, frozen=True, kw_only=True):
    """A plan as its file has it, section by section."""

    input: InputPlan = InputPlan()
    """What is read."""
    columns: dict[str, ColumnPlan] = msgspec.field(default_factory=dict)
    """What the columns are; columns that are not named are dropped."""
    privacy: dict[str, Any] = msgspec.field(default_factory=dict)
    """What must hold: keys of models with their parameters."""
    utility: UtilityPlan = UtilityPlan()
    """What should be kept."""
    algorithm: AlgorithmPlan = AlgorithmPlan()
    """How the release is searched."""
    attack: AttackPlan = AttackPlan()
    """How the release is attacked before it is written."""
    output: OutputPlan = OutputPlan()
    """How files are written."""
    frontier: FrontierPlan = FrontierPlan()
    """What `sfumato frontier` compares."""
    collection: CollectionPlan | None = None
    """By which specification answers were randomized."""
    stream: StreamPlan | None = None
    """How `sfumato stream` cuts records that keep coming."""
    audit: AuditPlan | None = None
    """How exact answers are audited."""
    tree: TreePlan | None = None
    """How a tree is published instead of rows."""
    about: AboutPlan = AboutPlan()
    """What the report says about the data set, and in which language."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Plan:
    """One whole plan."""

    input: InputPlan = field(default_factory=InputPlan)
    """What is read."""
    columns: Mapping[str, ColumnPlan]
    """What the columns are (records, or tables as in TOML); columns not named are dropped."""
    privacy: Tree
    """What must hold: model keys and their parameters, or models."""
    metric: str = "loss"
    """What should be lost least."""
    purpose: Literal["one-reading", "least-loss"] = "one-reading"
    """What ``auto`` looks for: that a value reads the same in every row, or the least loss."""
    learner: str | None = None
    """A learner whose errors on the release are to be told in the inside report, if any."""
    algorithm: AlgorithmPlan = field(default_factory=AlgorithmPlan)
    """How it is searched: a section, an algorithm's name, or an algorithm."""
    format: Literal["csv", "parquet", "parts"] | None = None
    """The released file's format; that of the input when absent. ``parts`` are many Parquet files."""
    escape_formulas: bool = False
    """Whether texts that a spreadsheet would run are written with an apostrophe before them, in CSV."""
    attack: AttackPlan = field(default_factory=AttackPlan)
    """How the release is attacked before it is written."""
    frontier: FrontierPlan = field(default_factory=FrontierPlan)
    """What ``sfumato frontier`` compares; a release does not read it."""
    collection: CollectionPlan | None = None
    """By which specification answers were randomized, where they were."""
    stream: StreamPlan | None = None
    """How ``sfumato stream`` cuts records that keep coming; a release does not read it."""
    audit: AuditPlan | None = None
    """How exact answers are audited, where they are given."""
    about: AboutPlan = field(default_factory=AboutPlan)
    """What the report says about the data set, and in which language."""
    tree: TreePlan | None = None
    """How a tree is published instead of rows, where one is."""
    folder: Path = Path()
    """Where relative file names start."""

    def __post_init__(self) -> None:
        """Turn objects into the tree, and refuse what the plan cannot say before anything is done."""
        from sfumato.pipeline.catalog.catalog import catalog

        columns = {name: as_column(column, name) for name, column in self.columns.items()}
        for section in ("input", "attack", "frontier", "collection", "stream", "audit", "tree", "about"):
            if getattr(self, section) is not None:
                object.__setattr__(self, section, validated(getattr(self, section), section))
        for name, tree in sensitive_trees(self.privacy).items():
            if name in columns and columns[name].hierarchy is None:
                columns[name] = structs.replace(columns[name], hierarchy=tree)
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "privacy", privacy_tree(self.privacy))
        object.__setattr__(self, "algorithm", algorithm_tree(self.algorithm))
        for name, column in columns.items():
            column.check(name, self.folder)
        check_shifts(columns, self.input.unit)
        if self.escape_formulas and self.output_format != "csv":
            raise PlanError(
                f"output.escape_formulas is for CSV, and the release is written as {self.output_format}; "
                'leave it out, or set output.format = "csv"'
            )
        catalog().method_of(self).refuse(self)

    def __repr__(self) -> str:
        roles = [str(column.role) for column in self.columns.values()]
        counted = ", ".join(f"{roles.count(role)} {role}" for role in dict.fromkeys(roles))
        return f"Plan({counted}; privacy: {', '.join(self.privacy) or 'none'}; algorithm: {self.algorithm.name})"

    @classmethod
    def of_frame(cls, frame: object, *, quasi: Sequence[str], **options: Any) -> Plan:
        """A plan for a frame in a notebook: see ``described`` in ``pipeline.plan.plan`` for what can be said."""
        return described(frame, quasi=quasi, **options)

    @classmethod
    def load(cls, path: str | Path, overrides: Sequence[str] = ()) -> Plan:
        """Read a TOML file; ``overrides`` are ``key.path=value`` with TOML values."""
        place = Path(path)
        try:
            tree = read_toml(read_text(place))
        except FileNotFoundError:
            raise PlanError(
                f"the plan {place} does not exist; `sfumato profile DATA -o plan.toml` drafts one"
            ) from None
        except OSError as error:
            raise PlanError(f"the plan {place} cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise PlanError(f"the plan {place} cannot be read: {error}") from error
        except ValueError as error:
            raise PlanError(f"the plan {place} is not valid TOML: {error}") from error
        for override in overrides:
            _override(tree, override)
        return cls.parse(tree, folder=place.parent)

    @classmethod
    def parse(cls, tree: Tree, *, folder: Path = Path()) -> Plan:
        """Read a plan from nested tables."""
        file = decoded(_readable(tree), PlanFile)
        if not file.columns and file.collection is None:
            raise PlanError("columns: the plan describes no column; add [columns.NAME] with a role")
        for name, column in file.columns.items():
            column.refuse_strangers(name)
        sections = {name: getattr(file, name) for name in file.__struct_fields__ if name not in ("utility", "output")}
        return cls(**sections, **structs.asdict(file.utility), **structs.asdict(file.output), folder=folder)

    def tables(self) -> dict[str, Any]:
        """The plan as a file has it: ``parse`` of it gives the same plan again."""
        own = {name: getattr(self, name) for name in PlanFile.__struct_fields__ if name not in ("utility", "output")}
        utility = UtilityPlan(metric=self.metric, purpose=self.purpose, learner=self.learner)  # type: ignore[arg-type]
        output = OutputPlan(format=self.format, escape_formulas=self.escape_formulas)
        tree: dict[str, Any] = written(PlanFile(**own, utility=utility, output=output))
        if "algorithm" in tree:
            tree["algorithm"] |= tree["algorithm"].pop(INTERNAL, {})
        for column in tree.get("columns", {}).values():
            if column.pop(INTERNAL, False):
                column["role"] = list(BOTH)
            if INTERNAL in column.get("long", {}):
                column["outside"] = column["long"].pop(INTERNAL)
        return tree

    @property
    def output_format(self) -> Literal["csv", "parquet", "parts"]:
        """The released file's format: as the plan says, or else like the input."""
        ends = Path(self.input.path or "").suffixes
        typed = {".parquet", ".pq"} & set(ends[-1:]) or (self.input.engine and not {".csv", ".tsv"} & set(ends))
        return self.format or ("parquet" if typed else "csv")

    @property
    def itemized(self) -> tuple[str, ...]:
        """The published columns whose cells hold several items; with any, the release is one of sets of items."""
        return tuple(n for n, c in self.columns.items() if c.itemized and c.role is not Role.DROP)

    def public(self) -> dict[str, Any]:
        """The plan as the manifest shows it: without any path."""
        return {
            "input": {
                "missing": list(self.input.missing),
                "on_missing": self.input.on_missing,
                **({} if self.input.unit is None else {"unit": self.input.unit}),
                **({} if self.input.rows_per_unit == 1 else {"rows_per_unit": self.input.rows_per_unit}),
            },
            "columns": {name: column.public() for name, column in self.columns.items()},
            "privacy": _without_files(self.privacy),
            "utility": {
                "metric": self.metric,
                **({} if self.purpose == "one-reading" else {"purpose": self.purpose}),
            },
            "algorithm": {
                "name": self.algorithm.name,
                "max_suppressed": self.algorithm.max_suppressed,
                "suppressed": self.algorithm.suppressed,
                "exempt_suppressed": self.algorithm.exempt_suppressed,
                **{key: value for key, value in self.algorithm.options.items() if key != "secret"},
            },
            "attack": {
                "run": self.attack.run,
                "attacks": list(self.attack.attacks),
                "trials": self.attack.trials,
                "max_risk": self.attack.max_risk,
                "seconds": self.attack.seconds,
                "accept": list(self.attack.accept),
                "earlier": len(self.attack.earlier),
            },
            **({"about": self.about.public()} if self.about.public() else {}),
            **({"output": {"escape_formulas": True}} if self.escape_formulas else {}),
            **({} if self.collection is None else {"collection": self.collection.public()}),
            **({} if self.tree is None else {"tree": self.tree.public()}),
        }


def _readable(tree: Tree) -> Tree:
    """The tables of a plan in the form of their records: options apart, days as texts, hierarchies as tables."""
    columns = tree.get("columns")
    readable: dict[str, Any] = {"algorithm": with_options(tree["algorithm"])} if "algorithm" in tree else {}
    readable |= {"about": dated(tree["about"])} if "about" in tree else {}
    if isinstance(columns, Mapping):
        readable["columns"] = {name: with_trees(column) for name, column in columns.items()}
    return {**tree, **readable}


def with_input(plan: Plan, data: Path) -> Plan:
    """The plan with another data file."""
    return replace(plan, input=structs.replace(plan.input, path=str(data.resolve())))


def _override(tree: dict[str, Any], text: str) -> None:
    """Set one key of the tree from ``key.path=value``."""
    key, mark, value = text.partition("=")
    if not mark or not key.strip():
        raise PlanError(f"--set {text}: must look like privacy.k_anonymity=10")
    try:
        parsed = read_toml(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value
    except ValueError as error:
        raise PlanError(f"--set {key.strip()}: {error}") from None
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


# A plan described in one call, for a notebook: columns by their role, models as objects, hierarchies by their look.


def described(
    frame: object,
    *,
    quasi: Sequence[str],
    models: Any,
    sensitive: Sequence[str] = (),
    target: str | None = None,
    keep: Sequence[str] = (),
    hierarchies: Mapping[str, Any] | None = None,
    algorithm: Any = "auto",
    metric: str = "loss",
    max_suppressed: float = 0.0,
    missing: Sequence[str] = (),
    seed: int | None = None,
    **more: Any,
) -> Plan:
    """The plan for a frame; a quasi-identifier without a hierarchy gets one that fits the look of its values.

    ``models`` are models or a [privacy] table; ``algorithm`` is a name or an algorithm; ``more`` are other sections of
    a plan. Columns that are not named are dropped.
    """
    from sfumato.pipeline.profile.suggestions import DATES, plain_tree, read_off

    table = from_frame(frame, missing=tuple(missing))
    roles = {
        **dict.fromkeys(quasi, Role.QUASI),
        **dict.fromkeys(sensitive, Role.SENSITIVE),
        **dict.fromkeys(keep, Role.KEEP),
        **({} if target is None else {target: Role.TARGET}),
    }
    given = dict(hierarchies or {})
    columns = {}
    for name, role in roles.items():
        if name not in table.names:
            raise unknown_column(name, table.names, where=str(role))
        tree, seen, dated = given.get(name), False, role is Role.QUASI and has_times(table.frame[name])
        if role is Role.QUASI and tree is None:
            tree = DATES if dated else plain_tree(table.column(name))
            seen = read_off(tree)
        columns[name] = ColumnPlan(
            role=role, type="date" if dated else None, hierarchy=tree, domain_from="profile" if seen else "declared"
        )
    how = algorithm_tree(algorithm)
    return Plan(
        input=InputPlan(missing=tuple(missing)),
        columns=columns,
        privacy=models,
        metric=metric,
        algorithm=AlgorithmPlan(name=how.name, options=how.options, max_suppressed=max_suppressed, seed=seed),
        **more,
    )
