"""How released paths and sets are written: one order of items for all records, and no path goes back in time.

Models see sets. A reader sees texts: two orders of the same items, a blank or an item twice would tell records apart
that the models take for alike.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.itemized import Tokens, tokens
from sfumato.data.table import TEXTS, Table
from sfumato.data.times import moment
from sfumato.describe.spans import read_interval
from sfumato.verification.checks import Check

ITEM_TYPES = ("set", "trajectory")
_CLOCKED = ("intervals", "quantiles", "dates")
"""Hierarchies of times whose labels say when; what a node of a tree is called says nothing about its place in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """From when to when something happened; the end belongs to it only if it is closed."""

    kind: str
    low: Any
    high: Any
    closed: bool = True


def items_written(manifest: Mapping[str, Any], table: Table) -> Iterable[Check]:
    """Every column of paths or sets has one order of items; paths follow the clock, with one place at a time."""
    for column in manifest["data"]["columns"]:
        if column["role"] != "quasi" or column["type"] not in ITEM_TYPES:
            continue
        name = str(column["name"])
        found = tokens(table, name, str(column["separator"]))
        wrong = _blanks(table, name, found) or _disorder(found)
        if not wrong and column["type"] == "trajectory":
            tree = manifest["plan"]["columns"][name].get("time_hierarchy")
            coarser = frozenset(manifest["recoding"]["columns"][name]["coarser"])
            wrong = _against_the_clock(found, str(column["mark"]), tree, coarser)
        yield Check(what=f"items of {name} as they are written", holds=not wrong, detail=wrong or "in one order")


def _blanks(table: Table, name: str, found: Tokens) -> str:
    """A text that differs from its items by blanks alone."""
    cells = table.frame[name]
    texts = cells.cast(pl.String) if cells.dtype in TEXTS else None
    around = texts is not None and bool((texts != texts.str.strip_chars()).any())
    return "blanks around items" if around or found.texts.n_unique() < len(found.texts) else ""


def _disorder(found: Tokens) -> str:
    """Two records that write the same items in two orders, or one that has an item twice."""
    inside = np.ones(max(len(found.codes) - 1, 0), np.bool_)
    ends = found.starts[1:-1]
    inside[ends[(ends > 0) & (ends < len(found.codes))] - 1] = False
    pairs = np.unique(np.stack([found.codes[:-1], found.codes[1:]], axis=1)[inside], axis=0)
    waiting = np.bincount(pairs[:, 1], minlength=len(found.texts)) if len(pairs) else np.zeros(0, np.int64)
    after: dict[int, list[int]] = {}
    for first, then in pairs.tolist():
        after.setdefault(first, []).append(then)
    free = [code for code in range(len(waiting)) if not waiting[code]]
    while free:
        for then in after.pop(free.pop(), ()):
            waiting[then] -= 1
            if not waiting[then]:
                free.append(then)
    return f"no order of items fits all records: {found.texts[min(after)]!r} stands before and after" if after else ""


def _against_the_clock(found: Tokens, mark: str, tree: str | None, coarser: Collection[str]) -> str:
    """A reading that lies wholly before one that is written earlier, or a second place at the same moment."""
    texts = found.texts.to_list()
    read = [_when(text, mark, told=tree in (None, *_CLOCKED) or text not in coarser) for text in texts]
    kind = next(iter(Counter(one.kind for one in read if one is not None).most_common(1)), ("", 0))[0]
    known = [one if one is not None and one.kind == kind else None for one in read]
    lows = sorted({one.low for one in known if one is not None})
    begins = np.array([0 if one is None else bisect_left(lows, one.low) + 1 for one in known], np.int64)
    limits = np.array([len(lows) + 1 if one is None else _limit(lows, one) for one in known], np.int64)
    rows = np.repeat(np.arange(len(found.starts) - 1), np.diff(found.starts))
    width = len(lows) + 2
    latest = np.maximum.accumulate(rows * width + begins[found.codes]) - rows * width if len(rows) else rows
    back = (rows[1:] == rows[:-1]) & (latest[:-1] >= limits[found.codes[1:]])
    if back.any():
        return f"{found.where(int(np.argmax(back)) + 1)} goes back in time"
    return _twice_at_once(found, rows, begins, _exact(texts, known, tree, coarser), width)


def _limit(lows: list[Any], one: When) -> int:
    """From which rank of beginnings on a reading lies wholly before."""
    return (bisect_right(lows, one.high) if one.closed else bisect_left(lows, one.high)) + 1


def _exact(texts: list[str], known: list[When | None], tree: str | None, coarser: Collection[str]) -> NDArray[np.bool_]:
    """Which readings tell the moment itself."""
    return np.array(
        [
            one is not None and one.low == one.high and (tree is None or text not in coarser)
            for text, one in zip(texts, known, strict=True)
        ],
        np.bool_,
    )


def _twice_at_once(
    found: Tokens, rows: NDArray[np.int64], begins: NDArray[np.int64], exact: NDArray[np.bool_], width: int
) -> str:
    """A person who is read at two places at the same moment."""
    places = np.flatnonzero(exact[found.codes]) if len(exact) else np.zeros(0, np.int64)
    keys = rows[places] * width + begins[found.codes[places]]
    again = np.flatnonzero(keys[1:] == keys[:-1])
    return f"{found.where(int(places[again[0] + 1]))} is a second place at the same time" if len(again) else ""


def _when(text: str, mark: str, *, told: bool) -> When | None:
    """When a reading was, as far as its label tells."""
    time = text.rpartition(mark)[2].strip()
    found = moment(time) if told else None
    if found is not None:
        return When(kind=found[0], low=found[1], high=found[1])
    interval = read_interval(time) if told else None
    if interval is None:
        return None
    return When(kind="number", low=interval.low, high=interval.high, closed=interval.closed)
