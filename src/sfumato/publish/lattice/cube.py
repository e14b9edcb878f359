"""The cube: the frequency sets of all subsets of the columns at their lowest levels, each counted from a larger one."""

from __future__ import annotations

from itertools import combinations

from sfumato.ground.work import Work
from sfumato.publish.lattice.part import raised
from sfumato.publish.problem import Problem

Columns = tuple[int, ...]


class Cube:
    """Every subset of the columns with its classes: the others are at the top and split nothing.

    How: from all columns down, leaving out one column at a time. Each set is counted from that of one column more which
        has the fewest classes, and not from the table.
    Cost: 2^q sets of q columns, all held at once.
    Source: LeFevre, DeWitt, Ramakrishnan 2005, section 3.3.2 (bottom-up precomputation); document 000, section
        20.3.1.2.
    """

    def __init__(self, problem: Problem, work: Work) -> None:
        """Count all sets."""
        every = tuple(range(len(problem.hierarchies)))
        self._sets: dict[Columns, Problem] = {every: problem}
        for size in range(len(every) - 1, 0, -1):
            for columns in combinations(every, size):
                self._sets[columns] = self._without(columns, every)
            work.advance("cube", len(self._sets), 2 ** len(every) - 1)

    def __len__(self) -> int:
        """How many sets there are."""
        return len(self._sets)

    def at(self, columns: Columns) -> Problem:
        """The problem over some columns: the lowest levels of these, the top of the others."""
        return self._sets[columns]

    def _without(self, columns: Columns, every: Columns) -> Problem:
        larger = [tuple(sorted((*columns, c))) for c in every if c not in columns]
        parent = min(larger, key=lambda one: self._sets[one].cells.count)
        (gone,) = set(parent) - set(columns)
        source = self._sets[parent]
        return raised(source, tuple(h.height if c == gone else 0 for c, h in enumerate(source.hierarchies)))
