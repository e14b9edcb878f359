"""Judging models on evidence: from classes to claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.bundle.claims import Claim
from sfumato.group.classes import Classes
from sfumato.group.readings import as_wildcards
from sfumato.models.judge import Reading, judge, worse
from sfumato.models.verdict import Model


def claim(model: Model, parameters: Mapping[str, Any], classes: Classes, reading: Reading) -> Claim:
    """What the classes show about a model, under both readings of unknown cells."""
    value = judge(model, classes, "value")
    wildcard = judge(model, classes, "wildcard")
    deciding = {"value": value, "wildcard": wildcard}.get(reading) or worse(value, wildcard)
    return Claim(
        model=model.name,
        parameters=parameters,
        holds=deciding.holds,
        sense=deciding.sense,
        limit=deciding.limit,
        reading=reading,
        as_value=value.reached,
        as_wildcard=wildcard.reached,
        classes_failing=len(deciding.failing),
        note=deciding.note,
    )


def smallest(classes: Classes) -> dict[str, int]:
    """The size of the smallest class under both readings of unknown cells, in people where these are counted."""
    sizes = {"value": classes.by_people().sizes, "wildcard": as_wildcards(classes).sizes}
    return {reading: int(found.min()) if classes.count else 0 for reading, found in sizes.items()}
