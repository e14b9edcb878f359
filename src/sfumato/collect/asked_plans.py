"""What somebody wants to ask, as a TOML file says it: questions with the privacy that each shall give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.collect.designing import CATEGORIES, category_question, number_question
from sfumato.collect.noisy_numbers import LAWS
from sfumato.collect.specification import Question, Specification
from sfumato.ground.errors import ParameterError, PlanError, listed, nearest
from sfumato.ground.strict_toml import read_toml

_NUMBER = ("kind", "low", "high", "step", "privacy", "confidence", "epsilon")
_CATEGORY = ("kind", "values", "epsilon", "keep", "flip")


def planned(text: str, *, where: str = "the questions") -> Specification:
    r"""The specification that a file asks for.

    >>> spec = planned('[questions.smokes]\nkind = "warner"\nvalues = ["yes", "no"]\nkeep = "3/4"')
    >>> str(spec.epsilon)
    'ln 3'
    """
    try:
        tree = read_toml(text)
    except ValueError as fault:
        raise PlanError(f"{where}: is not TOML: {fault}") from None
    _refuse_strange(where, tree, ("questions", "repeats", "most"))
    asked = tree.get("questions")
    if not isinstance(asked, Mapping) or not asked:
        raise PlanError(f"{where}: questions must have at least one, such as [questions.age]")
    made = tuple(_question(name, one, where) for name, one in asked.items())
    try:
        return Specification(questions=made, repeats=tree.get("repeats", "memoize"), most=tree.get("most", 1))
    except ParameterError as fault:
        raise PlanError(f"{where}: {fault}") from None


def _question(name: str, tree: Any, where: str) -> Question:
    path = f"{where}: questions.{name}"
    if not isinstance(tree, Mapping) or "kind" not in tree:
        raise PlanError(f"{path}: must have a kind: {', '.join((*LAWS, *CATEGORIES))}")
    kind = tree["kind"]
    if kind not in (*LAWS, *CATEGORIES):
        raise PlanError(f"{path}.kind: must be one of {', '.join((*LAWS, *CATEGORIES))}, not {kind!r}")
    _refuse_strange(path, tree, _NUMBER if kind in LAWS else _CATEGORY)
    options = {key: value for key, value in tree.items() if key != "kind"}
    try:
        if kind in LAWS:
            for key in ("low", "high"):
                if key not in options:
                    raise ParameterError(f"{key} is missing; a number needs its declared range")
            return number_question(name, kind, **options)
        values = options.pop("values", None)
        if not isinstance(values, list):
            raise ParameterError(f"values must be a list of texts, not {values!r}")
        return category_question(name, kind, values, **options)
    except ParameterError as fault:
        raise PlanError(f"{path}: {fault}") from None


def _refuse_strange(where: str, tree: Mapping[str, Any], known: tuple[str, ...]) -> None:
    strange = next((key for key in tree if key not in known), None)
    if strange is not None:
        raise PlanError(f"{where}: {strange!r} is not known{nearest(strange, known)} Known are {listed(known)}")
