"""What the first lines of a file tell about how it is read, where the steward has not said it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.data.csv_heads import read_head

_TEXT = {".csv": None, ".tsv": "\t", ".tab": "\t", ".txt": None}
"""The ends of names of text files, and the delimiter that some of them imply."""


def found_reading(path: Path, said: Mapping[str, Any]) -> dict[str, Any]:
    """Options of reading that the file itself suggests: no header, and blanks to be cut."""
    end = next((end.lower() for end in reversed(path.suffixes) if end.lower() != ".gz"), "")
    if end not in _TEXT:
        return {}
    head = read_head(
        path,
        delimiter=said.get("delimiter") or _TEXT[end],
        encoding=said.get("encoding") or "utf-8",
        trim=bool(said.get("trim")),
    )
    if head is None:
        return {}
    unsaid = "header" not in said and "names" not in said
    return ({"header": False} if unsaid and not head.header else {}) | ({"trim": True} if head.trim else {})
