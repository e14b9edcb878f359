"""Which sets of shown items tell a sensitive item too surely; only sets that hold one of some items are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.group.transactions import Codes, Starts
from sfumato.models.rho_uncertainty import RhoUncertainty


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rules:
    """Inferences that are too sure: known items, and the sensitive one at the end of each."""

    starts: Starts
    """Where each rule begins, and where the last ends."""
    items: Codes
    """The items of all rules."""
    whole: bool = True
    """Whether all sets were looked at."""

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.starts) - 1

    @classmethod
    def joined(cls, parts: Sequence[Rules]) -> Rules:
        """Those of several models."""
        sizes = np.concatenate([np.empty(0, np.int64), *(np.diff(part.starts) for part in parts)])
        return cls(
            starts=np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))),
            items=np.concatenate([np.empty(0, np.int32), *(part.items for part in parts)]),
            whole=all(part.whole for part in parts),
        )


def inferences(
    rows: NDArray[np.int64],
    items: NDArray[np.int64],
    heads: NDArray[np.int64],
    secret: NDArray[np.bool_],
    model: RhoUncertainty,
    most: int,
) -> Rules:
    """The inferences above ``rho`` from at most ``l`` items, one of them of ``heads``.

    ``rows`` and ``items`` are the entries of records, each pair once, in any order; ``secret`` says which items are
    sensitive. All records that have an item of ``heads`` must be among them.
    """
    from sfumato.ground.kernels.rules_kernel import sure_rules

    count = len(secret)
    if not len(rows):
        return Rules.joined([])
    key = np.ones(count, np.int64)
    key[secret] = 2
    key[heads] = np.where(secret[heads], 2, 0)
    order = np.argsort(key, kind="stable")
    number = np.empty(count, np.int64)
    number[order] = np.arange(count)
    places = np.sort(rows * count + number[items])
    row, code = np.divmod(places, count)
    slots = _slots(row, code, first=int((key < 2).sum()))
    reach = count if secret[heads].any() else int((key == 0).sum())
    longest = int(np.diff(np.flatnonzero(np.append(slots[0], -1) < 0)).max()) - 1
    found, ends, whole = sure_rules(slots, reach, count, min(model.l or longest, longest), float(model.rho), most)
    starts = np.concatenate(([0], ends.astype(np.int64)))
    return Rules(starts=starts, items=order[found].astype(np.int32), whole=bool(whole))


def _slots(row: NDArray[np.int64], code: NDArray[np.int64], first: int) -> tuple[Codes, Codes, Codes, Codes]:
    """Every record opened by -1; the slot behind its record; its first sensitive slot; and the opening slots."""
    opens = np.flatnonzero(np.append(True, row[1:] != row[:-1]))
    sizes = np.diff(np.append(opens, len(row)))
    opening = opens + np.arange(len(opens))
    slots = np.full(len(row) + len(opens), -1, np.int32)
    taken = np.ones(len(slots), np.bool_)
    taken[opening] = False
    slots[taken] = code
    plain = np.add.reduceat((code < first).astype(np.int64), opens)
    stop = np.repeat(opening + sizes + 1, sizes + 1)
    secret = np.repeat(opening + 1 + plain, sizes + 1)
    return slots, stop.astype(np.int32), secret.astype(np.int32), opening.astype(np.int32)
