"""The kinds of release. Adding one is adding a folder here and its name to ``NAMES``.

A folder says in its ``__init__`` which plans are its own. Its module ``<name>_kind`` holds the object ``KIND`` and is
loaded when it is needed. Manifests name the kind by its folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sfumato.ground.errors import BundleError, listed

if TYPE_CHECKING:
    from sfumato.workflow.kinds.kind import Kind
    from sfumato.workflow.plan.plan import Plan

NAMES = (
    "joint",
    "collected",
    "tree",
    "private",
    "observed",
    "swapped",
    "graded",
    "condensed",
    "sanitized",
    "items",
    "table",
)
"""The folders, in the order in which they are asked whether a plan is theirs; the last one takes every plan."""


def kind_of(plan: Plan) -> Kind:
    """The kind of release that a plan asks for."""
    return _kind(next(name for name in NAMES if _folder(name).owns(plan)))


def kind_stated(manifest: Mapping[str, Any]) -> Kind:
    """The kind of release that a manifest describes."""
    stated = manifest["kind"]
    if stated not in NAMES:
        raise BundleError(f"the manifest's kind {stated!r} is not known; this version reads {listed(NAMES)}")
    return _kind(stated)


def _folder(name: str) -> Any:
    return import_module(f"sfumato.workflow.kinds.{name}")


def _kind(name: str) -> Kind:
    found: Kind = import_module(f"sfumato.workflow.kinds.{name}.{name}_kind").KIND
    return found
