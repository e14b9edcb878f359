"""Equivalence classes of any frame, for judging models by hand."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.data.frames import from_frame
from sfumato.describe.hierarchy import TOP
from sfumato.group.cells import cells
from sfumato.group.classes import Classes


def classes(
    frame: object, *, quasi: Sequence[str], counted: Sequence[str] = (), missing: Sequence[str] = ()
) -> Classes:
    """Group a frame by its quasi-identifiers and count the sensitive or class columns in each group."""
    table = from_frame(frame, missing=tuple(missing))
    return cells([table.column(name) for name in quasi], [table.column(name) for name in counted], stars=TOP).classes
