"""Which classes fail, and which of them can never be published however they are cut."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sfumato.group.classes import Classes
from sfumato.group.tally import Counts, Tally
from sfumato.models.judge import judge
from sfumato.publish.k_optimize.cuts import Flags
from sfumato.publish.problem import Problem
from sfumato.publish.suppression import Suppression


class Requirement:
    """The models of a problem, as far as their laws say something about parts of a class.

    Without suppression a class that fails rules out all finer cuts: a joined class passes if all its parts do. With
    suppression a class that fails a model which growth keeps has no part that passes: its rows are lost for good.
    Where unknown values make classes match others, nothing is known about parts.
    """

    def __init__(self, problem: Problem, *, mixed: bool) -> None:
        """Sort the models by their laws; ``mixed`` says that a column may show ``*`` beside other labels."""
        self.suppression = Suppression(problem, mixed=mixed)
        self.reading = problem.reading
        self.most = min(problem.limit, problem.cells.rows - 1)
        self.plain = self.suppression.plain
        self.models = self.suppression.others if self.plain else ()
        self._lasting = [problem.limit == 0 or (m.kept_by_growth and m.kept_by_removal) for m in self.models]
        self.columns = tuple(dict.fromkeys(column for model in self.models for column in model.columns))

    @property
    def hereditary(self) -> bool:
        """Whether whatever fails, fails for good."""
        return self.plain and all(self._lasting)

    def failing(self, sizes: Counts, tallies: Mapping[str, Tally]) -> tuple[Flags, Flags]:
        """Of classes that may overlap: which fail for good, and which fail at all.

        Without the histograms that the models read, only sizes are judged.
        """
        lasting = self.suppression.small(sizes)
        every = lasting.copy()
        if any(column not in tallies for column in self.columns):
            return lasting, every
        classes = Classes(quasi=(), keys=np.zeros((0, len(sizes)), np.int32), labels=(), sizes=sizes, tallies=tallies)
        for model, lasts in zip(self.models, self._lasting, strict=True):
            failing = judge(model, classes, self.reading).failing
            every[failing] = True
            if lasts:
                lasting[failing] = True
        return lasting, every
