"""A claim as a page shows it."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.bundle.claims import Claim


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFacts:
    """A claim with words around it."""

    claim: Claim
    """What was promised and what was reached."""
    title: str
    """The model's name with its parameters, as a person says it."""
    meaning: str
    """What it means if it holds, in one sentence."""
    limits: str
    """What it does not protect against, in one sentence."""
    people: bool = False
    """Whether people are counted, and not rows."""
