"""What a privacy model is, its verdict, and how a table with unknown cells is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Protocol, get_args, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arguments import text
from sfumato.core.errors import ParameterError, listed
from sfumato.core.short_repr import Brief
from sfumato.counts.classes import Classes
from sfumato.counts.keys import Ids
from sfumato.counts.tally import Counts, Tally
from sfumato.counts.wildcards import as_wildcards, has_wildcards, resolved

# What a model says about a table, and what a model is.


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


# Judging a table under both readings of unknown cells (missing or suppressed).


Reading = Literal["strict", "value", "wildcard"]
READINGS: tuple[str, ...] = get_args(Reading)


def judge(model: Model, classes: Classes, reading: Reading) -> Verdict:
    """The verdict when unknown cells are values of their own, wildcards, or (strict) whichever is worse.

    A union of passing classes passes every model that merging cannot break, so for those the wildcard reading of
    quasi-identifiers adds nothing to the strict one. Missing sensitive values are tried as every known value in turn.
    Where people have several rows, it is people that are judged.
    """
    counted = classes.by_people()
    if reading == "value":
        return model.check(counted)
    read = as_wildcards(classes) if _adds(model, classes, reading) else counted
    if reading == "wildcard":
        return _worst_case(model, read)
    own = model.check(counted)
    worst = _worst_case(model, read, counted, own)
    return own if worst is own else worse(own, worst)


def worse(verdict: Verdict, other: Verdict) -> Verdict:
    """The stricter of two verdicts about the same classes, failing where either fails."""
    failing = np.union1d(verdict.failing, other.failing)
    if verdict.holds != other.holds or (verdict.sense, verdict.limit) != (other.sense, other.limit):
        hard = other if verdict.holds and not other.holds else verdict
    else:
        more = (
            other.reached > verdict.reached
            if verdict.sense in ("at most", "below")
            else other.reached < verdict.reached
        )
        hard = other if more else verdict
    return replace(hard, holds=not len(failing), failing=failing)


def _adds(model: Model, classes: Classes, reading: Reading) -> bool:
    """Whether unknown quasi-identifiers, read as wildcards, can say more than as values of their own."""
    if model.counts_anew or (reading == "strict" and model.kept_by_merging):
        return False
    return has_wildcards(classes)


def _worst_case(
    model: Model, classes: Classes, judged: Classes | None = None, before: Verdict | None = None
) -> Verdict:
    """The worst verdict over what missing values may be; ``judged`` was judged ``before`` and is not judged again."""
    verdict: Verdict | None = None
    guards = getattr(model, "guard_column", None)
    for column in model.columns:
        if column == guards:  # who states no wish has none; that is not an unknown value
            continue
        for possible in resolved(classes, column):
            possible_verdict = before if before is not None and possible is judged else model.check(possible)
            verdict = possible_verdict if verdict is None else worse(verdict, possible_verdict)
    if verdict is not None:
        return verdict
    return before if before is not None and classes is judged else model.check(classes)


# What the models share: checks of their arguments, counts of named values, words for what cannot be reached.


def texts(name: str, values: Any, *, blank: bool = False) -> None:
    """A tuple of different texts, maybe none, or a refusal; an empty text (a missing value) only when ``blank``."""
    if not isinstance(values, tuple):
        raise ParameterError(f"{name} must be a tuple of texts, not {values!r}")
    for value in values:
        if not (blank and value == ""):
            text(name, value)
    if len(set(values)) < len(values):
        raise ParameterError(f"{name} must not name anything twice, not {values!r}")


def ancestor_paths(name: str, paths: Any) -> None:
    """A mapping from each value to the tuple of its ancestors, nearest first, or a refusal."""
    if not isinstance(paths, Mapping):
        raise ParameterError(f"{name} must map each value to the tuple of its ancestors, not {paths!r}")
    for value, above in paths.items():
        if not isinstance(value, str) or not isinstance(above, tuple):
            raise ParameterError(f"{name} must map texts to tuples of texts, not {value!r} to {above!r}")
        for node in above:
            text(name, node)


def explained(verdict: Verdict, *, requirement: str, measurement: str, merging: bool = True) -> Verdict:
    """The verdict on the whole table as one class, with words for a failure; ``{}`` in ``measurement`` stands for it.

    Where joining classes can break the model (``merging`` false), a failure here does not rule out other releases.
    """
    if verdict.holds:
        return verdict
    statement = measurement.format(f"{verdict.reached:.6g}")
    if merging:
        note = f"no generalization can reach {requirement}: the whole table has {statement}"
    else:
        note = f"the table as one class does not reach {requirement}: it has {statement}; smaller classes still may"
    return replace(verdict, note=f"{note}; {verdict.note}" if verdict.note else note)


def named(tally: Tally, values: Sequence[str]) -> Tally:
    """Only the entries of the named values; all entries when none is named."""
    if not values:
        return tally
    wanted = np.array([value in values for value in tally.values], np.bool_)
    kept = wanted[tally.codes]
    return replace(tally, owners=tally.owners[kept], codes=tally.codes[kept], counts=tally.counts[kept])


def top_counts(tally: Tally) -> Counts:
    """For each class, the rows of its most frequent value; 0 for a class without entries."""
    top = np.zeros(tally.classes, np.int64)
    np.maximum.at(top, tally.owners, tally.counts)
    return top


def most_uneven(classes: Classes, column: str) -> Tally:
    """The most uneven histogram that each class could show if one value of every person were looked at.

    Rows have one value each, so it is the histogram itself. Of people with several values as many as possible show the
    most frequent value, as many of the rest as possible the next one, and so on until no person is left over. Any
    other choice of one value of each person is majorized by it: it has at least as many values, no smaller entropy, a
    top value no more frequent and a longer tail.
    """
    tally = classes.tally(column)
    if not classes.per_person:
        return tally
    order = np.lexsort((-tally.counts, tally.owners))
    owners, counts = tally.owners[order], tally.counts[order]
    before = np.concatenate([[0], np.cumsum(counts)])[:-1]
    before -= before[np.searchsorted(owners, owners, side="left")]
    counts = np.minimum(counts, classes.sizes[owners] - before)
    kept = counts > 0
    return replace(tally, owners=owners[kept], codes=tally.codes[order][kept], counts=counts[kept])


def surest(
    classes: Classes, column: str, values: Sequence[str], ids: Ids, count: int
) -> tuple[Counts, NDArray[np.float64]]:
    """The sizes of groups of classes, and the largest share of a named value in each; in people where people count."""
    sizes, tally = classes.grouped(ids, count, named(classes.tally(column), values))
    return sizes, top_counts(named(tally, values)) / sizes


def absent_note(tally: Tally, values: Sequence[str]) -> str:
    """A remark about named values that the column does not have, or nothing: they may be misspelt."""
    return absent_values(tally.column, tally.values, values)


def absent_values(column: str, known: Sequence[str], values: Sequence[str]) -> str:
    """The same for values that are not counted."""
    absent = [value for value in values if value not in known]
    return f"column {column!r} has no value {listed(absent)}" if absent else ""
