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
from sfumato.group.people import People
from sfumato.group.tally import Tally

_FEW = 64
"""With unknown values in more combinations of columns than this, classes are compared one by one."""
_PAIRS = 2**22


def has_wildcards(classes: Classes) -> bool:
    """Whether any class has an unknown quasi-identifier."""
    return bool(_patterns(classes).any())


def matched(classes: Classes) -> Classes:
    """Each class with the counts of all rows that match it; the groups overlap, so they are no partition."""
    unknown = _patterns(classes)
    if not unknown.any():
        return classes
    if classes.people is not None and classes.per_person:
        return _matched_people(classes, classes.people, unknown)
    kinds, kind_of = np.unique(unknown, axis=1, return_inverse=True)
    if kinds.shape[1] > _FEW:
        return _matched_one_by_one(classes, unknown)
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


def _matched_one_by_one(classes: Classes, unknown: NDArray[np.bool_]) -> Classes:
    """The same by comparing every two classes, for tables with unknown values in very many combinations of columns."""
    from sfumato.ground.kernels.matching_kernel import matching

    order = np.argsort([-len(np.unique(codes)) for codes in classes.keys], kind="stable")
    keys, holes = np.ascontiguousarray(classes.keys[order].T), np.ascontiguousarray(unknown[order].T)
    counts, sizes = np.zeros(classes.count, np.int64), np.zeros_like(classes.sizes)
    matching(keys, holes, 0, counts, np.zeros(0, np.int64), fill=False)
    parts: dict[str, list[tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]]] = {
        name: [] for name in classes.tallies
    }
    ends = np.searchsorted(np.cumsum(counts), np.arange(_PAIRS, int(counts.sum()) + _PAIRS, _PAIRS), side="right")
    first = 0
    for last in np.unique(np.append(ends, classes.count)).tolist():
        last = max(last, min(first + 1, classes.count))  # noqa: PLW2901  a class is never cut in two
        mine = counts[first:last]
        theirs = np.zeros(int(mine.sum()), np.int64)
        matching(keys, holes, first, mine.copy(), theirs, fill=True)
        owners = np.repeat(np.arange(first, last), mine)
        sizes[first:last] = total(owners - first, classes.sizes[theirs], last - first)
        for name, tally in classes.tallies.items():
            parts[name].append(_added(tally, owners, theirs))
        first = last
    return replace(classes, sizes=sizes, tallies={name: _summed(classes.tallies[name], parts[name]) for name in parts})


def _matched_people(classes: Classes, people: People, unknown: NDArray[np.bool_]) -> Classes:
    """The same in people: whoever has rows in several classes that match counts once."""
    owners, theirs = [], []
    for place in range(classes.count):
        open_ = unknown | unknown[:, place : place + 1]
        fits = np.flatnonzero(((classes.keys == classes.keys[:, place : place + 1]) | open_).all(axis=0))
        owners.append(np.full(len(fits), place, np.int64))
        theirs.append(fits)
    spread = people.spread(np.concatenate(owners), np.concatenate(theirs))
    whole = {name: replace(tally, whole=people.overall(tally)) for name, tally in classes.tallies.items()}
    tallies = {name: replace(spread.tally(t, classes.count), whole=t.whole) for name, t in whole.items()}
    return replace(classes, sizes=spread.sizes(classes.count), tallies=tallies, people=spread)


def _added(
    tally: Tally, owners: NDArray[np.int64], theirs: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """The entries that each owner gets from a class that matches it, one line per owner and value."""
    held, codes, counts = _spread(tally, owners, theirs)
    entry, entries = distinct((held.astype(np.int32), codes), (tally.classes, len(tally.values)), len(held))
    place = representatives(entry, entries)
    return held[place], codes[place], total(entry, counts, entries)


def resolved(classes: Classes, column: str) -> Iterator[Classes]:
    """The classes with the missing values of a sensitive column taken for each known value in turn."""
    tally = classes.tally(column)
    if tally.missing is None:
        yield classes
        return
    for code in range(len(tally.values)):
        if code != tally.missing:
            yield classes.missing_as(column, code)


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
