"""Saying that a requirement is out of reach, before a search or after it, and what would be feasible."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, cast

from sfumato.bundle.claims import titled
from sfumato.ground.errors import Infeasible, PlanError
from sfumato.models.guarded import Guarded
from sfumato.models.judge import judge
from sfumato.models.steady import MENDED
from sfumato.models.verdict import Model, one_class
from sfumato.publish.problem import Problem


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
    found: dict[str, Any] = {one.name: getattr(model, one.name) for one in fields(cast("Any", model))}
    return titled(model.name, found)


def _nearest(problem: Problem, model: Model) -> str:
    verdict = judge(model, one_class(problem.cells), problem.reading)
    return (
        f"The fully generalized table reaches {verdict.reached:.6g}; required is {verdict.sense} {verdict.limit:.6g}."
    )


def _all(models: tuple[Model, ...]) -> str:
    return " and ".join(described(model) for model in models)
