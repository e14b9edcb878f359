"""One party's columns of the common people, and what is declared of the other's: a source that never counts pairs.

A search is told a party's own counts and zeros for the other's columns. Leaf partitions are named but not followed:
whose row is in which of them nobody knows; their counts come from `crossed_counts` in the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data.table import Codes
from sfumato.ground.brief import Brief
from sfumato.ground.errors import DataError, ParameterError
from sfumato.group.cut_counts import Divided, Division, Figure, Groups, Numbers
from sfumato.group.keys import Ids
from sfumato.group.needs import Need
from sfumato.publish.noisy_table import Attribute, PrivateTable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class HeldColumns(Brief):
    """What one of two parties has about people whom both have, in the same order at both."""

    attributes: tuple[Attribute, ...]
    """The predictors of both parties: declared."""
    owners: tuple[int, ...]
    """For each of them, whose it is: the party's number."""
    codes: Mapping[int, Codes]
    """By its place, the values of each of this party's own: private."""
    classes: tuple[str, ...]
    """The declared values of the class; one value where there is no class."""
    kinds: Codes
    """The class of every person, which both parties know."""
    target_name: str | None = None
    """The class column."""

    def __post_init__(self) -> None:
        if len(self.owners) != len(self.attributes) or any(owner not in (0, 1) for owner in self.owners):
            raise ParameterError("owners must say of each attribute whether party 0 or party 1 has it")
        for place, codes in self.codes.items():
            if len(codes) != len(self.kinds):
                name = self.attributes[place].name
                raise DataError(f"column {name!r} has {len(codes):,} values of {len(self.kinds):,} common people")

    def refuse_missing(self, me: int) -> None:
        """Refuse columns that this party should hold and does not, or the other way round."""
        mine = {place for place, owner in enumerate(self.owners) if owner == me}
        for place in sorted(mine ^ set(self.codes)):
            said = "is missing" if place in mine else "is the other party's"
            raise ParameterError(f"column {self.attributes[place].name!r} {said}; party {me} has its own and no others")

    def table(self, me: int) -> PrivateTable:
        """The same as a search sees it."""
        return PrivateTable(
            attributes=self.attributes, classes=self.classes, counts=_Held(self, me), target_name=self.target_name
        )


class _Held:
    """A source of one party's own counts."""

    gives: ClassVar[frozenset[Need]] = frozenset({"integers"})
    """Whole numbers."""

    def __init__(self, held: HeldColumns, me: int) -> None:
        self._held, self._me = held, me

    def root(self, figures: Sequence[Figure]) -> _NamedCuts:
        """A walk that follows nobody; the figures are the classes."""
        return _NamedCuts(self._held, self._me)


class _NamedCuts:
    """Counts of whole columns; partitions are named only."""

    def __init__(self, held: HeldColumns, me: int) -> None:
        self._held, self._me, self._classes = held, me, len(held.classes)

    def total(self) -> Numbers:
        """This party's share of the people of each class: both know them, so one has them and the other none."""
        found = np.bincount(self._held.kinds, minlength=self._classes)
        return found if self._me == 0 else np.zeros_like(found)

    def histogram(self, asked: Division, groups: Groups | None = None) -> Numbers:
        """One x children x classes: of own columns; zeros of the other's."""
        found = np.zeros((1, asked.children, self._classes), np.int64)
        codes = self._held.codes.get(asked.column)
        if codes is not None:
            np.add.at(found[0], (asked.child_of[codes], self._held.kinds), 1)
        return found

    def refine(self, asked: Division) -> Divided:
        """Nothing is followed, so no part has anybody."""
        none = np.empty(0, np.int64)
        return Divided(division=asked, owner=none, child=none, counts=np.zeros((0, self._classes), np.int64))

    def apply(self, divided: Divided, places: Ids) -> None:
        """Nothing is followed."""
