"""Near-unique columns, counted in the written bytes: a remark, because no claim is about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sfumato.data.table import Table
from sfumato.describe.hierarchy import TOP
from sfumato.describe.roles import Role
from sfumato.group.near_unique import JUDGED, NearUnique, asked_size, near_unique_columns, near_unique_rows
from sfumato.verification.checks import Remark

if TYPE_CHECKING:
    from sfumato.engines.engine_source import EngineSource


def near_unique_remarks(
    manifest: Mapping[str, Any], table: Table | EngineSource, roles: Mapping[str, Role]
) -> Iterable[Remark]:
    """A remark for every column of the data file that nearly singles people out."""
    k = asked_size(one["parameters"] for one in manifest["claims"])
    for one in near_unique_released(table, roles, k):
        yield Remark(what=f"near-unique column {one.column}", detail=one.told)


def near_unique_released(table: Table | EngineSource, roles: Mapping[str, Role], k: int) -> tuple[NearUnique, ...]:
    """The near-unique columns among released rows; in an engine their values are counted where they are."""
    if isinstance(table, Table):
        return near_unique_columns(table.frame, roles, table.missing, k)
    judged = {name: roles[name] for name in table.names if roles.get(name) in JUDGED}
    stars = {name: [TOP] if role is Role.QUASI else [] for name, role in judged.items()}
    rare = {name: table.rare(name, [*table.missing, *stars[name]], k) for name in judged}
    found = [near_unique_rows(name, role, rare[name], table.rows, k) for name, role in judged.items()]
    return tuple(one for one in found if one is not None)
