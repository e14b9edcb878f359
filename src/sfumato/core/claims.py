"""A claim: what a release says that it meets, and how far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One model with its parameters, judged on released rows under both readings of unknown cells."""

    model: str
    """The model's name."""
    parameters: Mapping[str, Any]
    """Its parameters."""
    holds: bool
    """Whether the requirement is met under the reading that the plan asks for."""
    sense: str
    """How the reached value must stand to the limit."""
    limit: float
    """The limit."""
    reading: str
    """The reading that decides: strict means both."""
    as_value: float
    """The worst value when an unknown cell is a value of its own."""
    as_wildcard: float
    """The worst value when an unknown cell matches every value."""
    classes_failing: int
    """How many classes fail under the deciding reading."""
    note: str = ""
    """The reference distribution, the template, ..."""

    @property
    def reached(self) -> float:
        """The value that counts: the worse one under the strict reading."""
        if self.reading == "value":
            return self.as_value
        if self.reading == "wildcard":
            return self.as_wildcard
        pick = max if self.sense in ("at most", "below") else min
        return pick(self.as_value, self.as_wildcard)

    def to_json(self) -> dict[str, Any]:
        """As the manifest has it."""
        return {
            "model": self.model,
            "parameters": dict(self.parameters),
            "holds": self.holds,
            "reached": self.reached,
            "sense": self.sense,
            "limit": self.limit,
            "reading": self.reading,
            "readings": {"value": self.as_value, "wildcard": self.as_wildcard},
            "classes_failing": self.classes_failing,
            "note": self.note,
        }

    @classmethod
    def from_json(cls, stated: Mapping[str, Any]) -> Claim:
        """A claim as a manifest states it."""
        return cls(
            model=stated["model"],
            parameters=stated["parameters"],
            holds=stated["holds"],
            sense=stated["sense"],
            limit=float(stated["limit"]),
            reading=stated["reading"],
            as_value=float(stated["readings"]["value"]),
            as_wildcard=float(stated["readings"]["wildcard"]),
            classes_failing=stated["classes_failing"],
            note=stated["note"],
        )


def titled(name: str, parameters: Mapping[str, Any]) -> str:
    """A model with its parameters, as a person would say it.

    >>> titled("k-anonymity", {"k": 5})
    'k-anonymity (k = 5)'
    """
    plain = {key: value for key, value in parameters.items() if isinstance(value, int | float | str) and value != ""}
    return f"{name} ({', '.join(f'{key} = {value}' for key, value in plain.items())})" if plain else name
