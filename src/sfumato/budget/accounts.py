"""The lines of a ledger, as they are shown."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What somebody may spend and has spent."""

    analyst: str | None
    """Who; None for everybody together."""
    granted: Fraction
    """The limit."""
    spent: Fraction
    """Settled and reserved charges together."""

    @property
    def left(self) -> Fraction:
        """What may still be spent."""
        return self.granted - self.spent


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """One line of the ledger."""

    id: int
    """Its number."""
    made: str
    """When, in UTC."""
    analyst: str
    """Who."""
    what: str
    """For what."""
    cost: Fraction
    """How much."""
    event: dict[str, Any]
    """Of what it is made up."""
    status: str
    """reserved or settled."""
