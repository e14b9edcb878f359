"""A search by noisy counts: every attribute is counted by the class once, and all choices follow from these counts.

Claim: the noisy counts cost what is paid for them, and nothing that is chosen by them costs more: it is computed from
what could be published.
Who needs it: several parties. Each adds its share of noise to its own counts, and only noisy sums are ever opened; a
private choice by scores would need the counts of all parties, because scores do not add up.
Against private choices: a choice does not cost, so there may be many; but all attributes are paid for, also those that
are never specialized.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.budget.events import Event, Sequential
from sfumato.group.cut_counts import by_value
from sfumato.publish.diffgen.by_value import ByValue
from sfumato.publish.diffgen.noisy_histograms import UNIT, Histogram, agreed, blocks_of, in_blocks
from sfumato.publish.diffgen.specialization import counted_column
from sfumato.publish.diffgen.specialization_scores import Reals

SURE = 3.0
"""A part counts as one with a class of its own only as far as that goes beyond so many deviations of its noise."""


@dataclass(slots=True, kw_only=True)
class ByCounts(ByValue):
    """The best by noisy counts: the split point of every interval, then the value that is specialized."""

    def begin(self) -> None:
        """Count every attribute by the class, then choose where every number would be split."""
        found, bought = [], list[Event]()
        for place, column in enumerate(self.columns):
            one = column.attribute
            cost, blocks = self.cost(f"counts of {one.name} by the class"), blocks_of(one)
            true = self.parts.walk.histogram(by_value(place, len(one.values)))[0]
            found.append(Histogram(blocks=blocks, noisy=self.mechanisms.count(in_blocks(true, blocks), cost)))
            bought.append(cost)
        self.purse.pay(Sequential(parts=tuple(bought), what="every attribute by the class"))
        columns = zip(self.columns, agreed(found), strict=True)
        self.columns = tuple(counted_column(column.attribute, counts) for column, counts in columns)
        ByValue.begin(self)

    def pick(self, scores: Reals, what: str) -> tuple[int, list[Event]]:
        """The highest score, the first of several; it follows from noisy counts and costs nothing."""
        return int(np.argmax(scores)), []

    def worth(self, tables: NDArray[Any]) -> Reals:
        """Max, less what noise adds to it: the last figure of every part is the variance of its noise.

        The records of the class that most records have; and for each part in which another class has more, how many
        more, less three times the deviation of that difference. Without a class: the records outside the largest part.
        """
        counts, noise = tables[..., :-1].astype(np.float64), np.sqrt(2.0 * tables[..., -1] / UNIT)
        if counts.shape[-1] == 1:
            return np.asarray(counts[..., 0].sum(axis=-1) - counts[..., 0].max(axis=-1))
        usual = counts.sum(axis=-2, keepdims=True).argmax(axis=-1)[..., None]
        base = np.take_along_axis(counts, usual, axis=-1)[..., 0]
        more = np.maximum(counts.max(axis=-1) - base - SURE * noise, 0.0)
        return np.asarray((base + more).sum(axis=-1))
