"""Rows over declared or privately discovered domains, and noisy counts turned into rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import floor, log10
from typing import Any

import numpy as np
import polars as pl
from msgspec import structs
from numpy.typing import NDArray

from sfumato.algorithms.private_table import Attribute, NoisyTable, PrivateTable, grid_cells
from sfumato.bundles.checks.mechanisms import FOUND
from sfumato.bundles.columns import count_column
from sfumato.core.errors import DataError, ParameterError, PlanError, listed, unknown_column
from sfumato.core.records import SHORT
from sfumato.counts.local_cuts import CodedColumn, CodedRows
from sfumato.counts.tally import Counts
from sfumato.dp.events import Approximate, Event
from sfumato.dp.noise import chosen_keys, counted
from sfumato.pipeline.inputs import bounded
from sfumato.pipeline.methods.private.plan import searches
from sfumato.pipeline.plan.columns import OTHER, ColumnPlan
from sfumato.pipeline.plan.hierarchies import Builder, builder
from sfumato.pipeline.plan.plan import Plan
from sfumato.queries.groups import codes_in, numbers_in, present, readable, texts_in
from sfumato.tables.hierarchy import Hierarchy
from sfumato.tables.hierarchy_builders import Grown, Intervals
from sfumato.tables.hierarchy_files import Paths
from sfumato.tables.labels import Ends
from sfumato.tables.schema import Categories, Numbers, ObservedDomain, Role
from sfumato.tables.table import Codes, Table
from sfumato.tables.taxonomy import TOP, halved

# Where the values of a column lie in its declared domain; every value has a place, or its record is left out.
#
# Whether a release appears must not depend on one record, so nothing is refused for a cell unless the plan says
# ``outside = "refuse"``. What becomes of a record depends on the record alone: one more record is at most one more
# row.


MOST_CELLS = 1_000_000
"""More cells than this have no use: no count of them would be above its noise."""
Rows = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Placed:
    """A declared domain, and every row's place in it."""

    attribute: Attribute
    """The domain."""
    rows: CodedColumn
    """The places; that of a row that is left out means nothing."""
    kept: Rows
    """Which rows have a place."""
    moved: int = 0
    """How many cells were clamped, became ``other`` or, of sets, were left out: private."""


def classes_of(table: Table, name: str, values: tuple[str, ...], column: ColumnPlan) -> tuple[Codes, Rows, int]:
    """The class of every row, which rows have one, and how many were told as another one."""
    return _texts(table, name, _cells(table, name), values, column)


def leaf_of(table: Table, name: str, hierarchy: Hierarchy, column: ColumnPlan, missing: str | None) -> Placed:
    """Every row's leaf; a declared missing marker is one even if it never occurs."""
    values = hierarchy.levels[0].labels
    cells = _cells(table, name)
    absent = None if missing is None else np.asarray(table.is_missing(name).to_numpy(), np.bool_)
    codes, kept, moved = _texts(table, name, cells, values, column, absent)
    if missing is not None and absent is not None:
        codes = np.where(absent, values.index(missing), codes).astype(np.int32)
    attribute = Attribute(name=name, kind="tree", values=values, tree=hierarchy.tree())
    return Placed(attribute=attribute, rows=CodedColumn(codes=codes, size=len(values)), kept=kept, moved=moved)


def number_of(table: Table, name: str, declared: Numbers, column: ColumnPlan) -> Placed:
    """Every row's cell of the grid: beyond an end it is the last one there, and a row without a number has none."""
    grid = declared.grid or 1.0
    cells = grid_cells(declared.low, declared.high, grid)
    if cells > MOST_CELLS:
        at = f"columns.{name}.hierarchy"
        raise PlanError(f"{at}: a grid of {grid:g} has {cells:,} cells; at most {MOST_CELLS:,} can be told apart")
    _cells(table, name)
    numbers = numbers_in(present(table, name))
    absent = np.isnan(numbers)
    beyond = ~absent & ~((numbers >= declared.low) & (numbers <= declared.high))
    if column.outside == "refuse" and (absent | beyond).any():
        raise DataError(
            f"{table.source}, column {name!r}: {int((absent | beyond).sum())} cells lie outside the declared range "
            f"{declared.low:g} to {declared.high:g}, or are missing; widen the range, clean the table first, or leave "
            'outside = "refuse" out'
        )
    within = np.clip(np.nan_to_num(numbers, nan=declared.low), declared.low, declared.high)
    codes = np.minimum(((within - declared.low) / grid).astype(np.int64), cells - 1).astype(np.int32)
    ends = Ends(low=declared.low, high=declared.high, low_known=True, high_known=True)
    bounds = [min(declared.low + place * grid, declared.high) for place in range(cells)] + [declared.high]
    labels = [ends.named((a, b), first=not n, last=n == cells - 1) for n, (a, b) in enumerate(pairwise(bounds))]
    attribute = Attribute(
        name=name, kind="number", values=tuple(labels), low=declared.low, high=declared.high, grid=grid
    )
    dropped = absent | beyond if column.outside == "drop" else absent
    moved = 0 if column.outside == "drop" else int(beyond.sum())
    return Placed(attribute=attribute, rows=CodedColumn(codes=codes, size=cells), kept=~dropped, moved=moved)


def set_of(table: Table, name: str, hierarchy: Hierarchy, column: ColumnPlan) -> Placed:
    """Every row's items; a row without items has an empty set, and items that are not declared are left out of it."""
    cells = table.frame[name]
    lists = cells if cells.dtype == pl.List else cells.cast(pl.String).str.split(column.separator)
    pairs = pl.DataFrame([pl.Series("row", np.arange(table.rows)), lists.alias("item")]).explode("item")
    pairs = pairs.with_columns(pl.col("item").cast(pl.String).str.strip_chars())
    pairs = pairs.filter(pl.col("item").is_not_null() & (pl.col("item") != ""))
    values = hierarchy.levels[0].labels
    codes, kept, moved = _texts(table, name, pairs["item"], values, column)
    known = pl.DataFrame([pairs["row"], pl.Series("code", codes)]).filter(pl.Series(kept)).unique(maintain_order=True)
    lengths = np.bincount(known["row"].to_numpy(), minlength=table.rows)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    attribute = Attribute(name=name, kind="set", values=values, tree=hierarchy.tree())
    rows = CodedColumn(codes=known["code"].to_numpy().astype(np.int32), size=len(values), starts=starts)
    left_out = len(kept) - int(kept.sum())
    return Placed(attribute=attribute, rows=rows, kept=np.ones(table.rows, np.bool_), moved=moved + left_out)


def _cells(table: Table, name: str) -> pl.Series:
    """The cells of a column; a type that cannot be read is refused: types are public."""
    cells = table.frame[name]
    if not readable(cells.dtype):
        raise DataError(
            f"{table.source}, column {name!r}: cells of type {cells.dtype} are not supported; turn them into texts, "
            "numbers or dates, or leave the column out"
        )
    return cells


def _texts(
    table: Table, name: str, cells: pl.Series, values: tuple[str, ...], column: ColumnPlan, absent: Rows | None = None
) -> tuple[Codes, Rows, int]:
    """The code of every text, which rows have one, and how many became ``other``; ``absent`` ones are not strange."""
    domain = Categories(values=values)
    raw_codes = codes_in(domain, cells)
    if cells.dtype != pl.String:
        raw_codes = np.where(raw_codes < 0, codes_in(domain, cells.cast(pl.String)), raw_codes)
    strange = (raw_codes < 0) if absent is None else (raw_codes < 0) & ~absent
    if column.outside == "refuse" and strange.any():
        some = cells.filter(pl.Series(strange)).cast(pl.String).unique(maintain_order=True).to_list()[:5]
        raise DataError(
            f"{table.source}, column {name!r}: {int(strange.sum())} cells are outside the declared domain: "
            f"{listed([str(value) for value in some])}; declare these values, clean the table first, or leave "
            'outside = "refuse" out'
        )
    rest = -1 if column.other is None else values.index(column.other)
    codes = np.where(strange, rest, raw_codes)
    kept = np.ones(len(codes), np.bool_) if column.other is not None else ~strange
    return np.maximum(codes, 0).astype(np.int32), kept, int(strange.sum()) if column.other is not None else 0


def left_out(placed: Mapping[str, tuple[Rows, int]], rows: int) -> tuple[str, ...]:
    """For the steward alone: what lies outside the domains. It is read off the rows and must not be published."""
    notes = []
    for name, (kept, moved) in placed.items():
        without = rows - int(kept.sum())
        if without:
            notes.append(f"{name}: {without:,} of {rows:,} records have no value in its domain and are left out")
        if moved:
            notes.append(f"{name}: {moved:,} cells lie outside its domain and count as its end, as other, or not")
    return tuple(f"{note} (for you alone: this is read off the rows)" for note in notes)


# Rows over declared domains: what a differentially private algorithm may be given.
#
# Domains come from the plan and never from the table: labels that only occur because somebody has them would tell of
# that person. Only the kind ``observed`` reads them off the rows, and claims nothing.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ready:
    """A table over declared domains, and what finding the domains cost."""

    table: PrivateTable
    """What an algorithm is given."""
    notes: tuple[str, ...] = ()
    """What the steward should know, and nobody else."""
    found: tuple[Event, ...] = ()
    """What was paid for domains that were looked for."""


def declared_table(plan: Plan, table: Table) -> PrivateTable:
    """The plan's quasi-identifiers as predictors and its target as the class."""
    return declared(plan, table).table


def declared(plan: Plan, table: Table, times: Counts | None = None) -> Ready:
    """The table over the plan's domains; a record with a value outside is clamped, told as other or left out.

    ``times`` says how often each row is there, where an engine counted equal ones together.
    """
    observed = plan.privacy.get("domains") == "observed"
    for name, column in plan.columns.items():
        if times is None and name not in table.names:
            raise unknown_column(name, table.names, where=f"columns.{name}")
        if column.role in (Role.SENSITIVE, Role.KEEP):
            raise PlanError(
                f"columns.{name}.role: {str(column.role)!r} would publish the column unchanged, which no epsilon "
                "covers; make it 'quasi' (with a declared domain) or 'drop'"
            )
    quasi = [(name, column) for name, column in plan.columns.items() if column.role is Role.QUASI]
    if not quasi:
        raise PlanError("columns: no column has role = 'quasi'; name those that are to be published")
    target = next((name for name, column in plan.columns.items() if column.role is Role.TARGET), None)
    classes, codes, outside = _classes(plan, table, target, observed=observed)
    placements = [_attribute(plan, table, name, column, observed=observed) for name, column in quasi]
    outside |= {placement.attribute.name: (placement.kept, placement.moved) for placement in placements}
    if plan.input.on_missing == "drop":
        outside |= {name: (kept & ~_absent(table, name), moved) for name, (kept, moved) in outside.items()}
    private_table = PrivateTable(
        attributes=tuple(placement.attribute for placement in placements),
        classes=classes,
        counts=CodedRows(
            columns=tuple(placement.rows for placement in placements), counted={target or "": codes}, times=times
        ),
        target_name=target,
    )
    notes = left_out(outside, table.rows) if times is None else ()
    return Ready(table=_kept(private_table, [kept for kept, _ in outside.values()]), notes=notes)


def _kept(table: PrivateTable, kept: list[Rows]) -> PrivateTable:
    """The table without the records that have no place in some domain."""
    rows = np.logical_and.reduce(kept)
    if rows.all() or not isinstance(table.counts, CodedRows):
        return table
    return replace(table, counts=table.counts.take(np.flatnonzero(rows)))


def _absent(table: Table, name: str) -> Rows:
    missing: Rows = table.is_missing(name).to_numpy()
    return missing


def _classes(
    plan: Plan, table: Table, target: str | None, *, observed: bool
) -> tuple[tuple[str, ...], Codes, dict[str, tuple[Rows, int]]]:
    if target is None:
        return ("all",), np.zeros(table.rows, np.int32), {}
    column = plan.columns[target]
    if not column.values and not observed:
        raise PlanError(f"columns.{target}.values is missing; declare every class that a record can have")
    names = column.values or tuple(sorted(texts_in(table.frame[target]).drop_nulls().unique().to_list()))
    if column.other is not None:
        names = tuple(dict.fromkeys((*names, column.other)))
    codes, kept, moved = classes_of(table, target, names or ("all",), column)
    return names or ("all",), codes, {target: (kept, moved)}


def made_of(plan: Plan, name: str, column: ColumnPlan) -> Builder:
    """The builder of a column's hierarchy: the one that the plan describes, or its values side by side; with other."""
    tree: Mapping[str, Any] = column.hierarchy or ({"kind": "flat"} if not column.values else {})
    path = f"columns.{name}.hierarchy"
    hierarchy_builder: Builder = (
        Paths(paths=dict.fromkeys(column.values, ()))
        if column.values and not tree
        else builder(tree, path, plan.folder)
    )
    declared_domain = hierarchy_builder.declared()
    if column.other is None or not isinstance(declared_domain, Categories) or column.other in declared_domain.values:
        return hierarchy_builder
    if column.other in {label for labels in declared_domain.paths.values() for label in labels}:
        raise PlanError(f"columns.{name}.other: {column.other!r} is a group of the tree; take a value, or a new name")
    whole = hierarchy_builder if isinstance(hierarchy_builder, Paths) else Paths(paths=declared_domain.paths)
    return replace(whole, paths={**whole.paths, column.other: ()})


def _attribute(plan: Plan, table: Table, name: str, column: ColumnPlan, *, observed: bool) -> Placed:
    path, hierarchy_builder = f"columns.{name}.hierarchy", made_of(plan, name, column)
    declared_domain = hierarchy_builder.declared()
    if column.type == "set":
        if not isinstance(declared_domain, Categories):
            raise PlanError(f"{path}: sets need a declared tree over their items (file, tree, bundled)")
        return set_of(table, name, hierarchy_builder.build(ObservedDomain.whole(name, declared_domain)), column)
    if isinstance(declared_domain, Numbers):
        return number_of(table, name, declared_domain, column)
    if isinstance(declared_domain, Categories):
        missing = plan.input.missing[0] if plan.input.missing and plan.input.on_missing == "keep" else None
        whole = ObservedDomain.whole(
            name, declared_domain, missing=None if missing in declared_domain.values else missing
        )
        return leaf_of(table, name, hierarchy_builder.build(whole), column, missing)
    if isinstance(hierarchy_builder, Intervals | Grown):
        raise PlanError(
            f"{path}: low and high are missing; limits that are read off the rows break the promise, also for studies. "
            'domain_from = "discover" looks for them and pays'
        )
    if not observed:
        raise PlanError(
            f"{path}: a differentially private release needs a declared domain: a tree (file, tree, bundled, groups), "
            '{ kind = "grown", low = .., high = .. } for numbers, or values = [..]. One that is read off the rows '
            'breaks the promise; domain_from = "discover" looks for it and pays, and privacy.domains = "observed" '
            "reads it off for studies, without any claim"
        )
    domain = ObservedDomain.of(table.column(name, column.type))  # type: ignore[arg-type]
    return leaf_of(table, name, hierarchy_builder.build(domain), column, domain.missing)


# Domains that a plan does not declare, found by noise and paid for: ranges of numbers, values of texts.


SMALLEST, LARGEST = -3, 9
"""Without ``within``, a range is looked for among 0 and 1, 2 and 5 times the powers of ten from here to there."""
MISSED = 0.01
"""How probably a part of a range that nobody is in is taken in, at most."""
CELLS, MOST = 100, 1000
"""How many cells a found range has about, and at most where the plan declares their width."""


def prepared(plan: Plan, table: Table, times: Counts | None = None) -> Ready:
    """The table over declared domains; those that the plan asks for are found first, among one row of each person.

    ``times`` says how often each row is there, where an engine counted equal ones together.
    """
    costs = searches(plan)
    if not costs:
        return declared(plan, table, times)
    people = bounded(table, plan, most=1)
    columns = {name: _found(people, name, plan.columns[name], cost, plan.input.missing) for name, cost in costs.items()}
    ready = declared(replace(plan, columns={**plan.columns, **columns}, privacy=_settled(plan)), table)
    return replace(ready, found=tuple(costs.values()))


def resolved(plan: Plan, domains: Mapping[str, Any]) -> Plan:
    """The plan with the domains that a manifest says were found."""
    sought = searches(plan)
    target = domains.get("target") or {}
    columns = {}
    for name in sought:
        column = plan.columns[name]
        if name == target.get("name"):
            columns[name] = _with_values(column, target["values"], plan.input.missing)
        elif domains["columns"][name]["kind"] == "number":
            columns[name] = _with_range(column, *(domains["columns"][name][key] for key in ("low", "high", "grid")))
        else:
            nodes = [str(label) for label, _ in domains["columns"][name]["nodes"][1:]]
            columns[name] = _with_values(column, nodes, plan.input.missing)
    return replace(plan, columns={**plan.columns, **columns}, privacy=_settled(plan)) if columns else plan


def _settled(plan: Plan) -> dict[str, Any]:
    return {key: value for key, value in plan.privacy.items() if key != "discovery"}


def _found(people: Table, name: str, column: ColumnPlan, cost: Event, missing: Sequence[str]) -> ColumnPlan:
    if isinstance(cost, Approximate):
        counts = texts_in(present(people, name)).drop_nulls().value_counts(name="rows of the text")
        keys = {str(key): int(many) for key, many in counts.iter_rows() if key not in ("", TOP) and len(key) <= SHORT}
        values, _ = chosen_keys(keys, epsilon=cost.epsilon, delta=cost.delta, what=cost.what)
        return _with_values(column, values, missing)
    numbers = numbers_in(present(people, name))
    marks = candidates(column.within, whole=column.type == "integer")
    inside = np.clip(numbers[~np.isnan(numbers)], marks[0], marks[-1])
    place = np.clip(np.searchsorted(marks, inside, side="right") - 1, 0, len(marks) - 2)
    noisy = counted(np.bincount(place, minlength=len(marks) - 1).astype(np.int64), cost)  # type: ignore[arg-type]
    low, high = ends(marks, noisy.values, noisy.margin(1 - MISSED / (len(marks) - 1)))
    return _with_range(column, low, high, grid_of(low, high, (column.hierarchy or {}).get("grid")))


def candidates(within: Sequence[float], *, whole: bool = False) -> NDArray[np.float64]:
    """The numbers at which a range can begin and end: public, whatever the table holds; of whole numbers, whole ones.

    >>> candidates((0, 30))[-5:].tolist()
    [2.0, 5.0, 10.0, 20.0, 30.0]
    """
    tens = [digit * 10.0**power for power in range(0 if whole else SMALLEST, LARGEST + 1) for digit in (1, 2, 5)]
    every = np.array(sorted({0.0, *tens, *(-number for number in tens)}))
    if not within:
        return every
    low, high = within
    numbers: NDArray[np.float64] = np.unique([low, *every[(every > low) & (every < high)], high])
    return numbers


def ends(marks: NDArray[np.float64], counts: NDArray[Any], margin: float) -> tuple[float, float]:
    """From the first to the last part whose noisy count is above the noise; the largest is always taken in.

    >>> ends(np.array([0.0, 1.0, 2.0, 5.0, 10.0]), np.array([2, 40, 70, -3]), 10.0)
    (1.0, 5.0)
    """
    above = np.flatnonzero(counts > margin)
    held = np.union1d(above, [int(np.argmax(counts))])
    return float(marks[held[0]]), float(marks[held[-1] + 1])


def grid_of(low: float, high: float, declared: float | None) -> float:
    """How wide the cells of a found range are: as declared, or the next of 1, 2 and 5 times a power of ten.

    >>> grid_of(0, 100, None), grid_of(0, 1, None), grid_of(0, 5000, 1.0), grid_of(10, 100, 5.0)
    (1.0, 0.01, 5.0, 5.0)
    """
    least = (high - low) / (CELLS if declared is None else MOST)
    if declared is not None and declared >= least:
        return float(declared)
    power = floor(log10(least) + 1e-9)
    return next(float(f"{digit}e{power}") for digit in (1, 2, 5, 10) if float(f"{digit}e{power}") >= least * (1 - 1e-9))


def _with_range(column: ColumnPlan, low: float, high: float, grid: float) -> ColumnPlan:
    tree = {"kind": "grown", "low": low, "high": high, "grid": grid}
    return structs.replace(column, hierarchy=tree, domain_from="declared", within=())


def _with_values(column: ColumnPlan, texts: Sequence[str], missing: Sequence[str]) -> ColumnPlan:
    """Values in the order of their texts, with one more that stands for all that were not found."""
    other = None if column.outside == "drop" else column.other or OTHER
    values = tuple(sorted(set(texts) - {*missing, *([] if other is None else [other])}))
    return structs.replace(
        column,
        hierarchy=None,
        type=None,
        values=(*values, *([] if other is None else [other])) or (OTHER,),
        other=other,
        domain_from="declared",
    )


# From noisy counts to the rows that are published, and the domains that are stated.


MOST_ROWS = 50_000_000
"""More noisy records than this are published as counts only."""


def stated_domains(table: PrivateTable, sought: Collection[str] = ()) -> dict[str, Any]:
    """What was declared, as the manifest has it; ``sought`` are the columns whose domain was found and paid for."""
    paid = {name: {"from": FOUND} for name in sought}
    domains: dict[str, Any] = {
        "columns": {attribute.name: _domain(attribute) | paid.get(attribute.name, {}) for attribute in table.attributes}
    }
    if table.target_name is not None:
        target = {"name": table.target_name, "values": list(table.classes)}
        domains["target"] = target | paid.get(table.target_name, {})
    return domains


def _domain(attribute: Attribute) -> dict[str, Any]:
    """A range with its grid, or a tree with the nodes in between that follow from it."""
    if attribute.tree is None:
        return {"kind": attribute.kind, "low": attribute.low, "high": attribute.high, "grid": attribute.grid}
    tree = halved(attribute.tree).tree if attribute.kind == "tree" else attribute.tree
    nodes = [[label, int(above)] for label, above in zip(tree.labels, tree.parent, strict=True)]
    return {"kind": attribute.kind, "nodes": nodes}


def released_rows(noisy_table: NoisyTable, table: PrivateTable, *, counts: bool) -> pl.DataFrame:
    """Groups with their counts, or a record for each count; groups without rows are left out of records only."""
    groups, classes = (
        np.nonzero(noisy_table.counts) if not counts else np.indices(noisy_table.counts.shape).reshape(2, -1)
    )
    many = noisy_table.counts[groups, classes]
    if not counts and int(many.sum()) > MOST_ROWS:
        raise ParameterError(
            f"epsilon must be larger for single records: the noisy counts add up to {int(many.sum()):,} rows; or "
            "publish counts with algorithm.output = 'counts'"
        )
    if not counts:
        groups, classes = np.repeat(groups, many), np.repeat(classes, many)
    cells = [
        pl.Series(name, list(labels), dtype=pl.String).gather(keys[groups])
        for name, labels, keys in zip(noisy_table.columns, noisy_table.labels, noisy_table.keys, strict=True)
    ]
    if table.target_name is not None:
        cells.append(pl.Series(table.target_name, list(table.classes), dtype=pl.String).gather(classes))
    name = count_column(*(column.name for column in cells))
    return pl.DataFrame([*cells, *([pl.Series(name, many)] if counts else [])])
