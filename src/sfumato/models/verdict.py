"""What a model says about a table, and what a model is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.brief import Brief
from sfumato.group.classes import Classes

Sense = Literal["at least", "at most", "below", "above"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Verdict(Brief):
    """Whether a requirement holds, how far it was reached, and which classes fail it."""

    holds: bool
    """Whether no class fails."""
    reached: float
    """The worst value found over all classes."""
    limit: float
    """The value that was required."""
    sense: Sense
    """How ``reached`` must stand to ``limit``."""
    failing: NDArray[np.int64]
    """The classes that fail, ascending."""
    note: str = ""
    """What a reader should know: the reference distribution used, the template that failed, ..."""

    @classmethod
    def of(
        cls,
        values: NDArray[Any],
        limit: float,
        sense: Sense,
        *,
        note: str = "",
    ) -> Verdict:
        """Judge one value per class; no class at all holds trivially."""
        worst = np.max if sense in ("at most", "below") else np.min
        reached = float(worst(values)) if len(values) else float(limit)
        failing = np.flatnonzero(~stands(values, limit, sense))
        return cls(holds=not len(failing), reached=reached, limit=float(limit), sense=sense, failing=failing, note=note)


_SLACK = 1e-12
"""Room for the rounding of sums of shares, relative to limits above 1; far below what one row can change."""


def stands(values: Any, limit: float, sense: Sense) -> NDArray[np.bool_]:
    """Which values stand to the limit as they must.

    >>> stands(np.array([2, 3]), 3, "at least").tolist()
    [False, True]
    """
    room = _SLACK * max(1.0, abs(limit))
    if sense == "at least":
        return np.asarray(values >= limit - room)
    if sense == "at most":
        return np.asarray(values <= limit + room)
    if sense == "above":
        return np.asarray(values > limit)
    return np.asarray(values < limit)


class Model(Protocol):
    """A privacy model: complete when built, judges classes, states its laws.

    Laws are about one table whose classes are changed; a search may rely on them, so they must be true:

    * ``kept_by_merging``: where every class passes, joining classes by coarser labels leaves every class passing. A
      coarser label replaces its parts in the whole column; models that also group by some of the columns (lkc-privacy,
      confidence-bounding with templates) promise nothing when a label is replaced in some of the classes only;
    * ``kept_by_removal``: taking whole classes out of a table breaks no other class;
    * ``kept_by_growth``: a class that passes still passes after any rows are added to it.
    """

    name: ClassVar[str]
    """The model's name in the literature, as the catalog lists it."""

    @property
    def kept_by_merging(self) -> bool:
        """Whether joining classes cannot break it."""

    @property
    def kept_by_removal(self) -> bool:
        """Whether taking whole classes out cannot break the others."""

    @property
    def kept_by_growth(self) -> bool:
        """Whether adding rows to a class cannot break that class."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive columns that it looks at."""

    @property
    def counts_anew(self) -> bool:
        """Whether it regroups the classes or counts a population, so that overlapping groups cannot be handed to it."""

    def check(self, classes: Classes) -> Verdict:
        """Judge the classes of a table."""

    def reachable(self, table: Classes) -> Verdict:
        """Judge the table as one single class, the coarsest release there is, with a note that explains a failure."""


@runtime_checkable
class LeastRows(Protocol):
    """A model that judges each class by its own rows, and the table's counts at most, and refuses classes with few."""

    def least_rows(self, table: Classes, gone: float) -> int:
        """No class with fewer rows passes, whatever they are, when any share of rows up to ``gone`` was taken out."""


@runtime_checkable
class LeastLost(Protocol):
    """A model that tells of a class that fails how much of it must go, however it is parted."""

    def least_lost(self, classes: Classes, gone: float) -> NDArray[np.float64]:
        """Of each class so many rows at least lie in parts that fail, when a share up to ``gone`` was taken out before.

        By merging: the parts that pass are a class that passes, and no class that passes is nearer to the whole.
        """


@runtime_checkable
class LostForGood(Protocol):
    """A model that counts groups anew, and knows classes that no finer labels and no removal of others can save."""

    def lost_for_good(self, classes: Classes, most: int) -> NDArray[np.bool_]:
        """Which classes fail under all finer labels too; may stop when they have more than ``most`` rows."""


def one_class(classes: Classes) -> Classes:
    """The fully generalized table: every row in one class."""
    lifts = [np.zeros(len(names), np.int32) for names in classes.labels]
    merged, _ = classes.recoded(lifts, [("*",)] * len(lifts))
    return replace(merged, wild=None)
