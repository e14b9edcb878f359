"""Models that compare the table with the population it was drawn from: delta-presence and k-map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arguments import at_least, between
from sfumato.core.errors import DataError, ParameterError
from sfumato.counts.classes import Classes
from sfumato.models.model import Verdict, explained, one_class, stands


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaPresence:
    """For everybody in the population, the chance to be in the table lies between ``low`` and ``high``.

    Claim: rows / population rows lies in [low, high] for every class. Population rows outside every class are known to
        be absent; where ``low`` is above 0 that is a breach which no class can be blamed for, so all classes fail.
    Source: Nergiz, Atzori, Clifton 2007.
    Does not protect against: learning sensitive values of those who are known to be in the table.
    """

    name: ClassVar[str] = "delta-presence"
    """As the catalog lists it."""
    kept_by_merging: ClassVar[bool] = True
    """The ratio of joined classes lies between those of its parts; rows outside count as ratio 0 before and after."""
    kept_by_growth: ClassVar[bool] = False
    """More rows raise the ratio above ``high``."""
    counts_anew: ClassVar[bool] = True
    """It counts the population of each class."""

    low: float
    """The least chance of being in the table."""
    high: float
    """The greatest chance of being in the table."""

    def __post_init__(self) -> None:
        between("low", self.low, 0, 1)
        between("high", self.high, 0, 1)
        if self.low > self.high:
            raise ParameterError(f"low must not be above high, but {self.low} > {self.high}")

    @property
    def kept_by_removal(self) -> bool:
        """Only where ``low`` is 0: people whose rows are taken out are known to be absent."""
        return self.low == 0

    @property
    def columns(self) -> tuple[str, ...]:
        """It looks at no sensitive column."""
        return ()

    def check(self, classes: Classes) -> Verdict:
        """Judge each class by its rows per population row; the lower side is told when only it fails."""
        ratio, outside = _presence(classes)
        over = Verdict.of(ratio, self.high, "at most")
        absent = outside > 0 and self.low > 0
        under = ~stands(ratio, self.low, "at least") | absent
        failing = np.union1d(over.failing, np.flatnonzero(under))
        if not over.holds or not len(failing):
            return Verdict(holds=over.holds, reached=over.reached, limit=over.limit, sense="at most", failing=failing)
        reached = 0.0 if absent else float(ratio.min())
        note = f"{outside} population rows fall into no class" if absent else ""
        return Verdict(
            holds=False, reached=reached, limit=float(self.low), sense="at least", failing=failing, note=note
        )

    def reachable(self, table: Classes) -> Verdict:
        """Judge the table as one class."""
        requirement = f"presence in [{self.low:g}, {self.high:g}]"
        return explained(
            self.check(one_class(table)), requirement=requirement, measurement="{} rows per population row"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class KMap:
    """Every class has at least ``k`` rows in the population.

    Claim: whoever knows the quasi-identifiers of everybody in the population, but not who is in the table, has at least
        ``k`` people to choose from for every row.
    Source: Sweeney 2002; El Emam and Dankar 2008.
    Does not protect against: an adversary who knows that a person is in the table; inferring sensitive values.
    """

    name: ClassVar[str] = "k-map"
    """As the catalog lists it."""
    kept_by_merging: ClassVar[bool] = True
    """Joined classes have the population rows of their parts."""
    kept_by_removal: ClassVar[bool] = True
    """Each class is judged by itself."""
    kept_by_growth: ClassVar[bool] = True
    """Its population stays."""
    counts_anew: ClassVar[bool] = True
    """It counts the population of each class."""

    k: int
    """How many population rows every class must have."""

    def __post_init__(self) -> None:
        at_least("k", self.k, 1)

    @property
    def columns(self) -> tuple[str, ...]:
        """It looks at no sensitive column."""
        return ()

    def check(self, classes: Classes) -> Verdict:
        """Judge each class by its population rows."""
        return Verdict.of(_population(classes)[0], self.k, "at least")

    def reachable(self, table: Classes) -> Verdict:
        """Judge the table as one class."""
        return explained(self.check(one_class(table)), requirement=f"k = {self.k}", measurement="{} population rows")


def _population(classes: Classes) -> tuple[NDArray[np.int64], int]:
    """Population rows per class and outside, or a refusal where there is no population."""
    if classes.population is None:
        raise DataError("a population table is needed: the table that the rows were drawn from, with the same columns")
    return classes.population_sizes()


def _presence(classes: Classes) -> tuple[NDArray[np.float64], int]:
    """Rows per population row of each class, and population rows outside; the table must be part of it."""
    population, outside = _population(classes)
    beyond = np.flatnonzero(classes.sizes > population)
    if len(beyond):
        place = int(beyond[0])
        raise DataError(
            f"the table is not part of the population: {len(beyond)} classes have more rows than it, such as "
            f"{classes.label(place)} with {classes.sizes[place]} rows against {population[place]}"
        )
    return classes.sizes / population, outside
