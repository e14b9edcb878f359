"""Near-unique columns, counted in the written bytes: a remark, because no claim is about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sfumato.data.table import Table
from sfumato.describe.roles import Role
from sfumato.group.near_unique import asked_size, near_unique_columns
from sfumato.verification.checks import Remark


def near_unique_remarks(manifest: Mapping[str, Any], table: Table, roles: Mapping[str, Role]) -> Iterable[Remark]:
    """A remark for every column of the data file that nearly singles people out."""
    k = asked_size(one["parameters"] for one in manifest["claims"])
    for one in near_unique_columns(table.frame, roles, table.missing, k):
        yield Remark(what=f"near-unique column {one.column}", detail=one.told)
