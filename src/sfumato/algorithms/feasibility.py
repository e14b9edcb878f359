"""Whether a recoded table meets its requirement: suppression, refusals, and what would be feasible."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.problem import Outcome, Problem
from sfumato.core.claims import titled
from sfumato.core.errors import Infeasible, PlanError
from sfumato.counts.classes import Classes
from sfumato.models.guarded import Guarded
from sfumato.models.k_anonymity import KAnonymity, asked_k
from sfumato.models.model import Model, judge, one_class
from sfumato.models.monotone import MENDED, steady
from sfumato.tables.hierarchy import TOP

# Which classes of a generalized table are suppressed, and whether the rest is then as it must be.


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
            visible = classes.take(~hidden) if len(left) < classes.count else classes
            failing = self.failing(visible, models)
            hidden[left[failing]] = True
            if spent + classes.weight(hidden) > self.problem.limit:
                return False, hidden
            if not len(failing):
                return self._star_passes(classes, hidden), hidden
            if self.plain:
                models = tuple(m for m in models if not m.kept_by_removal)

    def failing(self, visible: Classes, models: tuple[Model, ...]) -> NDArray[np.int64]:
        """Every class that some model refuses; stops early when that is already too much."""
        failing = np.zeros(0, np.int64)
        for model in models:
            failing = np.union1d(failing, judge(model, visible, self.problem.reading).failing)
            if visible.weight(failing) > self.problem.limit:
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


# Saying that a requirement is out of reach, before a search or after it, and what would be feasible.


def refuse_unreachable(problem: Problem) -> None:
    """Refuse what not even the fully generalized table can meet.

    Merging every class of a passing release must leave it passing; so if the whole table as one class fails, nothing
    passes. With suppression that argument needs a model that growth keeps: removing rows could help the others.
    """
    for model in problem.models:
        sure = model.kept_by_growth or (problem.limit == 0 and model.kept_by_merging)
        if sure and not (verdict := model.reachable(problem.cells)).holds:
            raise Infeasible(f"{described(model)} is out of reach: {verdict.note}. {_nearest(problem, model)}")


def refuse_models(problem: Problem, name: str, *, mended: bool = False) -> None:
    """Refuse models that do not judge classes one by one, or that joining classes that read alike could break.

    Those that have a steady form are let through where ``mended`` says so.
    """
    for model in problem.models:
        if model.counts_anew or not (model.kept_by_merging or (mended and isinstance(model, MENDED))):
            raise PlanError(
                f"algorithm.name: {name} judges groups one by one and joins those that read alike, which "
                f"{described(model)} does not allow; use optimal"
            )


def refuse_guarded_models(problem: Problem, name: str) -> None:
    """Refuse models that read labels of a guarded column, where a search has none before it is done."""
    for model in problem.models:
        if isinstance(model, Guarded):
            raise PlanError(
                f"algorithm.name: {name} judges groups before their labels are named, and {described(model)} reads the "
                f"labels of {model.column!r}, which is a quasi-identifier and sensitive; use optimal"
            )


def why_nothing_fits(problem: Problem) -> str:
    """The message when the whole lattice was searched in vain."""
    failing = [m for m in problem.models if not judge(m, one_class(problem.cells), problem.reading).holds]
    people = problem.cells.people
    rows, noun = (problem.cells.rows, "rows") if people is None else (people.count, "people")
    allowed = (
        f"suppressing at most {problem.limit} of {rows} {noun}" if problem.limit else f"without suppressing {noun}"
    )
    if problem.limit >= rows:
        return f"every one of the {rows} {noun} would have to be suppressed to meet {_all(problem.models)}"
    nearest = " ".join(_nearest(problem, model) for model in failing)
    more = nearest or "Allow more suppression with algorithm.max_suppressed."
    return f"no generalization meets {_all(problem.models)} {allowed}. {more}"


def described(model: Model) -> str:
    """A model with its parameters, as a person would say it."""
    while hasattr(model, "model"):  # the model that people, or a column that is known too, are judged by
        model = model.model
    parameters: dict[str, Any] = {field.name: getattr(model, field.name) for field in fields(cast("Any", model))}
    return titled(model.name, parameters)


def _nearest(problem: Problem, model: Model) -> str:
    verdict = judge(model, one_class(problem.cells), problem.reading)
    return (
        f"The fully generalized table reaches {verdict.reached:.6g}; required is {verdict.sense} {verdict.limit:.6g}."
    )


def _all(models: tuple[Model, ...]) -> str:
    return " and ".join(described(model) for model in models)


# Searches that join groups which read alike, with models that joining can break.


def mended(problem: Problem, name: str, search: Callable[[Problem], Outcome]) -> Outcome:
    """What a search finds, where every class still meets the models once groups that read alike are one.

    The search is made with the models as they are. If it finds nothing, or if a class then fails, it is made again with
    their steady forms, which joining keeps and from which the models follow. So nothing is given back that fails.
    """
    broken = [model for model in problem.models if not model.kept_by_merging]
    if not broken:
        return search(problem)
    try:
        outcome = search(problem)
    except Infeasible:
        outcome = None
    if outcome is not None and as_read(problem, outcome):
        return outcome
    try:
        return search(replace(problem, models=tuple(steady(model, problem.cells) for model in problem.models)))
    except Infeasible as error:
        raise Infeasible(
            f"{name} found no groups that meet {' and '.join(map(described, broken))}: they fail where they read alike "
            f"or cannot be cut, and a stricter requirement that joining keeps is out of reach ({error}) Use "
            "algorithm.name = 'optimal', which looks at every combination of levels, or allow more"
        ) from error


def as_read(problem: Problem, outcome: Outcome) -> bool:
    """Whether the classes that a reader sees meet every model."""
    view = outcome.recoding(problem).view(problem, outcome.suppressed)
    classes = view.classes
    if view.suppressed.any():
        starred = problem.suppressed == "star" and not problem.exempt
        classes = classes.starred(view.suppressed) if starred else classes.take(~view.suppressed)
    unknown = []
    for names, hierarchy in zip(classes.labels, problem.hierarchies, strict=True):
        absent = None if hierarchy.missing is None else hierarchy.levels[0].labels[hierarchy.missing]
        unknown.append(np.array([label in (TOP, absent) for label in names], np.bool_))
    classes = replace(classes, wild=tuple(unknown))
    return all(judge(model, classes, problem.reading).holds for model in problem.models)
