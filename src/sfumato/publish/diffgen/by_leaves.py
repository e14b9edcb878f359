"""A search by what the partition as a whole becomes: one choice among all values and all points to split numbers at."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import numpy as np

from sfumato.budget.events import Event
from sfumato.publish.diffgen.leaves import Leaves
from sfumato.publish.diffgen.number_column import NumberColumn
from sfumato.publish.diffgen.set_column import SetColumn
from sfumato.publish.diffgen.specialization import Search
from sfumato.publish.diffgen.specialization_scores import Reals
from sfumato.publish.diffgen.steps import Candidate


@dataclass(slots=True, kw_only=True)
class ByLeaves(Search):
    """One choice for each specialization: which value, and for a number also where.

    A score is minus the impurity of all leaf partitions after the specialization. One more record adds 0 to 2 to the
    impurity of the one partition that it falls into, whichever candidate is taken: all scores move down, none by more
    than 2.
    """

    def choose(self, candidates: list[Candidate]) -> tuple[Candidate, list[Event]]:
        """By the impurity that is left; a single candidate is taken without looking."""
        widths = [self._width(one) for one in candidates]
        place, paid = 0, list[Event]()
        if sum(widths) > 1:
            scores = self.scores(candidates)
            place, event = self.mechanisms.choose(scores, self.score, self.share, "which value, and where")
            paid.append(event)
        number = int(np.searchsorted(np.cumsum(widths), place, side="right"))
        at = candidates[number]
        column = self.columns[at.column]
        if isinstance(column, NumberColumn):
            column.take(at.value, place - sum(widths[:number]))
        return at, paid

    def _width(self, at: Candidate) -> int:
        """How many choices a candidate stands for."""
        column = self.columns[at.column]
        if not isinstance(column, NumberColumn):
            return 1
        low, high = column.spans[at.value]
        return high - low - 1

    def scores(self, candidates: list[Candidate]) -> Reals:
        """The scores of all choices, candidate by candidate."""
        leaves = Leaves(self.parts)
        found = [np.zeros(0)]
        for c, group in groupby(candidates, key=lambda one: one.column):
            column, values = self.columns[c], [one.value for one in group]
            if isinstance(column, SetColumn):
                found += [leaves.after_sets(c, column, value) for value in values]
            elif isinstance(column, NumberColumn):
                found += leaves.after_points(c, column, values).values()
            else:
                found += leaves.after_nodes(c, column, values).values()
        return np.asarray(np.concatenate(found) - leaves.now.sum())
