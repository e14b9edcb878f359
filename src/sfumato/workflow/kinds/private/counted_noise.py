"""A table under a plan with noise: whether every domain is declared, and which algorithms fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sfumato.data.table import Table
from sfumato.ground.errors import SfumatoError
from sfumato.workflow.exploring.counted import Counted
from sfumato.workflow.exploring.fitting import fitting
from sfumato.workflow.kinds.private.declared import declared
from sfumato.workflow.kinds.private.private_budget import searches
from sfumato.workflow.kinds.private.private_plan import private_algorithm
from sfumato.workflow.plan.domain_plan import OTHER
from sfumato.workflow.plan.plan import Plan


class CountedNoise(Counted):
    """Rows over declared domains; no count of them is shown."""

    def __init__(self, plan: Plan, table: Table) -> None:
        """The rows are looked at when somebody asks whether they fit."""
        super().__init__(plan)
        self.table = table

    def unreachable(self) -> str | None:
        """What a release would refuse, before it pays: a column without a domain, a role that noise does not cover."""
        try:
            found = {
                name: replace(self.plan.columns[name], hierarchy=None, type=None, values=(OTHER,), within=(),
                              domain_from="declared")
                for name in searches(self.plan)
            }  # fmt: skip
            privacy = {key: value for key, value in self.plan.privacy.items() if key != "discovery"}
            declared(replace(self.plan, columns={**self.plan.columns, **found}, privacy=privacy), self.table)
        except SfumatoError as error:
            return str(error)
        return None

    def fitting(self) -> dict[str, Any]:
        """Both algorithms, unless the promise is not theirs."""
        name, _, why = private_algorithm(
            replace(self.plan, algorithm=replace(self.plan.algorithm, name="auto", options={}))
        )
        return fitting(self.plan, "private", lambda plan, work: private_algorithm(plan), name, why)
