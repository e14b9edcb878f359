"""What can be told about a table before anything is searched: columns that nearly single people out as they are."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from sfumato.describe.roles import Role
from sfumato.group.near_unique import NearUnique, asked_size, near_unique
from sfumato.workflow.catalog.lookup import parameters
from sfumato.workflow.kinds.table.preparing import Prepared


def foreseen(prepared: Prepared) -> tuple[NearUnique, ...]:
    """The near-unique columns among those that are published unchanged; quasi-identifiers are still to be generalized.

    It asks for nothing but domains, so any source of cells will do. Lists and the like have none: only the released
    rows tell about them.
    """
    k = asked_size(parameters(model) for model in prepared.models)
    return tuple(_judged(prepared, k))


def _judged(prepared: Prepared, k: int) -> Iterable[NearUnique]:
    for name in prepared.schema.named(Role.SENSITIVE, Role.TARGET, Role.KEEP):
        dtype = prepared.source.dtype(name)
        if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
            continue
        domain = prepared.domains[name] if name in prepared.domains else prepared.source.domain(name)
        found = near_unique(name, prepared.schema.roles[name], domain.counts, prepared.rows, k)
        if found is not None:
            yield found
