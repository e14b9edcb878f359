"""The label of a set of values that have no order: a short list, or the lowest hierarchy value that covers them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.describe.distributions import MAX_LABEL
from sfumato.describe.hierarchy import TOP, Hierarchy
from sfumato.describe.value_sets import written_set

MAX_VALUES = 10
"""A label lists at most so many values; a longer list would publish a column almost unchanged at a tiny loss."""


def listed(names: Sequence[str]) -> str | None:
    """Return a list of values as one label, a single one as itself; None where it would be too long."""
    label = names[0] if len(names) == 1 else written_set(names[: MAX_VALUES + 1])
    return label if len(names) <= MAX_VALUES and len(label) <= MAX_LABEL else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SetLabel:
    """What a set of values is shown as."""

    name: str
    """The label."""
    size: float
    """How many leaves of the domain it covers."""
    covers: NDArray[np.int64]
    """The values of the column that it covers, by code."""


class SetLabels:
    """Makes the labels of sets of one column's values."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        self.names = hierarchy.levels[0].labels

    def of(self, codes: Sequence[int]) -> SetLabel:
        """Return the label of some different values.

        All values, and a missing one with others, are ``*``. A hierarchy value stands for the set if it covers just
        that. Otherwise the values are listed, and where that would be too long the lowest hierarchy value over them is
        shown: it is charged for everything that it covers.
        """
        count, chosen = len(codes), tuple(sorted(codes))
        if count > 1 and (count == len(self.names) or self.hierarchy.missing in codes):
            return SetLabel(name=TOP, size=self.hierarchy.total, covers=np.arange(len(self.names)))
        text = self._words.get(chosen) or listed([self.names[code] for code in chosen])
        if text is None:
            return self.common(codes)
        return SetLabel(name=text, size=float(count), covers=np.array(chosen))

    def of_run(self, codes: Sequence[int]) -> SetLabel:
        """Return the same for values that follow each other in the order of their taxonomy, whose ends tell enough."""
        long = MAX_VALUES < len(codes) < len(self.names)
        return self.common([codes[0], codes[-1]]) if long else self.of(codes)

    def common(self, codes: Sequence[int]) -> SetLabel:
        """Return the lowest hierarchy value that covers some values."""
        below = (level for level in self.hierarchy.levels if len(set(level.parent[list(codes)].tolist())) == 1)
        level = next(below)  # at the top all values have one label
        node = int(level.parent[codes[0]])
        return SetLabel(
            name=level.labels[node], size=float(level.sizes[node]), covers=np.flatnonzero(level.parent == node)
        )

    def always_listed(self, codes: Sequence[int]) -> bool:
        """Return whether every set of these values is short enough to be listed."""
        return listed([self.names[code] for code in codes]) is not None

    @cached_property
    def _words(self) -> dict[tuple[int, ...], str]:
        """The hierarchy value of every set that has one; none for values that are not in the column."""
        words: dict[tuple[int, ...], str] = {}
        for level in self.hierarchy.levels[1:-1]:
            order = np.argsort(level.parent, kind="stable")
            parts = np.split(order, np.searchsorted(level.parent[order], np.arange(1, len(level.labels))))
            for label, size, part in zip(level.labels, level.sizes, parts, strict=True):
                if size == len(part):
                    words.setdefault(tuple(part.tolist()), label)
        return words
