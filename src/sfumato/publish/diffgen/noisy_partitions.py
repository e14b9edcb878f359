"""What is published: every leaf partition with its labels and noisy counts (algorithm 6.1, line 12)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.budget.accountants import epsilon_of
from sfumato.publish.cut import ColumnCut
from sfumato.publish.diffgen.consistent import consistent
from sfumato.publish.diffgen.set_column import SetColumn
from sfumato.publish.diffgen.specialization import Search
from sfumato.publish.diffgen.steps import AnyColumn
from sfumato.publish.noisy_table import NoisyTable, PrivateTable


def released(search: Search, table: PrivateTable, *, whole: bool) -> NoisyTable:
    """All groups, for all that is left of the budget; ``whole``: with counts that add up down the tree."""
    parts, purse = search.parts, search.purse
    noisy = search.mechanisms.count(parts.counts, purse.left, "counts of the groups")
    purse.pay(noisy.event)
    shown = [_shown(column, keys) for column, keys in zip(search.columns, parts.keys, strict=True)]
    return NoisyTable(
        columns=tuple(one.name for one in table.attributes),
        labels=tuple(labels for labels, _, _ in shown),
        keys=np.stack([keys for _, keys, _ in shown]) if shown else parts.keys,
        counts=consistent(noisy.values, parts.parents) if whole else np.maximum(noisy.values, 0),
        event=purse.closed("DiffGen"),
        cut=tuple(cut for _, _, cut in shown),
        steps=tuple(search.said),
        effort={
            "specializations": len(search.said),
            "groups": parts.count,
            "epsilon of one choice": str(search.share),
            "epsilon of the counts": str(epsilon_of(noisy.event)),
            "scale of the noise of a count": noisy.scale,
        },
    )


def _shown(column: AnyColumn, mine: NDArray[np.int32]) -> tuple[tuple[str, ...], NDArray[np.int32], ColumnCut | None]:
    """The labels of a column, which of them each group has, and the cut."""
    if isinstance(column, SetColumn):
        used, place = np.unique(mine, return_inverse=True)
        return tuple(column.name(value) for value in used.tolist()), place.reshape(-1).astype(np.int32), None
    cut, label_of = column.cut()
    table = np.zeros(max(label_of) + 1, np.int32)
    table[list(label_of)] = list(label_of.values())
    return cut.labels, table[mine], cut
