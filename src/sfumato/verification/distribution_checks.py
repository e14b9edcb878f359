"""Cells that are distributions, held against the rows of their class: counts must be those of groups of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sfumato.describe.distributions import read_distribution
from sfumato.group.classes import Classes


def distributions_fit(manifest: Mapping[str, Any], classes: Classes, check: Callable[..., Any]) -> Iterable[Any]:
    """In every class all distributions count equally many rows, and the class is that many rows or a multiple.

    Groups that read alike are one class, so a class may be several groups of the same size. Which value stands in
    which row nobody can tell; that a distribution has the values of its group shows only beside the original.
    """
    columns = manifest["recoding"]["columns"]
    places = [c for c, name in enumerate(classes.quasi) if columns.get(name, {}).get("form") == "distributions"]
    if not places:
        return
    sums = {c: [_rows(label) for label in classes.labels[c]] for c in places}
    wrong = []
    for place in range(classes.count):
        told = {sums[c][classes.keys[c, place]] for c in places} - {None}
        if len(told) > 1 or any(int(classes.sizes[place]) % many for many in told if many):
            wrong.append(place)
    detail = "as many rows as their classes have, or a part of them"
    if wrong:
        detail = f"{len(wrong)} classes with other counts, the first of {int(classes.sizes[wrong[0]])} rows"
    yield check(what="counts of the distributions", holds=not wrong, detail=detail)


def _rows(label: str) -> int | None:
    """How many rows a distribution counts; None where a label is none."""
    counts = read_distribution(label)
    return None if counts is None else sum(counts.values())
