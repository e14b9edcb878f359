"""How the catalog lists a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPart:
    """A privacy model and how a plan asks for it."""

    make: type[Any]
    """The record."""
    plan: str
    """How a plan writes it."""
