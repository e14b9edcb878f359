"""What the claims of a release promise about the success of an attack."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sfumato.attack.trials import Limit
from sfumato.models.verdict import titled

Claims = Iterable[tuple[str, Mapping[str, Any]]]


def limit_of(threat: str, claims: Claims, *, column: str | None = None) -> Limit | None:
    """The tightest promise about a threat, if any claim makes one.

    k-anonymity bounds the chance to find a row, by 1/k; shares that are bounded in every group bound the confidence of
    whoever knows the group. Diversity that counts values, and closeness to the whole table, bound no confidence.
    """
    found = []
    for model, parameters in claims:
        bound = _found(model, parameters) if threat == "re-identification" else None
        if threat == "attribute disclosure" and parameters.get("column") in (None, column):
            bound = _told(model, parameters)
        if bound is not None:
            found.append(Limit(value=bound, why=f"claim {titled(model, parameters)}"))
    return min(found, key=lambda one: one.value, default=None)


def _found(model: str, parameters: Mapping[str, Any]) -> float | None:
    """The largest chance to find a row."""
    return 1 / parameters["k"] if model in ("k-anonymity", "alpha-k-anonymity", "k-map") else None


def _told(model: str, parameters: Mapping[str, Any]) -> float | None:
    """The largest confidence in a watched value; only where all values are watched it bounds every guess."""
    if model == "alpha-k-anonymity" and not parameters.get("values"):
        return float(parameters["alpha"])
    if model == "simple-l-diversity":
        return 1 / float(parameters["l"])
    return None
