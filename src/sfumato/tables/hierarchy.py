"""A value generalization hierarchy bound to a column, and counting from one of its levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.core.errors import HierarchyError, PlanError
from sfumato.core.short_repr import Brief
from sfumato.tables.labels import MAX_LABEL
from sfumato.tables.schema import Categories, Numbers, ObservedDomain
from sfumato.tables.table import Codes
from sfumato.tables.taxonomy import TOP, Taxonomy, Trunk, taxonomy

# A value generalization hierarchy, bound to the values of one column.
#
# Level 0 is the value itself, the last level is one label, ``*``, that covers everything. Every label of a level has
# exactly one label above it; so the levels form a chain of ever coarser partitions.


__all__ = ["TOP", "Hierarchy", "Level", "chain"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Level(Brief):
    """One level: which label each value of the column gets."""

    labels: tuple[str, ...]
    """The labels that occur at this level."""
    parent: Codes
    """For each value of the column (by code), the index of its label."""
    sizes: NDArray[np.float64]
    """For each label, how many leaves it covers, or how wide it is."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Hierarchy(Brief):
    """All levels over the values of one column, from the values themselves to ``*``."""

    column: str
    """The column's name."""
    levels: tuple[Level, ...]
    """Level 0 first."""
    total: float
    """How many leaves the whole domain has, or how wide it is."""
    continuous: bool = False
    """Whether sizes are widths of a continuous range (a leaf has width 0) or numbers of leaves (a leaf has 1)."""
    missing: int | None = None
    """The code of the missing value, which stays itself below the top."""
    declared: Categories | Numbers | None = None
    """What the publisher said the domain is, if anything."""
    taxonomy: Taxonomy | None = None
    """The tree that the levels were made from, where its leaves lie at different depths."""
    open: bool = False
    """Whether the number of levels was read off the values, so that it is not public."""
    base: int = 0
    """The level of the column's whole hierarchy that level 0 is here, where counting begins above the values."""

    @property
    def height(self) -> int:
        """The number of the top level."""
        return len(self.levels) - 1

    def lift(self, low: int, high: int) -> Codes:
        """From the labels of level ``low`` to those of the coarser level ``high``."""
        if low == high:
            return np.arange(len(self.levels[low].labels), dtype=np.int32)
        lifted = np.zeros(len(self.levels[low].labels), np.int32)
        lifted[self.levels[low].parent] = self.levels[high].parent
        return lifted

    def tree(self) -> Taxonomy:
        """The hierarchy as a tree: the one it was made from, or else the one that its levels are."""
        if self.taxonomy is not None:
            return self.taxonomy
        names = [[level.labels[place] for place in level.parent] for level in self.levels[-2::-1]]
        trunks = [
            (trunk[-1],) if code == self.missing else trunk for code, trunk in enumerate(zip(*names, strict=True))
        ]
        sizes: dict[Trunk, float] = {}
        for depth, level in enumerate(self.levels[-2:0:-1], start=1):
            sizes |= {trunk[:depth]: float(level.sizes[level.parent[c]]) for c, trunk in enumerate(trunks)}
        leaf = 0.0 if self.continuous else 1.0
        return taxonomy(trunks, sizes, total=self.total, height=self.height, leaf=leaf)


def chain(
    domain: ObservedDomain,
    rows: Sequence[Sequence[str]],
    sizes: Sequence[dict[str, float]],
    *,
    total: float,
    continuous: bool = False,
    declared: Categories | Numbers | None = None,
    taxonomy: Taxonomy | None = None,
) -> Hierarchy:
    """Bind levels to a column and prove that they are a hierarchy.

    ``rows[i]`` holds the labels of value ``i`` at the levels between the value and the top; ``sizes[j]`` the size of
    each label of level ``j + 1``. A label with two labels above it is refused with the rows that it holds.
    """
    between = len(sizes)
    values = domain.values if domain.missing is None else (*domain.values, domain.missing)
    columns: list[Sequence[str]] = [values]
    for j in range(between):
        column = [row[j] for row in rows]
        columns.append(column if domain.missing is None else [*column, domain.missing])
    for j, labels in enumerate(columns):
        _refuse_long(domain, labels, level=j)
    for j in range(1, len(columns)):
        _refuse_top_below(domain, columns[j], level=j)
        _refuse_two_parents(domain, columns[j - 1], columns[j], level=j)
    leaf = 0.0 if continuous else 1.0
    levels = [_level(columns[0], {}, leaf)]
    levels += [_level(column, size, leaf) for column, size in zip(columns[1:], sizes, strict=True)]
    top = _level([TOP] * len(values), {TOP: total}, leaf)
    return Hierarchy(
        column=domain.column,
        levels=(*levels, top),
        total=total,
        continuous=continuous,
        missing=None if domain.missing is None else len(domain.values),
        declared=declared,
        taxonomy=taxonomy,
    )


def _level(column: Sequence[str], sizes: dict[str, float], leaf: float) -> Level:
    index: dict[str, int] = {}
    parent = np.fromiter((index.setdefault(label, len(index)) for label in column), np.int32, len(column))
    return Level(labels=tuple(index), parent=parent, sizes=np.array([sizes.get(label, leaf) for label in index]))


def _refuse_long(domain: ObservedDomain, labels: Sequence[str], *, level: int) -> None:
    """Refuse before a search what no release can be written with; a range shows two numbers or dates in one label."""
    limit = MAX_LABEL if domain.numbers is None else MAX_LABEL // 2 - 5
    longest = max(labels, key=len, default="")
    if len(longest) > limit:
        what = "a value" if not level else f"a label of level {level}"
        raise HierarchyError(
            f"hierarchy of {domain.column!r}: {what} has {len(longest):,} characters ({longest[:40]!r} ...), and a "
            f"quasi-identifier of type {domain.kind} may have {limit}; shorten such values, or give the column another "
            "role"
        )


def _refuse_top_below(domain: ObservedDomain, labels: Sequence[str], *, level: int) -> None:
    """The top's label means that nothing is told; below the top it would be read as a suppressed cell."""
    held = [i for i, label in enumerate(labels[: len(domain.values)]) if label == TOP]
    if held:
        rows = int(domain.counts[held].sum())
        raise HierarchyError(
            f"hierarchy of {domain.column!r}: {domain.values[held[0]]!r} is {TOP!r} at level {level} ({rows} rows), "
            f"below the top; {TOP!r} is kept for the level that covers everything"
        )


def _refuse_two_parents(domain: ObservedDomain, below: Sequence[str], above: Sequence[str], *, level: int) -> None:
    parents: dict[str, str] = {}
    for label, parent in zip(below, above, strict=True):
        if parents.setdefault(label, parent) != parent:
            held = [i for i, text in enumerate(below[: len(domain.values)]) if text == label]
            rows = int(domain.counts[held].sum())
            raise HierarchyError(
                f"hierarchy of {domain.column!r}: {label!r} at level {level - 1} ({rows} rows) has two parents at "
                f"level {level}, {parents[label]!r} and {parent!r}; every label needs exactly one"
            )


# Counting from a coarser level: the labels of that level take the place of a column's values.
#
# Whatever is counted, searched, released or attacked afterwards knows the labels only, so nothing finer is published.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BaseLevel(Brief):
    """A column as it is counted where counting begins above its values."""

    exact: ObservedDomain
    """The values themselves."""
    domain: ObservedDomain
    """The labels of the base level that occur, in the order of the values, as a column of texts."""
    hierarchy: Hierarchy
    """The levels from the base level up; sizes are numbers of base labels."""
    of_value: Codes
    """For each value, by code, its label, by code."""

    @property
    def labels(self) -> dict[str, str]:
        """The base label of each value; a missing value has none."""
        values = self.exact.values
        return {value: self.domain.values[code] for value, code in zip(values, self.of_value.tolist(), strict=False)}


def base_level(exact: ObservedDomain, hierarchy: Hierarchy, base: int) -> BaseLevel:
    """Begin at a level of a hierarchy; the top, and levels that there are not, are refused."""
    if not 1 <= base < hierarchy.height:
        would = f"use a level from 1 to {hierarchy.height - 1}"
        if hierarchy.height < 2:
            would = "its hierarchy has no level between its values and '*', so give it one, or leave base out"
        raise PlanError(f"columns.{exact.column}.base: counting cannot begin at level {base}; {would}")
    level, many = hierarchy.levels[base], len(exact.values)
    absent = None if hierarchy.missing is None else int(level.parent[hierarchy.missing])
    used = list(dict.fromkeys(int(code) for code in level.parent[:many] if code != absent))
    place = np.full(len(level.labels), len(used), np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    of_value = place[level.parent]
    domain = ObservedDomain(
        column=exact.column,
        kind="text",
        values=tuple(level.labels[code] for code in used),
        counts=np.bincount(of_value, weights=exact.all_counts, minlength=len(used) + 1)[: len(used)].astype(np.int64),
        missing=exact.missing,
        absent=exact.absent,
    )
    return BaseLevel(exact=exact, domain=domain, hierarchy=_above(hierarchy, domain, of_value, base), of_value=of_value)


def _above(hierarchy: Hierarchy, domain: ObservedDomain, of_value: Codes, base: int) -> Hierarchy:
    """The levels from the base level up, over its labels."""
    member = np.zeros(len(domain.labels), np.int64)
    member[of_value] = np.arange(len(of_value))
    ground = Level(
        labels=domain.labels,
        parent=np.arange(len(domain.labels), dtype=np.int32),
        sizes=np.ones(len(domain.labels)),
    )
    above = [_counted(level, level.parent[member]) for level in hierarchy.levels[base + 1 :]]
    return Hierarchy(
        column=hierarchy.column,
        levels=(ground, *above),
        total=float(len(domain.values)),
        missing=None if domain.missing is None else len(domain.values),
        open=hierarchy.open,
        base=base,
    )


def _counted(level: Level, parent: Codes) -> Level:
    sizes = np.bincount(parent, minlength=len(level.labels)).astype(np.float64)
    return Level(labels=level.labels, parent=parent.astype(np.int32), sizes=sizes)
