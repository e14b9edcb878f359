"""Labels that stand for other labels of the same file: a record never shows two of which one covers the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from sfumato.data.itemized import set_column
from sfumato.data.table import Table
from sfumato.verification.checks import Check


def labels_apart(manifest: Mapping[str, Any], table: Table) -> Iterable[Check]:
    """Where an item is shown differently in different records, what is stated of its labels is a forest.

    Every label that lies within another is shown, the wider one is shown and coarser, and no record shows both: an item
    beside what covers it would tell that the wider label stands for something else.
    """
    for column in manifest["data"]["columns"]:
        stated = manifest["recoding"]["columns"].get(column["name"], {})
        if column["role"] == "quasi" and "within" in stated:
            wrong = _wrong(stated["within"], frozenset(stated["coarser"]), table, column)
            yield Check(what=f"labels within labels of {column['name']}", holds=not wrong, detail=wrong or "apart")


def _wrong(within: Mapping[str, str], coarser: frozenset[str], table: Table, column: Mapping[str, Any]) -> str:
    if column["type"] != "set":
        return _unknown(within, coarser, frozenset(table.column(str(column["name"]), "text").values))
    found = set_column(table, str(column["name"]), separator=str(column["separator"]))
    wrong = _unknown(within, coarser, frozenset(found.labels))
    if wrong:
        return wrong
    code = {label: place for place, label in enumerate(found.labels)}
    rows = np.repeat(np.arange(len(found.starts) - 1, dtype=np.int64), np.diff(found.starts))
    keys = np.sort(rows * len(code) + found.codes)
    over = np.full(len(code), -1, np.int64)
    for label, wider in within.items():
        over[code[label]] = code[wider]
    above = over[found.codes]
    while (above >= 0).any():
        some = above >= 0
        wanted = rows[some] * len(code) + above[some]
        both = keys[np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)] == wanted
        if both.any():
            return f"a record shows {found.labels[int(above[some][np.argmax(both)])]!r} beside what it covers"
        above[some] = over[above[some]]
    return ""


def _unknown(within: Mapping[str, str], coarser: frozenset[str], shown: frozenset[str]) -> str:
    """A label that is not shown, a wider one that is not coarser, or a ring of them."""
    for label, wider in within.items():
        if label not in shown or wider not in shown or wider not in coarser:
            return f"{label!r} within {wider!r}: both must be shown, and the wider one coarser"
        seen, up = {label}, wider
        while up in within and up not in seen:
            seen.add(up)
            up = within[up]
        if up in seen:
            return f"{label!r} lies within itself"
    return ""
