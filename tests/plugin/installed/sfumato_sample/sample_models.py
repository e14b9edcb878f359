"""Models of tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.core.arguments import at_least, text
from sfumato.counts.classes import Classes
from sfumato.models.model import Verdict, one_class
from sfumato.models.presence import KMap


@dataclass(frozen=True, slots=True, kw_only=True)
class PSensitive:
    """Every class has at least ``k`` rows and at least ``p`` different values of a column.

    Claim: who knows all quasi-identifiers of a person finds ``k`` rows that may be his, with ``p`` values among them.
    Source: Truta and Vinay 2006.
    Does not protect against: guessing the value that most rows of a class have.
    """

    name: ClassVar[str] = "p-sensitive"
    kept_by_merging: ClassVar[bool] = True
    kept_by_removal: ClassVar[bool] = True
    kept_by_growth: ClassVar[bool] = True
    counts_anew: ClassVar[bool] = False

    p: int
    k: int
    column: str

    def __post_init__(self) -> None:
        at_least("p", self.p, 1)
        at_least("k", self.k, 1)
        text("column", self.column)

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def check(self, classes: Classes) -> Verdict:
        """The worse of two shares of what is asked for: 1 is enough."""
        tally = classes.tally(self.column)
        values = np.bincount(tally.owners[tally.counts > 0], minlength=classes.count)
        return Verdict.of(np.minimum(values / self.p, classes.sizes / self.k), 1.0, "at least")

    def reachable(self, table: Classes) -> Verdict:
        found = self.check(one_class(table))
        if found.holds:
            return found
        note = f"the whole table has too few rows or values of {self.column} for k = {self.k} and p = {self.p}"
        return Verdict.of(np.array([found.reached]), 1.0, "at least", note=note)


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd(KMap):
    """Every class has at least ``k`` rows in the population.

    Claim: who does not know who is in the table has at least ``k`` people to choose from for every row.
    Source: Sweeney 2002.
    Does not protect against: an adversary who knows that a person is in the table.
    """

    name: ClassVar[str] = "crowd"
