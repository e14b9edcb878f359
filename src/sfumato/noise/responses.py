"""Randomized response: every answer is changed at random before anybody sees it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import exp, nextafter
from typing import Any

from sfumato.budget.events import Pure, exactly, written
from sfumato.ground.errors import ParameterError
from sfumato.noise.mechanisms import costs, opendp


def randomized_responses(
    answers: Sequence[str], categories: Sequence[str], *, epsilon: Any, what: str = "answers"
) -> tuple[list[str], Pure, float]:
    """Each answer kept with a probability that epsilon allows, else replaced by any other declared category.

    Gives the answers, the event of one respondent, and the probability of keeping an answer.
    Event: pure epsilon per respondent, whoever collects. An answer is kept with e^eps / (e^eps + categories - 1).
    Edges: fewer than two categories, a category named twice, and an answer that is none of them are refused; a budget
        above 30 keeps no more answers than 30 does, and one too small to tell answers from chance is refused.
    """
    budget = exactly("epsilon", epsilon)
    names = list(categories)
    if len(names) < 2 or len(set(names)) < len(names):
        raise ParameterError(f"categories must be at least two different texts, not {names!r}")
    numbers = {name: number for number, name in enumerate(names)}
    strange = next((answer for answer in answers if answer not in numbers), None)
    if strange is not None:
        raise ParameterError(f"answers must be declared categories, not {strange!r}")
    dp = opendp()
    kept = 1 - (len(names) - 1) / (exp(float(budget) if budget < 30 else 30.0) + len(names) - 1)
    for _ in range(64):
        if Fraction(kept) * len(names) < 1:
            break
        # Numbers in place of texts, which OpenDP cuts off at a NUL. The categories and their numbers are public.
        made = dp.m.make_randomized_response(list(range(len(names))), kept, T="i64")
        if costs(made, 1) <= budget:
            return [names[made(numbers[answer])] for answer in answers], Pure(epsilon=budget, what=what), kept
        kept = nextafter(kept * (1 - 1e-15), 0.0)
    raise ParameterError(f"epsilon must be a budget for which answers can be drawn, not {written(budget)}")
