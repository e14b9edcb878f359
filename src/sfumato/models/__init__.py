"""Privacy models: each a small frozen record that judges equivalence classes."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PLACES = {
    "AllOf": "composition",
    "AlphaKAnonymity": "k_anonymity",
    "ConfidenceBounding": "confidence",
    "DeltaPresence": "presence",
    "DistinctLDiversity": "l_diversity",
    "DivergenceBounding": "confidence",
    "EMAnonymity": "e_m_anonymity",
    "EntropyLDiversity": "l_diversity",
    "KAnonymity": "k_anonymity",
    "KMAnonymity": "item_models",
    "KMap": "presence",
    "LKCPrivacy": "lkc",
    "PersonalizedPrivacy": "personalized",
    "RecursiveLDiversity": "l_diversity",
    "RhoUncertainty": "item_models",
    "SimpleLDiversity": "l_diversity",
    "TCloseness": "t_closeness",
    "Template": "confidence",
    "Verdict": "model",
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
