"""A condensed release: what was drawn, from which groups."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.bundle.published import Published
from sfumato.group.near_unique import NearUnique, asked_size, near_unique_columns
from sfumato.publish.condensation.condense import Condense, Condensed
from sfumato.verification.condensed_checks import small_groups, warning
from sfumato.workflow.kinds.condensed.condensed_plan import algorithm_of
from sfumato.workflow.kinds.condensed.condensed_table import SPREAD, CondensePrepared
from sfumato.workflow.released import Release


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DrawnRelease(Release, ABC):
    """Records drawn from groups, of a table or of a batch of a stream."""

    published: Published
    """What a verifier must know to read the rows."""

    @property
    def condense(self) -> Condense:
        """What was asked for."""
        return algorithm_of(self.plan)

    @property
    @abstractmethod
    def sizes(self) -> list[tuple[int, int]]:
        """The sizes of groups, with how many groups have each."""

    @property
    @abstractmethod
    def numbers(self) -> frozenset[str]:
        """The columns of numbers of the original."""

    @property
    @abstractmethod
    def left_out(self) -> int:
        """Records that were left out because of missing values."""

    @property
    def beside(self) -> dict[str, Any]:
        """What else the manifest states."""
        return {}

    @property
    def treated(self) -> dict[str, str]:
        """What was done to every released column."""
        rows = self.condense.output == "rows"
        spreads = set() if rows else {name + SPREAD for name in self.numbers}
        shown = "drawn" if rows else "mean"
        return {
            name: "spread" if name in spreads else shown if name in self.numbers else "dealt"
            for name in self.rows.columns
        }

    @cached_property
    def near_unique(self) -> tuple[NearUnique, ...]:
        """The columns of dealt values that nearly single people out."""
        roles = {name: role for name, role in self.published.schema.roles.items() if self.treated[name] == "dealt"}
        k = asked_size(one.parameters for one in self.claims)
        return near_unique_columns(self.rows, roles, self.published.missing, k)

    @property
    def marks(self) -> list[str]:
        """Warnings that belong to the release: first of all, what the claim is not about."""
        small = small_groups(self.condense.k)
        return [warning(self.condense.output), *small, *super().marks, *(one.told for one in self.near_unique)]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CondensedRelease(DrawnRelease):
    """Records drawn from the groups of a table, or the means and spreads of their groups."""

    prepared: CondensePrepared
    """The original."""
    outcome: Condensed
    """The groups."""

    @property
    def sizes(self) -> list[tuple[int, int]]:
        """The sizes of groups, with how many groups have each."""
        return sizes_of(self.outcome)

    @property
    def numbers(self) -> frozenset[str]:
        """The columns of numbers of the original."""
        return frozenset(one.name for one in self.prepared.condensed)

    @property
    def left_out(self) -> int:
        """Records that were left out because of missing values."""
        return self.prepared.dropped_rows


def sizes_of(outcome: Condensed) -> list[tuple[int, int]]:
    """The sizes of groups, counted from the group of each record, with how many groups have each."""
    return sorted(Counter(np.bincount(outcome.groups).tolist()).items())
