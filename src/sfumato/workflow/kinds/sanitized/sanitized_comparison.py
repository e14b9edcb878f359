"""How sanitized releases are compared by a frontier: the methods of hiding, by what is still seen and what is lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from sfumato.attacks.method.lowered_thresholds import LoweredThresholds
from sfumato.bundle.rule_commitments import KEY
from sfumato.data.table import Table
from sfumato.ground.chance import Chance
from sfumato.ground.errors import PlanError
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.frontier.axes import Axis, Record
from sfumato.workflow.kinds.kind import Asked
from sfumato.workflow.kinds.sanitized.sanitized_content import sanitized_subject
from sfumato.workflow.kinds.sanitized.sanitized_release import SanitizedRelease
from sfumato.workflow.kinds.sanitized.sanitized_stages import prepare
from sfumato.workflow.plan.frontier_plan import Grid, Tree
from sfumato.workflow.plan.plan import Plan
from sfumato.workflow.released import Release

DEFAULT_MARGIN = (0.0, 0.1, 0.25, 0.5)
"""The safety margins, beside the plan's own, where there is no grid."""
_LOST = "the share of the original's other rules that the release does not yield"
_GHOSTS = "rules of the release that the original does not yield"
_SETS = "the share of the original's other frequent sets that the release does not yield"
_UNLIKE = "item entries that came or went, item by item, as a share of those that there were"


class SanitizedComparison:
    """Sanitized releases are compared by what a miner below the thresholds sees, and by their side effects."""

    def algorithms(self, plan: Plan) -> tuple[Tree, ...]:
        """All methods of hiding, the plan's own first."""
        own, every = plan.algorithm.name, catalog().solving("sanitized")
        return tuple({"name": name} for name in (every if own == "auto" else dict.fromkeys([own, *every])))

    def grid(self, plan: Plan) -> Grid:
        """Some safety margins."""
        own = plan.privacy[KEY].get("margin", 0.0)
        return {f"privacy.{KEY}.margin": tuple(sorted({*DEFAULT_MARGIN, float(own)}))}

    def attack(self, plan: Plan) -> Tree:
        """Nothing by name: what is seen below the thresholds is an axis."""
        if plan.frontier.attacks:
            raise PlanError("frontier.attacks: what is seen below the thresholds is compared already; remove the key")
        return {"run": False}

    def measured(self, made: Release, table: Table) -> dict[str, Any]:
        """What is still seen, and what became of all other rules."""
        found = cast("SanitizedRelease", made)
        subject, effects = sanitized_subject(found), found.effects
        forms = LoweredThresholds().variants(subject)
        seen = max(one.run(subject, Chance(seed=0)).rate.value for _, one in forms)
        return {
            "algorithm_used": found.algorithm,
            "proven_optimal": found.outcome.proven,
            "claims": [],
            "rows": found.rows.height,
            "suppressed_rows": found.prepared.table.rows - found.rows.height,
            "classes": effects.rules - effects.lost_rules,
            "seen": seen,
            "utility": {
                "lost_rules": effects.lost_rules / max(effects.rules, 1),
                "lost_sets": effects.lost_sets / max(effects.sets, 1),
                "ghost_rules": effects.ghost_rules,
                "dissimilarity": effects.dissimilarity,
            },
            "accuracy": None,
        }

    def original(self, plan: Plan, table: Table, population: Table | None) -> dict[str, Any]:
        """How many records there are; a pattern that does not occur is refused here, once."""
        prepared = prepare(Asked(plan=plan, keys={}), table)
        return {"rows": prepared.table.rows, "classes": 0, "risk": None, "target": None, "accuracy": None}

    def privacy(self, records: Sequence[Record]) -> tuple[Axis, ...]:
        """What is seen."""
        told = "the share of hidden patterns that appear where both thresholds are halved, or unknowns are read as had"
        return (Axis(name="seen", meaning=told, better="lower", how="share", read=lambda one: one["seen"]),)

    def utility(self, metrics: Sequence[str], *, target: bool) -> tuple[Axis, ...]:
        """Side effects."""
        if metrics:
            raise PlanError(f"frontier.metrics: {metrics[0]!r} judges columns of a table; side effects are axes here")
        return (
            _axis("lost_rules", _LOST, "share"),
            _axis("lost_sets", _SETS, "share"),
            _axis("ghost_rules", _GHOSTS, "count"),
            _axis("dissimilarity", _UNLIKE, "share"),
        )

    def refuse_pick(self) -> None:
        """A point may be chosen by its figures."""


def _axis(name: str, meaning: str, how: Any) -> Axis:
    return Axis(name=name, meaning=meaning, better="lower", how=how, read=lambda one: one["utility"][name])
