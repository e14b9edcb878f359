"""A release of sets that hide rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from sfumato.bundle.rule_commitments import HiddenRules
from sfumato.data.table import Table
from sfumato.describe.roles import Schema
from sfumato.ground.brief import Brief
from sfumato.group.near_unique import NearUnique, asked_size, near_unique_columns, unchanged
from sfumato.mine.side_effects import SideEffects
from sfumato.publish.sanitize.hiding_problem import HidingProblem, Sanitized
from sfumato.verification.sanitized_checks import BLOCKED, HIDES_ONLY
from sfumato.workflow.released import Release


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SanitizedPrepared(Brief):
    """A table made ready: every record a set of items."""

    table: Table
    """The rows that are used."""
    schema: Schema
    """The roles of every column."""
    column: str
    """The column of sets."""
    rules: HiddenRules
    """What is to be hidden."""
    problem: HidingProblem
    """What the algorithm is given."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SanitizedRelease(Release):
    """Released sets that do not yield what the steward named."""

    prepared: SanitizedPrepared
    """The original, encoded."""
    outcome: Sanitized
    """What the algorithm found."""
    effects: SideEffects
    """What became of all other rules; for the steward."""

    @cached_property
    def near_unique(self) -> tuple[NearUnique, ...]:
        """The columns beside the sets that nearly single people out."""
        roles = {name: self.prepared.schema.roles[name] for name in self.rows.columns}
        return near_unique_columns(self.rows, unchanged(roles), self.prepared.table.missing, asked_size(()))

    @property
    def marks(self) -> list[str]:
        """Warnings that belong to the release: first of all, that it is not anonymous."""
        blocked = [BLOCKED] if self.outcome.unknown is not None else []
        return [HIDES_ONLY, *blocked, *super().marks, *(one.told for one in self.near_unique)]

    @property
    def effort(self) -> Mapping[str, int | float | str]:
        """What the search did."""
        return self.outcome.effort
