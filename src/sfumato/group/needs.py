"""What a search may need of a source of counts, and the refusal of a source that cannot give it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Protocol

from sfumato.ground.errors import PlanError

Need = Literal["integers", "joint", "rows", "people"]
"""Whole numbers; the cells of all columns together; single rows; whose rows they are."""
_LACKING: dict[Need, str] = {
    "integers": "whole counts, and the counts of this source are estimates",
    "joint": "the cells of all columns together, and this source only counts under a cut",
    "rows": "single rows, and this source only counts",
    "people": "to know whose rows they are, and this source only counts rows",
}


class Giving(Protocol):
    """A source of counts."""

    @property
    def gives(self) -> frozenset[Need]:
        """What it can give beside counts."""


def refuse_lacking(source: Giving, needs: Iterable[Need], who: str, instead: str = "") -> None:
    """Refuse a source that cannot give what a search declares that it needs, with the reason and what would do."""
    for need in needs:
        if need not in source.gives:
            raise PlanError(f"{who} needs {_LACKING[need]}{instead and '; '}{instead}")
