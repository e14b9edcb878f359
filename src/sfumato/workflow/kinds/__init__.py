"""The kinds of release. Adding one is adding a folder here and its name to ``NAMES``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sfumato.ground.errors import BundleError, listed

if TYPE_CHECKING:
    from sfumato.workflow.kinds.kind import Kind
    from sfumato.workflow.plan.plan import Plan

NAMES = ("private", "items", "table")
"""The folders, in the order in which they are asked whether a plan is theirs; the last one takes every plan."""


@cache
def kinds() -> tuple[Kind, ...]:
    """The kinds, one object each."""
    return tuple(import_module(f"sfumato.workflow.kinds.{name}").KIND for name in NAMES)


def kind_of(plan: Plan) -> Kind:
    """The kind of release that a plan asks for."""
    return next(kind for kind in kinds() if kind.owns(plan))


def kind_stated(manifest: Mapping[str, Any]) -> Kind:
    """The kind of release that a manifest describes."""
    stated = manifest.get("kind")
    for kind in kinds():
        if kind.stated == stated:
            return kind
    known = listed([kind.stated or kind.name for kind in kinds()])
    raise BundleError(f"the manifest's kind {stated!r} is not known; this version reads {known}")
