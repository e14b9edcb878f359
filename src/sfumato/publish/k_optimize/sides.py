"""Both sides of every cut of one column at once, in every group that it parts."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from sfumato.group.keys import Ids, distinct, representatives, total, weighed
from sfumato.group.tally import Counts, Tally
from sfumato.publish.k_optimize.nodes import Node
from sfumato.utility.view import Reals

_MOST = 2**24
"""The most numbers of a histogram that is held densely."""
Figures = TypeVar("Figures", Counts, Reals)


class Sides:
    """For each group and each two intervals that follow each other in it, what lies before and behind a cut there.

    All cuts between the same two neighbours part the group in the same way; ``spread`` tells it to each of them.
    """

    def __init__(self, node: Node, live: Ids, column: int) -> None:
        """Count the rows of every group and interval; ``live`` are the classes that matter."""
        self.live, self.width = live, len(node.frame.edges[column]) + 1
        groups, keys = node.ids[live], node.frame.classes.keys[column][live]
        self.ids, self.count = distinct((groups.astype(np.int32), keys), (len(node.sizes), self.width), len(live))
        place = representatives(self.ids, self.count)
        groups, keys = groups[place], keys[place]
        self._pair = (groups[1:] == groups[:-1]).nonzero()[0]
        self._ends = np.concatenate([keys[self._pair], keys[self._pair + 1]])
        self.owner = groups[self._pair]
        """The group of each two neighbours."""
        self._first = groups.searchsorted(self.owner, side="left")
        self._last = groups.searchsorted(self.owner, side="right") - 1
        self.left, self.right = self._both(total(self.ids, node.frame.classes.sizes[live], self.count))

    def parts(self, weights: Reals) -> tuple[Reals, Reals]:
        """A weight of classes summed up before and behind the cut of each two neighbours."""
        return self._both(weighed(self.ids, weights[self.live], self.count))

    def histograms(self, tally: Tally) -> tuple[Counts, Counts] | None:
        """A column's counts before and behind the cut of each two neighbours; None where they would not fit."""
        values = max(len(tally.values), 1)
        if self.count * values > _MOST:
            return None
        entry = np.full(tally.classes, -1, np.int64)
        entry[self.live] = self.ids
        known = entry[tally.owners] >= 0
        cells = entry[tally.owners[known]] * values + tally.codes[known]
        return self._both(total(cells, tally.counts[known], self.count * values).reshape(self.count, values))

    def spread(self, figures: Counts | Reals) -> Reals:
        """For each of the frame's cuts in this column, the sum of a figure over all neighbours that it parts."""
        weights = np.concatenate([figures, -figures])
        return np.asarray(np.bincount(self._ends, weights, self.width).cumsum()[:-1])

    def _both(self, entries: Figures) -> tuple[Figures, Figures]:
        upto = entries.cumsum(axis=0)
        return upto[self._pair] - (upto - entries)[self._first], upto[self._last] - upto[self._pair]


def tally_of(like: Tally, dense: Counts) -> Tally:
    """A tally of overlapping classes from their histogram, with the distribution of the whole table."""
    owners, codes = np.nonzero(dense)
    counts = dense[owners, codes]
    many = len(dense)
    return replace(like, owners=owners, codes=codes.astype(np.int32), counts=counts, classes=many, whole=like.overall)
