"""Checks on single cells and columns: pseudonyms, numbers, missing markers, near-unique values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from sfumato.bundles.columns import MARKERS
from sfumato.bundles.provenance import Check, Remark
from sfumato.bundles.pseudonyms import DIGITS
from sfumato.core.errors import listed
from sfumato.counts.near_unique import JUDGED, NearUnique, asked_size, near_unique_columns, near_unique_rows
from sfumato.tables.hierarchy import TOP
from sfumato.tables.schema import Role
from sfumato.tables.table import TEXTS, Table, is_readable

if TYPE_CHECKING:
    from sfumato.counts.engine_source import EngineSource


# What single cells must look like: pseudonyms like pseudonyms, numbers like numbers.


_LETTERS = "0123456789abcdef"


def cells_fit(columns: Iterable[Mapping[str, Any]], table: Table | EngineSource) -> Iterable[Check]:
    """Identifiers hold nothing but pseudonyms, and values are of the type that the manifest states."""
    names, types = [], []
    for column in columns:
        if table.frame[column["name"]].dtype.is_nested():
            continue
        if column["role"] == "identifier" and not _are_pseudonyms(table, column["name"]):
            names.append(column["name"])
        kind: Any = "text" if column["role"] == "quasi" else column["type"]
        readable = kind == "text" or all(is_readable(value, kind) for value in _present(table, column["name"]))
        if kind != column["type"] or not readable:
            types.append(column["name"])
    detail = f"no pseudonyms in {listed(names)}" if names else "none"
    yield Check(what="identifiers that are no pseudonyms", holds=not names, detail=detail)
    detail = f"other values in {listed(types)}" if types else "as stated"
    yield Check(what="types of the columns", holds=not types, detail=detail)


def _present(table: Table | EngineSource, name: str) -> list[str]:
    """The different values of a column as texts."""
    cells = table.frame[name].unique() if isinstance(table, Table) else table.values(name)[0]
    values = cells.drop_nulls().cast(pl.String).unique().sort().to_list()
    return [value for value in values if value not in table.missing]


def _are_pseudonyms(table: Table | EngineSource, name: str) -> bool:
    """Whether every cell of a column is a pseudonym; an engine looks for others where the rows are."""
    if not isinstance(table, Table):
        return not table.unlike(name, _LETTERS, DIGITS)
    return all(len(value) == DIGITS and set(value) <= set(_LETTERS) for value in _present(table, name))


# Missing values in released files: the markers that the plan declares, written in one way.
#
# A reader tells ``?`` from ``NA`` whatever a plan says about them, and a null from either. So a release writes one
# marker, and where all missing cells of a column are the same bytes, every reading counts what the reader sees: merged
# markers could make five of two and three rows, and hide how far a class is from the whole (for diversity alone
# merging would only make the requirement harder).


def missing_fits(
    manifest: Mapping[str, Any], tables: Iterable[tuple[Table | EngineSource, Sequence[str]]], items: Sequence[str] = ()
) -> Iterable[Check]:
    """The markers are the plan's; every counted column writes them in one way, and has none where rows were dropped.

    ``tables`` are those of the bundle, each with its counted columns: those that claims are about. In columns of
    ``items`` an empty cell is an empty set, and so is a marker: they too must be one writing.
    """
    yield markers_fit(manifest)
    counted = [(table, name) for table, names in tables for name in names]
    spellings = {name: writings(table, name, empty=name in items) for table, name in counted}
    mixed = [f"{name} ({listed(sorted(map(_shown, texts)))})" for name, texts in spellings.items() if len(texts) > 1]
    detail = f"several in {', '.join(mixed)}" if mixed else "one at most in every counted column"
    yield Check(what="spellings of a missing value", holds=not mixed, detail=detail)
    if manifest["plan"]["input"]["on_missing"] == "drop":
        left = [name for name, texts in spellings.items() if texts and name not in items]
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
    spellings: set[str | None] = {None} if cells.null_count() else set()
    if cells.dtype in TEXTS:
        marks = [*table.missing, *([""] if empty else [])]
        texts = cells.unique().drop_nulls().cast(pl.String)
        spellings |= set(texts.filter(texts.is_in(marks)).to_list())
    return spellings


def _shown(text: str | None) -> str:
    return "null" if text is None else repr(text)


# Near-unique columns, counted in the written bytes: a remark, because no claim is about them.


def near_unique_remarks(
    manifest: Mapping[str, Any], table: Table | EngineSource, roles: Mapping[str, Role]
) -> Iterable[Remark]:
    """A remark for every column of the data file that nearly singles people out."""
    k = asked_size(claim["parameters"] for claim in manifest["claims"])
    for finding in near_unique_released(table, roles, k):
        yield Remark(what=f"near-unique column {finding.column}", detail=finding.told)


def near_unique_released(table: Table | EngineSource, roles: Mapping[str, Role], k: int) -> tuple[NearUnique, ...]:
    """The near-unique columns among released rows; in an engine their values are counted where they are."""
    if isinstance(table, Table):
        return near_unique_columns(table.frame, roles, table.missing, k)
    judged = {name: roles[name] for name in table.names if roles.get(name) in JUDGED}
    stars = {name: [TOP] if role is Role.QUASI else [] for name, role in judged.items()}
    rare = {name: table.rare(name, [*table.missing, *stars[name]], k) for name in judged}
    findings = [near_unique_rows(name, role, rare[name], table.rows, k) for name, role in judged.items()]
    return tuple(finding for finding in findings if finding is not None)
