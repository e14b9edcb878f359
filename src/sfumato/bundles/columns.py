"""What a verifier must know to read released rows: columns, roles, types, and what stands for an unknown value."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

from sfumato.core.errors import BundleError
from sfumato.core.short_repr import Brief
from sfumato.tables.schema import Role, Schema
from sfumato.tables.table import KINDS, Kind

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
    guarded: bool = False
    """Whether a quasi-identifier is sensitive too."""

    def to_json(self) -> dict[str, Any]:
        """As the manifest has it."""
        entry = {"name": self.name, "role": str(self.role), "type": self.kind}
        return {**entry, "guarded": True} if self.guarded else entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """A sensitive column that is published in a table of its own: values and counts by group."""

    group: str
    """The column that numbers the groups, in both tables."""
    column: PublishedColumn
    """The sensitive column."""

    def to_json(self) -> dict[str, str]:
        """As the manifest has it."""
        return {"group": self.group, "column": self.column.name, "type": self.column.kind}


def count_column(*others: str) -> str:
    """What a column that counts is called: another name than that of the columns beside it.

    >>> count_column("disease"), count_column("count"), count_column("count", "rows")
    ('count', 'rows', 'count_2')
    """
    names = chain(("count", "rows"), (f"count_{n}" for n in range(2, len(others) + 3)))
    return next(name for name in names if name not in others)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Published(Brief):
    """The released table's description."""

    columns: tuple[PublishedColumn, ...]
    """The columns, in order."""
    rows: int
    """How many rows there are."""
    missing: tuple[str, ...] = ()
    """The texts that mean a missing value."""
    exempt: bool = False
    """Whether rows of nothing but ``*`` need not meet the requirement."""
    population: tuple[tuple[tuple[str, ...], int], ...] = ()
    """The population's classes under the same recoding: labels and rows."""
    apart: Apart | None = None
    """The sensitive column that is published by group, if one is."""

    @property
    def unit(self) -> str | None:
        """The column that tells people apart within a group, where people are counted."""
        return next((column.name for column in self.columns if column.role is Role.UNIT), None)

    @property
    def schema(self) -> Schema:
        """The published columns' roles."""
        roles = {column.name: column.role for column in self.columns}
        if self.apart is not None:
            del roles[self.apart.group]
            roles[self.apart.column.name] = self.apart.column.role
        return Schema(roles=roles, guarded=tuple(column.name for column in self.columns if column.guarded))

    def to_json(self) -> dict[str, Any]:
        """As the manifest has it."""
        document: dict[str, Any] = {
            "rows": self.rows,
            "columns": [c.to_json() for c in self.columns],
            "missing": list(self.missing),
            "exempt_suppressed": self.exempt,
        }
        if self.apart is not None:
            document["apart"] = self.apart.to_json()
        if self.population:
            document["population"] = [[*labels, rows] for labels, rows in self.population]
        return document

    @classmethod
    def from_json(cls, content: Any) -> Published:
        """From a manifest, or a refusal that says what is wrong with it."""
        try:
            columns = tuple(
                PublishedColumn(
                    name=str(c["name"]),
                    role=Role(c["role"]),
                    kind=_kind(c["type"]),
                    guarded=bool(c.get("guarded", False)),
                )
                for c in content["columns"]
            )
            return cls(
                columns=columns,
                rows=int(content["rows"]),
                missing=tuple(map(str, content["missing"])),
                exempt=bool(content["exempt_suppressed"]),
                population=tuple((tuple(map(str, line[:-1])), int(line[-1])) for line in content.get("population", [])),
                apart=_apart(content.get("apart"), {column.name for column in columns}),
            )
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise BundleError(f"the manifest's description of the data is broken: {error!r}") from error


def _apart(content: Any, names: set[str]) -> Apart | None:
    if content is None:
        return None
    column = PublishedColumn(name=str(content["column"]), role=Role.SENSITIVE, kind=_kind(content["type"]))
    if content["group"] not in names or column.name in names:
        raise ValueError("the column of groups must be published, and the sensitive one only apart")
    return Apart(group=str(content["group"]), column=column)


def _kind(text: str) -> Kind:
    if text not in KINDS:
        raise ValueError(f"unknown type {text!r}")
    return text  # type: ignore[return-value]
