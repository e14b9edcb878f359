"""A plan and its table before a release: values, hierarchy levels, counts, and the switch to noise."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from msgspec import structs
from numpy.typing import NDArray

from sfumato.core.errors import PlanError, SfumatoError
from sfumato.counts.keys import total
from sfumato.pipeline.inputs import load_table
from sfumato.pipeline.methods import method_of
from sfumato.pipeline.methods.items.problem import item_table, items_of
from sfumato.pipeline.methods.method import Counted
from sfumato.pipeline.methods.private.domains import declared, stated_domains
from sfumato.pipeline.methods.private.plan import KEYS
from sfumato.pipeline.plan.columns import ITEMIZED, column_plan
from sfumato.pipeline.plan.hierarchies import builder
from sfumato.pipeline.plan.plan import Plan
from sfumato.reports.private import domain_words
from sfumato.tables.hierarchy import Hierarchy
from sfumato.tables.schema import Categories, Numbers, ObservedDomain, Role
from sfumato.tables.table import Table

# Which kind of release a plan asks for, also while the plan is not whole yet.


def kind_asked(tree: Mapping[str, Any], folder: Path) -> str:
    """The kind by its name; of a plan that is refused, what its promise and the types of its columns point to.

    >>> kind_asked({"columns": {"basket": {"role": "quasi", "type": "set"}}, "privacy": {"km": "no"}}, Path())
    'items'
    """
    try:
        return method_of(Plan.parse(tree, folder=folder)).name
    except SfumatoError:
        privacy, columns = _table(tree.get("privacy")), _table(tree.get("columns"))
    if {"epsilon", "rho"} & {*privacy}:
        return "private"
    return "items" if any(_table(column).get("type") in ITEMIZED for column in columns.values()) else "table"


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


# A hierarchy as a person sees it: level by level, the labels and how many rows each has.


MOST_LABELS = 200
"""How many labels of a level are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelShown:
    """One level of a hierarchy over the values of a column."""

    number: int
    """0 for the values themselves."""
    labels: tuple[tuple[str, int], ...]
    """The first labels, each with its rows."""
    different: int
    """How many labels there are."""


def levels_shown(tree: Mapping[str, Any], domain: ObservedDomain, *, folder: Path) -> tuple[LevelShown, ...]:
    """The levels that a plan's hierarchy gives a column; what cannot be built is refused as a release would."""
    bound = builder(tree, f"columns.{domain.column}.hierarchy", folder).build(domain)
    return tuple(_shown(number, bound, domain) for number in range(bound.height + 1))


def leaf_table(tree: Mapping[str, Any], domain: ObservedDomain, *, folder: Path) -> list[list[str]]:
    """The hierarchy as lines of a file, leaf first: what `hierarchy = { file = ... }` reads."""
    bound = builder(tree, f"columns.{domain.column}.hierarchy", folder).build(domain)
    codes = range(len(domain.values))
    return [[level.labels[int(level.parent[code])] for level in bound.levels] for code in codes]


def nested_tree(lines: Sequence[Sequence[str]]) -> dict[str, Any]:
    """The lines of a file, leaf first, as the tree of groups that `hierarchy = { tree = ... }` reads.

    >>> nested_tree([["a", "x", "z"], ["b", "x", "z"], ["c", "y", "z"]])
    {'tree': {'z': {'x': ['a', 'b'], 'y': ['c']}}}
    """
    return {"tree": _group(lines)}


def as_file(lines: Sequence[Sequence[str]]) -> str:
    """The lines as the text of a file; every cell is quoted, so that a value may hold any mark."""
    out = io.StringIO()
    csv.writer(out, delimiter=";", quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(lines)
    return out.getvalue()


def _group(lines: Sequence[Sequence[str]]) -> Any:
    """What lies in a group: leaves as a list, groups by name."""
    if len(lines[0]) == 1:
        return [line[0] for line in lines]
    below: dict[str, list[Sequence[str]]] = {}
    for line in lines:
        below.setdefault(line[-1], []).append(line[:-1])
    return {name: _group(inner) for name, inner in below.items()}


def _shown(number: int, bound: Hierarchy, domain: ObservedDomain) -> LevelShown:
    level = bound.levels[number]
    rows = total(level.parent.astype(np.int64), domain.all_counts, len(level.labels))
    used = [(label, int(many)) for label, many in zip(level.labels, rows, strict=True) if many]
    return LevelShown(number=number, labels=tuple(used[:MOST_LABELS]), different=len(used))


# How numbers lie between the least and the largest, for the picture behind the edges of intervals.


BINS = 60
"""How many bars the picture has at most."""


def spread_of(values: Sequence[str], counts: NDArray[Any]) -> dict[str, Any] | None:
    """Least, largest and the rows of each bin; None where the values are no numbers.

    >>> spread_of(["1", "2", "4"], np.array([5, 1, 2]))["counts"][:1]
    [5]
    """
    try:
        numbers = np.array([float(value) for value in values])
    except ValueError:
        return None
    if not len(numbers) or not np.isfinite(numbers).all():
        return None
    bins = int(min(BINS, max(len(numbers), 1)))
    rows, _ = np.histogram(numbers, bins=bins, weights=counts[: len(numbers)])
    return {"low": float(numbers.min()), "high": float(numbers.max()), "counts": [int(count) for count in rows]}


# The items of a column of paths or sets, one text for each that stands in a record: what a hierarchy is drawn over.


TIMES = "time_hierarchy"
"""The key of a path column whose hierarchy is over times; ``hierarchy`` is over places, or over the items of a set."""


def item_values(plan: Plan, table: Table, name: str, key: str) -> Table:
    """A table with one column: every item, place or time as often as records have it."""
    items = items_of(plan.columns[name], item_table(plan, table), name)
    if items.kind == "set":
        texts, codes = items.labels, items.codes
    elif key == TIMES:
        texts, codes = items.times, items.time[items.codes]
    else:
        texts, codes = items.places, items.place[items.codes]
    values = np.asarray(texts, dtype=object)[np.asarray(codes)]
    return Table(frame=pl.DataFrame({name: pl.Series(values, dtype=pl.String)}), source=f"columns.{name}.{key}")


# What a declared domain means for the rows of a column, before anything is paid: how many have no place in it.


def declared_values(plan: Plan, table: Table, name: str, declaration: Mapping[str, Any]) -> dict[str, Any]:
    """The domain that ``declaration`` declares for a column, in words, and what becomes of rows that lie outside it."""
    column = column_plan(declaration, name)
    if column.domain_from == "discover":
        return {"words": "A release looks for it with a part of the budget.", "notes": []}
    alone = replace(
        plan, columns={name: structs.replace(column, role=Role.QUASI)}, privacy={"epsilon": 1}, learner=None
    )
    ready = declared(alone, table)
    stated = stated_domains(ready.table)["columns"][name]
    return {"words": domain_words(stated), "notes": list(ready.notes)}


# A plan and its table, kept ready: rows, columns, hierarchies, and the table counted under the plan.


Tree = Mapping[str, Any]


class Explored:
    """One table under one plan, read and counted once; later questions are answered from memory."""

    def __init__(self, table: Table) -> None:
        """Nothing is counted yet."""
        self.table = table
        self._domains: dict[tuple[str, str | None], ObservedDomain] = {}

    @classmethod
    def of(cls, plan: Plan) -> Explored:
        """The table that a plan names."""
        return cls(load_table(plan, None, plan.input.path))

    def rows(self, first: int, many: int) -> dict[str, Any]:
        """Some rows as texts, for a page of a table."""
        part = self.table.frame.slice(first, many)
        texts = [[None if cell is None else str(cell) for cell in row] for row in part.iter_rows()]
        return {"columns": list(self.table.names), "rows": texts, "first": first, "of": self.table.rows}

    def domain(self, plan: Plan, column: str, key: str = "hierarchy") -> ObservedDomain:
        """The values of a column with their counts; of paths and sets, their places, times or items."""
        settings = plan.columns.get(column)
        if settings is not None and settings.type in ITEMIZED:
            return ObservedDomain.of(item_values(plan, self.table, column, key).column(column))
        if column not in self.table.names:
            raise PlanError(f"columns.{column}: the table has no such column")
        kind: Any = None if settings is None else settings.type
        if (column, kind) not in self._domains:
            self._domains[column, kind] = ObservedDomain.of(self.table.column(column, kind))
        return self._domains[column, kind]

    def levels(self, plan: Plan, column: str, tree: Tree, key: str = "hierarchy") -> list[dict[str, Any]]:
        """The levels that a hierarchy gives a column."""
        return [asdict(level) for level in levels_shown(tree, self.domain(plan, column, key), folder=plan.folder)]

    def leaves(self, plan: Plan, column: str, tree: Tree, key: str = "hierarchy") -> list[list[str]]:
        """A hierarchy as lines of a file."""
        return leaf_table(tree, self.domain(plan, column, key), folder=plan.folder)

    def spread(self, plan: Plan, column: str, key: str = "hierarchy") -> dict[str, Any] | None:
        """How the numbers of a column lie, in bins of equal width; None where it has none."""
        domain = self.domain(plan, column, key)
        return spread_of(domain.values, domain.all_counts)

    def declared(self, plan: Plan, column: str, declaration: Tree) -> dict[str, Any]:
        """What a declared domain of a column means for its rows."""
        if column not in self.table.names:
            raise PlanError(f"columns.{column}: the table has no such column")
        return declared_values(plan, self.table, column, declaration)

    def under(self, plan: Plan) -> Counted:
        """The table counted under a plan."""
        counted = method_of(plan).counted
        return Counted(plan) if counted is None else counted(plan, self.table)


def problems(tree: Tree, folder: Any) -> str | None:
    """What is wrong with a plan, in one message; None where nothing is."""
    try:
        Plan.parse(tree, folder=folder)
    except SfumatoError as error:
        return str(error)
    return None


# The first rows of a bundle as texts, for a page.


def first_rows(folder: Path, manifest: Mapping[str, Any], many: int) -> dict[str, Any]:
    """The first rows of the data file; none where a bundle has no rows that can be read from their beginning."""
    data = manifest.get("data", {})
    path = folder / str(data.get("file", ""))
    frame = _frame(path, many)
    if frame is None:
        return {"columns": [], "rows": [], "of": 0}
    rows = [[None if cell is None else str(cell) for cell in row] for row in frame.iter_rows()]
    return {"columns": list(frame.columns), "rows": rows, "of": data.get("rows", len(rows))}


def _frame(path: Path, many: int) -> pl.DataFrame | None:
    if path.suffix == ".csv":
        return pl.read_csv(path, n_rows=many, infer_schema=False)
    return pl.read_parquet(path, n_rows=many) if path.suffix == ".parquet" else None


# From groups to noise: what of a plan must change so that the same table can be released with epsilon.


Change = tuple[list[str], Any]
EPSILON, DELTA = 1.0, 1e-6
"""What the first draft promises: a usual budget, and a delta far below one over the people of most tables."""
_KEPT = {"role", "type", "separator", "values", "outside", "other"}
"""What a column keeps beside its domain."""
NUMBERS = ("integer", "real")
_PUBLISHED = ("quasi", "sensitive", "keep", "target")


def with_noise(tree: Tree, types: Mapping[str, str], folder: Path) -> tuple[list[Change], list[str]]:
    """The keys to set, None for those to take out; and the columns that noise has no domain for.

    A column whose domain the plan declares keeps it. For the others a release looks for the domain and pays for it with
    a part of epsilon: ranges of numbers, and with delta the values of texts. Dates and paths are left out; beside sets,
    which only pure epsilon takes, texts without a domain are too.
    """
    columns: Tree = {
        name: column for name, column in tree.get("columns", {}).items() if str(_role(column)) in _PUBLISHED
    }
    kinds = {name: str(column.get("type") or types.get(name, "text")) for name, column in columns.items()}
    known = {name: _declared(column, folder) for name, column in columns.items()}
    sets = any(kinds[name] == "set" and known[name] for name in columns)
    texts = [
        name for name in columns if not known[name] and (kinds[name] not in NUMBERS or _role(columns[name]) == "target")
    ]
    left_out = [name for name in texts if sets or kinds[name] in ("date", "trajectory", "set")]
    promise = {"epsilon": EPSILON, "delta": DELTA if {*texts} - {*left_out} else None}
    changes: list[Change] = [(["privacy", key], None) for key in tree.get("privacy", {}) if key not in KEYS]
    changes += [(["privacy", key], value) for key, value in promise.items()]
    changes += [([part], None) for part in ("algorithm", "utility") if part in tree]
    for name, column in columns.items():
        if name in left_out:
            changes += [*_cleared(name, column, {"role"}), (["columns", name, "role"], "drop")]
        else:
            changes += _column(name, column, known=known[name], number=name not in texts)
    return changes, left_out


def _role(column: Tree) -> Any:
    """The role, or the first of two."""
    role = column.get("role")
    return role[0] if isinstance(role, list) and role else role


def _cleared(name: str, column: Tree, kept: set[str]) -> Iterator[Change]:
    yield from ((["columns", name, key], None) for key in column if key not in kept)


def _column(name: str, column: Tree, *, known: bool, number: bool) -> Iterator[Change]:
    """A published column: a quasi-identifier or the class, with its domain or a search for it."""
    yield from _cleared(name, column, {*_KEPT, *({"hierarchy", "domain_from"} if known else ())})
    if _role(column) != "target":
        yield ["columns", name, "role"], "quasi"
    if not known:
        yield ["columns", name, "hierarchy"], {"kind": "grown"} if number else None
        yield ["columns", name, "domain_from"], "discover"


def _declared(column: Tree, folder: Path) -> bool:
    """Whether the plan itself says what the column can hold, and did not read it off the rows."""
    if column.get("domain_from") == "profile":
        return False
    if column.get("values") or _role(column) == "target":
        return bool(column.get("values"))
    try:
        domain = builder(column.get("hierarchy", {"kind": "flat"}), "hierarchy", folder).declared()
    except (SfumatoError, OSError):
        return False
    return isinstance(domain, Categories | Numbers)
