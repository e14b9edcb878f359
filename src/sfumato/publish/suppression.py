"""Which classes of a generalized table are suppressed, and whether the rest is then as it must be."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.group.classes import Classes
from sfumato.models.judge import judge
from sfumato.models.k_anonymity import KAnonymity, asked_k
from sfumato.models.verdict import Model
from sfumato.publish.problem import Problem


class Suppression:
    """Takes failing classes out of one problem's tables: small ones by their sizes, then what the models refuse."""

    def __init__(self, problem: Problem, *, mixed: bool = False) -> None:
        """Nothing is judged yet; ``mixed`` says that a column may show ``*`` beside other labels."""
        self.problem = problem
        self.least = asked_k(problem.models)
        self.others = tuple(m for m in problem.models if not isinstance(m, KAnonymity))
        self.plain = _judged_alone(problem, mixed=mixed)

    @property
    def starred(self) -> bool:
        """Whether suppressed rows are published as a group that must meet the requirement too."""
        return self.problem.suppressed == "star" and not self.problem.exempt and self.problem.limit > 0

    @property
    def by_size(self) -> bool:
        """Whether sizes alone tell what is suppressed, and nothing else has to be judged."""
        return self.plain and not self.others and not self.starred

    def small(self, sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """The classes that fail whatever else is in the table: those smaller than k, where each is judged alone."""
        return sizes < self.least if self.plain else np.zeros(len(sizes), np.bool_)

    def hide(self, classes: Classes, hidden: NDArray[np.bool_], spent: int = 0) -> tuple[bool, NDArray[np.bool_]]:
        """Take out failing classes until none is left; tells whether that stays within the limit.

        ``spent`` rows are taken out already that are not among the classes.
        """
        models = self.others if self.plain else self.problem.models
        hidden = hidden.copy()
        while True:
            left = np.flatnonzero(~hidden)
            if not len(left):
                return False, hidden
            shown = classes.take(~hidden) if len(left) < classes.count else classes
            failing = self.failing(shown, models)
            hidden[left[failing]] = True
            if spent + classes.weight(hidden) > self.problem.limit:
                return False, hidden
            if not len(failing):
                return self._star_passes(classes, hidden), hidden
            if self.plain:
                models = tuple(m for m in models if not m.kept_by_removal)

    def failing(self, shown: Classes, models: tuple[Model, ...]) -> NDArray[np.int64]:
        """Every class that some model refuses; stops early when that is already too much."""
        failing = np.zeros(0, np.int64)
        for model in models:
            failing = np.union1d(failing, judge(model, shown, self.problem.reading).failing)
            if shown.weight(failing) > self.problem.limit:
                break
        return failing

    def _star_passes(self, classes: Classes, hidden: NDArray[np.bool_]) -> bool:
        """Whether the group of suppressed rows, where it is published, meets the requirement too."""
        if not self.starred or not hidden.any():
            return True
        starred = classes.starred(hidden)
        return all(judge(model, starred, self.problem.reading).holds for model in self.problem.models)


def _judged_alone(problem: Problem, *, mixed: bool) -> bool:
    """Whether each class is judged by its own rows, and not by others that an unknown value makes it match."""
    unknown = mixed or any(h.missing is not None for h in problem.hierarchies)
    if not unknown or problem.reading == "value":
        return True
    return problem.reading == "strict" and all(model.kept_by_merging for model in problem.models)
