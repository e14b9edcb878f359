"""What was done to a table, in the report's first paragraph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.report.base.figures import count, label
from sfumato.report.base.language import said

Manifest = Mapping[str, Any]
MOST = 8
"""How many columns a sentence names."""


def done(manifest: Manifest) -> str:
    """How many rows are released, which columns were made coarser, and what was left out."""
    suppression, rows = manifest["suppression"], manifest["data"]["rows"]
    before, lost = suppression["of"], suppression["rows"]
    parts = [said("Of {before} rows, {rows} are released.", before=count(before), rows=count(rows))]
    if lost and suppression["how"] == "star":
        parts.append(said("{n} rows are shown without their quasi-identifiers.", n=count(lost)))
    return " ".join([*parts, *_columns(manifest)])


def _columns(manifest: Manifest) -> list[str]:
    """Which quasi-identifiers were made coarser, and which are as they were."""
    if manifest["data"].get("apart") is not None:
        return [said("Quasi-identifiers are as they were; sensitive values stand apart from them, by group.")]
    stated = manifest["recoding"]["columns"]
    same = [name for name, column in stated.items() if column.get("level") == 0]
    coarser = [name for name in stated if name not in same]
    shared = said("Made coarser, so that several people share the same values: {columns}.", columns=_named(coarser))
    return [*([shared] if coarser else []), *([said("As it was: {columns}.", columns=_named(same))] if same else [])]


def _named(names: Sequence[str]) -> str:
    """Columns as a sentence lists them; of many, the first."""
    shown = [label(name) for name in names[: len(names) if len(names) <= MOST else MOST - 1]]
    more = [] if len(names) == len(shown) else [said("{n} more", n=count(len(names) - len(shown)))]
    return ", ".join([*shown, *more])
