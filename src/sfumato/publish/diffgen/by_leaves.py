"""A search by what the partition as a whole becomes: one choice among all values and all points to split numbers at."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import numpy as np

from sfumato.budget.events import Event
from sfumato.publish.diffgen.class_tables import Candidate
from sfumato.publish.diffgen.leaves import Leaves
from sfumato.publish.diffgen.number_column import NumberColumn
from sfumato.publish.diffgen.set_column import SetColumn
from sfumato.publish.diffgen.specialization import Search
from sfumato.publish.diffgen.specialization_scores import Reals, impurity


@dataclass(slots=True, kw_only=True)
class ByLeaves(Search):
    """One choice for each specialization: which value, and for a number also where; or to stop.

    A score is minus the impurity of all leaf partitions after the specialization, less the price of its new groups,
    which is public. One more record adds 0 to 2 to the impurity of the one partition that it falls into, whichever
    candidate is taken, and also where none is: all scores move down, none by more than 2.
    """

    def choose(self, candidates: list[Candidate]) -> tuple[Candidate | None, list[Event]]:
        """By the impurity that is left; a single candidate is taken without looking."""
        widths = [self._width(one) for one in candidates]
        place, paid, stops = 0, list[Event](), self.may_stop(candidates)
        if sum(widths) + stops > 1:
            scores = self.scores(candidates) - np.repeat([self.price(one) for one in candidates], widths)
            if stops:
                scores = np.append(scores, -impurity(self.parts.counts).sum())
            cost = self.cost("which value, and where")
            place = self.mechanisms.choose(self.score.on(scores), cost)
            paid.append(cost)
        if place == sum(widths):
            return None, paid
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
        """Minus the impurity after each choice, candidate by candidate."""
        leaves = Leaves(self.parts)
        found: dict[Candidate, Reals] = {}
        for (c, _), group in groupby(sorted(candidates, key=_way), key=_way):
            column, some = self.columns[c], list(group)
            if isinstance(column, SetColumn):
                found |= {one: leaves.after_sets(c, column, one.value) for one in some}
            elif isinstance(column, NumberColumn):
                points = leaves.after_points(c, column, [one.value for one in some])
                found |= {one: points[one.value] for one in some}
            else:
                found |= leaves.after_nodes(c, column, some)
        return np.asarray(np.concatenate([np.zeros(0), *(found[one] for one in candidates)]) - leaves.now.sum())


def _way(at: Candidate) -> tuple[int, bool]:
    """Candidates that are counted together: of one column, each with a value of its own."""
    return at.column, at.halves
