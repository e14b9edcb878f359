"""The part that a column plays in a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """What is done with a column."""

    IDENTIFIER = "identifier"
    """Names a person: dropped, or replaced by a keyed pseudonym."""
    UNIT = "unit"
    """Tells people apart who have several rows: published as a number that holds within one group only."""
    QUASI = "quasi"
    """May be known to others and link to a person: generalized."""
    SENSITIVE = "sensitive"
    """What must not be learnt about a person: published unchanged."""
    TARGET = "target"
    """The class attribute that a miner wants to predict: published unchanged."""
    KEEP = "keep"
    """Neither identifying nor sensitive: published unchanged."""
    DROP = "drop"
    """Not published."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """Every column's role, in the table's order."""

    roles: Mapping[str, Role]
    """Column name to role."""
    guarded: tuple[str, ...] = ()
    """The quasi-identifiers that are sensitive too: generalized, and protected from inference."""

    def named(self, *roles: Role) -> tuple[str, ...]:
        """The columns that play one of these roles.

        >>> Schema(roles={"age": Role.QUASI, "disease": Role.SENSITIVE}).named(Role.QUASI)
        ('age',)
        """
        return tuple(name for name, role in self.roles.items() if role in roles)

    @property
    def quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return self.named(Role.QUASI)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive columns."""
        return self.named(Role.SENSITIVE)

    @property
    def target(self) -> str | None:
        """The class attribute, if there is one."""
        found = self.named(Role.TARGET)
        return found[0] if found else None
