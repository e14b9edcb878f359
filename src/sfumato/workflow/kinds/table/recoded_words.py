"""What was done to a quasi-identifier, in words."""

from __future__ import annotations

from sfumato.publish.problem import Form
from sfumato.report.base.language import figured, said

_FORMS = {
    "boxes": "shown as the range or set of values of each group",
    "means": "shown as group means",
    "distributions": "shown as how many rows of each group have each value",
    "nodes": "cut through its tree: generalized by {average} of {height} levels on average, a value always alike",
    "intervals": "shown as intervals that were found for the purpose, a value always alike",
}


def done_words(level: int | None, height: int, average: float | None, form: Form) -> str:
    """What was done to a quasi-identifier; a value always alike has one label in all rows."""
    climbed = figured(f"{average or 0.0:.1f}")  # only labels of a hierarchy have one
    if form != "levels":
        return said(_FORMS[form], average=climbed, height=height)
    if level is None:
        return said(
            "generalized group by group, on average {average} of {height} levels", average=climbed, height=height
        )
    if level == height:
        return said("suppressed entirely (every cell is *)")
    if not level:
        return said("published as it was")
    return said("generalized to level {level} of {height}", level=level, height=height)
