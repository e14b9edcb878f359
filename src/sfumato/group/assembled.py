"""Columns of different kinds as one set of items per record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.group.transactions import Codes, Starts, Transactions


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ItemPart:
    """The items that one column brings: record ``r`` has ``codes[starts[r]:starts[r + 1]]``, ascending."""

    starts: Starts
    """Where each record begins, and where the last ends."""
    codes: Codes
    """The items of all records, by their number in this column."""
    labels: tuple[str, ...]
    """The items as written."""

    @classmethod
    def of_cells(cls, codes: Codes, labels: tuple[str, ...]) -> ItemPart:
        """A column of a table: one item per record."""
        return cls(starts=np.arange(len(codes) + 1, dtype=np.int64), codes=codes, labels=labels)


def assembled(parts: Sequence[ItemPart]) -> Transactions:
    """The records with the items of all columns; those of a column follow those of the column before."""
    labels = tuple(label for part in parts for label in part.labels)
    if len(parts) == 1:
        return Transactions(starts=parts[0].starts, codes=parts[0].codes, labels=labels)
    begins = np.cumsum([0, *(len(part.labels) for part in parts)])
    rows = len(parts[0].starts) - 1
    owners = [np.repeat(np.arange(rows, dtype=np.int64), np.diff(part.starts)) for part in parts]
    codes = np.concatenate([part.codes + begin for part, begin in zip(parts, begins[:-1].tolist(), strict=True)])
    order = np.argsort(np.concatenate(owners), kind="stable")
    starts = np.sum([part.starts for part in parts], axis=0)
    return Transactions(starts=starts.astype(np.int64), codes=codes[order].astype(np.int32), labels=labels)
