"""What a verifier must know to read released rows: columns, roles, types, and what stands for an unknown value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sfumato.data.table import KINDS, Kind
from sfumato.describe.roles import Role, Schema
from sfumato.ground.errors import BundleError

MARKERS = ("", "?", "NA", "missing")
"""What stands for a null where the plan declares no missing marker: the first that is no value of the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedColumn:
    """One released column."""

    name: str
    """Its name."""
    role: Role
    """Its part in the release."""
    kind: Kind
    """How its values are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """The released table's description."""

    columns: tuple[PublishedColumn, ...]
    """The columns, in order."""
    rows: int
    """How many rows there are."""
    missing: tuple[str, ...] = ()
    """The texts that mean a missing value."""
    exempt: bool = False
    """Whether rows of nothing but ``*`` need not meet the requirement."""
    references: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """For t-closeness to the original table: rows per sensitive value there."""
    population: tuple[tuple[tuple[str, ...], int], ...] = ()
    """The population's classes under the same recoding: labels and rows."""

    @property
    def schema(self) -> Schema:
        """The published columns' roles."""
        return Schema(roles={column.name: column.role for column in self.columns})

    def to_json(self) -> dict[str, Any]:
        """As the manifest has it."""
        shown: dict[str, Any] = {
            "rows": self.rows,
            "columns": [{"name": c.name, "role": str(c.role), "type": c.kind} for c in self.columns],
            "missing": list(self.missing),
            "exempt_suppressed": self.exempt,
        }
        if self.references:
            shown["references"] = {name: dict(counts) for name, counts in self.references.items()}
        if self.population:
            shown["population"] = [[*labels, rows] for labels, rows in self.population]
        return shown

    @classmethod
    def from_json(cls, content: Any) -> Published:
        """From a manifest, or a refusal that says what is wrong with it."""
        try:
            columns = tuple(
                PublishedColumn(name=str(c["name"]), role=Role(c["role"]), kind=_kind(c["type"]))
                for c in content["columns"]
            )
            return cls(
                columns=columns,
                rows=int(content["rows"]),
                missing=tuple(map(str, content["missing"])),
                exempt=bool(content["exempt_suppressed"]),
                references={n: {v: int(k) for v, k in c.items()} for n, c in content.get("references", {}).items()},
                population=tuple((tuple(map(str, line[:-1])), int(line[-1])) for line in content.get("population", [])),
            )
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise BundleError(f"the manifest's description of the data is broken: {error!r}") from error


def _kind(text: str) -> Kind:
    if text not in KINDS:
        raise ValueError(f"unknown type {text!r}")
    return text  # type: ignore[return-value]
