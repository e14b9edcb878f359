"""How releases of one kind are compared: what is tried by default, what is measured, and on which axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from sfumato.data.table import Table
from sfumato.workflow.frontier.axes import Axis
from sfumato.workflow.plan.frontier_plan import Grid, Tree

if TYPE_CHECKING:
    from sfumato.workflow.plan.plan import Plan
    from sfumato.workflow.released import Release


class Comparison(Protocol):
    """What a frontier asks of a kind of release."""

    def algorithms(self, plan: Plan) -> tuple[Tree, ...]:
        """What is compared where the plan names no algorithms."""

    def grid(self, plan: Plan) -> Grid:
        """What varies where the plan has no grid."""

    def attack(self, plan: Plan) -> Tree:
        """The [attack] table of every point."""

    def measured(self, made: Release, table: Table) -> dict[str, Any]:
        """Everything that is measured on a release, as JSON has it; no value of the data."""

    def original(self, plan: Plan, table: Table, population: Table | None) -> dict[str, Any]:
        """What the original table itself measures."""

    def privacy(self, records: Sequence[Mapping[str, Any]]) -> tuple[Axis, ...]:
        """The axes of privacy."""

    def utility(self, metrics: Sequence[str], *, target: bool) -> tuple[Axis, ...]:
        """The axes of utility."""

    def refuse_pick(self) -> None:
        """Refuse to make a point's release again where choosing by these figures is not allowed."""
