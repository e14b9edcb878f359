"""Missing values in released files: the markers that the plan declares, written in one way.

A reader tells ``?`` from ``NA`` whatever a plan says about them, and a null from either. So a release writes one
marker, and where all missing cells of a column are the same bytes, every reading counts what the reader sees: merged
markers could make five of two and three rows, and hide how far a class is from the whole (for diversity alone merging
would only make the requirement harder).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from sfumato.bundle.published import MARKERS
from sfumato.data.table import TEXTS, Table
from sfumato.ground.errors import listed
from sfumato.verification.checks import Check

if TYPE_CHECKING:
    from sfumato.engines.engine_source import EngineSource


def missing_fits(
    manifest: Mapping[str, Any], tables: Iterable[tuple[Table | EngineSource, Sequence[str]]], items: Sequence[str] = ()
) -> Iterable[Check]:
    """The markers are the plan's; every counted column writes them in one way, and has none where rows were dropped.

    ``tables`` are those of the bundle, each with its counted columns: those that claims are about. In columns of
    ``items`` an empty cell is an empty set, and so is a marker: they too must be one writing.
    """
    yield markers_fit(manifest)
    counted = [(table, name) for table, names in tables for name in names]
    found = {name: writings(table, name, empty=name in items) for table, name in counted}
    mixed = [f"{name} ({listed(sorted(map(_shown, texts)))})" for name, texts in found.items() if len(texts) > 1]
    detail = f"several in {', '.join(mixed)}" if mixed else "one at most in every counted column"
    yield Check(what="spellings of a missing value", holds=not mixed, detail=detail)
    if manifest["plan"]["input"]["on_missing"] == "drop":
        left = [name for name, texts in found.items() if texts and name not in items]
        detail = f"missing values in {', '.join(left)}, but the plan leaves such rows out" if left else "none"
        yield Check(what="rows with missing values", holds=not left, detail=detail)


def markers_fit(manifest: Mapping[str, Any]) -> Check:
    """The stated markers are those of the plan; where it declares none, at most one of those that stand for nulls."""
    stated, planned = list(manifest["data"]["missing"]), list(manifest["plan"]["input"]["missing"])
    possible = [planned] if planned else [[], *([marker] for marker in MARKERS)]
    holds = stated in possible
    detail = listed(stated) or "none" if holds else f"found {stated}, planned {planned}"
    return Check(what="missing markers", holds=holds, detail=detail)


def writings(table: Table | EngineSource, name: str, *, empty: bool = False) -> set[str | None]:
    """How the missing cells of a column are written; a null is a writing of its own, and so may be an empty text."""
    cells = table.frame[name] if isinstance(table, Table) else table.values(name)[0]
    found: set[str | None] = {None} if cells.null_count() else set()
    if cells.dtype in TEXTS:
        marks = [*table.missing, *([""] if empty else [])]
        texts = cells.unique().drop_nulls().cast(pl.String)
        found |= set(texts.filter(texts.is_in(marks)).to_list())
    return found


def _shown(text: str | None) -> str:
    return "null" if text is None else repr(text)
