"""A table counted once under a plan: what it satisfies, and what single lattice nodes would give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from sfumato.algorithms.feasibility import refuse_unreachable
from sfumato.algorithms.lattice.nodes import Checker, Judged
from sfumato.algorithms.problem import Levels
from sfumato.attacks.risk import risk
from sfumato.bundles.checks.evidence import claim
from sfumato.bundles.manifest.document import plain
from sfumato.core.errors import Infeasible, SfumatoError
from sfumato.core.run_context import Work
from sfumato.core.strict_parsing import read_toml
from sfumato.pipeline.catalog.catalog import catalog, parameters, requirement
from sfumato.pipeline.catalog.parts import ModelPart
from sfumato.pipeline.inputs import marked
from sfumato.pipeline.methods.method import Counted, Request
from sfumato.pipeline.methods.schema import fitting
from sfumato.pipeline.methods.table.problem import Prepared, context_of, prepare
from sfumato.pipeline.methods.table.stages import chosen, search_by
from sfumato.pipeline.plan.plan import Plan
from sfumato.tables.table import Table

# What the raw table reaches of models that a plan does not ask for yet.


def offered(prepared: Prepared, plan: Plan) -> list[dict[str, Any]]:
    """A claim of every model that can be judged as the catalog's own example asks for it; others are left out."""
    model_names = {model.name for model in prepared.models}
    parts = [part for part in catalog().models.values() if "table" in part.judges and part.make.name not in model_names]
    return [model_claim for part in parts if (model_claim := _offered(part, prepared, plan)) is not None]


def _offered(part: ModelPart, prepared: Prepared, plan: Plan) -> dict[str, Any] | None:
    problem = prepared.problem
    kinds = {name: column.type for name, column in plan.columns.items()}
    raw, _ = problem.cells.project(problem.cells.quasi)
    try:
        context = context_of(plan, prepared.source, prepared.schema, kinds)
        model = requirement(read_toml(part.plan), context, catalog())[0]
        if not {*model.columns} <= {*prepared.counted} or (part.needs and problem.cells.population is None):
            return None
        model_claim = claim(model, parameters(model), raw, problem.reading)
    except (SfumatoError, ValueError):
        return None
    document: dict[str, Any] = plain(model_claim.to_json())
    return document


# A table under a plan, counted once: what the raw table reaches, and what single nodes of the lattice would give.


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeShown:
    """What one node of the lattice would give."""

    levels: Mapping[str, int]
    """The level of each quasi-identifier."""
    heights: Mapping[str, int]
    """The top level of each."""
    feasible: bool
    """Whether the requirement holds there within the allowed suppression."""
    value: float | None
    """What the plan's metric says; None where the node is not feasible."""
    suppressed: int
    """How many rows would be suppressed."""
    classes: int
    """How many groups would be left."""
    smallest: int
    """The size of the smallest of them."""
    risk: float
    """The highest chance to pick a row rightly."""

    def to_json(self) -> dict[str, Any]:
        """For pages."""
        document: dict[str, Any] = plain(asdict(self))
        return document


class CountedTable(Counted):
    """A table counted under a plan: its lattice can be looked at node by node."""

    def __init__(self, plan: Plan, table: Table) -> None:
        """Nothing is judged yet."""
        super().__init__(plan)
        self.prepared = prepare(plan, marked(table, plan), None, catalog())

    @cached_property
    def checker(self) -> Checker:
        """Judges nodes."""
        return Checker(self.prepared.problem)

    def reached(self) -> list[dict[str, Any]]:
        """How far the raw table is from each model, and its risk."""
        problem = self.prepared.problem
        raw, _ = problem.cells.project(problem.cells.quasi)
        claims = [claim(model, parameters(model), raw, problem.reading) for model in self.prepared.models]
        return [plain(model_claim.to_json()) for model_claim in claims]

    def unreachable(self) -> str | None:
        """Why no release can meet the requirement, where that shows without a search."""
        try:
            refuse_unreachable(self.prepared.problem)
        except Infeasible as error:
            return str(error)
        return None

    def risk(self) -> dict[str, Any]:
        """Re-identification risks of the raw table."""
        cells, _ = self.prepared.problem.cells.project(self.prepared.problem.cells.quasi)
        return risk(cells.by_people().sizes, None).to_json()

    def offered(self) -> list[dict[str, Any]]:
        """What the raw table reaches of models that the plan does not ask for."""
        return offered(self.prepared, self.plan)

    def fitting(self) -> dict[str, Any]:
        """Each algorithm for tables is begun and says what it refuses."""
        name, why = chosen(self.prepared.problem)
        return fitting(self.plan, "table", self._begun, name, why)

    def _begun(self, plan: Plan, work: Work) -> None:
        search_by(Request(plan=plan, keys={}), self.prepared, plan.algorithm.name, work)

    def node(self, levels: Mapping[str, int]) -> NodeShown:
        """What a node would give."""
        problem = self.prepared.problem
        names, heights = problem.cells.quasi, [h.height for h in problem.hierarchies]
        place: Levels = tuple(min(max(int(levels.get(n, 0)), 0), top) for n, top in zip(names, heights, strict=True))
        return self._shown(self.checker.judge(place))

    def around(self, levels: Mapping[str, int]) -> dict[str, Any]:
        """A node with those one step finer and one step coarser in each column."""
        here = self.node(levels)
        steps = [(name, step) for name in here.levels for step in (-1, 1)]
        near = [
            {"column": name, "step": step, **self.node({**here.levels, name: here.levels[name] + step}).to_json()}
            for name, step in steps
            if 0 <= here.levels[name] + step <= here.heights[name]
        ]
        return {"here": here.to_json(), "near": near}

    def _shown(self, evaluation: Judged) -> NodeShown:
        problem = self.prepared.problem
        sizes = evaluation.frequencies.sizes
        kept = sizes[~evaluation.suppressed]
        smallest = int(kept.min()) if len(kept) else 0
        return NodeShown(
            levels=dict(zip(problem.cells.quasi, evaluation.levels, strict=True)),
            heights={n: h.height for n, h in zip(problem.cells.quasi, problem.hierarchies, strict=True)},
            feasible=evaluation.feasible,
            value=evaluation.loss.value if evaluation.feasible else None,
            suppressed=int(sizes[evaluation.suppressed].sum()),
            classes=len(kept),
            smallest=smallest,
            risk=1 / smallest if smallest else 0.0,
        )
