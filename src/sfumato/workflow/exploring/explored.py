"""A plan and its table, kept ready: rows, columns, what the raw table reaches, and what single nodes would give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from sfumato.attacks.identity.risk import risk
from sfumato.bundle.manifest import plain
from sfumato.data.table import Table
from sfumato.describe.domains import ObservedDomain
from sfumato.ground.errors import Infeasible, PlanError, SfumatoError
from sfumato.publish.lattice.checker import Checker, Judged
from sfumato.publish.lattice.reach import refuse_unreachable
from sfumato.publish.problem import Levels
from sfumato.verification.judging import claim
from sfumato.workflow.catalog.lookup import catalog, parameters
from sfumato.workflow.exploring.fitting import fitting
from sfumato.workflow.exploring.hierarchy_levels import leaf_table, levels_shown
from sfumato.workflow.exploring.number_spread import spread_of
from sfumato.workflow.exploring.offered_models import offered
from sfumato.workflow.kinds.table.preparing import Prepared, prepare
from sfumato.workflow.loading import load_table, marked
from sfumato.workflow.plan.plan import Plan

Tree = Mapping[str, Any]


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
        found: dict[str, Any] = plain(asdict(self))
        return found


class Explored:
    """One table under one plan, read and counted once; later questions are answered from memory."""

    def __init__(self, table: Table) -> None:
        """Nothing is counted yet."""
        self.table = table
        self._domains: dict[tuple[str, str | None], ObservedDomain] = {}

    @classmethod
    def of(cls, plan: Plan) -> Explored:
        """The table that a plan names."""
        return cls(load_table(plan, None, plan.input.path))

    def rows(self, first: int, many: int) -> dict[str, Any]:
        """Some rows as texts, for a page of a table."""
        part = self.table.frame.slice(first, many)
        texts = [[None if cell is None else str(cell) for cell in row] for row in part.iter_rows()]
        return {"columns": list(self.table.names), "rows": texts, "first": first, "of": self.table.rows}

    def domain(self, column: str, kind: Any = None) -> ObservedDomain:
        """The values of a column with their counts."""
        if column not in self.table.names:
            raise PlanError(f"columns.{column}: the table has no such column")
        key = (column, kind)
        if key not in self._domains:
            self._domains[key] = ObservedDomain.of(self.table.column(column, kind))
        return self._domains[key]

    def levels(self, plan: Plan, column: str, tree: Tree) -> list[dict[str, Any]]:
        """The levels that a hierarchy gives a column."""
        domain = self.domain(column, plan.columns[column].type if column in plan.columns else None)
        return [asdict(one) for one in levels_shown(tree, domain, folder=plan.folder)]

    def leaves(self, plan: Plan, column: str, tree: Tree) -> list[list[str]]:
        """A hierarchy as lines of a file."""
        domain = self.domain(column, plan.columns[column].type if column in plan.columns else None)
        return leaf_table(tree, domain, folder=plan.folder)

    def spread(self, column: str) -> dict[str, Any] | None:
        """How the numbers of a column lie, in bins of equal width; None where it has none."""
        domain = self.domain(column)
        return spread_of(domain.values, domain.all_counts)

    def under(self, plan: Plan) -> Counted:
        """The table counted under a plan."""
        return Counted(prepare(plan, marked(self.table, plan), None, catalog()))


class Counted:
    """A table counted under a plan: its lattice can be looked at node by node."""

    def __init__(self, prepared: Prepared) -> None:
        """Nothing is judged yet."""
        self.prepared = prepared

    @cached_property
    def checker(self) -> Checker:
        """Judges nodes."""
        return Checker(self.prepared.problem)

    def reached(self) -> list[dict[str, Any]]:
        """How far the raw table is from each model, and its risk."""
        problem = self.prepared.problem
        raw, _ = problem.cells.project(problem.cells.quasi)
        claims = [claim(model, parameters(model), raw, problem.reading) for model in self.prepared.models]
        return [plain(one.to_json()) for one in claims]

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

    def offered(self, plan: Plan) -> list[dict[str, Any]]:
        """What the raw table reaches of models that the plan does not ask for."""
        return offered(self.prepared, plan)

    def fitting(self, plan: Plan) -> dict[str, Any]:
        """Which algorithms can be asked, and what `auto` stands for."""
        return fitting(self.prepared, plan)

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

    def _shown(self, found: Judged) -> NodeShown:
        problem = self.prepared.problem
        sizes = found.frequencies.sizes
        kept = sizes[~found.suppressed]
        smallest = int(kept.min()) if len(kept) else 0
        return NodeShown(
            levels=dict(zip(problem.cells.quasi, found.levels, strict=True)),
            heights={n: h.height for n, h in zip(problem.cells.quasi, problem.hierarchies, strict=True)},
            feasible=found.feasible,
            value=found.loss.value if found.feasible else None,
            suppressed=int(sizes[found.suppressed].sum()),
            classes=len(kept),
            smallest=smallest,
            risk=1 / smallest if smallest else 0.0,
        )


def problems(tree: Tree, folder: Any) -> str | None:
    """What is wrong with a plan, in one message; None where nothing is."""
    try:
        Plan.parse(tree, folder=folder)
    except SfumatoError as error:
        return str(error)
    return None
