"""The rows of all parties under one recoding, as counts: nobody sends a row, so nobody can tell whose it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.data.table import Codes
from sfumato.ground.brief import Brief
from sfumato.ground.chance import Chance
from sfumato.group.cut_counts import ROWS, CutSource, Numbers
from sfumato.publish.top_down.partitions import Partitions


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shown:
    """What the values of one column read as."""

    of_code: Codes
    """For each declared value (by code), its label."""
    labels: tuple[str, ...]
    """The labels."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class IntegratedRows(Brief):
    """The combinations of labels that released rows have, with how many rows have each."""

    keys: Codes
    """Columns x combinations: the label of each."""
    rows: Numbers
    """How many rows each has."""

    def shuffled(self, session: bytes) -> Codes:
        """Columns x rows, in an order that every party draws from the name of the session; it tells nothing."""
        order = np.lexsort(self.keys[::-1])
        drawn = Chance(seed=int.from_bytes(session, "big")).generator()
        each = np.repeat(self.keys[:, order], self.rows[order], axis=1)
        return np.asarray(each[:, drawn.permutation(each.shape[1])], np.int32)


def integrated(source: CutSource, columns: Sequence[Shown]) -> IntegratedRows:
    """The combinations that occur at anybody, column after column.

    Every count that is asked for on the way is a sum of counts of the final rows, so they tell it all.
    """
    found = Partitions(len(columns), source.root((ROWS,)))
    for place, shown in enumerate(columns):
        refined = found.refine(place, 0, shown.of_code, len(shown.labels))
        found.apply(refined, np.arange(1, len(shown.labels) + 1, dtype=np.int32))
    return IntegratedRows(keys=np.asarray(found.keys - 1, np.int32), rows=found.rows)
