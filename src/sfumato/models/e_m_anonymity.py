"""(e, m)-anonymity: no class tells a number nearly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arguments import between, text
from sfumato.core.errors import DataError, ParameterError
from sfumato.counts.classes import Classes, People
from sfumato.counts.tally import Tally
from sfumato.models.model import Verdict, explained, one_class

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class EMAnonymity:
    """In every class at most 1 / ``m`` of the rows lie near any one of its values.

    Claim: for each value x of a class at most a share of 1 / ``m`` lies in [x - e, x + e]; when ``relative``, in
        [x - e|x|, x + e|x|]. A missing value is near missing values only.
    People with several values: at most a share of 1 / ``m`` of the people of a class has a value there; one who has
        two counts once.
    Source: Li, Tao, Xiao 2008.
    Does not protect against: singling out rows when ``m`` is 1; inferences about intervals wider than ``e``.

    Example:
        >>> from sfumato.testing.models import classes_of
        >>> table = classes_of({"zip": ["1"] * 4, "pay": [10, 11, 12, 90]}, quasi=["zip"])
        >>> EMAnonymity(e=1, m=2, column="pay").check(table).reached  # 11 is near 10, 11 and 12
        0.75
    """

    name: ClassVar[str] = "e-m-anonymity"
    """As the catalog lists it."""
    kept_by_merging: ClassVar[bool] = False
    """With e = 1, m = 2 the classes {1, 10} and {0, 2} pass; joined, three of four rows are near 1."""
    kept_by_removal: ClassVar[bool] = True
    """Each class is judged by itself."""
    kept_by_growth: ClassVar[bool] = False
    """Rows with near values can be added."""
    counts_anew: ClassVar[bool] = False
    """Overlapping groups are judged like classes."""

    e: float
    """How far a near value may be away."""
    m: float
    """One over the largest share of near rows."""
    column: str
    """The sensitive column, of numbers or dates."""
    relative: bool = False
    """Whether ``e`` is a fraction of the value instead of a distance."""

    def __post_init__(self) -> None:
        between("e", self.e, 0, np.inf)
        between("m", self.m, 1, np.inf)
        text("column", self.column)
        if not isinstance(self.relative, bool):
            raise ParameterError(f"relative must be True or False, not {self.relative!r}")

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive column."""
        return (self.column,)

    def check(self, classes: Classes) -> Verdict:
        """Judge each class by the largest share of rows near one of its values."""
        tally = classes.tally(self.column)
        held = self._near(tally)
        if classes.per_person and classes.people is not None:
            held = held - self._counted_twice(tally, classes.people)
        near = np.zeros(classes.count, np.int64)
        np.maximum.at(near, tally.owners, held)
        return Verdict.of(near / classes.sizes, 1 / self.m, "at most")

    def reachable(self, table: Classes) -> Verdict:
        """Judge the table as one class; a failure does not rule out finer classes."""
        requirement = f"e = {self.e:g}, m = {self.m:g}"
        measurement = f"a share of {{}} near one value of {self.column!r}"
        return explained(
            self.check(one_class(table)), requirement=requirement, measurement=measurement, merging=self.kept_by_merging
        )

    def windows(self, tally: Tally) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """For each value by code, the first rank near it and the first after those; and the codes by rank."""
        if tally.numbers is None:
            raise DataError(f"column {self.column!r} has no numbers; {self.name} needs a numeric sensitive column")
        return *self._windows(tally.numbers), np.argsort(tally.numbers, kind="stable")

    def _near(self, tally: Tally) -> NDArray[np.int64]:
        """For each entry, the rows of its class with a value near its own."""
        low, high, ranked = self.windows(tally)
        rank = np.empty(len(ranked), np.int64)
        rank[ranked] = np.arange(len(ranked))
        start = tally.owners * len(ranked)
        places = start + rank[tally.codes]
        order = np.argsort(places, kind="stable")
        summed = np.concatenate([[0], np.cumsum(tally.counts[order])])
        first = np.searchsorted(places[order], start + low[tally.codes], side="left")
        last = np.searchsorted(places[order], start + high[tally.codes], side="left")
        return np.asarray(summed[last] - summed[first], np.int64)

    def _counted_twice(self, tally: Tally, people: People) -> NDArray[np.int64]:
        """For each entry, by how much its near values count people too often.

        Near values are a run of ranks. A person with j of them there has j - 1 pairs of neighbouring ones in the run.
        """
        low, high, ranked = self.windows(tally)
        rank = np.argsort(ranked, kind="stable")[people.codes[self.column]]
        keys = np.unique(np.stack([people.owners, people.persons, rank]), axis=1)
        both = (keys[:2, 1:] == keys[:2, :-1]).all(axis=0)
        owners, first, second = keys[0, 1:][both], keys[2, :-1][both], keys[2, 1:][both]
        starts = np.searchsorted(owners, np.arange(tally.classes + 1))
        twice = np.zeros(len(tally.owners), np.int64)
        for entry in np.flatnonzero(np.diff(starts)[tally.owners]):
            mine, code = slice(*starts[tally.owners[entry] : tally.owners[entry] + 2]), tally.codes[entry]
            twice[entry] = np.count_nonzero((first[mine] >= low[code]) & (second[mine] < high[code]))
        return twice

    def _windows(self, numbers: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each value, the first rank that is near it and the first after those; rounding counts as near."""
        ordered = np.sort(numbers)
        reach = self.e * np.abs(numbers) if self.relative else np.full(len(numbers), float(self.e))
        reach = reach + _ROUNDING * (np.abs(numbers) + reach)
        low = np.searchsorted(ordered, numbers - reach, side="left")
        high = np.searchsorted(ordered, numbers + reach, side="right")
        return low.astype(np.int64), high.astype(np.int64)
