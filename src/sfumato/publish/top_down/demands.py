"""What models ask of groups by some of the columns, as counts: at least k rows, and shares within a limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sfumato.group.classes import Classes
from sfumato.group.cut_counts import ROWS, Figure
from sfumato.models.confidence import ConfidenceBounding
from sfumato.models.judge import Reading
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.lkc import LKCPrivacy
from sfumato.models.verdict import Model, stands


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
    watched: tuple[Figure, ...]
    """Whose share."""


def demands(model: Model, cells: Classes, reading: Reading) -> tuple[Demand, ...] | None:
    """A model as demands, or None where it is none of those that are. Of the cells only the columns and values matter.

    Groups by fewer columns are unions of groups by more, also where an unknown value is one of the labels; so the
    largest number of columns says all.
    """
    every = tuple(range(len(cells.quasi)))
    if isinstance(model, LKCPrivacy):
        watched = _watched(cells, model.column, model.values, reading) if model.c < 1 else ()
        return (Demand(columns=every, size=min(model.l, len(every)), k=model.k, limit=model.c, watched=watched),)
    if isinstance(model, KAnonymity) and not (reading == "wildcard" and may_be_unknown(cells)):
        return (Demand(columns=every, size=len(every), k=model.k, limit=1.0, watched=()),)
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


def may_be_unknown(cells: Classes) -> bool:
    """Whether some value of a quasi-identifier stands for an unknown one."""
    return any(bool(flags.any()) for flags in cells.wild or ())


def passed_by_all(asked: Sequence[Demand], totals: Mapping[Figure, float]) -> bool:
    """Whether all rows as one group meet the demands."""
    rows = totals[ROWS]
    shares = [(one.limit, totals[figure] / max(rows, 1)) for one in asked for figure in one.watched]
    enough = all(rows >= one.k for one in asked)
    return enough and all(bool(stands(share, limit, "at most")) for limit, share in shares)


def _watched(cells: Classes, column: str, values: Sequence[str], reading: Reading) -> tuple[Figure, ...]:
    """The values that count; unless a missing value is one of its own, it may be any of them."""
    tally = cells.tally(column)
    asked = [code for code, value in enumerate(tally.values) if not values or value in values]
    if tally.missing is None or reading == "value":
        return tuple((column, (code,)) for code in asked)
    known = tuple((column, (code, tally.missing)) for code in asked if code != tally.missing)
    alone = reading == "strict" or len(tally.values) == 1
    return known + (((column, (tally.missing,)),) if alone and tally.missing in asked else ())
