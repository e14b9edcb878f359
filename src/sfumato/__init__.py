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
    from sfumato import models
    from sfumato.bundles.signatures import Card, Signer
    from sfumato.core.errors import (
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
    from sfumato.core.run_context import Work
    from sfumato.dp.ledger import Ledger
    from sfumato.pipeline.apply import apply
    from sfumato.pipeline.attack import attack
    from sfumato.pipeline.frontier.frontier import frontier
    from sfumato.pipeline.inputs import classes
    from sfumato.pipeline.methods.items.stages import ItemRelease
    from sfumato.pipeline.methods.method import Audit
    from sfumato.pipeline.methods.private.stages import PrivateRelease
    from sfumato.pipeline.methods.table.release import TableRelease
    from sfumato.pipeline.plan.plan import Plan
    from sfumato.pipeline.profile.profile import profile
    from sfumato.pipeline.queries import query
    from sfumato.pipeline.release import Release, dimensions, release
    from sfumato.pipeline.rules import rules
    from sfumato.pipeline.verification import verify, verify_again
    from sfumato.queries import Session
    from sfumato.tables import datasets
    from sfumato.tables.engines.query_frames import read_query

_PLACES = {
    "Audit": "pipeline.methods.method",
    "BudgetError": "core.errors",
    "BundleError": "core.errors",
    "Card": "bundles.signatures",
    "ClaimRefuted": "core.errors",
    "DataError": "core.errors",
    "HierarchyError": "core.errors",
    "Infeasible": "core.errors",
    "ItemRelease": "pipeline.methods.items.stages",
    "Ledger": "dp.ledger",
    "ParameterError": "core.errors",
    "Plan": "pipeline.plan.plan",
    "PlanError": "core.errors",
    "PrivateRelease": "pipeline.methods.private.stages",
    "Release": "pipeline.release",
    "Session": "queries",
    "SfumatoError": "core.errors",
    "Signer": "bundles.signatures",
    "TableRelease": "pipeline.methods.table.release",
    "Work": "core.run_context",
    "apply": "pipeline.apply",
    "attack": "pipeline.attack",
    "classes": "pipeline.inputs",
    "dimensions": "pipeline.release",
    "frontier": "pipeline.frontier.frontier",
    "profile": "pipeline.profile.profile",
    "query": "pipeline.queries",
    "read_query": "tables.engines.query_frames",
    "release": "pipeline.release",
    "rules": "pipeline.rules",
    "verify": "pipeline.verification",
    "verify_again": "pipeline.verification",
}
_PACKAGES = {"datasets": "tables.datasets", "models": "models"}

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
    """Load a public name from its package when it is first asked for."""
    if name in _PACKAGES:
        return import_module(f"sfumato.{_PACKAGES[name]}")
    if name not in _PLACES:
        raise AttributeError(f"module 'sfumato' has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f"sfumato.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    """The public names."""
    return __all__
