"""Which method of hiding a problem is for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from sfumato.ground.work import Work
from sfumato.group.holders import Holders
from sfumato.publish.sanitize.border_hiding import BorderHiding
from sfumato.publish.sanitize.exact_hiding import ExactHiding
from sfumato.publish.sanitize.hiding_problem import HidingProblem, Sanitized
from sfumato.publish.sanitize.item_removal import ItemRemoval

EXACT_ENTRIES = 1_000
"""With more items in records that have a sensitive pattern, no exact search is begun."""
BORDER_CELLS = 20_000_000
"""With more frequent sets times records that have a sensitive pattern, no border is walked."""
WHY = {
    "hide-exact": "Chosen by auto: few enough items of sensitive patterns for an exact search.",
    "hide-border": "Chosen by auto: too many items of sensitive patterns for an exact search, and few enough frequent "
    "sets to walk the border.",
    "hide-items": "Chosen by auto: too many records and frequent sets for an exact search or the border.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoHiding:
    """The exact search for small problems, the border for larger ones, else items are removed greedily."""

    name: ClassVar[str] = "auto"

    def __call__(self, problem: HidingProblem, work: Work) -> Sanitized:
        """By the method that fits the size of the problem."""
        run = choice(problem)
        return replace(run(problem, work), why=WHY[run.name])


def choice(problem: HidingProblem) -> ExactHiding | BorderHiding | ItemRemoval:
    """The method by the items and records that sensitive patterns touch."""
    holders = Holders(problem.transactions)
    rows = [len(holders.of_all(one.whole)) for one in problem.patterns]
    entries = sum(many * len(one.whole) for many, one in zip(rows, problem.patterns, strict=True))
    if entries <= EXACT_ENTRIES:
        return ExactHiding()
    if sum(rows) * len(problem.kept[0]) <= BORDER_CELLS:
        return BorderHiding()
    return ItemRemoval()
