"""sfumato: privacy-preserving data publishing, verified, attacked, measured and explained.

>>> import sfumato as sf
>>> table = sf.census(200, seed=1)
>>> sf.models.KAnonymity(k=2).check(sf.classes(table, quasi=["sex", "race"])).holds
False

Everything is loaded when it is first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from sfumato.version import __version__

if TYPE_CHECKING:
    from sfumato import models
    from sfumato.budget.ledger import Ledger
    from sfumato.data.adult import adult
    from sfumato.data.census import census
    from sfumato.data.city import city
    from sfumato.data.metro import metro
    from sfumato.data.patients import patients
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
    from sfumato.query import Session
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
    "Session": "query",
    "SfumatoError": "ground.errors",
    "adult": "data.adult",
    "apply": "workflow.applying",
    "audit": "workflow.audit",
    "census": "data.census",
    "city": "data.city",
    "classes": "workflow.counting",
    "dimensions": "workflow.dimensions",
    "frontier": "workflow.frontier",
    "metro": "data.metro",
    "patients": "data.patients",
    "profile": "workflow.profile",
    "query": "workflow.querying",
}

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
    "adult",
    "apply",
    "audit",
    "census",
    "city",
    "classes",
    "dimensions",
    "frontier",
    "metro",
    "models",
    "patients",
    "profile",
    "query",
    "release",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its room when it is first asked for."""
    if name == "models":
        return import_module("sfumato.models")
    if name not in _PLACES:
        raise AttributeError(f"module 'sfumato' has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f"sfumato.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    """The public names."""
    return __all__


class _Door(ModuleType):
    """The package as a module whose verbs win over the rooms of the same name."""

    @property
    def release(self) -> Any:
        """Make a release: ``sfumato.release(plan, frame)``."""
        return import_module("sfumato.workflow.releasing").release

    @release.setter
    def release(self, room: object) -> None:
        """The room sfumato.release stays reachable by import only."""

    @property
    def query(self) -> Any:
        """Ask a table: ``sfumato.query(plan, sql, ...)``."""
        return import_module("sfumato.workflow.querying").query

    @query.setter
    def query(self, room: object) -> None:
        """The room sfumato.query stays reachable by import only."""

    @property
    def verify(self) -> Any:
        """Verify a bundle: ``sfumato.verify(folder)``."""
        return import_module("sfumato.workflow.verify").verify

    @verify.setter
    def verify(self, room: object) -> None:
        """The room sfumato.verify stays reachable by import only."""


sys.modules[__name__].__class__ = _Door
