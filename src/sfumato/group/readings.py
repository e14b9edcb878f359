"""Two readings of a missing or suppressed cell: a value of its own, or a wildcard that matches every value.

Under the first, rows fall into classes. Under the second, each class is weighed by all rows that could be taken for
one of its own: the rows that agree with it wherever both are known. For every model that merging cannot break the first
reading is the stricter one: what matches a class is a union of classes. Missing sensitive values go the other way: as a
wildcard they may all be the same value, so each class is judged by its worst case.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sfumato.group.classes import Classes
from sfumato.group.keys import distinct, representatives, total
from sfumato.group.tally import Tally


def has_wildcards(classes: Classes) -> bool:
    """Whether any class has an unknown quasi-identifier."""
    return bool(_patterns(classes).any())


def matched(classes: Classes) -> Classes:
    """Each class with the counts of all rows that match it; the groups overlap, so they are no partition."""
    unknown = _patterns(classes)
    if not unknown.any():
        return classes
    kinds, kind_of = np.unique(unknown, axis=1, return_inverse=True)
    kind_of = kind_of.reshape(-1)
    sizes = np.zeros_like(classes.sizes)
    entries: dict[str, list[tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]]] = {
        name: [] for name in classes.tallies
    }
    for mine in range(kinds.shape[1]):
        for theirs in range(kinds.shape[1]):
            shared = ~(kinds[:, mine] | kinds[:, theirs])
            here, there = np.flatnonzero(kind_of == mine), np.flatnonzero(kind_of == theirs)
            ids, count = _joint(classes, shared, here, there)
            mine_ids, their_ids = ids[: len(here)], ids[len(here) :]
            sizes[here] += total(their_ids, classes.sizes[there], count)[mine_ids]
            for name, tally in classes.tallies.items():
                where = np.full(tally.classes, -1, np.int64)
                where[there] = their_ids
                entries[name].append(_spread(tally.merged(where, count), here, mine_ids))
    tallies = {name: _summed(classes.tallies[name], parts) for name, parts in entries.items()}
    return replace(classes, sizes=sizes, tallies=tallies)


def resolved(classes: Classes, column: str) -> Iterator[Classes]:
    """The classes with the missing values of a sensitive column taken for each known value in turn."""
    tally = classes.tally(column)
    if tally.missing is None:
        yield classes
        return
    for code in range(len(tally.values)):
        if code != tally.missing:
            yield classes.with_tally(tally.missing_as(code))


def _patterns(classes: Classes) -> NDArray[np.bool_]:
    """Columns x classes: where a class has an unknown value."""
    if classes.wild is None:
        return np.zeros(classes.keys.shape, np.bool_)
    return np.array([w[codes] for w, codes in zip(classes.wild, classes.keys, strict=True)], np.bool_).reshape(
        classes.keys.shape
    )


def _joint(
    classes: Classes, shared: NDArray[np.bool_], here: NDArray[np.int64], there: NDArray[np.int64]
) -> tuple[NDArray[np.int64], int]:
    """Number the combinations in the shared columns over both sides together."""
    both = np.concatenate([here, there])
    columns = np.flatnonzero(shared)
    if not len(columns):
        return np.zeros(len(both), np.int64), 1
    return distinct([classes.keys[c][both] for c in columns], [len(classes.labels[c]) for c in columns], len(both))


def _spread(
    grouped: Tally, here: NDArray[np.int64], mine_ids: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """The entries that matching rows, grouped like the classes ``here``, bring to each of these."""
    first = np.searchsorted(grouped.owners, mine_ids, side="left")
    lengths = np.searchsorted(grouped.owners, mine_ids, side="right") - first
    offsets = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    picked = np.repeat(first, lengths) + offsets
    return np.repeat(here, lengths), grouped.codes[picked], grouped.counts[picked]


def _summed(tally: Tally, parts: list[tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]]) -> Tally:
    owners = np.concatenate([part[0] for part in parts])
    codes = np.concatenate([part[1] for part in parts])
    counts = np.concatenate([part[2] for part in parts])
    entry, entries = distinct((owners.astype(np.int32), codes), (tally.classes, len(tally.values)), len(owners))
    place = representatives(entry, entries)
    return replace(
        tally,
        owners=owners[place],
        codes=codes[place],
        counts=total(entry, counts, entries),
        whole=tally.overall,
    )
