"""A condensed release: what its plan can say, the table made ready, and what was drawn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.algorithms.condensation import Condense, Condensed, CondenseProblem, dealt, decimals_of, stepped
from sfumato.bundles.checks.condensed import small_groups, warning
from sfumato.bundles.checks.consistency import AUTO, NAMED
from sfumato.bundles.columns import Published
from sfumato.bundles.manifest.sections import CONDENSED_EPOCH, CONDENSED_KEY
from sfumato.bundles.recoding import one_marker
from sfumato.core.errors import DataError, PlanError, listed, unknown_column
from sfumato.core.short_repr import Brief
from sfumato.counts.keys import Ids
from sfumato.counts.local_table import LocalTable
from sfumato.counts.near_unique import NearUnique, asked_size, near_unique_columns
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.catalog.parts import configured
from sfumato.pipeline.methods.schema import refuse_nested
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.release import Release
from sfumato.tables.schema import Role, Schema
from sfumato.tables.table import Kind, Table, infer_kind, plain_cells

# What a plan for a condensed release can say, as far as that needs no table.


CONDENSE = "condense"
"""The algorithm that makes this kind."""
PUBLISHED = (Role.QUASI, Role.SENSITIVE, Role.TARGET, Role.KEEP)
"""The roles whose columns are published, all treated alike."""
_WHY = "Chosen by auto: it is the algorithm that draws records from groups."


def algorithm_of(plan: Plan) -> Condense:
    """The algorithm with the plan's options and the plan's k."""
    part = catalog().algorithms[CONDENSE]
    algorithm: Condense = configured(part, plan.algorithm.options, fixed={"k": k_of(plan)}, other_keys=("name", "seed"))
    return algorithm


def k_of(plan: Plan) -> int:
    """The fewest records of a group that the plan asks for."""
    if CONDENSED_KEY not in plan.privacy:
        raise PlanError(
            f"privacy.{CONDENSED_KEY} is missing; condense needs it, for example {CONDENSED_KEY} = 20: the fewest "
            "records that a group may have"
        )
    k = plan.privacy[CONDENSED_KEY]
    if isinstance(k, bool) or not isinstance(k, int) or k < 2:
        raise PlanError(f"privacy.{CONDENSED_KEY} must be a whole number of at least 2, not {k!r}")
    return k


def why(plan: Plan) -> str:
    """Why this algorithm."""
    return NAMED if plan.algorithm.name == CONDENSE else _WHY


def check(plan: Plan) -> None:
    """Refuse what condensation cannot do."""
    if plan.algorithm.name not in (CONDENSE, AUTO):
        raise PlanError(
            f"privacy.{CONDENSED_KEY}: {plan.algorithm.name} does not make such groups; set "
            f"algorithm.name = {CONDENSE!r}"
        )
    condense = algorithm_of(plan)
    _refuse_columns(plan, condense)
    plan.attack.refuse_files(plan.folder)


def _refuse_columns(plan: Plan, condense: Condense) -> None:
    """Refuse columns that no drawn record can have, and options about columns that are not there."""
    for name, column in plan.columns.items():
        if column.pseudonym is not None:
            raise PlanError(
                f"columns.{name}.pseudonym: a drawn record is nobody's and has no pseudonym; remove the key"
            )
    published = [name for name, column in plan.columns.items() if column.role in PUBLISHED]
    if not published:
        raise PlanError("columns: no column is published; give one a role such as 'quasi'")
    targets = [name for name in published if plan.columns[name].role is Role.TARGET]
    if len(targets) > 1:
        raise PlanError(f"columns: only one column can be the target, not {', '.join(targets)}")
    if condense.per_class and not targets:
        raise PlanError("algorithm.per_class: no column has role = 'target', so there are no classes")
    for name in condense.bounds:
        if name not in published:
            raise PlanError(f"algorithm.bounds: {name!r} is not published; here are {listed(published)}")


# A table made ready for condensation: which columns are numbers, and how drawn records are written as its cells.


SPREAD = "_sd"
"""What the name of a column with spreads ends with."""
_WHOLE = 2.0**53
"""Beyond this not every whole number can be counted with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberColumn:
    """A column that is condensed."""

    name: str
    """Its name."""
    kind: Kind
    """How its values are read: integer, real or date."""
    decimals: int | None
    """With how many decimals it writes its numbers; None: with all."""

    def cells(
        self, numbers: NDArray[np.float64], draw: np.random.Generator, bounds: Sequence[float] | None = None
    ) -> pl.Series:
        """Drawn numbers as the column writes them, up or down by chance, and not beyond declared bounds."""
        values = stepped(numbers, self.decimals, draw)
        if bounds is not None:
            values = values.clip(bounds[0], bounds[1])
        if self.kind == "real":
            return pl.Series(self.name, values)
        if self.kind == "integer":
            return pl.Series(self.name, values.clip(-_WHOLE, _WHOLE).astype(np.int64))
        days = values.clip(1, 3652059).astype(np.int64) - CONDENSED_EPOCH
        return pl.Series(self.name, days, dtype=pl.Int32).cast(pl.Date)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CondensePrepared(Brief):
    """A table made ready for condensation."""

    source: LocalTable
    """The rows that are used."""
    schema: Schema
    """The roles of every column."""
    condensed: tuple[NumberColumn, ...]
    """The columns of numbers, in the order of the problem."""
    problem: CondenseProblem
    """What the algorithm is given."""
    dropped_rows: int
    """Rows left out because of missing values."""
    k: int
    """The fewest records of a group."""

    @property
    def published(self) -> tuple[str, ...]:
        """Every published column, in the table's order."""
        return self.schema.named(*PUBLISHED)

    @property
    def dealt(self) -> tuple[str, ...]:
        """The published columns whose values are dealt out within groups."""
        numbers = {column.name for column in self.condensed}
        return tuple(name for name in self.published if name not in numbers)

    def cells(self, name: str) -> pl.Series:
        """A column as it stands in the original."""
        return one_marker(plain_cells(self.source.table.frame[name]), self.source.missing)

    def some(self, rows: Ids) -> CondensePrepared:
        """The same with some of its rows; refused by the search where a class is too small."""
        table = self.source.table
        problem = replace(self.problem, numbers=self.problem.numbers[rows], classes=self.problem.classes[rows])
        return replace(self, source=LocalTable(replace(table, frame=table.frame[rows])), problem=problem)

    def drawn(self, condense: Condense, outcome: Condensed, draw: np.random.Generator) -> pl.DataFrame:
        """The drawn records in random order; words are dealt out, each column by itself."""
        columns = {
            column.name: column.cells(numbers, draw, condense.bounds.get(column.name))
            for column, numbers in zip(self.condensed, outcome.drawn.T, strict=True)
        }
        rows = np.repeat(np.argsort(outcome.groups, kind="stable"), condense.copies)
        for name in self.dealt:
            columns[name] = self.cells(name).gather(rows[dealt(outcome.groups[rows], draw)])
        return pl.DataFrame([columns[name] for name in self.published])[draw.permutation(len(rows))]

    def uncertain(self, outcome: Condensed, draw: np.random.Generator) -> pl.DataFrame:
        """For every record the mean and the spread of its group, in random order; words are dealt out."""
        columns: dict[str, pl.Series] = {}
        for column, mean, spread in zip(self.condensed, outcome.means.T, outcome.spreads.T, strict=True):
            for name, values in ((column.name, mean), (column.name + SPREAD, spread)):
                columns[name] = pl.Series(name, six_digits(values)[outcome.groups])
        for name in self.dealt:
            columns[name] = self.cells(name).gather(dealt(outcome.groups, draw))
        spreads = {column.name: column.name + SPREAD for column in self.condensed}
        order = [each for name in self.published for each in (name, spreads.get(name)) if each is not None]
        return pl.DataFrame([columns[name] for name in order])[draw.permutation(len(outcome.groups))]


def six_digits(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers to six digits: more of a mean would tell of single records."""
    return np.array([float(f"{value:.6g}") + 0.0 for value in numbers.tolist()], np.float64)


def prepared_table(plan: Plan, table: Table) -> CondensePrepared:
    """Describe the columns, and read the numbers of those that have any."""
    source = LocalTable(table)
    for name in plan.columns:
        if name not in source.names:
            raise unknown_column(name, source.names, where=f"columns.{name}")
    roles = {name: plan.columns[name].role if name in plan.columns else Role.DROP for name in source.names}
    schema, condense = Schema(roles=roles), algorithm_of(plan)
    refuse_nested(plan, source, schema)
    source, dropped = _complete(plan, source, schema)
    readings = {name: _numbers(plan, source, name) for name in schema.named(*PUBLISHED)}
    kept = {name: read for name, read in readings.items() if read is not None}
    columns = tuple(column for column, _ in kept.values())
    _refuse_none({column.name: column for column in columns}, schema, condense)
    classes, labels = (
        _classes(source, schema.target) if condense.per_class else (np.zeros(source.rows, np.int64), ("",))
    )
    problem = CondenseProblem(
        numbers=np.stack([numbers for _, numbers in kept.values()], axis=1), classes=classes, labels=labels
    )
    return CondensePrepared(
        source=source, schema=schema, condensed=columns, problem=problem, dropped_rows=dropped, k=condense.k
    )


def _refuse_none(kept: Mapping[str, NumberColumn], schema: Schema, condense: Condense) -> None:
    """Refuse a table without numbers, bounds of what has none, and names that are taken."""
    if not kept:
        raise PlanError(
            "columns: no published column has numbers, and condensation needs one at least; use mondrian, or declare "
            'type = "integer" or "real" where a column is a number'
        )
    for name, ends in condense.bounds.items():
        if name not in kept or kept[name].kind == "date":
            raise PlanError(f"algorithm.bounds: {name!r} has no numbers; they are for columns that are drawn")
        if kept[name].kind == "integer" and any(end != int(end) for end in ends):
            raise PlanError(f"algorithm.bounds: {name!r} has whole numbers, so its bounds must be whole, not {ends!r}")
    taken = [name + SPREAD for name in kept if name + SPREAD in schema.named(*PUBLISHED)]
    if taken and condense.output == "distributions":
        raise PlanError(f"columns.{taken[0]}: the spreads would be called so; rename the column")


def _complete(plan: Plan, source: LocalTable, schema: Schema) -> tuple[LocalTable, int]:
    """Leave out rows with a missing value in any published column, where the plan says so."""
    if plan.input.on_missing == "keep":
        return source, 0
    whole = source.complete(schema.named(*PUBLISHED))
    if not whole.rows:
        raise DataError(f"{source.source}: every row has a missing value; nothing is left to condense")
    return whole, source.rows - whole.rows


def _numbers(plan: Plan, source: LocalTable, name: str) -> tuple[NumberColumn, NDArray[np.float64]] | None:
    """A column as numbers, or None where it has words; a missing or boundless one is refused."""
    declared, dtype = plan.columns[name].type, source.dtype(name)
    if declared in ("text", "category") or dtype.is_nested() or dtype in (pl.Binary, pl.Object, pl.Duration):
        return None
    if dtype.is_numeric() and declared is None:
        kind, numbers = infer_kind((), dtype), source.table.frame[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
    else:
        column = source.column(name, declared)  # type: ignore[arg-type]
        if column.kind in ("text", "category"):
            return None
        kind, numbers = column.kind, column.numbers[column.codes]
    absent = int(np.isnan(numbers).sum())
    if absent:
        raise DataError(
            f"{source.source}, column {name!r}: {absent} rows have no number, and condensation needs one in every row; "
            'set [input] on_missing = "drop", or type = "category" to deal the values out'
        )
    if not np.isfinite(numbers).all() or (kind == "integer" and bool((np.abs(numbers) > _WHOLE).any())):
        raise DataError(f"{source.source}, column {name!r}: numbers without bound cannot be condensed; scale it down")
    decimals = decimals_of(numbers) if kind == "real" else 0
    return NumberColumn(name=name, kind=kind, decimals=decimals), np.asarray(numbers, np.float64)


def _classes(source: LocalTable, target: str | None) -> tuple[Ids, tuple[str, ...]]:
    """The class of each row and the names of the classes there are."""
    column = source.column(str(target))
    there, codes = np.unique(column.codes, return_inverse=True)
    return codes.reshape(-1).astype(np.int64), tuple(column.values[code] for code in there.tolist())


# A condensed release: what was drawn, from which groups.


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DrawnRelease(Release, ABC):
    """Records drawn from groups, of a table or of a batch of a stream."""

    published: Published
    """What a verifier must know to read the rows."""

    @property
    def condense(self) -> Condense:
        """What was asked for."""
        return algorithm_of(self.plan)

    @property
    @abstractmethod
    def sizes(self) -> list[tuple[int, int]]:
        """The sizes of groups, with how many groups have each."""

    @property
    @abstractmethod
    def numbers(self) -> frozenset[str]:
        """The columns of numbers of the original."""

    @property
    @abstractmethod
    def left_out(self) -> int:
        """Records that were left out because of missing values."""

    @property
    def beside(self) -> dict[str, Any]:
        """What else the manifest states."""
        return {}

    @property
    def treated(self) -> dict[str, str]:
        """What was done to every released column."""
        rows = self.condense.output == "rows"
        spreads = set() if rows else {name + SPREAD for name in self.numbers}
        treatment = "drawn" if rows else "mean"
        return {
            name: "spread" if name in spreads else treatment if name in self.numbers else "dealt"
            for name in self.rows.columns
        }

    @cached_property
    def near_unique(self) -> tuple[NearUnique, ...]:
        """The columns of dealt values that nearly single people out."""
        roles = {name: role for name, role in self.published.schema.roles.items() if self.treated[name] == "dealt"}
        k = asked_size(claim.parameters for claim in self.claims)
        return near_unique_columns(self.rows, roles, self.published.missing, k)

    @property
    def marks(self) -> list[str]:
        """Warnings that belong to the release: first of all, what the claim is not about."""
        small = small_groups(self.condense.k)
        return [warning(self.condense.output), *small, *super().marks, *(column.told for column in self.near_unique)]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CondensedRelease(DrawnRelease):
    """Records drawn from the groups of a table, or the means and spreads of their groups."""

    prepared: CondensePrepared
    """The original."""
    outcome: Condensed
    """The groups."""

    @property
    def sizes(self) -> list[tuple[int, int]]:
        """The sizes of groups, with how many groups have each."""
        return sizes_of(self.outcome)

    @property
    def numbers(self) -> frozenset[str]:
        """The columns of numbers of the original."""
        return frozenset(column.name for column in self.prepared.condensed)

    @property
    def left_out(self) -> int:
        """Records that were left out because of missing values."""
        return self.prepared.dropped_rows


def sizes_of(outcome: Condensed) -> list[tuple[int, int]]:
    """The sizes of groups, counted from the group of each record, with how many groups have each."""
    return sorted(Counter(np.bincount(outcome.groups).tolist()).items())
