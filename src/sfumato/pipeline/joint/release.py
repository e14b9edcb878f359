"""A joint release: its plan, each party's rows over declared domains, and the judged result."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import floor
from typing import Any, Self, cast

import numpy as np
import polars as pl

from sfumato.algorithms.problem import Outcome, Problem
from sfumato.algorithms.problem import Recoded as RecodedCells
from sfumato.algorithms.top_down import TopDown
from sfumato.algorithms.top_down.columns import Score
from sfumato.bundles.checks.consistency import NAMED
from sfumato.core.errors import DataError, ParameterError, PlanError, SessionError, SfumatoError, listed, unknown_column
from sfumato.core.run_context import Work
from sfumato.counts.added_sources import AddedSources
from sfumato.counts.local_cuts import JointCells
from sfumato.counts.local_table import LocalTable
from sfumato.parties.protocols import JointResult, refuse_strange
from sfumato.parties.releases.integrated_rows import IntegratedRows, Shown
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.methods import method_of
from sfumato.pipeline.methods.method import Request, SearchResult
from sfumato.pipeline.methods.table import stages
from sfumato.pipeline.methods.table.method import METHOD
from sfumato.pipeline.methods.table.plan import algorithm_of
from sfumato.pipeline.methods.table.problem import Prepared, prepare
from sfumato.pipeline.methods.table.release import TableRelease
from sfumato.pipeline.methods.table.stages import RecodedTable, judge, recoding_of
from sfumato.pipeline.plan.columns import ColumnPlan
from sfumato.pipeline.plan.hierarchies import builder
from sfumato.pipeline.plan.plan import Plan
from sfumato.tables.schema import Categories, Numbers, ObservedDomain, Role, widened
from sfumato.tables.table import Codes, Kind, Table, as_text

# A party's rows over declared domains: every party has the same columns with the same codes, whatever it holds.


MOST_VALUES = 100_000
"""No column has more declared values."""
_SLACK = 1e-9
"""Room for rounding on a grid, in steps."""


@dataclass(slots=True, eq=False, repr=False)
class DeclaredTable(LocalTable):
    """Rows whose columns have every declared value, also those that no row has."""

    domains: Mapping[str, ObservedDomain] = field(default_factory=dict)
    """The declared values of each column that is released; none of them counted."""

    def domain(self, name: str, kind: Kind | None = None) -> ObservedDomain:
        """The declared values, with the counts of these rows."""
        own = ObservedDomain.of(self.column(name, self.domains[name].kind))
        return widened(own, self.domains[name])

    def complete(self, names: Sequence[str]) -> Self:
        """The rows that have a value in each of these columns."""
        kept = LocalTable(self.table).complete(names)
        return type(self)(kept.table, domains=self.domains)


def declared_domains(plan: Plan) -> dict[str, ObservedDomain]:
    """Every declared value of each column that is released, or a refusal that names the key."""
    released = (Role.QUASI, Role.SENSITIVE, Role.TARGET)
    return {name: _domain(plan, name, column) for name, column in plan.columns.items() if column.role in released}


def declared_rows(plan: Plan, table: Table, domains: Mapping[str, ObservedDomain]) -> DeclaredTable:
    """A table over declared domains; a value outside, a missing one, and no row at all are refused."""
    missing = plan.input.missing or table.missing
    columns = []
    for name, domain in domains.items():
        if name not in table.names:
            raise unknown_column(name, table.names, where=f"parameters.columns.{name}")
        read = replace(table, missing=missing)
        columns.append(_placed(read, domain, drops=plan.input.on_missing == "drop"))
    kept = Table(frame=pl.DataFrame(columns), source=table.source, missing=tuple(missing))
    return DeclaredTable(kept, domains=domains)


def _domain(plan: Plan, name: str, column: ColumnPlan) -> ObservedDomain:
    where = f"columns.{name}"
    if column.hierarchy is None or column.values:
        if not column.values:
            raise PlanError(f"{where}.values is missing; declare every value that a row of any party can have")
        return _listed(name, column.values, column.type)
    hierarchy_builder = builder(column.hierarchy, f"{where}.hierarchy", plan.folder)
    declared = hierarchy_builder.declared()
    if isinstance(declared, Categories):
        return _listed(name, declared.values, column.type)
    if isinstance(declared, Numbers):
        grid = float(column.hierarchy.get("grid", 1.0))
        return _grid(name, declared, grid)
    raise PlanError(
        f"{where}.hierarchy declares no domain, so parties would have to tell which values they have; use a tree, "
        "groups, grown or intervals with low and high, or flat beside values"
    )


def _listed(name: str, values: Sequence[str], kind: str | None) -> ObservedDomain:
    texts = pl.DataFrame({name: list(values)}, schema={name: pl.String})
    domain = ObservedDomain.of(Table(frame=texts).column(name, cast("Any", kind)))
    return replace(domain, counts=np.zeros(len(domain.values), np.int64))


def _grid(name: str, declared: Numbers, grid: float) -> ObservedDomain:
    many = floor((declared.high - declared.low) / grid + _SLACK) + 1
    if many > MOST_VALUES:
        raise PlanError(f"columns.{name}.hierarchy.grid has {many:,} values; a wider grid than {grid:g} would do")
    points = declared.low + np.arange(many) * grid
    texts = [_written(point) for point in points.tolist()]
    whole = all(point.is_integer() for point in points.tolist())
    return ObservedDomain(
        column=name,
        kind="integer" if whole else "real",
        values=tuple(texts),
        counts=np.zeros(many, np.int64),
        numbers=np.array([float(text) for text in texts]),
    )


def _written(point: float) -> str:
    return str(int(point)) if point.is_integer() else f"{point:.12g}"


def _placed(table: Table, domain: ObservedDomain, *, drops: bool) -> pl.Series:
    """The cells of a column, each as its declared value is written."""
    name, where = domain.column, f"{table.source}, column {domain.column!r}"
    absent = table.is_missing(name)
    if absent.any() and not drops:
        raise DataError(
            f"{where}: {int(absent.sum()):,} rows have no value; declare a value for them, or say "
            'input.on_missing = "drop", so that every party leaves such rows out'
        )
    texts = as_text(table.require(name)).set(absent, None)
    if domain.numbers is not None:
        return _numbers(texts, domain, where)
    strange = texts.filter(~texts.is_in(list(domain.values)) & texts.is_not_null())
    if len(strange):
        raise DataError(f"{where}: {listed(strange.unique().sort().to_list(), most=3)} is not a declared value")
    return texts


def _numbers(texts: pl.Series, domain: ObservedDomain, where: str) -> pl.Series:
    numbers = texts.str.strip_chars().cast(pl.Float64, strict=False)
    bad = texts.filter(numbers.is_null() & texts.is_not_null())
    if len(bad):
        raise DataError(f"{where}: {listed(bad.unique().sort().to_list(), most=3)} is no number")
    points = cast("Any", domain.numbers)
    step = points[1] - points[0] if len(points) > 1 else 1.0
    given = numbers.fill_null(float(points[0])).to_numpy()
    codes = np.clip(np.rint((given - points[0]) / step), 0, len(points) - 1).astype(np.int64)
    off = np.abs(given - points[codes]) > _SLACK * step * 10
    if off.any():
        value = float(given[np.flatnonzero(off)[0]])
        raise DataError(
            f"{where}: {value:g} is not on the declared grid from {points[0]:g} to {points[-1]:g} in steps of {step:g}"
        )
    placed = pl.Series(texts.name, list(domain.values), dtype=pl.String).gather(codes)
    return placed.set(texts.is_null(), None)


# What parties agree on before they make a release together: a plan in which nothing is read off anybody's rows.


KEYS = ("input", "columns", "privacy", "utility", "algorithm", "attack", "output")
"""What the parameters may say, as in a plan."""
_INPUT = ("missing", "on_missing")
_ALGORITHM = ("name", "score", "splits", "steps")
_ATTACK = ("run", "attacks", "trials", "max_risk", "seconds", "accept")
_OUTPUT = ("format", "escape_formulas")
_RELEASED = (Role.QUASI, Role.SENSITIVE, Role.TARGET)
FROM_RELEASE = (
    "linkage", "lkc-adversary", "homogeneity", "background", "skewness", "similarity", "proximity", "protected-values",
    "minimality", "definetti", "foreground",
)  # fmt: skip
"""Attacks by somebody who sees a person's values only through the labels of the release: they need no original."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleaseAsked:
    """The plan of a joint release, understood."""

    plan: Plan
    """The plan; its domains are declared."""
    domains: Mapping[str, ObservedDomain]
    """Every declared value of each released column."""
    search: TopDown
    """Top-down specialization with the plan's options."""
    score: Score
    """By which labels are chosen."""
    problem: Problem
    """Columns, hierarchies and models, without any row."""
    watched: tuple[str, ...]
    """The columns whose values are counted in groups while it is searched: those that models watch."""

    @property
    def quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers, in the order in which they are searched."""
        return self.columns(Role.QUASI)

    @property
    def beside(self) -> tuple[str, ...]:
        """The columns that are released as they are."""
        return self.columns(Role.SENSITIVE, Role.TARGET)

    @property
    def target(self) -> str | None:
        """The class column, if there is one."""
        return next(iter(self.columns(Role.TARGET)), None)

    def columns(self, *roles: Role) -> tuple[str, ...]:
        """The columns of some roles."""
        return tuple(name for name, column in self.plan.columns.items() if column.role in roles)


def read_release(tree: Mapping[str, Any], *, other_keys: Sequence[str] = ()) -> ReleaseAsked:
    """The plan that the parameters of a session describe; ``other_keys`` are keys that the protocol reads itself."""
    refuse_strange(tree, (*KEYS, *other_keys))
    for key, known in (("input", _INPUT), ("algorithm", _ALGORITHM), ("attack", _ATTACK), ("output", _OUTPUT)):
        if isinstance(tree.get(key), Mapping):
            refuse_strange(tree[key], known, f"parameters.{key}")
    try:
        plan = Plan.parse(_as_plan(tree))
        _refuse_plan(plan)
        return _understood(plan)
    except SfumatoError as error:
        raise ParameterError(f"parameters.{error}") from None


def _as_plan(tree: Mapping[str, Any]) -> dict[str, Any]:
    """The plan's own keys: units are agreed on in words, and the search is named."""
    plan_tree = {key: tree[key] for key in KEYS if key in tree}
    columns = plan_tree.get("columns")
    if isinstance(columns, Mapping):
        plan_tree["columns"] = {
            name: {key: value for key, value in column.items() if key != "unit"}
            if isinstance(column, Mapping)
            else column
            for name, column in columns.items()
        }
    if isinstance(plan_tree.get("algorithm", {}), Mapping):
        plan_tree["algorithm"] = {"name": "top-down", **plan_tree.get("algorithm", {})}
    if isinstance(plan_tree.get("attack", {}), Mapping) and "attacks" not in plan_tree.get("attack", {}):
        plan_tree["attack"] = {**plan_tree.get("attack", {}), "attacks": _quick()}
    return plan_tree


def _quick() -> list[str]:
    return [part.name for part in catalog().built_in.all_attacks if part.always("table") and part.name in FROM_RELEASE]


def _refuse_plan(plan: Plan) -> None:
    if method_of(plan).name != "table":
        raise ParameterError(f"privacy: parties make releases of tables together, not of kind {method_of(plan).name}")
    if plan.algorithm.name != "top-down":
        raise ParameterError(f"algorithm.name must be top-down, not {plan.algorithm.name!r}: it asks for counts only")
    if not plan.privacy:
        raise ParameterError("privacy must ask for a model, such as k_anonymity = 5")
    for name, column in plan.columns.items():
        if column.role not in _RELEASED:
            raise ParameterError(
                f"columns.{name}.role: {str(column.role)!r} is nothing that parties can count together; name only "
                f"columns that are released, as one of {listed([str(role) for role in _RELEASED])}"
            )
        if column.base:
            raise ParameterError(f"columns.{name}.base: parties count the values that the session file declares")
        if column.hierarchy is not None and "file" in column.hierarchy:
            raise ParameterError(
                f"columns.{name}.hierarchy.file: parties agree on what the session file says; write the tree there"
            )
    strange = [name for name in plan.attack.attacks if name not in FROM_RELEASE]
    if strange:
        raise ParameterError(
            f"attack.attacks: {listed(strange)} needs the original, which nobody holds; possible are "
            f"{listed(FROM_RELEASE, most=20)}"
        )


def _understood(plan: Plan) -> ReleaseAsked:
    """Whatever would be refused of every table is refused here, on rows that nobody has."""
    domains = declared_domains(plan)
    first = Table(
        frame=pl.DataFrame({name: [domain.values[0]] for name, domain in domains.items()}),
        source="a made-up row",
        missing=plan.input.missing,
    )
    trial = prepare(plan, declared_rows(plan, first, domains), None, catalog())
    search: TopDown = algorithm_of(plan, "top-down", catalog())[1]
    score = search.check(trial.problem, AddedSources(sources=(JointCells(cells=trial.problem.cells),)))
    watched = {name for model in trial.models for name in model.columns}
    if trial.problem.target is not None and "target" in trial.problem.metric.needs:
        watched.add(trial.problem.target)
    return ReleaseAsked(
        plan=plan,
        domains=domains,
        search=search,
        score=score,
        problem=replace(trial.problem, cells=trial.problem.cells.take(np.zeros(trial.problem.cells.count, np.bool_))),
        watched=tuple(name for name in domains if name in watched),
    )


def own_rows(request: ReleaseAsked, table: Table) -> Prepared:
    """A party's own rows, counted by the declared codes; an empty table is refused.

    Of three parties one of which has no rows, each of the others would learn the other's counts from the sums.
    """
    return prepare(request.plan, declared_rows(request.plan, table, request.domains), None, catalog())


# From the rows of all parties to a release that is judged and attacked, the same at every party.
#
# Nobody holds the original. A cut shows equal values alike, so whoever knows a person's values sees only the label of
# each: everybody behind the release is stood in for by somebody with the same labels. So attacks by quasi-identifiers
# work on them exactly as on the people themselves.


SHOWN = 40
"""So many of the released rows are shown to people."""


def shown_columns(request: ReleaseAsked, outcome: Outcome) -> list[Shown]:
    """What every released column reads as: quasi-identifiers by the cut, the others as they are."""
    quasi = [Shown(of_code=cut.of_code, labels=cut.labels) for cut in outcome.cut or ()]
    values = [request.domains[name].values for name in request.beside]
    return [
        *quasi,
        *(
            Shown(of_code=np.arange(len(column_values), dtype=np.int32), labels=column_values)
            for column_values in values
        ),
    ]


def joint_release(
    request: ReleaseAsked, outcome: Outcome, integrated_rows: IntegratedRows, session: bytes
) -> JointResult:
    """The integrated rows as a release; models that do not hold, or an attack that refutes one, end the session."""
    names, recodings = (*request.quasi, *request.beside), shown_columns(request, outcome)
    codes = dict(zip(names, integrated_rows.shuffled(session), strict=True))
    labels = {name: recoding.labels for name, recoding in zip(names, recodings, strict=True)}
    order = list(request.plan.columns)
    rows = pl.DataFrame([_cells(name, labels[name], codes[name]) for name in order])
    release = _judged(request, outcome, rows, _stand_ins(request, recodings, codes))
    release = replace(release, audit=stages.attack_release(release, Work()))
    text = rows.write_csv()
    document = {"columns": order, "rows": rows.height, "sha256": hashlib.sha256(text.encode()).hexdigest()}
    return JointResult(document=document, columns=tuple(order), rows=rows.head(SHOWN).rows(), release=release)


def _cells(name: str, labels: tuple[str, ...], codes: Codes) -> pl.Series:
    return pl.Series(name, list(labels), dtype=pl.String).gather(codes)


def _stand_ins(request: ReleaseAsked, recodings: list[Shown], codes: dict[str, Codes]) -> Table:
    """For every released row somebody whose values have its labels: the first declared value of each."""
    columns = []
    for (name, rows), recoding in zip(codes.items(), recodings, strict=True):
        values = request.domains[name].values
        first = np.array([int(np.argmax(recoding.of_code == label)) for label in range(len(recoding.labels))], np.int64)
        columns.append(pl.Series(name, list(values), dtype=pl.String).gather(first[rows]))
    return Table(frame=pl.DataFrame(columns), source="the integrated rows", missing=request.plan.input.missing)


def _judged(request: ReleaseAsked, outcome: Outcome, rows: pl.DataFrame, people: Table) -> TableRelease:
    """Judge the rows in the same way as a verifier would; a claim that does not hold is refused."""
    prepared = own_rows(request, people)
    if outcome.cut is None:
        raise SessionError("the search gave no cut")
    placed = replace(
        outcome,
        recoded=RecodedCells.under(prepared.problem, outcome.cut),
        suppressed=np.zeros(prepared.problem.cells.count, np.bool_),
    )
    planned = Request(plan=request.plan, keys={})
    result = SearchResult(prepared=prepared, outcome=placed, algorithm="top-down", why=NAMED)
    recoding = recoding_of(planned, prepared, placed)
    release = judge(METHOD, planned, result, RecodedTable(recoding=recoding, rows=rows, sensitive=None))
    return replace(release, utility=release.public_utility)
