"""The one place that turns an algorithm's name and options into something that can be called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any

from sfumato.ground.errors import ParameterError, PlanError, listed, nearest
from sfumato.workflow.catalog.parts import AlgorithmPart

COMMON = ("name", "max_suppressed", "suppressed", "exempt_suppressed", "seconds", "seed")
"""The keys of [algorithm] that every plan may have."""


def configured(
    part: AlgorithmPart,
    options: Mapping[str, Any],
    *,
    fixed: Mapping[str, Any] | None = None,
    beside: Sequence[str] = COMMON,
) -> Any:
    """The algorithm with its options; one that it does not have is refused by its path.

    ``fixed`` are fields that the plan gives elsewhere; ``beside`` are keys that are no options but may stand there.
    """
    set_elsewhere = dict(fixed or {})
    known = [name for name in option_names(part) if name not in set_elsewhere]
    for key in options:
        if key not in known:
            every = (*known, *beside)
            hint, all_known = nearest(key, every), listed(every, most=20)
            raise PlanError(f"algorithm.{key}: unknown key{hint} Known here, with {part.name}: {all_known}")
    if not isinstance(part.found, type):
        return part.found
    for one in fields(part.found):
        if one.default is MISSING and one.default_factory is MISSING and one.name not in {*set_elsewhere, *options}:
            raise PlanError(f"algorithm.{one.name} is missing; {part.name} needs it")
    try:
        return part.found(**set_elsewhere, **options)
    except ParameterError as error:
        raise PlanError(f"algorithm.{error}") from error


def option_names(part: AlgorithmPart) -> tuple[str, ...]:
    """The options of an algorithm; a plain function has none."""
    return tuple(one.name for one in fields(part.found)) if isinstance(part.found, type) else ()
