"""A suggested role and fitted hierarchy for each column, and texts that may mean a missing value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import floor, log10
from typing import Any

import numpy as np
import polars as pl

from sfumato.counts.near_unique import FEW, near_unique
from sfumato.pipeline.profile.recognisers import Recognised, plain_name, recognised
from sfumato.tables.hierarchy_files import fitting_hierarchy, hierarchy_leaves
from sfumato.tables.schema import Role
from sfumato.tables.table import TEXTS, Column, has_text
from sfumato.tables.times import SPOKEN, DateForm, fitting_orders, has_short_year

# Texts that stand for a missing value, as they are found in tables: proposed, and never taken for granted.


MARKS = frozenset(
    ("", "na", "n/a", "n.a.", "#n/a", "<na>", "nan", "null", "(null)", "\\n", "?", "??", "-", "--", ".", "..", "n.d.")
)
"""What is taken for a mark of a missing value, in small letters and without blanks around it."""
_UNKNOWN = frozenset((-9, -8, -7, -99, -98, -999, -9999, 99, 98, 999, 998, 9999, 99999, 999999, 88, 888, 8888))
"""Numbers that often stand for an unknown value."""
_FAR = 2.0
"""Such a number lies so many times the range of all others away from them."""


def found_marks(columns: Iterable[Column]) -> tuple[str, ...]:
    """The texts of these columns that stand for missing values, in the order of the alphabet.

    A mark that is a value in one of the columns, as NA is among the codes of countries, is none.
    """
    marks: set[str] = set()
    values: set[str] = set()
    for column in columns:
        here = {text for text in column.present if text.strip().lower() in MARKS}
        rest = {text.upper() for text in column.present} - {text.upper() for text in here}
        if here and len(rest) >= 5 and rest <= hierarchy_leaves("world/country-codes-2"):
            values |= {text for text in here if text.strip().upper() == "NA"}
        marks |= here
    return tuple(sorted(marks - values))


def code_for_unknown(column: Column) -> str | None:
    """A comment about a number that may stand for an unknown value: one far from all others, such as 9999."""
    numbers = column.numbers[: len(column.present)]
    if len(numbers) < 3:
        return None
    for place, rest in ((-1, numbers[:-1]), (0, numbers[1:])):
        odd = float(numbers[place])
        gap = min(abs(odd - float(rest.min())), abs(odd - float(rest.max())))
        if odd in _UNKNOWN and gap > _FAR * max(float(np.ptp(rest)), 1.0):
            text = column.present[place]
            return f'{text} may stand for an unknown value; if so, add "{text}" to missing in [input]'
    return None


# Hierarchies for a draft that are fitted to the values of a column: intervals, cuts, calendar units, common values.


Tree = Mapping[str, Any]
_WIDEST = 1e300
"""A quarter of a wider range cannot be divided into equal steps."""
_CROWDED = 0.5
"""Intervals of one width are not used where one of them holds a larger share of the rows."""
_SHARES = (0.02, 0.1, 0.25)
"""A value is common, at each level, if it has at least this share of the rows."""
_LEAST_ROWS = 10
"""A value with fewer rows is never named in a draft."""
_FLAT: Tree = {"kind": "flat"}
_MASK: Tree = {"kind": "mask", "from": "right"}
DATES: Tree = {"kind": "dates", "levels": ["month", "year", "decade"]}
"""Calendar units from the month up."""


def fitted(column: Column, kind: str, wish: Tree | str | None = None) -> Tree:
    """The hierarchy that a recogniser wishes for, or else one that fits the look of the values."""
    if isinstance(wish, Mapping):
        return wish
    if kind == "date" or wish == "dates":
        return DATES
    if kind in ("integer", "real") and len(column.present) > 2:
        return intervals(column)
    known = fitting_hierarchy(column.name, column.present)
    if known:
        return {"bundled": known}
    return _MASK if coded(column) else common(column)


def plain_tree(column: Column) -> Tree:
    """A hierarchy that follows no counts: equal intervals, calendar units, hidden characters, or values as they are."""
    if column.kind in ("integer", "real") and len(column.present) > 2:
        return _equal(column)
    if column.kind == "date":
        return DATES
    if coded(column):
        return _MASK
    known = fitting_hierarchy(column.name, column.present)
    return {"bundled": known} if known else _FLAT


def coded(column: Column) -> bool:
    """Whether the values are codes of one length, such as postal codes."""
    values = column.present
    lengths = {len(value) for value in values}
    return len(values) > 20 and len(lengths) == 1 and min(lengths) >= 3 and all(value.isalnum() for value in values)


def common(column: Column) -> Tree:
    """Levels that keep the common values; rare ones are not named.

    The values of a level stand in the order of the alphabet: the draft tells which are common, not which is commonest.
    """
    counts = column.counts[: len(column.present)]
    levels: list[list[str]] = []
    for share in _SHARES:
        least = max(share * int(counts.sum()), _LEAST_ROWS)
        kept = sorted(value for value, rows in zip(column.present, counts, strict=True) if rows >= least)
        fewer = len(kept) <= len(column.present) - 2 and (not levels or len(kept) < len(levels[-1]))
        if kept and fewer:
            levels.append(kept)
    return {"kind": "common", "keep": levels} if levels else _FLAT


def intervals(column: Column) -> Tree:
    """Equal intervals, or cuts near equal shares of the rows where one interval would hold most of them."""
    tree = _equal(column)
    if "widths" in tree and _fullest(column, float(tree["low"]), float(tree["widths"][0])) > _CROWDED:
        levels = _cuts(column)
        return {"kind": "intervals", "cuts": levels} if levels else tree
    return tree


def _equal(column: Column) -> Tree:
    """Three widths, about a twentieth, a tenth and a fifth of the range, in round numbers."""
    numbers = column.numbers[: len(column.present)]
    low, high = float(np.min(numbers)), float(np.max(numbers))
    if high / 4 - low / 4 > _WIDEST:
        return _FLAT
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


def _fullest(column: Column, start: float, unit: float) -> float:
    """The share of the rows in the fullest interval of a width, where there are more values than intervals."""
    numbers = column.numbers[: len(column.present)]
    if len(numbers) < 20:
        return 0.0
    counts = column.counts[: len(column.present)]
    places = np.floor((numbers - start) / unit).astype(np.int64)
    held = np.bincount(places - places.min(), weights=counts)
    return float(held.max() / max(counts.sum(), 1))


def _cuts(column: Column) -> list[list[float | int]]:
    """Round numbers near the eighths, the quarters and the half of the rows; fewer where they fall together."""
    numbers = column.numbers[: len(column.present)]
    counts = column.counts[: len(column.present)]
    ranks = np.cumsum(counts) / max(int(counts.sum()), 1)
    low = float(numbers.min())
    marks = [_two_digits(float(numbers[np.searchsorted(ranks, share)])) for share in np.arange(1, 8) / 8]
    levels: list[list[float | int]] = []
    for step in (1, 2, 4):
        level = [_tidy(mark) for mark in sorted({cut for cut in marks[step - 1 :: step] if cut > low})]
        if level and (not levels or len(level) < len(levels[-1])):
            levels.append(level)
    return levels


def _two_digits(x: float) -> float:
    """A number rounded to its first two digits."""
    return float(f"{x:.1e}")


def _round(x: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    if x <= 0:
        return 1.0
    power = 10.0 ** floor(log10(x))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= x * 0.999)


def _tidy(x: float) -> float | int:
    return int(x) if float(x).is_integer() else float(f"{x:.6g}")


def read_off(tree: Tree | None) -> bool:
    """Whether a suggested hierarchy declares a domain that was read off the rows.

    >>> read_off({"kind": "intervals", "widths": [5], "low": 20, "high": 80}), read_off({"kind": "flat"})
    (True, False)
    """
    return tree is not None and "low" in tree


# Suggestions for a draft plan: a role and a hierarchy for each column, by its name, its values and their counts.
#
# Nothing here looks at rows: a column's distinct values with their counts are enough, wherever the rows are.


_MOST_TEXT = 0.9
_MOST_VALUES = 60
"""Texts with more different values, and a name that says nothing, are left to a person."""
_FEW_NUMBERS = 12
"""Numbers with at most so many different values are taken for categories."""
_CENTURY = "years have two digits: they are read as {} to {}; set pivot if not"
_PUBLISHED = (Role.SENSITIVE, Role.TARGET, Role.KEEP)


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
    read_as: str | None = None
    """The type of single values, where they are to be read otherwise than they look."""
    form: DateForm | None = None
    """How dates are written, where that must be said."""
    short_years: bool = False
    """Whether some of these dates have years of two digits, so that the draft names the pivot."""
    notes: tuple[str, ...] = ()
    """What a person must look at, for comments in the plan."""
    limits_seen: bool = False
    """Whether the hierarchy declares limits that were read off the rows."""
    rare: bool = False
    """Whether it would nearly single people out by itself, so that it is a quasi-identifier only if made coarser."""
    sort: str | None = None
    """What the column was recognised as, by its name or by its values; None where only its values were counted."""

    @property
    def sure(self) -> bool:
        """Whether the column was recognised."""
        return self.sort is not None


LOOKED_AT = 2000
"""So many cells decide whether a column has several items in a cell."""
_READING = re.compile(r"[^|]+@[0-9][0-9:.T+Z-]*")


def suggest_items(cells: pl.Series) -> Suggestion | None:
    """What a column of lists, or of texts like ``a|b`` or ``home@8|work@9``, might be; nothing for other columns."""
    lists = cells.dtype if isinstance(cells.dtype, pl.List) else None
    if lists is not None and isinstance(lists.inner, pl.Struct):
        known = {field.name for field in lists.inner.fields} == {"place", "time"}
        return _TRAJECTORY if known else None
    if (lists is None and cells.dtype not in TEXTS) or not has_text(cells.dtype):
        return None
    some = cells.drop_nulls().head(LOOKED_AT)
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
    """A role from what the column is recognised as, or else from how unique its values are; in doubt the cautious one.

    A column that nearly singles people out is never published as it is, and income is never a target.
    """
    form, notes = _dates(column)
    kind = "date" if form is not None else column.kind
    recognition = recognised(column, kind)
    suggestion = _by_look(column, kind, rows) if recognition is None else _by_record(column, kind, rows, recognition)
    suggestion = _published_only_if_common(
        column, kind, rows, suggestion, None if recognition is None else recognition.hierarchy
    )
    if form is not None:
        short = any(map(has_short_year, column.present))
        notes += (_CENTURY.format(form.pivot, form.pivot + 99),) if short else ()
        suggestion = replace(suggestion, read_as="date", form=form, short_years=short)
    unknown = code_for_unknown(column) if kind in ("integer", "real") else None
    return replace(suggestion, notes=(*notes, *suggestion.notes, *([] if unknown is None else [unknown])))


def _dates(column: Column) -> tuple[DateForm | None, tuple[str, ...]]:
    """How dates are written that are not plain YYYY-MM-DD, and what a person has to check about them."""
    texts = column.present
    if column.kind == "date" or not texts or (column.kind != "text" and not _compact(column)):
        return None, ()
    orders = fitting_orders(texts)
    if not orders:
        return None, ()
    either = (
        f"every date can be read as {SPOKEN[orders[0]]} and as {SPOKEN[orders[-1]]}; which is it? "
        f'The other is format = "{orders[-1]}"'
    )
    return DateForm(order=orders[0]), (either,) if len(orders) > 1 else ()


def _compact(column: Column) -> bool:
    """Whether whole numbers look like 19800203: eight digits that begin with a year."""
    texts = column.present
    return (
        column.kind == "integer" and len(texts) >= 5 and all(re.fullmatch(r"(18|19|20)\d{6}", text) for text in texts)
    )


def _by_record(column: Column, kind: str, rows: int, recognition: Recognised) -> Suggestion:
    """What a recogniser proposes; a quasi-identifier gets a hierarchy, and is none if it names nearly everybody."""
    recogniser, distinct = recognition.by, len(column.present)
    crowded = distinct > _MOST_TEXT * rows and rows > 20
    read_as = recogniser.type if recogniser.type != column.kind else None
    if recogniser.role is not Role.QUASI:
        return Suggestion(role=recogniser.role, why=recogniser.why, read_as=read_as, sort=recogniser.name)
    if column.kind == "text" and kind == "text" and crowded and not coded(column) and not recogniser.type:
        return Suggestion(
            role=Role.IDENTIFIER,
            why=f"{distinct:,} different texts in {rows:,} rows nearly name everybody",
            sort=recogniser.name,
        )
    if _few_numbers(column, rows) and recognition.hierarchy in (None, "common"):
        return replace(_category(column, recogniser.why), sort=recogniser.name)
    suggestion = Suggestion(role=Role.QUASI, why=recogniser.why, read_as=read_as, sort=recogniser.name)
    return _generalized(suggestion, column, recogniser.type or kind, recognition.hierarchy)


def _by_look(column: Column, kind: str, rows: int) -> Suggestion:
    """What nobody recognises: few values and numbers may be known to others, the rest is for a person to decide."""
    distinct = len(column.present)
    if distinct <= 1 and column.missing is None:
        return Suggestion(role=Role.DROP, why="one value in every row" if distinct else "no value in any row")
    if _running(column, rows):
        return Suggestion(role=Role.IDENTIFIER, why="a running number")
    if _few_numbers(column, rows):
        return _category(column, "few values that others may know")
    if kind in ("integer", "real"):
        rare = near_unique(column.name, Role.QUASI, column.counts[:distinct], rows, FEW) is not None
        return _generalized(Suggestion(role=Role.QUASI, why="a number that others may know", rare=rare), column, kind)
    if distinct > _MOST_TEXT * rows and rows > 20:
        return Suggestion(role=Role.DROP, why=f"{distinct:,} different values in {rows:,} rows single people out")
    if distinct <= _MOST_VALUES:
        return _generalized(Suggestion(role=Role.QUASI, why="few values that others may know"), column, kind)
    return Suggestion(role=Role.DROP, why="not recognized; decide whether others can know it")


def _generalized(
    suggestion: Suggestion, column: Column, kind: str, wish: Mapping[str, Any] | str | None = None
) -> Suggestion:
    """A quasi-identifier with a hierarchy: the one that is wished for, or one that fits the values."""
    tree = fitted(column, kind, wish)
    return replace(suggestion, hierarchy=tree, notes=_about(tree), limits_seen=read_off(tree) and tree is not wish)


def _category(column: Column, why: str) -> Suggestion:
    tree = common(column)
    return Suggestion(role=Role.QUASI, why=why, hierarchy=tree, read_as="category", notes=_about(tree))


def _few_numbers(column: Column, rows: int) -> bool:
    many = len(column.present)
    return column.kind in ("integer", "real") and many <= min(_FEW_NUMBERS, max(rows // FEW, 2))


def _running(column: Column, rows: int) -> bool:
    """Whether whole numbers count the rows: all different, with hardly a gap."""
    if column.kind != "integer" or len(column.present) < max(rows, 20):
        return False
    numbers = column.numbers[: len(column.present)]
    return bool(np.ptp(numbers) < 1.05 * rows)


def _published_only_if_common(
    column: Column, kind: str, rows: int, suggestion: Suggestion, wish: Mapping[str, Any] | str | None
) -> Suggestion:
    """Instead of a column that nearly singles people out: a quasi-identifier where it can be coarser, or nothing."""
    if suggestion.role not in _PUBLISHED:
        return suggestion
    rare = near_unique(column.name, suggestion.role, column.counts[: len(column.present)], rows, FEW)
    if rare is None:
        return suggestion
    reason = f"{suggestion.why}; rare values"
    few = len(column.present) <= _MOST_VALUES and common(column)["kind"] == "common"
    if kind in ("integer", "real", "date") or isinstance(wish, Mapping) or few:
        coarser = replace(suggestion, role=Role.QUASI, why=f"{reason}, so it is made coarser", rare=True)
        return _generalized(coarser, column, suggestion.read_as or kind, wish)
    return replace(suggestion, role=Role.DROP, why=f"{reason} single people out")


_DRAFTED = {
    "common": "a draft by how often values occur: rare ones become one label. Better: group what belongs together",
    "cuts": "a draft: cuts are round numbers near the eighths of the rows. Better: cuts that mean something",
}


def _about(tree: Mapping[str, Any]) -> tuple[str, ...]:
    """What a draft says about a hierarchy that follows the rows."""
    key = "cuts" if "cuts" in tree else str(tree.get("kind"))
    return (_DRAFTED[key],) if key in _DRAFTED else ()


_PEOPLE = (
    r"patient|person|subject|member|client|customer|user|participant|respondent|insured|student|employee|^pid$"
    r"|versichert|kunde|mitarbeiter|proband|teilnehm|pazient|pacient|pacjent|cliente|klient|utente|usuario|usager|eleve"
    r"|alumn|assure|assegurad|deelnemer|klant|medewerker|osoba|uczestnik|pracownik|persona|pessoa|personne"
)


def names_people(name: str) -> bool:
    """Whether a column's name says that it tells people apart.

    >>> names_people("SUBJECT_ID"), names_people("site_id"), names_people("Versichertennummer")
    (True, False, True)
    """
    return bool(re.search(_PEOPLE, plain_name(name)))
