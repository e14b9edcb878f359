"""A recoding found on one table, applied to new records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite, nan
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from sfumato.algorithms.cut import ColumnCut
from sfumato.bundles.checks.evidence import claim, evidence
from sfumato.bundles.columns import Published
from sfumato.bundles.files import MANIFEST
from sfumato.bundles.manifest.document import load, stated_form
from sfumato.bundles.verify import is_escaped
from sfumato.core.arguments import one_of
from sfumato.core.claims import Claim
from sfumato.core.errors import DataError, PlanError
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.dates import stated_dates
from sfumato.pipeline.inputs import read_file
from sfumato.pipeline.plan.hierarchies import builder
from sfumato.tables.frames import from_frame
from sfumato.tables.hierarchy import TOP, BaseLevel, Hierarchy, base_level
from sfumato.tables.labels import read_interval
from sfumato.tables.schema import Categories, ObservedDomain, Role
from sfumato.tables.table import Column, Kind, Table, as_text, is_readable
from sfumato.tables.taxonomy import Taxonomy

# How new records read under a recoding that was found before: one rule per quasi-identifier.
#
# A rule tells no more than the release: what a declared domain maps to, which intervals or labels were released.


Labels = tuple[str | None, ...]
"""A label for each value of a column; None where the rule knows none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What the values of one column read as: by a table of values, by intervals, or by what lies above them."""

    kind: Kind
    """How the column's values are read."""
    labels: tuple[str, ...]
    """The labels that were released."""
    values: Mapping[str, str] = field(default_factory=dict)
    """For a declared domain, the label of each of its values."""
    intervals: bool = False
    """Whether labels are intervals of numbers."""
    above: Mapping[str, Any] | None = None
    """For a hierarchy that is computed from the values: how, as a plan says it."""

    def to_json(self) -> dict[str, Any]:
        """As the manifest has it; the released labels stand there already."""
        how: dict[str, Any] = {"intervals": True} if self.intervals else {"above": dict(self.above or {"kind": "flat"})}
        return {"type": self.kind, **({"values": dict(self.values)} if self.values else how)}

    @classmethod
    def from_json(cls, stated: Mapping[str, Any]) -> Rule | None:
        """The rule of a column of the manifest's recoding, if it has one."""
        if "rule" not in stated:
            return None
        rule = stated["rule"]
        return cls(
            kind=rule["type"],
            labels=tuple(stated["labels"]),
            values=dict(rule.get("values", {})),
            intervals=bool(rule.get("intervals", False)),
            above=rule.get("above"),
        )

    def read(self, column: Column) -> Labels:
        """The label of each value of a column of new records, which are given as texts."""
        if set(self.labels) == {TOP}:
            return (TOP,) * len(column.values)
        if self.values:
            known: Labels = tuple(self.values.get(value) for value in column.present)
        elif self.intervals:
            known = self._by_interval(column)
        else:
            known = self._by_ancestor(column)
        return known if column.missing is None else (*known, self._absent(column))

    def _absent(self, column: Column) -> str | None:
        """A missing value reads as itself where the release has missing values."""
        marker = column.values[-1]
        return marker if marker in self.labels else None

    def _by_interval(self, column: Column) -> Labels:
        positions = np.full(len(column.present), -1)
        numbers = np.array([_number(value) for value in column.present], np.float64)
        for place, label in enumerate(self.labels):
            interval = read_interval(label)
            if interval is not None:
                positions[(positions < 0) & interval.holds(numbers)] = place
        return tuple(self.labels[place] if place >= 0 else None for place in positions)

    def _by_ancestor(self, column: Column) -> Labels:
        readable = [value for value in column.present if is_readable(value, self.kind)]
        if not readable:
            return (None,) * len(column.present)
        frame = pl.DataFrame({column.name: readable}, schema={column.name: pl.String})
        domain = ObservedDomain.of(Table(frame=frame).column(column.name, self.kind))
        hierarchy = builder(self.above or {"kind": "flat"}, f"columns.{column.name}.hierarchy", Path()).build(domain)
        above: dict[str, str | None] = {}
        for code, value in enumerate(domain.values):
            path = [level.labels[level.parent[code]] for level in hierarchy.levels]
            above[value] = next((label for label in path if label in self.labels), None)
        return tuple(above.get(value) for value in column.present)


def _number(value: str) -> float:
    """A text as a number; none where it reads as none or is not finite."""
    try:
        number = float(value)
    except ValueError:
        return nan
    return number if isfinite(number) else nan


def rule_at(
    plan: Mapping[str, Any],
    folder: Path,
    counted: ObservedDomain,
    released: Sequence[str],
    cut: ColumnCut | int,
    based: BaseLevel | None = None,
) -> Rule:
    """The rule of a column under one level of its hierarchy (as the plan describes it), or under a cut through it.

    Where counting began at a base level, level and cut are about its labels, and the rule is about the values.
    """
    domain = counted if based is None else based.exact
    hierarchy_builder = builder(plan, f"columns.{domain.column}.hierarchy", folder)
    declared = hierarchy_builder.declared()
    if isinstance(declared, Categories):
        leaves = declared.values
        whole = ObservedDomain.whole(domain.column, declared, kind=domain.kind)
        full, above = hierarchy_builder.build(whole), 0 if based is None else based.hierarchy.base
        if isinstance(cut, int):
            names = full.levels[above + cut]
            leaf_labels = tuple(names.labels[place] for place in names.parent)
        elif based is None:
            leaf_labels = _everywhere(full, domain, cut, frozenset(released))
        else:
            begun = base_level(whole, full, above)
            read = _everywhere(begun.hierarchy, counted, cut, frozenset(released))
            leaf_labels = tuple(read[code] for code in begun.of_value.tolist())
        return Rule(kind=domain.kind, labels=tuple(released), values=dict(zip(leaves, leaf_labels, strict=True)))
    numeric = domain.numbers is not None and domain.kind != "date"
    if numeric and all(read_interval(label) for label in released if label not in (TOP, domain.missing)):
        return Rule(kind=domain.kind, labels=tuple(released), intervals=True)
    return Rule(kind=domain.kind, labels=tuple(released), above=_told(plan, cut))


def _told(plan: Mapping[str, Any], cut: ColumnCut | int) -> dict[str, Any]:
    """How labels are computed, without the values that only finer levels than the released one keep."""
    if plan.get("kind") != "common" or not isinstance(cut, int):
        return dict(plan)
    return {"kind": "common", "keep": [list(level) for level in plan["keep"][max(cut - 1, 0) :]]}


def _everywhere(full: Hierarchy, domain: ObservedDomain, cut: ColumnCut, released: frozenset[str]) -> tuple[str, ...]:
    """A cut through the values that are released, carried on to the whole declared domain.

    A value of which all rows were removed counts as one that does not occur. A value that does not occur reads as the
    label of the cut that covers it: the one that covers the lowest node above the value under which some value occurs,
    or ``*`` if all those were put out. Else it reads as the node just below that one.
    """
    tree = full.tree()
    code_of = {value: code for code, value in enumerate(full.levels[0].labels)}
    read = {int(tree.leaf[code_of[value]]): int(cut.of_code[place]) for place, value in enumerate(domain.values)}
    read = {leaf: label for leaf, label in read.items() if cut.labels[label] in released}
    held: list[Counter[int]] = [Counter() for _ in tree.labels]
    for leaf, label in read.items():
        node = leaf
        while node >= 0:
            held[node][label] += 1
            node = int(tree.parent[node])
    return tuple(_read(leaf, tree, cut, read, held) for leaf in tree.leaf.tolist())


def _read(leaf: int, tree: Taxonomy, cut: ColumnCut, read: Mapping[int, int], held: Sequence[Counter[int]]) -> str:
    """What a value of a declared domain reads as."""
    if leaf in read:
        return cut.labels[read[leaf]]
    node = below = leaf
    while not held[node]:
        below, node = node, int(tree.parent[node])
    labels = [label for label in held[node] if cut.labels[label] != TOP]
    if not labels:
        return TOP
    over = [label for label in labels if _covers(label, node, tree, cut, held)]
    return cut.labels[over[0]] if over else tree.labels[below]


def _covers(label: int, node: int, tree: Taxonomy, cut: ColumnCut, held: Sequence[Counter[int]]) -> bool:
    """Whether a label that is read below a node covers all of it; a set does below the node that joins its values."""
    if label in cut.sets:
        return held[node][label] < held[0][label]
    return bool(cut.steps[label] >= tree.steps[node])


# A recoding that was found on one table, applied to records that were not there: test sets, next month's file.


Outside = Literal["refuse", "top", "suppress"]
"""What becomes of a value that the rules know no label for: refused, shown as ``*``, or its row left out."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Applied:
    """New records under an old recoding, with what they themselves were found to meet."""

    rows: pl.DataFrame
    """The recoded records, in their order."""
    left_out: int
    """Records left out because a value lies outside the domain."""
    starred: int
    """Cells shown as ``*`` because their value lies outside the domain."""
    claims: tuple[Claim, ...]
    """Each model of the release, judged on these records alone; it need not hold."""
    escape_formulas: bool = False
    """Whether the release escapes texts that a spreadsheet would run; these rows are not escaped yet."""

    def __repr__(self) -> str:
        return f"Applied({self.rows.height:,} rows, {self.left_out:,} left out, {self.starred:,} cells starred)"

    @property
    def holds(self) -> bool:
        """Whether these records meet the release's requirement by themselves."""
        return all(claim.holds for claim in self.claims)


def apply(bundle: str | Path, records: object, *, outside: Outside = "refuse") -> Applied:
    """Recode new records (a file or a frame) by the rules in a bundle's manifest."""
    folder = Path(bundle)
    manifest = load(folder / MANIFEST)
    with stated_form(folder):
        result: Applied = catalog().method_stated(manifest).apply(manifest, records, outside)
        return replace(result, escape_formulas=is_escaped(manifest))


def apply_rules(manifest: Mapping[str, Any], records: object, outside: Outside) -> Applied:
    """New records under the rules of a manifest that describes a table, judged by its models."""
    rules = stated_rules(manifest)
    published = Published.from_json(manifest["data"])
    table = stated_dates(read_records(records, published.missing), manifest)
    reading = manifest["plan"]["privacy"].get("reading", "strict")
    models = [(c["model"], c["parameters"]) for c in manifest["claims"]]
    return applied(table, rules, published, models=models, reading=reading, outside=outside)


def stated_rules(manifest: Mapping[str, Any]) -> dict[str, Rule]:
    """The rule of every quasi-identifier of a manifest, or a refusal where the recoding has none."""
    rules = {name: Rule.from_json(stated) for name, stated in manifest["recoding"]["columns"].items()}
    if None in rules.values():
        raise no_rule(str(manifest["recoding"]["algorithm"]))
    return {name: rule for name, rule in rules.items() if rule is not None}


def no_rule(algorithm: str) -> PlanError:
    """The refusal of a recoding that depends on the other records."""
    return PlanError(
        f"{algorithm} recodes group by group: what a value reads as depends on the records it was released with, so "
        "there is no rule for new ones. top-down, bottom-up, optimal and the other full-domain searches have one"
    )


def applied(
    table: Table,
    rules: Mapping[str, Rule],
    published: Published,
    *,
    models: list[tuple[str, Mapping[str, Any]]],
    reading: Any,
    outside: Outside,
) -> Applied:
    """New records under rules: quasi-identifiers recoded, other published columns as they are where they are there."""
    one_of("outside", outside, get_args(Outside))
    roles = published.schema.roles
    cells: dict[str, pl.Series] = {}
    strange = np.zeros((len(rules), table.rows), np.bool_)
    for place, (name, rule) in enumerate(rules.items()):
        table.require(name, where="new records")
        cells[name], strange[place] = _recoded(table, _texts(table, name), rule, outside)
    kept = (Role.SENSITIVE, Role.TARGET, Role.KEEP)
    cells |= {n: table.frame[n] for n, role in roles.items() if role in kept and n in table.names}
    frame = pl.DataFrame([cells[name] for name in roles if name in cells])
    lost = strange.any(axis=0) & (outside == "suppress")
    rows = frame.filter(pl.Series(~lost)) if lost.any() else frame
    return Applied(
        rows=rows,
        left_out=int(lost.sum()),
        starred=int(strange.sum()) if outside == "top" else 0,
        claims=_judged(rows, published, models, reading),
    )


def read_records(records: object, missing: tuple[str, ...]) -> Table:
    """New records from a file or a frame; there must be some."""
    table = (
        read_file(Path(records), missing=missing)
        if isinstance(records, str | Path)
        else from_frame(records, missing=missing)
    )
    if not table.rows:
        raise DataError(f"{table.source} has no rows; there is nothing to recode")
    return table


def _texts(table: Table, name: str) -> Column:
    """A column as texts: a number that is none is missing, whole numbers have no point, categories are words."""
    cells = table.frame[name]
    if cells.dtype.is_nested() or cells.dtype in (pl.Binary, pl.Object, pl.Duration):
        raise DataError(f"{table.source}, column {name!r}: cells of type {cells.dtype} cannot be recoded")
    if cells.dtype.is_float():
        known = cells.fill_nan(None)
        whole = known.is_null() | (known.is_finite() & (known == known.floor()) & (known.abs() < 2**53))
        words = known.cast(pl.String)
        cells = words.zip_with(~whole.fill_null(value=True), known.set(~whole, None).cast(pl.Int64).cast(pl.String))
    plain = Table(frame=pl.DataFrame([as_text(cells).alias(name)]), source=table.source, missing=table.missing)
    return plain.column(name, "text")


def _recoded(table: Table, column: Column, rule: Rule, outside: Outside) -> tuple[pl.Series, np.ndarray[Any, Any]]:
    """The labels of one column, and which rows' values lie outside the domain."""
    labels = rule.read(column)
    unknown = np.array([label is None for label in labels], np.bool_).reshape(len(labels))
    counts = column.counts
    if outside == "refuse" and (counts[unknown] > 0).any():
        bad = [place for place in np.flatnonzero(unknown) if counts[place]]
        examples = ", ".join(f"{column.values[i]!r} ({counts[i]} rows)" for i in bad[:5])
        more = f" and {len(bad) - 5} more values" if len(bad) > 5 else ""
        raise DataError(
            f"{table.source}, column {column.name!r}: no label of the release covers {examples}{more}; show such "
            "cells as "
            "* with outside = top, or leave out their rows with outside = suppress"
        )
    words = pl.Series(column.name, [TOP if label is None else label for label in labels], dtype=pl.String)
    return words.gather(column.codes), unknown[column.codes]


def _judged(
    rows: pl.DataFrame, published: Published, models: list[tuple[str, Mapping[str, Any]]], reading: Any
) -> tuple[Claim, ...]:
    """The release's models on these rows alone; none where a column that they read is not there."""
    parts = catalog()
    pairs = [(parts.model(name, parameters), parameters) for name, parameters in models]
    if (
        not rows.height
        or published.population
        or any(c not in rows.columns for model, _ in pairs for c in model.columns)
    ):
        return ()
    here = [column for column in published.columns if column.name in rows.columns]
    classes = evidence(
        Table(frame=rows, missing=published.missing),
        replace(published, columns=tuple(here), rows=rows.height),
        counted=[name for model, _ in pairs for name in model.columns],
    )
    return tuple(claim(model, parameters, classes, reading) for model, parameters in pairs)
