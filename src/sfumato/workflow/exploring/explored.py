"""A plan and its table, kept ready: rows, columns, hierarchies, and the table counted under the plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sfumato.data.table import Table
from sfumato.describe.domains import ObservedDomain
from sfumato.ground.errors import PlanError, SfumatoError
from sfumato.workflow.exploring.counted import Counted
from sfumato.workflow.exploring.declared_values import declared_values
from sfumato.workflow.exploring.hierarchy_levels import leaf_table, levels_shown
from sfumato.workflow.exploring.item_values import item_values
from sfumato.workflow.exploring.number_spread import spread_of
from sfumato.workflow.kinds import kind_of
from sfumato.workflow.loading import load_table
from sfumato.workflow.plan.column_plan import ITEMIZED
from sfumato.workflow.plan.plan import Plan

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
        said = plan.columns.get(column)
        if said is not None and said.type in ITEMIZED:
            return ObservedDomain.of(item_values(plan, self.table, column, key).column(column))
        if column not in self.table.names:
            raise PlanError(f"columns.{column}: the table has no such column")
        kind: Any = None if said is None else said.type
        if (column, kind) not in self._domains:
            self._domains[column, kind] = ObservedDomain.of(self.table.column(column, kind))
        return self._domains[column, kind]

    def levels(self, plan: Plan, column: str, tree: Tree, key: str = "hierarchy") -> list[dict[str, Any]]:
        """The levels that a hierarchy gives a column."""
        return [asdict(one) for one in levels_shown(tree, self.domain(plan, column, key), folder=plan.folder)]

    def leaves(self, plan: Plan, column: str, tree: Tree, key: str = "hierarchy") -> list[list[str]]:
        """A hierarchy as lines of a file."""
        return leaf_table(tree, self.domain(plan, column, key), folder=plan.folder)

    def spread(self, plan: Plan, column: str, key: str = "hierarchy") -> dict[str, Any] | None:
        """How the numbers of a column lie, in bins of equal width; None where it has none."""
        domain = self.domain(plan, column, key)
        return spread_of(domain.values, domain.all_counts)

    def declared(self, plan: Plan, column: str, said: Tree) -> dict[str, Any]:
        """What a declared domain of a column means for its rows."""
        if column not in self.table.names:
            raise PlanError(f"columns.{column}: the table has no such column")
        return declared_values(plan, self.table, column, said)

    def under(self, plan: Plan) -> Counted:
        """The table counted under a plan."""
        counted = kind_of(plan).counted
        return Counted(plan) if counted is None else counted(plan, self.table)


def problems(tree: Tree, folder: Any) -> str | None:
    """What is wrong with a plan, in one message; None where nothing is."""
    try:
        Plan.parse(tree, folder=folder)
    except SfumatoError as error:
        return str(error)
    return None
