"""Searches that join groups which read alike, with models that joining can break."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sfumato.describe.hierarchy import TOP
from sfumato.ground.errors import Infeasible
from sfumato.models.judge import judge
from sfumato.models.steady import steady
from sfumato.publish.lattice.reach import described
from sfumato.publish.problem import Outcome, Problem


def mended(problem: Problem, name: str, search: Callable[[Problem], Outcome]) -> Outcome:
    """What a search finds, where every class still meets the models once groups that read alike are one.

    The search is made with the models as they are. If it finds nothing, or if a class then fails, it is made again with
    their steady forms, which joining keeps and from which the models follow. So nothing is given back that fails.
    """
    broken = [model for model in problem.models if not model.kept_by_merging]
    if not broken:
        return search(problem)
    try:
        found = search(problem)
    except Infeasible:
        found = None
    if found is not None and as_read(problem, found):
        return found
    try:
        return search(replace(problem, models=tuple(steady(model, problem.cells) for model in problem.models)))
    except Infeasible as error:
        raise Infeasible(
            f"{name} found no groups that meet {' and '.join(map(described, broken))}: they fail where they read alike "
            f"or cannot be cut, and a stricter requirement that joining keeps is out of reach ({error}) Use "
            "algorithm.name = 'optimal', which looks at every combination of levels, or allow more"
        ) from error


def as_read(problem: Problem, found: Outcome) -> bool:
    """Whether the classes that a reader sees meet every model."""
    view = found.recoding(problem).view(problem, found.suppressed)
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
