"""From the privacy that somebody wants to the noise that gives it: never less than was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, log
from statistics import NormalDist
from typing import Any

from sfumato.collect.amounts_of_privacy import exact_number
from sfumato.collect.kept_categories import KeptCategory
from sfumato.collect.noisy_numbers import SIZES, Law, NoisyNumber
from sfumato.collect.specification import Question
from sfumato.collect.unary_bits import UnaryBits
from sfumato.ground.arguments import between, one_of
from sfumato.ground.errors import ParameterError

_DIGITS = 10_000
"""Sizes are rounded up to so many parts of a step."""
CATEGORIES = ("warner", "generalized", "unary", "items")


def number_question(
    name: str,
    law: Law,
    *,
    low: Any,
    high: Any,
    step: Any = 1,
    privacy: Any = None,
    confidence: float = 0.95,
    epsilon: Any = None,
) -> NoisyNumber:
    """A number whose noise gives an interval of a width, as a share of the range, at a confidence; or a local epsilon.

    >>> age = number_question("age", "uniform", low=0, high=100, privacy=1)
    >>> str(age.size), age.width(0.95)
    ('53', 101.65)
    """
    where = f"question {name!r}"
    one_of(f"{where}: law", law, tuple(SIZES))
    between("confidence", confidence, 0.0, 0.999999, open_low=True)
    ends = [exact_number(f"{where}: {key}", value) for key, value in (("low", low), ("high", high), ("step", step))]
    span, each = ends[1] - ends[0], ends[2]
    if (privacy is None) == (epsilon is None):
        raise ParameterError(f"{where}: say either privacy, as a share of the range, or epsilon; not both, not neither")
    if epsilon is not None:
        if law != "laplace":
            raise ParameterError(f"{where}: {law} noise has no local epsilon; take laplace, or say privacy instead")
        promised = exact_number(f"{where}: epsilon", epsilon)
        if promised <= 0:
            raise ParameterError(f"{where}: epsilon must be above 0, not {promised}")
        return NoisyNumber.declared(name, law, low=low, high=high, step=step, size=span / promised)
    wanted = exact_number(f"{where}: privacy", privacy)
    if wanted <= 0 or each <= 0:
        raise ParameterError(f"{where}: privacy and step must be above 0, not {wanted} and {each}")
    width, sure = wanted * span, exact_number("confidence", confidence)
    if law == "uniform":
        size = max(ceil((width / (sure * each) - 1) / 2), 1) * each
    else:
        deviations = NormalDist().inv_cdf((1 + confidence) / 2) if law == "gaussian" else log(1 / (1 - confidence))
        parts = ceil(float(width / each) / (2 * deviations) * _DIGITS + 1e-6)
        size = Fraction(max(parts, 1), _DIGITS) * each
    return NoisyNumber.declared(name, law, low=low, high=high, step=step, size=size)


def category_question(
    name: str, kind: str, values: Sequence[str], *, epsilon: Any = None, keep: Any = None, flip: Any = None
) -> Question:
    """A question with declared answers: within a local epsilon, or with stated probabilities."""
    one_of(f"question {name!r}: kind", kind, CATEGORIES)
    if (epsilon is None) == (keep is None):
        raise ParameterError(f"question {name!r}: say either epsilon, or how often an answer is kept; not both")
    if kind in ("warner", "generalized"):
        if flip is not None:
            raise ParameterError(f"question {name!r}: flip is for unary and items, not for {kind}")
        if epsilon is not None:
            made = KeptCategory.within(name, values, epsilon=epsilon)
            if kind == "warner" and made.kind != "warner":
                raise ParameterError(f"question {name!r}: warner must have two values, not {len(values)}")
            return made
        make = KeptCategory.warner if kind == "warner" else KeptCategory.generalized
        return make(name, values, **{"truth" if kind == "warner" else "keep": keep})
    if epsilon is not None:
        made_of = UnaryBits.within if kind == "unary" else UnaryBits.items
        return made_of(name, values, epsilon=epsilon)
    kept = exact_number(f"question {name!r}: keep", keep)
    return UnaryBits.declared(name, values, keep=kept, flip=1 - kept if flip is None else flip, kind=kind)  # type: ignore[arg-type]
