"""In which forms an attack is made on a release: as it is, and once more for what the claims name.

A claim may speak of some values only, or of somebody who knows two columns. An attack that bets on all values, or knows
all columns, would never meet its limit. So an attack may say in which forms the claims need it (``variants``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from sfumato.attacks.frame.promises import limit_to_tell, protected
from sfumato.attacks.frame.subject import Subject
from sfumato.ground.errors import listed

Title = tuple[str, Any]
"""What is added to the attack's name, and the attack in this form."""


class Bets(Protocol):
    """An attack that bets on values of a sensitive column."""

    @property
    def values(self) -> tuple[str, ...]:
        """On which values; none means all."""


B = TypeVar("B", bound=Bets)


def by_value(attack: B, subject: Subject, column: str | None) -> Sequence[tuple[str, B]]:
    """The attack on all values, and on those that claims protect more than all others."""
    if attack.values:
        return (("", attack),)
    every = limit_to_tell(subject.promises, column, known=len(subject.quasi), inferred=True)
    named = protected(subject.promises, column, len(subject.quasi))
    tighter = {share: values for share, values in named.items() if every is None or share < every.value}
    return (
        ("", attack),
        *((f" for {listed(values, most=3)}", _watching(attack, values)) for values in tighter.values()),
    )


def _watching(attack: Any, values: tuple[str, ...]) -> Any:
    return replace(attack, values=values)
