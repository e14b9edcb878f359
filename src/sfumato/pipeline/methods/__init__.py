"""The methods of release: how the rows of a plan are made, judged, attacked, written and verified."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sfumato.pipeline.catalog.catalog import catalog

if TYPE_CHECKING:
    from sfumato.pipeline.methods.method import Method
    from sfumato.pipeline.plan.plan import Plan


def method_of(plan: Plan) -> Method:
    """The method that a plan asks for."""
    method: Method = catalog().method_of(plan)
    return method


def method_stated(manifest: Mapping[str, Any]) -> Method:
    """The method whose release a manifest describes."""
    method: Method = catalog().method_stated(manifest)
    return method
