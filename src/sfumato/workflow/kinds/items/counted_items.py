"""Paths and sets under a plan: what the raw records reach, and which algorithms fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sfumato.bundle.manifest import plain
from sfumato.data.table import Table
from sfumato.ground.errors import SfumatoError
from sfumato.ground.strict_toml import read_toml
from sfumato.models.item_model import ItemModel
from sfumato.verification.item_checks import item_claim, secret_of
from sfumato.workflow.catalog.lookup import catalog, parameters
from sfumato.workflow.exploring.counted import Counted
from sfumato.workflow.exploring.fitting import fitting
from sfumato.workflow.kinds.items.item_plan import item_algorithm, item_models
from sfumato.workflow.kinds.items.item_preparing import prepare_items
from sfumato.workflow.kinds.items.item_stages import search
from sfumato.workflow.kinds.items.long_tables import item_table
from sfumato.workflow.kinds.kind import Asked
from sfumato.workflow.loading import marked
from sfumato.workflow.plan.plan import Plan


class CountedItems(Counted):
    """Records as sets of items."""

    def __init__(self, plan: Plan, table: Table) -> None:
        """Every record is made a set of items."""
        super().__init__(plan)
        self.prepared = prepare_items(plan, marked(item_table(plan, table), plan))

    def reached(self) -> list[dict[str, Any]]:
        """What the raw records reach of every model of the plan."""
        return [self._claim(model) for model in self.prepared.problem.models]

    def offered(self) -> list[dict[str, Any]]:
        """What they reach of the others, each asked for as the catalog's own example does where that can be."""
        asked = {model.name for model in self.prepared.problem.models}
        parts = [
            part
            for part in catalog().models.values()
            if "items" in part.judges and part.make.name not in asked and "sensitive" not in part.plan
        ]
        found = []
        for part in parts:
            try:
                models = item_models(read_toml(part.plan), self.prepared.schema.sensitive)
                found += [self._claim(model) for model in models]
            except (SfumatoError, ValueError):
                continue
        return found

    def fitting(self) -> dict[str, Any]:
        """Each algorithm for paths and sets is begun and says what it refuses."""
        name, _, why = item_algorithm(
            replace(self.plan, algorithm=replace(self.plan.algorithm, name="auto", options={}))
        )
        return fitting(
            self.plan, "items", lambda plan, work: search(Asked(plan=plan, keys={}), self.prepared, work), name, why
        )

    def _claim(self, model: ItemModel) -> dict[str, Any]:
        records = self.prepared.problem.transactions
        if model.columns:
            name = model.columns[0]
            kind: Any = self.plan.columns[name].type
            records = replace(records, secret=secret_of(self.prepared.table.column(name, kind)))
        found: dict[str, Any] = plain(item_claim(model, parameters(model), records).to_json())
        return found
