"""How private releases are compared by a frontier: epsilon against what a classifier learns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from sfumato.data.table import Table
from sfumato.ground.errors import PlanError
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.frontier.axes import Axis, Record, accuracy_axis, groups_axis
from sfumato.workflow.kinds.private.declared import declared_table
from sfumato.workflow.kinds.private.private_budget import searches
from sfumato.workflow.kinds.private.private_plan import private_algorithm
from sfumato.workflow.kinds.private.private_release import PrivateRelease
from sfumato.workflow.kinds.private.private_study import accuracies, released_accuracy
from sfumato.workflow.loading import bounded
from sfumato.workflow.plan.frontier_plan import Grid, Tree
from sfumato.workflow.plan.plan import Plan
from sfumato.workflow.released import Release

DEFAULT_EPSILON = (0.1, 0.5, 1.0)
"""The values of epsilon, beside the plan's own, where there is no grid."""


class PrivateComparison:
    """Private releases are compared by epsilon, and by a classifier or the number of groups."""

    def algorithms(self, plan: Plan) -> tuple[Tree, ...]:
        """All private algorithms, the plan's own first."""
        if searches(plan):
            raise PlanError("columns: a frontier compares releases over the same domains; declare them all, for each "
                            'release would find others with domain_from = "discover"')  # fmt: skip
        own, every = plan.algorithm.name, catalog().solving("private")
        return tuple({"name": name} for name in (every if own == "auto" else dict.fromkeys([own, *every])))

    def grid(self, plan: Plan) -> Grid:
        """Some values of epsilon."""
        return {"privacy.epsilon": tuple(sorted({*DEFAULT_EPSILON, plan.privacy["epsilon"]}, key=float))}

    def attack(self, plan: Plan) -> Tree:
        """Nothing: noise is audited, not attacked row by row."""
        if plan.frontier.attacks:
            raise PlanError("frontier.attacks: only releases by privacy models of tables are attacked here")
        return {"run": False}

    def measured(self, made: Release, table: Table) -> dict[str, Any]:
        """What is measured; a second release, of two thirds of the rows, is tried on the others."""
        found = cast("PrivateRelease", made)
        private = declared_table(found.plan, bounded(table, found.plan))
        learnt = None if private.target_name is None else released_accuracy(private, private_algorithm(found.plan)[1])
        return {
            "algorithm_used": found.algorithm,
            "proven_optimal": False,
            "claims": [],
            "epsilon": float(found.promise.epsilon or 0),
            "rows": found.rows.height,
            "suppressed_rows": 0,
            "classes": found.outcome.keys.shape[1],
            "utility": {},
            "accuracy": learnt,
        }

    def original(self, plan: Plan, table: Table, population: Table | None) -> dict[str, Any]:
        """What the classifier reaches on it; no risk is told."""
        private = declared_table(plan, bounded(table, plan))
        known = None if private.target_name is None else accuracies(private)
        return {"rows": private.rows, "classes": 0, "risk": None, "target": private.target_name, "accuracy": known}

    def privacy(self, records: Sequence[Record]) -> tuple[Axis, ...]:
        """Epsilon."""
        meaning = "how much likelier any output can be with a record than without, as a power of e"
        return (Axis(name="epsilon", meaning=meaning, better="lower", how="number", read=lambda one: one["epsilon"]),)

    def utility(self, metrics: Sequence[str], *, target: bool) -> tuple[Axis, ...]:
        """Accuracy where there is a class, else the number of groups."""
        return (accuracy_axis(),) if target else (groups_axis(),)

    def refuse_pick(self) -> None:
        """Choosing by private figures is a release that nobody paid for."""
        raise PlanError(
            "--pick: choosing a private release by figures of the private table is a release of its own that no "
            "epsilon covers; choose on public data of the same kind, and make the one release with `sfumato release`"
        )
