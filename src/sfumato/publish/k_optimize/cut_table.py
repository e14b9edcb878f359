"""The table cut at some places, the finest that a part of the tree can still reach."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.group.classes import Classes
from sfumato.group.keys import Ids
from sfumato.publish.k_optimize.cuts import Cuts, Flags, Places, counted
from sfumato.publish.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Frame:
    """The classes of the table cut at a set of places: no smaller set makes finer ones."""

    cuts: Cuts
    """All cuts of the table."""
    chosen: Flags
    """Those that are made here."""
    edges: tuple[Places, ...]
    """For each column, the numbers of its chosen cuts."""
    classes: Classes
    """The classes; their keys are interval numbers."""

    @classmethod
    def whole(cls, problem: Problem, cuts: Cuts) -> Frame:
        """The table cut everywhere, with the histograms that models and metric read."""
        needs, cells = problem.metric.needs, problem.cells
        read = [column for model in problem.models for column in model.columns]
        wanted = {*read, problem.target} if "target" in needs else {*read}
        chosen = np.ones(cuts.count, np.bool_)
        classes = replace(
            cells,
            keys=cuts.places,
            labels=_nameless(cuts, chosen),
            tallies={name: tally for name, tally in cells.tallies.items() if name in wanted},
            measures={name: cells.measures[name] for name in needs if name in cells.measures},
            wild=None,
            population=None,
        )
        return cls(cuts=cuts, chosen=chosen, edges=_edges(cuts, chosen), classes=classes)

    def coarser(self, chosen: Flags) -> tuple[Frame, Ids]:
        """The table cut at fewer places; also tells where each class went."""
        classes, ids = self.classes.recoded(self.lifts(chosen), _nameless(self.cuts, chosen))
        return Frame(cuts=self.cuts, chosen=chosen, edges=_edges(self.cuts, chosen), classes=classes), ids

    def lifts(self, chosen: Flags) -> list[NDArray[np.int32]]:
        """For each column, from the intervals here to those of fewer cuts."""
        return [counted(chosen[mine]) for mine in self.edges]

    def after(self, cut: int) -> Flags:
        """Which classes lie behind a cut."""
        column = self.cuts.column(cut)
        return np.asarray(self.classes.keys[column] > np.searchsorted(self.edges[column], cut))


def _edges(cuts: Cuts, chosen: Flags) -> tuple[Places, ...]:
    return tuple(cuts.edges(chosen, column) for column in range(cuts.columns))


def _nameless(cuts: Cuts, chosen: Flags) -> tuple[tuple[str, ...], ...]:
    """As many labels as there are intervals; their words do not matter before a release is made."""
    return tuple(("",) * (int(cuts.part(chosen, column).sum()) + 1) for column in range(cuts.columns))
