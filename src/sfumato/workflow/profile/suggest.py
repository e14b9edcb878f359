"""Suggestions for a draft plan: roles by name and by uniqueness, hierarchies by the look of the values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import floor, log10
from typing import Any

import numpy as np
import polars as pl

from sfumato.data.bundled import fitting_hierarchy
from sfumato.data.table import TEXTS, Column, has_text
from sfumato.describe.roles import Role

_NAMES: tuple[tuple[Role, str], ...] = (
    (
        Role.IDENTIFIER,
        r"(^|_)(id|ids|uuid|guid|ssn|nin|mrn|iban)($|_)|name|e_?mail|phone|passport|licen[cs]e|address|account",
    ),
    (Role.TARGET, r"^(class|label|target|outcome|income|salary_class)$"),
    (
        Role.SENSITIVE,
        r"diagnos|disease|illness|icd|condition|treatment|medication|drug|hiv|surgery|salary|wage|debt|religion|politic|orient",
    ),
    (
        Role.QUASI,
        r"age|birth|dob|zip|post_?code|postal|sex|gender|race|ethnic|marital|relationship|education|degree|school|"
        r"nation|country|state|region|county|city|district|job|occupation|profession|work_?class|employ|language|date",
    ),
)
_MOST_TEXT = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """What a column might be, and why."""

    role: Role
    """The suggested role."""
    why: str
    """The reason, for a comment in the plan."""
    hierarchy: Mapping[str, Any] | None = None
    """How a quasi-identifier might be generalized."""
    kind: str | None = None
    """The type, where it is not that of single values: set or trajectory."""


_LOOKED_AT = 2000
_READING = re.compile(r"[^|]+@[0-9][0-9:.T+Z-]*")


def suggest_items(cells: pl.Series) -> Suggestion | None:
    """What a column of lists, or of texts like ``a|b`` or ``home@8|work@9``, might be; nothing for other columns."""
    lists = cells.dtype if isinstance(cells.dtype, pl.List) else None
    if lists is not None and isinstance(lists.inner, pl.Struct):
        known = {field.name for field in lists.inner.fields} == {"place", "time"}
        return _TRAJECTORY if known else None
    if (lists is None and cells.dtype not in TEXTS) or not has_text(cells.dtype):
        return None
    some = cells.drop_nulls().head(_LOOKED_AT)
    some = some if lists is not None else some.cast(pl.String)
    parts = some.cast(pl.List(pl.String)) if lists is not None else some.str.split("|")
    several = int((parts.list.len() > 1).sum()) / max(len(parts), 1)
    items = parts.explode().drop_nulls()
    if len(items) and all(map(_READING.fullmatch, items)):
        return _TRAJECTORY
    return _SET if lists is not None or several > 0.3 else None


_TRAJECTORY = Suggestion(role=Role.QUASI, kind="trajectory", why="places at times, which others may have seen")
_SET = Suggestion(role=Role.QUASI, kind="set", why="several items in a cell, some of which others may know")


def suggest(column: Column, rows: int) -> Suggestion:
    """A role from the column's name, or else from how unique its values are; the cautious one when in doubt."""
    distinct = len(column.present)
    role = next((role for role, pattern in _NAMES if re.search(pattern, _plain(column.name))), None)
    if (
        role is Role.QUASI
        and column.kind == "text"
        and distinct > _MOST_TEXT * rows
        and rows > 20
        and not _coded(column)
    ):
        return Suggestion(
            role=Role.IDENTIFIER, why=f"{distinct:,} different texts in {rows:,} rows nearly name everybody"
        )
    if role is Role.QUASI:
        return Suggestion(role=role, why="others may know it", hierarchy=hierarchy(column))
    if role is not None:
        return Suggestion(role=role, why="by its name")
    if distinct > _MOST_TEXT * rows and rows > 20:
        return Suggestion(role=Role.DROP, why=f"{distinct:,} different values in {rows:,} rows single people out")
    if column.kind in ("integer", "real"):
        return Suggestion(role=Role.DROP, why="a number that may single people out; keep it only if nobody can know it")
    if distinct <= 60:
        return Suggestion(role=Role.QUASI, why="few values that others may know", hierarchy=hierarchy(column))
    return Suggestion(role=Role.DROP, why="not recognized; decide whether others can know it")


def hierarchy(column: Column) -> Mapping[str, Any]:
    """A hierarchy that fits the look of the values."""
    if column.kind in ("integer", "real") and len(column.present) > 2:
        return _intervals(column)
    if column.kind == "date":
        return {"kind": "dates", "levels": ["month", "year", "decade"]}
    if _coded(column):
        return {"kind": "mask", "from": "right"}
    known = fitting_hierarchy(column.name, column.present)
    return {"bundled": known} if known else {"kind": "flat"}


def read_off(tree: Mapping[str, Any] | None) -> bool:
    """Whether a suggested hierarchy declares a domain that was read off the rows.

    >>> read_off({"kind": "intervals", "widths": [5], "low": 20, "high": 80}), read_off({"kind": "flat"})
    (True, False)
    """
    return tree is not None and "low" in tree


_WIDEST = 1e300
"""A quarter of a wider range cannot be divided into equal steps."""
_PEOPLE = r"patient|person|subject|member|client|customer|user|participant|respondent|insured|student|employee|^pid$"


def names_people(name: str) -> bool:
    """Whether a column's name says that it tells people apart.

    >>> names_people("SUBJECT_ID"), names_people("site_id")
    (True, False)
    """
    return bool(re.search(_PEOPLE, _plain(name)))


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())


def _coded(column: Column) -> bool:
    """Whether the values are codes of one length, such as postal codes."""
    values = column.present
    lengths = {len(value) for value in values}
    return len(values) > 20 and len(lengths) == 1 and min(lengths) >= 3 and all(value.isalnum() for value in values)


def _intervals(column: Column) -> Mapping[str, Any]:
    """Three widths, about a twentieth, a tenth and a fifth of the range, in round numbers."""
    numbers = column.numbers[: len(column.present)]
    low, high = float(np.min(numbers)), float(np.max(numbers))
    if high / 4 - low / 4 > _WIDEST:
        return {"kind": "flat"}
    unit = _round(max((high - low) / 20.0, 1.0 if column.kind == "integer" else 0.0))
    wide = 4 * unit
    start = floor(low / wide) * wide
    end = (floor(high / wide) + 1) * wide
    return {
        "kind": "intervals",
        "widths": [_tidy(unit), _tidy(2 * unit), _tidy(wide)],
        "low": _tidy(start),
        "high": _tidy(end),
    }


def _round(x: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    if x <= 0:
        return 1.0
    power = 10.0 ** floor(log10(x))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= x * 0.999)


def _tidy(x: float) -> float | int:
    return int(x) if float(x).is_integer() else float(f"{x:.6g}")
