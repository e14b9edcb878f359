"""How releases of tables are compared by a frontier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from sfumato.attacks.identity.risk import risk
from sfumato.bundle.claims import Claim, titled
from sfumato.bundle.manifest import plain
from sfumato.data.table import Table
from sfumato.utility.accuracy import Trial
from sfumato.workflow.attacking import chosen_attacks
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.frontier.axes import Axis, Record
from sfumato.workflow.kinds.table.preparing import prepare
from sfumato.workflow.kinds.table.table_axes import privacy_axes, utility_axes
from sfumato.workflow.kinds.table.table_release import TableRelease
from sfumato.workflow.plan.frontier_plan import Grid, Tree
from sfumato.workflow.plan.plan import Plan
from sfumato.workflow.released import Release

DEFAULT_ALGORITHMS = ("auto", "mondrian", "datafly")
"""What is compared with the plan's own algorithm by default."""
DEFAULT_K = (2, 5, 10, 25)
"""The values of k, beside the plan's own, where there is no grid."""


class TableComparison:
    """Tables are compared by risk, class sizes and claims, and by metrics and a classifier."""

    def algorithms(self, plan: Plan) -> tuple[Tree, ...]:
        """The plan's own algorithm, and some that work differently."""
        own = plan.algorithm.name
        others = [name for name in DEFAULT_ALGORITHMS if name != "auto" or own not in ("optimal", "greedy")]
        return tuple({"name": name} for name in dict.fromkeys([own, *others]))

    def grid(self, plan: Plan) -> Grid:
        """Some values of k, where k-anonymity is asked for."""
        k = plan.privacy.get("k_anonymity")
        if not isinstance(k, int) or isinstance(k, bool):
            return {}
        return {"privacy.k_anonymity": tuple(sorted({*DEFAULT_K, k}))}

    def attack(self, plan: Plan) -> Tree:
        """What the frontier names, or nothing."""
        if not plan.frontier.attacks:
            return {"run": False}
        accept = list(chosen_attacks(plan.frontier.attacks))
        control = {} if plan.attack.control is None else {"control": plan.attack.control}
        return {"attacks": list(plan.frontier.attacks), "trials": plan.attack.trials, "accept": accept, **control}

    def measured(self, made: Release, table: Table) -> dict[str, Any]:
        """Risk, claims, losses, and what a classifier reaches."""
        found = cast("TableRelease", made)
        problem = found.prepared.problem
        record = {
            "algorithm_used": found.algorithm,
            "proven_optimal": found.outcome.proven,
            "claims": [_claim(one) for one in found.claims],
            "rows": found.prepared.rows,
            "suppressed_rows": found.suppressed_rows,
            "classes": found.classes.count,
            "smallest_class": found.smallest_class,
            "risk": found.risk,
            "attacks": {one.attack: one.risk if one.rate.carried_out else None for one in found.audit.findings},
            "utility": dict(found.utility),
            "accuracy": None if problem.target is None else Trial(problem).released(found.outcome),
        }
        return plain(record)  # type: ignore[no-any-return]

    def original(self, plan: Plan, table: Table, population: Table | None) -> dict[str, Any]:
        """Its risks, and what the classifier reaches on it."""
        prepared = prepare(plan, table, population, catalog())
        cells, problem = prepared.problem.cells, prepared.problem
        trial = None if problem.target is None else Trial(problem)
        return {
            "rows": prepared.rows,
            "classes": cells.count,
            "risk": risk(cells.sizes, cells.population_sizes()[0] if cells.population else None).to_json(),
            "target": problem.target,
            "accuracy": None if trial is None else {"original": trial.original, "majority": trial.majority},
        }

    def privacy(self, records: Sequence[Record]) -> tuple[Axis, ...]:
        """Risks, class sizes, claims, attacks."""
        return privacy_axes(records)

    def utility(self, metrics: Sequence[str], *, target: bool) -> tuple[Axis, ...]:
        """Metrics and accuracy."""
        return utility_axes(metrics, target=target)

    def refuse_pick(self) -> None:
        """A point may be chosen by its figures."""


def _claim(claim: Claim) -> Mapping[str, Any]:
    return {
        "model": claim.model,
        "title": titled(claim.model, claim.parameters),
        "column": claim.parameters.get("column"),
        "sense": claim.sense,
        "limit": claim.limit,
        "reached": claim.reached,
        "holds": claim.holds,
    }
