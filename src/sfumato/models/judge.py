"""Judging a table under both readings of unknown cells (missing or suppressed)."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from sfumato.group.classes import Classes
from sfumato.group.readings import as_wildcards, has_wildcards, resolved
from sfumato.models.verdict import Model, Verdict

Reading = Literal["strict", "value", "wildcard"]
READINGS: tuple[str, ...] = get_args(Reading)


def judge(model: Model, classes: Classes, reading: Reading) -> Verdict:
    """The verdict when unknown cells are values of their own, wildcards, or (strict) whichever is worse.

    A union of passing classes passes every model that merging cannot break, so for those the wildcard reading of
    quasi-identifiers adds nothing to the strict one. Missing sensitive values are tried as every known value in turn.
    Where people have several rows, it is people that are judged.
    """
    counted = classes.by_people()
    if reading == "value":
        return model.check(counted)
    read = as_wildcards(classes) if _adds(model, classes, reading) else counted
    if reading == "wildcard":
        return _worst_case(model, read)
    own = model.check(counted)
    worst = _worst_case(model, read, counted, own)
    return own if worst is own else worse(own, worst)


def worse(one: Verdict, other: Verdict) -> Verdict:
    """The stricter of two verdicts about the same classes, failing where either fails."""
    failing = np.union1d(one.failing, other.failing)
    if one.holds != other.holds or (one.sense, one.limit) != (other.sense, other.limit):
        hard = other if one.holds and not other.holds else one
    else:
        more = other.reached > one.reached if one.sense in ("at most", "below") else other.reached < one.reached
        hard = other if more else one
    return replace(hard, holds=not len(failing), failing=failing)


def _adds(model: Model, classes: Classes, reading: Reading) -> bool:
    """Whether unknown quasi-identifiers, read as wildcards, can say more than as values of their own."""
    if model.counts_anew or (reading == "strict" and model.kept_by_merging):
        return False
    return has_wildcards(classes)


def _worst_case(
    model: Model, classes: Classes, judged: Classes | None = None, before: Verdict | None = None
) -> Verdict:
    """The worst verdict over what missing values may be; ``judged`` was judged ``before`` and is not judged again."""
    verdict: Verdict | None = None
    guards = getattr(model, "guard_column", None)
    for column in model.columns:
        if column == guards:  # who states no wish has none; that is not an unknown value
            continue
        for possible in resolved(classes, column):
            found = before if before is not None and possible is judged else model.check(possible)
            verdict = found if verdict is None else worse(verdict, found)
    if verdict is not None:
        return verdict
    return before if before is not None and classes is judged else model.check(classes)
