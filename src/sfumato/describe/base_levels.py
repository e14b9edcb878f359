"""Counting from a coarser level: the labels of that level take the place of a column's values.

Whatever is counted, searched, released or attacked afterwards knows the labels only, so nothing finer is published.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.data.table import Codes
from sfumato.describe.domains import ObservedDomain
from sfumato.describe.hierarchy import Hierarchy, Level
from sfumato.ground.brief import Brief
from sfumato.ground.errors import PlanError


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
