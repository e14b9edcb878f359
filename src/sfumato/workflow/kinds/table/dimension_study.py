"""How risk and loss grow with every further quasi-identifier, for a plan's own model and algorithm."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from sfumato.attacks.identity.dimensionality import Step, curse, recommendation
from sfumato.bundle.manifest import plain
from sfumato.bundle.staging import write_whole
from sfumato.describe.roles import Role
from sfumato.ground.chance import Chance
from sfumato.ground.errors import Infeasible
from sfumato.ground.work import Work
from sfumato.group.cell_source import CellSource
from sfumato.models.k_anonymity import asked_k
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.kinds.table.one_each import one_each
from sfumato.workflow.kinds.table.preparing import prepare
from sfumato.workflow.loading import load_table, marked
from sfumato.workflow.plan.attack_plan import AttackPlan
from sfumato.workflow.plan.column_plan import refuse_guarded
from sfumato.workflow.plan.plan import Plan
from sfumato.workflow.walk import release

Order = Literal["given", "greedy"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Dimensions:
    """The analysis of one plan."""

    steps: tuple[Step, ...]
    """One for every further column."""
    k: int
    """The size that groups should have."""
    metric: str
    """What the loss is measured by."""
    advice: str
    """What the figures suggest."""

    def __repr__(self) -> str:
        return f"Dimensions({len(self.steps)} quasi-identifiers, k = {self.k}, by {self.metric})"

    def to_json(self) -> dict[str, Any]:
        """As the command line prints it."""
        steps = [one.to_json() for one in self.steps]
        found: dict[str, Any] = plain({"k": self.k, "metric": self.metric, "steps": steps, "advice": self.advice})
        return found

    def page(self) -> str:
        """One HTML page with the picture."""
        from sfumato.report.table.dimensions_page import render

        return render(self.steps, k=self.k, metric=self.metric, advice=self.advice)

    def write(self, path: str | Path) -> None:
        """Write the page; it tells about the original and is not to be published."""
        write_whole(Path(path), self.page(), private=True)


def study_dimensions(plan: Plan, frame: object, *, order: Order, work: Work) -> Dimensions:
    """Add the plan's quasi-identifiers one by one; every step is a release of its own, made and measured.

    Where the plan names a unit, each person is counted once, by one of their rows.
    """
    table = marked(load_table(plan, frame, plan.input.path), plan)
    prepared = prepare(plan, table, None, catalog())
    quasi = prepared.schema.quasi
    refuse_guarded(plan.columns, "a study of dimensions, which leaves columns out,")
    asked = max(asked_k(prepared.models), 2)
    done: list[None] = []

    def loss(columns: tuple[str, ...]) -> float:
        work.advance("columns", len(done), len(quasi))
        done.append(None)
        return _loss(plan, prepared.source, columns)

    names = quasi if prepared.unit is None else (*quasi, prepared.unit)
    people = one_each(prepared.source.texts(names), prepared.unit, Chance(seed=plan.algorithm.seed), table.missing)
    steps = curse(people, k=asked, order=order, loss=loss)
    return Dimensions(steps=steps, k=asked, metric=plan.metric, advice=recommendation(steps, k=asked))


def _loss(plan: Plan, source: CellSource, columns: tuple[str, ...]) -> float:
    """What a release with these quasi-identifiers loses; all of it where there is none."""
    kept = {name: column for name, column in plan.columns.items() if column.role is not Role.QUASI or name in columns}
    part = replace(plan, columns=kept, attack=AttackPlan(run=False))
    try:
        return float(release(part, source).utility[plan.metric])
    except Infeasible:
        return 1.0
