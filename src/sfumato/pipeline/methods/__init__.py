"""The methods of release: which plans are whose, and where each method is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sfumato.bundles.manifest.sections import CONDENSED_KEY
from sfumato.core.errors import BundleError, listed

if TYPE_CHECKING:
    from sfumato.pipeline.methods.method import Kind
    from sfumato.pipeline.plan.plan import Plan


# What several parties computed together. No plan makes one: ``sfumato party run`` does.


def owns_joint(plan: Plan) -> bool:
    """No plan is its own."""
    return False


# Answers that were randomized where they were given, with their specification: plans with a [collection].


RECONSTRUCT = "reconstruct"
"""The algorithm that such a release is made by."""


def owns_collected(plan: Plan) -> bool:
    """Whether a plan asks for this kind of release."""
    return plan.collection is not None


# Trees instead of rows: plans with a [tree].


ATP, LDM, NOISY = "atp", "ldm", "noisy-leaves"
"""The algorithms that such a release is made by."""


def owns_tree(plan: Plan) -> bool:
    """Whether a plan asks for this kind of release."""
    return plan.tree is not None


# Differentially private releases, noisy rows over declared domains: plans that ask for epsilon or rho.


def owns_private(plan: Plan) -> bool:
    """Whether a plan asks for this kind of release."""
    return noisy(plan) and plan.privacy.get("domains") != "observed"


def noisy(plan: Plan) -> bool:
    """Whether a plan asks for noisy rows, with or without a claim."""
    return "epsilon" in plan.privacy or "rho" in plan.privacy


# Noisy rows over domains that are read off the table, for studies: no differential privacy is claimed.


def owns_observed(plan: Plan) -> bool:
    """Whether a plan asks for this kind of release."""
    return noisy(plan) and plan.privacy.get("domains") == "observed"


# Rows whose values were exchanged with similar rows; no model is met: plans with the algorithm ``swapping``.


SWAPPING = "swapping"
"""The algorithm by whose name a plan asks for this kind."""


def owns_swapped(plan: Plan) -> bool:
    """Whether a plan asks for this kind of release."""
    return plan.algorithm.name == SWAPPING


# Rows with codes and aliases that sites agreed on; no model is met: plans with the algorithm ``graded``.


GRADED = "graded"
"""The algorithm by whose name a plan asks for this kind."""


def owns_graded(plan: Plan) -> bool:
    """Whether a plan asks for this kind of release."""
    return plan.algorithm.name == GRADED


# Records drawn from the moments of groups of at least k: plans that ask for such groups, or for ``condense``.


CONDENSE = "condense"
"""The algorithm that makes this kind."""


def owns_condensed(plan: Plan) -> bool:
    """Whether a plan asks for this kind of release."""
    return plan.algorithm.name == CONDENSE or CONDENSED_KEY in plan.privacy


# Sets that no longer yield what the steward wants to hide: plans that ask for ``hidden_rules``.


HIDDEN_RULES = "hidden_rules"
"""The key of [privacy] by which a plan asks for this kind; asking costs no import."""


def owns_sanitized(plan: Plan) -> bool:
    """Whether a plan asks for this kind of release."""
    return HIDDEN_RULES in plan.privacy


# Paths, sets and mixed records, judged by what somebody may know of them: plans with a column of paths or sets.


def owns_items(plan: Plan) -> bool:
    """Whether a plan asks for this kind of release."""
    return bool(plan.itemized)


# Tables with quasi-identifiers, judged group by group: every plan that no other kind claims.


def owns_table(plan: Plan) -> bool:
    """Whether a plan asks for this kind of release."""
    return True


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
"""In the order in which they are asked whether a plan is theirs; the last one takes every plan."""

OWNERS: dict[str, Callable[[Plan], bool]] = {
    "joint": owns_joint,
    "collected": owns_collected,
    "tree": owns_tree,
    "private": owns_private,
    "observed": owns_observed,
    "swapped": owns_swapped,
    "graded": owns_graded,
    "condensed": owns_condensed,
    "sanitized": owns_sanitized,
    "items": owns_items,
    "table": owns_table,
}


def kind_of(plan: Plan) -> Kind:
    """The kind of release that a plan asks for."""
    return _kind(next(name for name in NAMES if OWNERS[name](plan)))


def kind_stated(manifest: Mapping[str, Any]) -> Kind:
    """The kind of release that a manifest describes."""
    stated = manifest["kind"]
    if stated not in NAMES:
        raise BundleError(f"the manifest's kind {stated!r} is not known; this version reads {listed(NAMES)}")
    return _kind(stated)


def _kind(name: str) -> Kind:
    """The record of a kind; its module is loaded when it is first needed."""
    match name:
        case "joint":
            from sfumato.pipeline.methods.joint import KIND
        case "collected":
            from sfumato.pipeline.methods.collected import KIND
        case "tree":
            from sfumato.pipeline.methods.tree.method import KIND
        case "private":
            from sfumato.pipeline.methods.private.method import KIND
        case "observed":
            from sfumato.pipeline.methods.observed import KIND
        case "swapped":
            from sfumato.pipeline.methods.swapped import KIND
        case "graded":
            from sfumato.pipeline.methods.graded import KIND
        case "condensed":
            from sfumato.pipeline.methods.condensed.method import KIND
        case "sanitized":
            from sfumato.pipeline.methods.sanitized import KIND
        case "items":
            from sfumato.pipeline.methods.items.method import KIND
        case _:
            from sfumato.pipeline.methods.table.method import KIND
    return KIND
