"""Several sources as one: what each of them counts is added up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.ground.errors import ParameterError
from sfumato.group.cut_counts import CutCounts, CutSource, Divided, Division, Figure, Groups, Numbers
from sfumato.group.keys import Ids
from sfumato.group.needs import Need


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedSources:
    """Sources of different records over the same public domains."""

    sources: tuple[CutSource, ...]
    """At least one."""

    def __post_init__(self) -> None:
        if not self.sources:
            raise ParameterError("sources must be at least one")

    @property
    def gives(self) -> frozenset[Need]:
        """Whole numbers where all of them give such; cells and rows stay with each."""
        whole: frozenset[Need] = frozenset({"integers"})
        return whole.intersection(*(one.gives for one in self.sources))

    def root(self, figures: Sequence[Figure]) -> AddedCuts:
        """A walk of all of them together."""
        return AddedCuts([one.root(figures) for one in self.sources])


class AddedCuts:
    """Walks that take the same steps."""

    def __init__(self, walks: Sequence[CutCounts]) -> None:
        """All at the root."""
        self.walks = tuple(walks)

    def total(self) -> Numbers:
        """The figures of all records."""
        return np.asarray(sum(one.total() for one in self.walks))

    def histogram(self, asked: Division, groups: Groups | None = None) -> Numbers:
        """Partitions (or groups of them) x children x figures."""
        return np.asarray(sum(one.histogram(asked, groups) for one in self.walks))

    def refine(self, asked: Division) -> Divided:
        """The pairs that any of them has, with the sums of their counts."""
        return added([one.refine(asked) for one in self.walks])

    def apply(self, divided: Divided, places: Ids) -> None:
        """Each divides its own records."""
        for one in self.walks:
            one.apply(divided, places)


def added(found: Sequence[Divided]) -> Divided:
    """The sum of counts of the same division."""
    division = found[0].division
    keys, place = np.unique(np.concatenate([one.keys for one in found]), return_inverse=True)
    counts = np.concatenate([one.counts for one in found])
    summed = np.zeros((len(keys), counts.shape[1]), counts.dtype)
    np.add.at(summed, place.reshape(-1), counts)
    return Divided(division=division, owner=keys // division.children, child=keys % division.children, counts=summed)
