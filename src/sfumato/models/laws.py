"""What the models share: checks of their arguments, counts of named values, words for what cannot be reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.arguments import text
from sfumato.ground.errors import ParameterError, listed
from sfumato.group.classes import Classes
from sfumato.group.keys import Ids
from sfumato.group.tally import Counts, Tally
from sfumato.models.verdict import Verdict


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


def explained(verdict: Verdict, *, asked: str, found: str, merging: bool = True) -> Verdict:
    """The verdict on the whole table as one class, with words for a failure; ``{}`` in ``found`` is what was reached.

    Where joining classes can break the model (``merging`` false), a failure here does not rule out other releases.
    """
    if verdict.holds:
        return verdict
    told = found.format(f"{verdict.reached:.6g}")
    if merging:
        note = f"no generalization can reach {asked}: the whole table has {told}"
    else:
        note = f"the table as one class does not reach {asked}: it has {told}; smaller classes still may"
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
