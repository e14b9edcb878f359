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
    from sfumato.queries import Session
    from sfumato.workflow.applying import apply
    from sfumato.workflow.audit import Audit, audit
    from sfumato.workflow.counting import classes
    from sfumato.workflow.dimensions import dimensions
    from sfumato.workflow.frontier import frontier
    from sfumato.workflow.item_release import ItemRelease
    from sfumato.workflow.plan import Plan
    from sfumato.workflow.private import PrivateRelease
    from sfumato.workflow.profile import profile
    from sfumato.workflow.querying import query
    from sfumato.workflow.release import Release
    from sfumato.workflow.releasing import release
    from sfumato.workflow.verify import verify

_PLACES = {
    "Audit": "workflow.audit",
    "BudgetError": "ground.errors",
    "BundleError": "ground.errors",
    "ClaimRefuted": "ground.errors",
    "DataError": "ground.errors",
    "HierarchyError": "ground.errors",
    "Infeasible": "ground.errors",
    "ItemRelease": "workflow.item_release",
    "Ledger": "budget.ledger",
    "ParameterError": "ground.errors",
    "Plan": "workflow.plan",
    "PlanError": "ground.errors",
    "PrivateRelease": "workflow.private",
    "Release": "workflow.release",
    "Session": "queries",
    "SfumatoError": "ground.errors",
    "apply": "workflow.applying",
    "audit": "workflow.audit",
    "classes": "workflow.counting",
    "dimensions": "workflow.dimensions",
    "frontier": "workflow.frontier",
    "profile": "workflow.profile",
    "query": "workflow.querying",
    "release": "workflow.releasing",
    "verify": "workflow.verify",
}

_ROOMS = ("datasets", "models")

__all__ = [
    "Audit",
    "BudgetError",
    "BundleError",
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
    "__version__",
    "apply",
    "audit",
    "classes",
    "datasets",
    "dimensions",
    "frontier",
    "models",
    "profile",
    "query",
    "release",
    "verify",
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
