"""What the claims of a release promise about the success of an attack."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sfumato.attacks.frame.trials import Limit
from sfumato.models.verdict import titled
from sfumato.workflow.attack_catalog import Attack

Claims = Iterable[tuple[str, Mapping[str, Any]]]


def limit_of(attack: Attack, claims: Claims, *, column: str | None = None) -> Limit | None:
    """The tightest promise about what an attack does, if any claim makes one.

    k-anonymity bounds the chance to find a row, by 1/k; LKC-privacy does so for whoever knows at most L values; shares
    that are bounded in every group bound the confidence of whoever knows the group. Diversity that counts values, and
    closeness to the whole table, bound no confidence.
    """
    found = []
    for model, parameters in claims:
        bound = None
        if attack.threat == "re-identification":
            bound = _found(model, parameters, getattr(attack, "l", None))
        elif attack.threat == "attribute disclosure" and parameters.get("column") in (None, column):
            bound = _told(model, parameters) if attack.name == "homogeneity" else None
        if bound is not None:
            found.append(Limit(value=bound, why=f"claim {titled(model, parameters)}"))
    return min(found, key=lambda one: one.value, default=None)


def _found(model: str, parameters: Mapping[str, Any], known: int | None) -> float | None:
    """The largest chance to find a row, for whoever knows all values, or so many of them."""
    if model in ("k-anonymity", "alpha-k-anonymity", "k-map"):
        return 1 / float(parameters["k"])
    if model == "lkc-privacy" and known is not None and known <= parameters["l"]:
        return 1 / float(parameters["k"])
    return None


def _told(model: str, parameters: Mapping[str, Any]) -> float | None:
    """The largest confidence in a watched value; only where all values are watched it bounds every guess."""
    if model == "alpha-k-anonymity" and not parameters.get("values"):
        return float(parameters["alpha"])
    if model == "simple-l-diversity":
        return 1 / float(parameters["l"])
    return None
