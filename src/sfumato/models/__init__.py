"""Privacy models: each a small frozen record that judges equivalence classes."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PLACES = {
    "AllOf": "all_of",
    "AlphaKAnonymity": "alpha_k",
    "ConfidenceBounding": "confidence",
    "DeltaPresence": "presence",
    "DistinctLDiversity": "l_diversity",
    "DivergenceBounding": "divergence",
    "EMAnonymity": "e_m_anonymity",
    "EntropyLDiversity": "l_diversity",
    "KAnonymity": "k_anonymity",
    "KMAnonymity": "km_anonymity",
    "KMap": "presence",
    "LKCPrivacy": "lkc",
    "PersonalizedPrivacy": "personalized",
    "RecursiveLDiversity": "l_diversity",
    "RhoUncertainty": "rho_uncertainty",
    "SimpleLDiversity": "l_diversity",
    "TCloseness": "t_closeness",
    "Template": "confidence",
    "Verdict": "verdict",
}

__all__ = [
    "AllOf",
    "AlphaKAnonymity",
    "ConfidenceBounding",
    "DeltaPresence",
    "DistinctLDiversity",
    "DivergenceBounding",
    "EMAnonymity",
    "EntropyLDiversity",
    "KAnonymity",
    "KMAnonymity",
    "KMap",
    "LKCPrivacy",
    "PersonalizedPrivacy",
    "RecursiveLDiversity",
    "RhoUncertainty",
    "SimpleLDiversity",
    "TCloseness",
    "Template",
    "Verdict",
]


def __getattr__(name: str) -> Any:
    """Load a model when it is first asked for."""
    if name not in _PLACES:
        raise AttributeError(f"module 'sfumato.models' has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f"sfumato.models.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    """The public names."""
    return list(__all__)
