"""What a declared domain means for the rows of a column, before anything is paid: how many have no place in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sfumato.data.table import Table
from sfumato.describe.roles import Role
from sfumato.report.private.private_page import domain_words
from sfumato.workflow.kinds.private.declared import declared
from sfumato.workflow.kinds.private.private_rows import stated_domains
from sfumato.workflow.plan.column_plan import column_plan
from sfumato.workflow.plan.plan import Plan
from sfumato.workflow.plan.plan_table import Keys


def declared_values(plan: Plan, table: Table, name: str, said: Mapping[str, Any]) -> dict[str, Any]:
    """The domain that ``said`` declares for a column, in words, and what becomes of rows that lie outside it."""
    column = column_plan(Keys.of(said, f"columns.{name}"), name)
    if column.domain_from == "discover":
        return {"words": "A release looks for it with a part of the budget.", "notes": []}
    alone = replace(plan, columns={name: replace(column, role=Role.QUASI)}, privacy={"epsilon": 1}, learner=None)
    ready = declared(alone, table)
    stated = stated_domains(ready.table)["columns"][name]
    return {"words": domain_words(stated), "notes": list(ready.notes)}
