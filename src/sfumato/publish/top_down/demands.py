"""What models ask of groups by some of the columns, as counts: at least k rows, and shares within a limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.group.classes import Classes
from sfumato.models.confidence import ConfidenceBounding
from sfumato.models.judge import Reading
from sfumato.models.lkc import LKCPrivacy
from sfumato.models.verdict import Model, stands

Watched = tuple[str, tuple[int, ...]]
"""A sensitive column and the values (by code) that are counted as one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """Groups by every choice of ``size`` of the columns have ``k`` rows, and watched values no larger a share."""

    columns: tuple[int, ...]
    """What may be chosen from."""
    size: int
    """How many of them are chosen."""
    k: int
    """How many rows every group must have."""
    limit: float
    """The largest share."""
    watched: tuple[Watched, ...]
    """Whose share."""


def demands(model: Model, cells: Classes, reading: Reading) -> tuple[Demand, ...] | None:
    """A model as demands, or None where it is none of those that are.

    Groups by fewer columns are unions of groups by more, also where an unknown value is one of the labels; so the
    largest number of columns says all.
    """
    every = tuple(range(len(cells.quasi)))
    if isinstance(model, LKCPrivacy):
        watched = _watched(cells, model.column, model.values, reading) if model.c < 1 else ()
        return (Demand(columns=every, size=min(model.l, len(every)), k=model.k, limit=model.c, watched=watched),)
    if not isinstance(model, ConfidenceBounding) or not model.counts_anew:
        return None
    found = []
    for template in model.templates:
        if not set(template.quasi) <= set(cells.quasi):
            return None
        chosen = tuple(cells.quasi.index(name) for name in template.quasi) or every
        watched = _watched(cells, template.column, (template.value,), reading) if template.limit < 1 else ()
        found.append(Demand(columns=chosen, size=len(chosen), k=1, limit=template.limit, watched=watched))
    return tuple(found)


def passed_by_all(asked: Sequence[Demand], cells: Classes) -> bool:
    """Whether all rows as one group meet the demands."""
    rows = cells.rows
    shares = [
        (one.limit, int(cells.tally(column).overall[list(codes)].sum()) / max(rows, 1))
        for one in asked
        for column, codes in one.watched
    ]
    enough = all(rows >= one.k for one in asked)
    return enough and all(bool(stands(share, limit, "at most")) for limit, share in shares)


def _watched(cells: Classes, column: str, values: Sequence[str], reading: Reading) -> tuple[Watched, ...]:
    """The values that count; unless a missing value is one of its own, it may be any of them."""
    tally = cells.tally(column)
    asked = [code for code, value in enumerate(tally.values) if not values or value in values]
    if tally.missing is None or reading == "value":
        return tuple((column, (code,)) for code in asked)
    known = tuple((column, (code, tally.missing)) for code in asked if code != tally.missing)
    alone = reading == "strict" or len(tally.values) == 1
    return known + (((column, (tally.missing,)),) if alone and tally.missing in asked else ())


def weights(cells: Classes, watched: Sequence[Watched]) -> NDArray[np.int64]:
    """Cells x figures: the rows of each cell, then those of each watched value."""
    found = np.empty((cells.count, 1 + len(watched)), np.int64)
    found[:, 0] = cells.sizes
    for place, (column, codes) in enumerate(watched, start=1):
        tally = cells.tally(column)
        held = np.isin(tally.codes, codes)
        found[:, place] = np.bincount(tally.owners[held], weights=tally.counts[held], minlength=cells.count)
    return found
