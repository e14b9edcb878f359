"""An attribute on its three levels: published labels, groups of labels beside the class, and groups beside others."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes
from sfumato.publish.marginals.binnings import Bins, gathered, steps_of
from sfumato.publish.marginals.shrinking import TINY, nearest, shrunk
from sfumato.publish.noisy_table import Errors

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grouping:
    """Labels of one attribute in groups."""

    of_label: Codes
    """For each label, its group."""
    size: int
    """How many groups there are."""

    def summed(self, table: Reals) -> Reals:
        """The sums of some figures over the labels (first axis) of each group."""
        made = np.zeros((self.size, *table.shape[1:]))
        np.add.at(made, self.of_label, table)
        return made


def grouping(of_label: Codes) -> Grouping:
    """A grouping whose numbers start at 0."""
    return Grouping(of_label=of_label, size=int(of_label.max(initial=0)) + 1)


@dataclass(slots=True, kw_only=True, eq=False)
class Levels:
    """One attribute: its noisy counts, and how its labels are gathered."""

    bins: Bins
    """The published labels."""
    noisy: Reals
    """Noisy counts of the labels."""
    variance: float
    """Of the noise of a count."""
    total: float
    """All rows."""
    fine: Grouping
    """Groups that are counted together with the class."""
    coarse: Grouping
    """Groups that are counted together with another attribute: made of the fine ones."""
    rows: Reals = field(init=False)
    """Counts of the labels that add up to all rows, none negative."""

    def __post_init__(self) -> None:
        self.recount(self.noisy, self.variance, self.total)

    @property
    def errors(self) -> Errors:
        """How noisy the labels' counts are; what other tables say about them only lowers that."""
        deviation = np.full(self.bins.size, np.sqrt(self.variance))
        return Errors(column=self.bins.attribute.name, labels=self.bins.cut.labels, deviation=deviation)

    @property
    def groupings(self) -> list[Grouping]:
        """How the labels may be counted with the class: gathered by noisy counts, and as the domain alone says."""
        made = [self.fine, *(grouping(one) for one in steps_of(self.bins))]
        return list({one.of_label.tobytes(): one for one in made if one.size > 1}.values())

    def codes(self, level: Grouping) -> Codes:
        """For each declared value (by code), its group."""
        return level.of_label[self.bins.cut.of_code]

    def recount(self, noisy: Reals, variance: float, total: float) -> None:
        """Newer counts. Within a fine group, labels are nearer to the same count where noise explains more."""
        self.noisy, self.variance, self.total = noisy, variance, total
        sums = nearest(self.fine.summed(noisy)[:, None], np.array([total]))[:, 0]
        labels = np.bincount(self.fine.of_label, minlength=self.fine.size)
        made = shrunk(noisy, np.maximum(sums / labels, TINY)[self.fine.of_label], variance)
        self.rows = made * (sums / np.maximum(self.fine.summed(made), TINY))[self.fine.of_label]

    def refine(self, fine: Grouping) -> None:
        """Other fine groups; coarse ones are made of them."""
        self.fine, self.coarse = fine, _nested(fine, self.coarse)
        self.recount(self.noisy, self.variance, self.total)


def levels_of(bins: Bins, noisy: Reals, variance: float, total: float, *, fine: float, coarse: float) -> Levels:
    """Groups with about so many rows at least, as the noisy counts tell; a coarse group is made of fine ones."""
    rows = nearest(noisy[:, None], np.array([total]))[:, 0]
    small = grouping(gathered(bins, rows, fine))
    large = _nested(small, grouping(gathered(bins, rows, max(coarse, fine))))
    return Levels(bins=bins, noisy=noisy, variance=variance, total=total, fine=small, coarse=large)


def _nested(small: Grouping, large: Grouping) -> Grouping:
    """The finest groups that are made of groups of both: a small one that lies in two large ones joins them."""
    root = np.arange(large.size)
    for group in range(small.size):
        mine = np.unique(root[large.of_label[small.of_label == group]])
        root[np.isin(root, mine)] = mine[0]
    return grouping(np.unique(root[large.of_label], return_inverse=True)[1].reshape(-1).astype(np.int32))
