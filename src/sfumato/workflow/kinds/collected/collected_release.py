"""A release of answers that were randomized at the source."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.bundle.published import Published
from sfumato.collect.published_estimates import Estimates
from sfumato.group.near_unique import NearUnique, asked_size, near_unique_columns
from sfumato.verification.collected_checks import AT_THE_SOURCE, STUDY, beside_mark
from sfumato.workflow.released import Release

if TYPE_CHECKING:
    from sfumato.workflow.kinds.collected.collected_stages import CollectedPrepared


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CollectedRelease(Release):
    """Shown answers with their specification and the distributions that are estimated from them."""

    prepared: CollectedPrepared
    """The answers as they came in."""
    estimates: Estimates
    """What is estimated."""
    order: NDArray[np.int64]
    """From which row of the input each released row came."""
    published: Published
    """What a verifier must know to read the rows."""

    @property
    def specification(self) -> dict[str, Any]:
        """As the manifest states it."""
        return self.prepared.spec.to_json()

    @cached_property
    def near_unique(self) -> tuple[NearUnique, ...]:
        """The columns beside the answers that nearly single people out."""
        roles = {name: self.published.schema.roles[name] for name in self.prepared.beside.columns}
        return near_unique_columns(self.rows, roles, self.published.missing, asked_size(()))

    @property
    def marks(self) -> list[str]:
        """Warnings that belong to the release: first of all, what nobody can verify."""
        study = self.plan.collection is not None and self.plan.collection.truth is not None
        beside = self.prepared.beside.columns
        told = [AT_THE_SOURCE, *([STUDY] if study else []), *([beside_mark(beside)] if beside else [])]
        return [*told, *super().marks, *(one.told for one in self.near_unique)]
