"""A private algorithm: the first column with the class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.private_table import NoisyTable, PrivateTable
from sfumato.core.arguments import at_least
from sfumato.core.run_context import Work
from sfumato.counts.sources import by_value, refuse_lacking
from sfumato.dp.events import Pure, exactly
from sfumato.dp.noise import noisy_counts


def counted(table: PrivateTable) -> NDArray[np.int64]:
    """Rows of each value of the first column and each class: private."""
    refuse_lacking(table.counts, ("integers",), "first-column")
    walk = table.counts.root(table.figures)
    found: NDArray[np.int64] = walk.histogram(by_value(0, len(table.attributes[0].values)))[0]
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstColumn:
    """Noisy counts of the values of the first column; all others read ``*``."""

    epsilon: Any
    least: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exactly("epsilon", self.epsilon))
        at_least("least", self.least, 0)

    def __call__(self, table: PrivateTable, work: Work) -> NoisyTable:
        noisy = noisy_counts(counted(table), epsilon=self.epsilon, what="the first column")
        values, others = table.attributes[0].values, len(table.attributes) - 1
        keys = np.zeros((others + 1, len(values)), np.int32)
        keys[0] = np.arange(len(values))
        return NoisyTable(
            columns=tuple(one.name for one in table.attributes),
            labels=(values, *((("*",),) * others)),
            keys=keys,
            counts=np.where(noisy.values < max(self.least, 0), 0, noisy.values),
            event=Pure(epsilon=self.epsilon, what="the first column"),
        )
