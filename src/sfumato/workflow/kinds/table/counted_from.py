"""Counting from base levels: the sources count labels that a plan declares, and not the values below them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sfumato.describe.base_levels import BaseLevel, base_level
from sfumato.describe.domains import ObservedDomain
from sfumato.describe.hierarchy import Hierarchy
from sfumato.ground.brief import Brief
from sfumato.ground.errors import DataError
from sfumato.group.cell_source import CellSource
from sfumato.group.classes import Classes
from sfumato.group.keys import total
from sfumato.workflow.plan.builders import builder
from sfumato.workflow.plan.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Ground(Brief):
    """What is counted, and over which labels and levels."""

    source: CellSource
    """The rows; columns with a base level have its labels in place of their values."""
    people: CellSource | None
    """The population, read in the same way."""
    domains: Mapping[str, ObservedDomain]
    """What every column can be counted by."""
    hierarchies: tuple[Hierarchy, ...]
    """One per quasi-identifier, from its base level up."""
    based: Mapping[str, BaseLevel]
    """The columns that are counted from a base level."""

    def refuse_changed(self, cells: Classes) -> None:
        """Refuse rows whose values changed since their labels were looked up: they would have none."""
        for name, base in self.based.items():
            place = cells.quasi.index(name)
            found = total(cells.keys[place].astype(np.int64), cells.sizes, len(cells.labels[place]))
            if not np.array_equal(found, base.domain.all_counts):
                raise DataError(
                    f"{self.source.source} changed while it was read: column {name!r} has other values than before; "
                    "release a table that nobody writes to, or a copy"
                )


def ground(
    plan: Plan,
    source: CellSource,
    people: CellSource | None,
    domains: Mapping[str, ObservedDomain],
    whole: Mapping[str, ObservedDomain],
) -> Ground:
    """Bind the plan's hierarchies, and let the sources count from the base levels that it declares.

    ``whole`` are the domains of the quasi-identifiers, with the values of the population.
    """
    hierarchies = {name: bound_hierarchy(plan, domain) for name, domain in whole.items()}
    based = {
        name: base_level(domains[name], hierarchy, plan.columns[name].base)
        for name, hierarchy in hierarchies.items()
        if plan.columns[name].base
    }
    labels = {name: base.labels for name, base in based.items()}
    return Ground(
        source=source.coarser(labels) if labels else source,
        people=people.coarser(labels) if labels and people is not None else people,
        domains={**domains, **{name: base.domain for name, base in based.items()}},
        hierarchies=tuple(based[name].hierarchy if name in based else one for name, one in hierarchies.items()),
        based=based,
    )


def bound_hierarchy(plan: Plan, domain: ObservedDomain) -> Hierarchy:
    """Bind the plan's hierarchy to a column."""
    tree = plan.columns[domain.column].hierarchy
    made = builder(tree or {"kind": "flat"}, f"columns.{domain.column}.hierarchy", plan.folder)
    return made.build(domain)
