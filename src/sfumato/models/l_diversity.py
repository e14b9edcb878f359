"""l-diversity in its four readings: no class gives a sensitive value away by being uniform.

Where people have several rows, one person can have several values. Every reading is then judged on the most uneven
histogram that one value of each person could show (``laws.most_uneven``), so what it says holds whichever of a person's
values is looked at, and bounds the share of people who have any one value. A class in which everyone has a value has no
diversity, whatever else they have.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arguments import above, at_least, between, text
from sfumato.counts.classes import Classes
from sfumato.counts.keys import total
from sfumato.counts.tally import Tally
from sfumato.models.model import Verdict, explained, most_uneven, one_class, top_counts

_ROUNDING = 1e-9
"""Far above what rounding does to a share, far below what one row does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DistinctLDiversity:
    """Every class shows at least ``l`` different values of ``column``.

    Claim: an attacker who finds a person's class still has ``l`` values to choose from.
    People with several values: any ``l`` - 1 values have fewer holders, added up, than the class has people. So at
        least one person has none of them, and no value is certain.
    Source: Machanavajjhala et al. 2007; Li, Li, Venkatasubramanian 2007, section 2.
    Does not protect against: one value that is far more frequent than the others; values that mean nearly the same.

    Example:
        >>> from sfumato.testing.models import classes_of
        >>> table = classes_of({"zip": ["1", "1", "2"], "ill": ["flu", "hiv", "flu"]}, quasi=["zip"])
        >>> DistinctLDiversity(l=2, column="ill").check(table).failing.tolist()
        [1]
    """

    name: ClassVar[str] = "distinct-l-diversity"
    """As the catalog lists it."""
    kept_by_merging: ClassVar[bool] = True
    """A joined class shows all values of its parts."""
    kept_by_removal: ClassVar[bool] = True
    """Each class is judged by itself."""
    kept_by_growth: ClassVar[bool] = True
    """More rows take no value away. More values of the same people can: ``PerPerson`` says when."""
    counts_anew: ClassVar[bool] = False
    """Overlapping groups are judged like classes."""

    l: int
    """How many different values every class must show."""
    column: str
    """The sensitive column."""

    def __post_init__(self) -> None:
        at_least("l", self.l, 1)
        text("column", self.column)

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive column."""
        return (self.column,)

    def check(self, classes: Classes) -> Verdict:
        """Judge each class by its number of different values."""
        tally = most_uneven(classes, self.column)
        return Verdict.of(np.bincount(tally.owners, minlength=classes.count), self.l, "at least")

    def least_rows(self, table: Classes, gone: float) -> int:
        """So many values need as many rows."""
        return self.l

    def reachable(self, table: Classes) -> Verdict:
        """Judge the table as one class."""
        measurement = f"{{}} different values of {self.column!r}"
        return explained(self.check(one_class(table)), requirement=f"distinct l = {self.l}", measurement=measurement)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntropyLDiversity:
    """In every class the entropy of ``column`` is at least that of ``l`` equally frequent values.

    Claim: exp(H) >= l with H = -sum p ln p over the values of a class.
    People with several values: the entropy is that of the most uneven choice of one value of each person, so no value
        has more holders than a value has rows in a table without a unit.
    Source: Machanavajjhala et al. 2007, definition 4.1. The whole table must have this entropy too.
    Does not protect against: one value with a high share among many rare ones; values that mean nearly the same.
    """

    name: ClassVar[str] = "entropy-l-diversity"
    """As the catalog lists it."""
    kept_by_merging: ClassVar[bool] = True
    """Entropy is concave: a mixture has at least the smaller entropy of its parts."""
    kept_by_removal: ClassVar[bool] = True
    """Each class is judged by itself."""
    kept_by_growth: ClassVar[bool] = False
    """Rows of one value can be added until it dominates."""
    counts_anew: ClassVar[bool] = False
    """Overlapping groups are judged like classes."""
    merges_several: ClassVar[bool] = False
    """Two people with all values of another class's long tail can show each of them twice, and half of it no more."""

    l: float
    """The number of equally frequent values whose entropy every class must reach."""
    column: str
    """The sensitive column."""

    def __post_init__(self) -> None:
        between("l", self.l, 1, np.inf)
        text("column", self.column)

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive column."""
        return (self.column,)

    def check(self, classes: Classes) -> Verdict:
        """Judge each class by exp of its entropy."""
        tally = most_uneven(classes, self.column)
        share = tally.counts / classes.sizes[tally.owners]
        entropy = -np.bincount(tally.owners, weights=share * np.log(share), minlength=classes.count)
        return Verdict.of(np.exp(entropy), self.l, "at least")

    def least_rows(self, table: Classes, gone: float) -> int:
        """So many values need as many rows."""
        return _whole(self.l)

    def reachable(self, table: Classes) -> Verdict:
        """Judge the table as one class."""
        return explained(self.check(one_class(table)), requirement=f"entropy l = {self.l:g}", measurement="exp(H) = {}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecursiveLDiversity:
    """In every class the most frequent value is rarer than ``c`` times the ``l``-th most frequent and all rarer ones.

    Claim: with the frequencies sorted downwards, r1 < c * (rl + ... + rm); a class with fewer than ``l`` values fails.
    People with several values: r1 counts the holders of the most frequent value, and the tail counts the people who
        remain if all holders of the first ``l`` - 1 values show those.
    Source: Machanavajjhala et al. 2007, definition 4.2 (the inequality is strict).
    Does not protect against: values that mean nearly the same; knowledge that rules out more than ``l`` - 2 values.
    """

    name: ClassVar[str] = "recursive-l-diversity"
    """As the catalog lists it."""
    kept_by_merging: ClassVar[bool] = True
    """The largest frequencies add up to at most those of the parts, the tails to at least those of the parts."""
    kept_by_removal: ClassVar[bool] = True
    """Each class is judged by itself."""
    kept_by_growth: ClassVar[bool] = False
    """Rows of the most frequent value can be added."""
    counts_anew: ClassVar[bool] = False
    """Overlapping groups are judged like classes."""

    c: float
    """How many times the tail the most frequent value must stay below."""
    l: int
    """Where the tail begins, counted from the most frequent value."""
    column: str
    """The sensitive column."""

    def __post_init__(self) -> None:
        above("c", self.c, 0)
        at_least("l", self.l, 1)
        text("column", self.column)

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive column."""
        return (self.column,)

    def check(self, classes: Classes) -> Verdict:
        """Judge each class by r1 / (rl + ... + rm), infinite without a tail."""
        tally = most_uneven(classes, self.column)
        tail = _tails(tally, self.l)
        ratio = np.full(classes.count, np.inf)
        np.divide(top_counts(tally), tail, out=ratio, where=tail > 0)
        return Verdict.of(ratio, self.c, "below")

    def least_rows(self, table: Classes, gone: float) -> int:
        """Without ``l`` values there is no tail."""
        return self.l

    def reachable(self, table: Classes) -> Verdict:
        """Judge the table as one class."""
        requirement = f"recursive c = {self.c:g}, l = {self.l}"
        return explained(self.check(one_class(table)), requirement=requirement, measurement="r1 / (rl + ... + rm) = {}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleLDiversity:
    """In every class the most frequent value of ``column`` has at most the share 1 / ``l``.

    Claim: nobody can be given a sensitive value with more than 1 / ``l`` confidence from their class.
    People with several values: at most 1 / ``l`` of the people of a class have any one value.
    Source: Machanavajjhala et al. 2007 (frequency reading); Wong et al. 2006, (alpha, k) with alpha = 1 / l.
    Does not protect against: values that mean nearly the same; knowledge that rules values out.
    """

    name: ClassVar[str] = "simple-l-diversity"
    """As the catalog lists it."""
    kept_by_merging: ClassVar[bool] = True
    """A share of a mixture lies between the shares of its parts."""
    kept_by_removal: ClassVar[bool] = True
    """Each class is judged by itself."""
    kept_by_growth: ClassVar[bool] = False
    """Rows of the most frequent value can be added."""
    counts_anew: ClassVar[bool] = False
    """Overlapping groups are judged like classes."""

    l: float
    """One over the largest share that a value may have."""
    column: str
    """The sensitive column."""

    def __post_init__(self) -> None:
        between("l", self.l, 1, np.inf)
        text("column", self.column)

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive column."""
        return (self.column,)

    def check(self, classes: Classes) -> Verdict:
        """Judge each class by the share of its most frequent value."""
        return Verdict.of(top_counts(classes.tally(self.column)) / classes.sizes, 1 / self.l, "at most")

    def least_rows(self, table: Classes, gone: float) -> int:
        """In fewer rows one is a larger share."""
        return _whole(self.l)

    def least_lost(self, classes: Classes, gone: float) -> NDArray[np.float64]:
        """Rows of the most frequent value must go until it has a share of 1 / ``l``."""
        over = self.l * top_counts(classes.tally(self.column)) - classes.sizes * (1 + _ROUNDING)
        return np.maximum(over, 0.0) / max(self.l - 1, _ROUNDING)

    def reachable(self, table: Classes) -> Verdict:
        """Judge the table as one class."""
        measurement = f"a value of {self.column!r} with share {{}}"
        return explained(self.check(one_class(table)), requirement=f"simple l = {self.l:g}", measurement=measurement)


def _whole(l: float) -> int:
    """The fewest rows that have ``l`` equally frequent values, within rounding."""
    return ceil(l - _ROUNDING)


def _tails(tally: Tally, l: int) -> NDArray[np.int64]:
    """For each class, the rows of its l-th most frequent value and all rarer ones."""
    order = np.lexsort((-tally.counts, tally.owners))
    owners, counts = tally.owners[order], tally.counts[order]
    rank = np.arange(len(owners)) - np.searchsorted(owners, owners, side="left")
    late = rank >= l - 1
    return total(owners[late], counts[late], tally.classes)
