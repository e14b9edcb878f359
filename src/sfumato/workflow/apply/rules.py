"""How new records read under a recoding that was found before: one rule per quasi-identifier.

A rule tells no more than the release: what a declared domain maps to, which intervals or labels were released.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, nan
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sfumato.data.kinds import is_readable
from sfumato.data.table import Column, Kind, Table
from sfumato.describe.domains import Categories, ObservedDomain
from sfumato.describe.hierarchy import TOP, Hierarchy
from sfumato.describe.spans import read_interval
from sfumato.describe.taxonomy import Taxonomy
from sfumato.publish.cut import ColumnCut
from sfumato.workflow.plan.builders import builder

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
        found = np.full(len(column.present), -1)
        numbers = np.array([_number(value) for value in column.present], np.float64)
        for place, label in enumerate(self.labels):
            interval = read_interval(label)
            if interval is not None:
                found[(found < 0) & interval.holds(numbers)] = place
        return tuple(self.labels[place] if place >= 0 else None for place in found)

    def _by_ancestor(self, column: Column) -> Labels:
        readable = [value for value in column.present if is_readable(value, self.kind)]
        if not readable:
            return (None,) * len(column.present)
        frame = pl.DataFrame({column.name: readable}, schema={column.name: pl.String})
        domain = ObservedDomain.of(Table(frame=frame).column(column.name, self.kind))
        made = builder(self.above or {"kind": "flat"}, f"columns.{column.name}.hierarchy", Path()).build(domain)
        above: dict[str, str | None] = {}
        for code, value in enumerate(domain.values):
            path = [level.labels[level.parent[code]] for level in made.levels]
            above[value] = next((label for label in path if label in self.labels), None)
        return tuple(above.get(value) for value in column.present)


def _number(value: str) -> float:
    """A text as a number; none where it reads as none or is not finite."""
    try:
        found = float(value)
    except ValueError:
        return nan
    return found if isfinite(found) else nan


def rule_at(
    plan: Mapping[str, Any], folder: Path, domain: ObservedDomain, released: Sequence[str], cut: ColumnCut | int
) -> Rule:
    """The rule of a column under one level of its hierarchy (as the plan describes it), or under a cut through it."""
    made = builder(plan, f"columns.{domain.column}.hierarchy", folder)
    declared = made.declared()
    if isinstance(declared, Categories):
        leaves = declared.values
        full = made.build(ObservedDomain.whole(domain.column, declared, kind=domain.kind))
        if isinstance(cut, int):
            names = full.levels[cut]
            said = tuple(names.labels[place] for place in names.parent)
        else:
            said = _everywhere(full, domain, cut, frozenset(released))
        return Rule(kind=domain.kind, labels=tuple(released), values=dict(zip(leaves, said, strict=True)))
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
    shown = [label for label in held[node] if cut.labels[label] != TOP]
    if not shown:
        return TOP
    over = [label for label in shown if _covers(label, node, tree, cut, held)]
    return cut.labels[over[0]] if over else tree.labels[below]


def _covers(label: int, node: int, tree: Taxonomy, cut: ColumnCut, held: Sequence[Counter[int]]) -> bool:
    """Whether a label that is read below a node covers all of it; a set does below the node that joins its values."""
    if label in cut.sets:
        return held[node][label] < held[0][label]
    return bool(cut.steps[label] >= tree.steps[node])
