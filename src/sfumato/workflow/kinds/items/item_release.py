"""A release of paths, sets and mixed records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from sfumato.group.near_unique import NearUnique, asked_size, near_unique_columns, unchanged
from sfumato.publish.items.item_problem import ItemOutcome
from sfumato.utility.item_utility import FrequentSets, QueryError
from sfumato.verification.item_checks import LOCAL, LOCAL_SETS, RECODED
from sfumato.workflow.kinds.items.item_columns import RecodedColumn, recoded
from sfumato.workflow.kinds.items.item_preparing import ItemPrepared
from sfumato.workflow.kinds.items.long_tables import item_marks
from sfumato.workflow.released import Release

QUERY_COUNT = 300
"""How many random count queries of each size are asked."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ItemRelease(Release):
    """Released records of which nobody with little knowledge can tell much."""

    prepared: ItemPrepared
    """The original, encoded."""
    outcome: ItemOutcome
    """What the search found."""
    frequent: FrequentSets
    """The maximal frequent sets of the original, and what became of them."""
    queries: tuple[QueryError, ...]
    """How far answers to random count queries are off."""

    @cached_property
    def near_unique(self) -> tuple[NearUnique, ...]:
        """The columns beside paths and sets that nearly single people out, as anybody can count in the release."""
        k = asked_size(one.parameters for one in self.claims)
        return near_unique_columns(self.rows, unchanged(self.prepared.schema.roles), self.prepared.table.missing, k)

    @property
    def marks(self) -> list[str]:
        """Warnings that belong to the release."""
        return [
            *super().marks,
            *(one.told for one in self.near_unique),
            *([LOCAL] if self.plan.algorithm.options.get("scope") == "local" else []),
            *([RECODED] if self.algorithm == LOCAL_SETS else []),
            *item_marks(self.plan),
        ]

    @property
    def effort(self) -> Mapping[str, int | float | str]:
        """What the search did."""
        return self.outcome.effort

    @cached_property
    def recoded(self) -> tuple[RecodedColumn, ...]:
        """What became of each quasi-identifier."""
        return tuple(recoded(self.prepared, self.outcome, space) for space in self.prepared.problem.spaces)
