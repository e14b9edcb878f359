"""sfumato: privacy-preserving data publishing, verified, attacked, measured and explained.

>>> import sfumato as sf
>>> table = sf.datasets.census(200, seed=1)
>>> sf.models.KAnonymity(k=2).check(sf.classes(table, quasi=["sex", "race"])).holds
False

Everything is loaded when it is first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sfumato.version import __version__

if TYPE_CHECKING:
    from sfumato import datasets, models
    from sfumato.budget.ledger import Ledger
    from sfumato.bundle.signatures import Card, Signer
    from sfumato.engines.query_frames import read_query
    from sfumato.ground.errors import (
        BudgetError,
        BundleError,
        ClaimRefuted,
        DataError,
        HierarchyError,
        Infeasible,
        ParameterError,
        PlanError,
        SfumatoError,
    )
    from sfumato.ground.work import Work
    from sfumato.queries import Session
    from sfumato.workflow.apply.applying import apply
    from sfumato.workflow.attacking import attack
    from sfumato.workflow.audit import Audit
    from sfumato.workflow.checking import verify, verify_again
    from sfumato.workflow.frontier.comparing import frontier
    from sfumato.workflow.kinds.items.item_release import ItemRelease
    from sfumato.workflow.kinds.private.private_release import PrivateRelease
    from sfumato.workflow.kinds.table.table_release import TableRelease
    from sfumato.workflow.loading import classes
    from sfumato.workflow.plan.plan import Plan
    from sfumato.workflow.profile.profiling import profile
    from sfumato.workflow.querying import query
    from sfumato.workflow.released import Release
    from sfumato.workflow.rule_mining import rules
    from sfumato.workflow.walk import dimensions, release

_PLACES = {
    "Audit": "workflow.audit",
    "BudgetError": "ground.errors",
    "BundleError": "ground.errors",
    "Card": "bundle.signatures",
    "ClaimRefuted": "ground.errors",
    "DataError": "ground.errors",
    "HierarchyError": "ground.errors",
    "Infeasible": "ground.errors",
    "ItemRelease": "workflow.kinds.items.item_release",
    "Ledger": "budget.ledger",
    "ParameterError": "ground.errors",
    "Plan": "workflow.plan.plan",
    "PlanError": "ground.errors",
    "PrivateRelease": "workflow.kinds.private.private_release",
    "Release": "workflow.released",
    "Session": "queries",
    "SfumatoError": "ground.errors",
    "Signer": "bundle.signatures",
    "TableRelease": "workflow.kinds.table.table_release",
    "Work": "ground.work",
    "apply": "workflow.apply.applying",
    "attack": "workflow.attacking",
    "classes": "workflow.loading",
    "dimensions": "workflow.walk",
    "frontier": "workflow.frontier.comparing",
    "profile": "workflow.profile.profiling",
    "query": "workflow.querying",
    "read_query": "engines.query_frames",
    "release": "workflow.walk",
    "rules": "workflow.rule_mining",
    "verify": "workflow.checking",
    "verify_again": "workflow.checking",
}
_ROOMS = ("datasets", "models")

__all__ = [
    "Audit",
    "BudgetError",
    "BundleError",
    "Card",
    "ClaimRefuted",
    "DataError",
    "HierarchyError",
    "Infeasible",
    "ItemRelease",
    "Ledger",
    "ParameterError",
    "Plan",
    "PlanError",
    "PrivateRelease",
    "Release",
    "Session",
    "SfumatoError",
    "Signer",
    "TableRelease",
    "Work",
    "__version__",
    "apply",
    "attack",
    "classes",
    "datasets",
    "dimensions",
    "frontier",
    "models",
    "profile",
    "query",
    "read_query",
    "release",
    "rules",
    "verify",
    "verify_again",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its room when it is first asked for."""
    if name in _ROOMS:
        return import_module(f"sfumato.{name}")
    if name not in _PLACES:
        raise AttributeError(f"module 'sfumato' has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f"sfumato.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    """The public names."""
    return __all__
