"""The stages of a release of swapped rows: check, prepare, search, recode, judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.bundle.published import Published, PublishedColumn
from sfumato.bundle.recoding import one_marker
from sfumato.data.table import Table, plain_cells
from sfumato.describe.roles import Role, Schema
from sfumato.ground.brief import Brief
from sfumato.ground.chance import Chance
from sfumato.ground.errors import ClaimRefuted, PlanError, unknown_column
from sfumato.ground.work import Work
from sfumato.group.keys import Ids, distinct
from sfumato.group.local_table import LocalTable
from sfumato.group.near_unique import NearUnique, asked_size, near_unique_columns
from sfumato.publish.value_swapping import Swapping, SwapProblem, Swaps
from sfumato.verification.checks import Check
from sfumato.verification.swapped_checks import NOT_ANONYMOUS, kept_exactly
from sfumato.verification.verifying import tables_of
from sfumato.workflow.attacking import refuse_attacks
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.catalog.options import configured
from sfumato.workflow.kinds.describing import refuse_nested, schema_of, without_missing
from sfumato.workflow.kinds.kind import Asked, Kind, Searched
from sfumato.workflow.kinds.swapped import SWAPPING
from sfumato.workflow.loading import load_table, marked
from sfumato.workflow.plan.builders import builder
from sfumato.workflow.plan.column_plan import refuse_guarded
from sfumato.workflow.plan.plan import Plan
from sfumato.workflow.released import Release

PUBLISHED = (Role.QUASI, Role.SENSITIVE, Role.TARGET, Role.KEEP)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SwapPrepared(Brief):
    """A table made ready for swapping."""

    source: LocalTable
    """The rows that are used."""
    schema: Schema
    """The roles of every column."""
    problem: SwapProblem
    """What the algorithm is given."""
    dropped_rows: int
    """Rows left out because of missing values."""

    def cells(self, name: str) -> pl.Series:
        """A column as it is published, in the order of the original."""
        cells = plain_cells(self.source.table.frame[name])
        return cells if self.schema.roles[name] is Role.KEEP else one_marker(cells, self.source.missing)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SwappedRelease(Release):
    """Rows with exchanged values; nothing is claimed about them."""

    prepared: SwapPrepared
    """The original."""
    outcome: Swaps
    """Who took whose value."""
    own: Ids
    """Which released row was made from each row of the original."""
    published: Published
    """What a verifier must know to read the rows."""

    @property
    def swapping(self) -> Swapping:
        """What was asked for."""
        return algorithm_of(self.plan)

    @cached_property
    def near_unique(self) -> tuple[NearUnique, ...]:
        """The released columns that nearly single people out."""
        return near_unique_columns(self.rows, self.published.schema.roles, self.published.missing, asked_size(()))

    @property
    def marks(self) -> list[str]:
        """Warnings that belong to the release: first of all, that it is not anonymous."""
        return [NOT_ANONYMOUS, *super().marks, *(one.told for one in self.near_unique)]


def algorithm_of(plan: Plan) -> Swapping:
    """The algorithm with the plan's options."""
    made: Swapping = configured(catalog().algorithms[SWAPPING], plan.algorithm.options, beside=("name", "seed"))
    return made


def check(plan: Plan) -> None:
    """Refuse what swapping cannot do, models first of all."""
    swapping = algorithm_of(plan)
    if plan.privacy:
        raise PlanError(
            f"privacy.{next(iter(plan.privacy))}: swapping meets no privacy model; leave [privacy] out, or use another "
            "algorithm"
        )
    refuse_guarded(plan.columns, "a release of swapped rows")
    for name in (*swapping.columns, *swapping.within):
        if name not in plan.columns or plan.columns[name].role not in PUBLISHED:
            where = "algorithm.columns" if name in swapping.columns else "algorithm.within"
            raise PlanError(f"{where}: {name!r} is not published; give it a role in [columns]")
    algorithm = plan.algorithm
    if algorithm.max_suppressed or algorithm.suppressed != "remove" or algorithm.exempt_suppressed:
        raise PlanError("algorithm.max_suppressed: swapping leaves no row out; remove the key")
    if plan.input.unit is not None or plan.input.population is not None:
        raise PlanError("input: swapping knows neither a unit nor a population; remove the key")
    if plan.itemized:
        raise PlanError(f"columns.{plan.itemized[0]}.type: paths and sets cannot be swapped; use text, or drop it")
    if plan.attack.control is not None or plan.attack.earlier:
        raise PlanError("attack: the attack on swapped rows has no control run and no earlier bundles; remove the key")
    refuse_attacks(plan.attack.attacks, "swapped")
    refuse_attacks(plan.attack.accept, "swapped", key="accept")


def read(asked: Asked) -> Table:
    """The table."""
    return marked(load_table(asked.plan, asked.like, asked.plan.input.path), asked.plan)


def prepare(asked: Asked, table: Table) -> SwapPrepared:
    """Describe the columns, and number the groups of similar rows."""
    plan, source = asked.plan, LocalTable(table)
    schema = schema_of(plan, source.names, open_columns=source.names)
    refuse_nested(plan, source, schema)
    source, dropped = without_missing(plan, source, schema)
    problem = SwapProblem(
        quasi=schema.quasi, published=schema.named(*PUBLISHED), similar=_similar(plan, source, algorithm_of(plan))
    )
    return SwapPrepared(source=source, schema=schema, problem=problem, dropped_rows=dropped)


def _similar(plan: Plan, source: LocalTable, swapping: Swapping) -> Ids:
    """The group of each row: rows that agree in the columns of ``within``, each on its level."""
    codes, sizes = [], []
    for name, level in swapping.within.items():
        if name not in source.names:
            raise unknown_column(name, source.names, where="algorithm.within")
        domain = source.domain(name, plan.columns[name].type)  # type: ignore[arg-type]
        found = source.coded(domain).codes
        if level:
            tree = plan.columns[name].hierarchy
            if tree is None:
                raise PlanError(f"columns.{name}.hierarchy is missing; algorithm.within asks for its level {level}")
            levels = builder(tree, f"columns.{name}.hierarchy", plan.folder).build(domain).levels
            if level >= len(levels):
                raise PlanError(
                    f"algorithm.within.{name}: the hierarchy has levels 0 to {len(levels) - 1}, not {level}"
                )
            found = levels[level].parent[found]
        codes.append(found.astype(np.int32))
        sizes.append(int(found.max(initial=0)) + 1)
    return distinct(codes, sizes, source.rows)[0] if codes else np.zeros(source.rows, np.int64)


def search(asked: Asked, prepared: SwapPrepared, work: Work) -> Searched:
    """Draw who exchanges values with whom."""
    inner = work.within(None)
    inner.chance = Chance(seed=asked.plan.algorithm.seed)
    outcome = algorithm_of(asked.plan)(prepared.problem, inner)
    return Searched(prepared=prepared, outcome=outcome, algorithm=SWAPPING, why="Named in the plan.")


def recode(asked: Asked, found: Searched) -> tuple[pl.DataFrame, NDArray[np.int64]]:
    """The released rows in random order, and which of them was made from each row of the original."""
    shown = swapped_rows(found.prepared, found.outcome, asked.keys)
    order = Chance(seed=asked.plan.algorithm.seed).generator().permutation(shown.height)
    return shown[order], np.argsort(order)


def swapped_rows(prepared: SwapPrepared, outcome: Swaps, keys: Mapping[str, Any]) -> pl.DataFrame:
    """Every row with the values that it took, in the order of the original."""
    columns = []
    for name, role in prepared.schema.roles.items():
        if role in PUBLISHED:
            cells = prepared.cells(name)
            columns.append(cells.gather(outcome.sources[name]) if name in outcome.sources else cells)
        elif role is Role.IDENTIFIER and name in keys:
            columns.append(keys[name].replace(prepared.source.table.frame[name]))
    return pl.DataFrame(columns)


def judge(kind: Kind, asked: Asked, found: Searched, recoded: tuple[pl.DataFrame, NDArray[np.int64]]) -> SwappedRelease:
    """Claim nothing; but rows with values that the original does not have are refused."""
    prepared, (rows, own) = found.prepared, recoded
    names = [name for name in rows.columns if prepared.schema.roles[name] in PUBLISHED]
    before = _texts(pl.DataFrame([prepared.cells(name) for name in names]))
    in_order = _texts(rows[own].select(names))
    groups = pl.Series(prepared.problem.similar)
    for one in kept_exactly(before, in_order, list(found.outcome.sources), groups):
        if not one.holds:
            raise ClaimRefuted(f"{found.algorithm} gave rows with other {one.what}; nothing was written")
    return SwappedRelease(
        kind=kind,
        plan=asked.plan,
        prepared=prepared,
        outcome=found.outcome,
        own=own,
        rows=rows,
        published=_published(asked.plan, prepared, rows),
        claims=(),
        utility=_changed(before, in_order, list(found.outcome.sources)),
        algorithm=found.algorithm,
        why=found.why,
        like=asked.like,
    )


def _texts(frame: pl.DataFrame) -> pl.DataFrame:
    """Cells that can be compared; lists and bytes stay as they are."""
    plain = [name for name, dtype in frame.schema.items() if not dtype.is_nested() and dtype != pl.Binary]
    return frame.with_columns(pl.col(plain).cast(pl.String))


def _changed(before: pl.DataFrame, after: pl.DataFrame, swapped: list[str]) -> dict[str, float]:
    """For the steward: the share of rows that show another value than their own, by column."""
    differ = {name: before[name].ne_missing(after[name]) for name in swapped}
    return {f"changed {name}": float(cells.mean() or 0.0) for name, cells in differ.items()}  # type: ignore[arg-type]


def _published(plan: Plan, prepared: SwapPrepared, rows: pl.DataFrame) -> Published:
    missing = prepared.source.missing

    def kind(name: str) -> Any:
        if prepared.schema.roles[name] not in (Role.SENSITIVE, Role.TARGET):
            return "text"
        return plan.columns[name].type or Table(frame=rows.select(name), missing=missing).column(name).kind

    return Published(
        columns=tuple(
            PublishedColumn(name=name, role=prepared.schema.roles[name], kind=kind(name)) for name in rows.columns
        ),
        rows=rows.height,
        missing=missing,
    )


def again(folder: Path, manifest: Mapping[str, Any], plan: Plan, original: object, work: Work) -> Iterable[Check]:
    """What the steward finds beside the original: the same values in every column, and the rest unchanged.

    Partners are drawn anew whenever a release is made, so rows are not compared one by one.
    """
    asked = Asked(plan=plan, keys={}, like=original)
    prepared = prepare(asked, read(asked))
    table = tables_of(folder, manifest)["data"].frame
    names = [name for name in table.columns if prepared.schema.roles[name] in PUBLISHED]
    mark = next(iter(prepared.source.missing), "")
    frames = pl.DataFrame([prepared.cells(name) for name in names]), table.select(names)
    before, after = (_texts(frame).with_columns(pl.col(pl.String).fill_null(mark)) for frame in frames)
    yield from kept_exactly(before, after, [str(name) for name in manifest["recoding"]["columns"]])
