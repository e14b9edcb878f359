"""Two readings of a missing or suppressed cell: a value of its own, or a wildcard that matches every value.

Under the first, rows fall into classes. Under the second, each class is weighed by all rows that could be taken for
one of its own: the rows that agree with it wherever both are known. For every model that merging cannot break the first
reading is the stricter one: what matches a class is a union of classes. Missing sensitive values go the other way: as a
wildcard they may all be the same value, so each class is judged by its worst case.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import isqrt
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from sfumato.group.classes import Classes
from sfumato.group.keys import Ids, distinct, places_of, representatives, total
from sfumato.group.meetings import Flags, Meeting, by_patterns, by_tree
from sfumato.group.people import People
from sfumato.group.tally import Tally

Entries = tuple[Ids, NDArray[np.int32], NDArray[np.int64]]
"""Classes, values, and how many rows of the class have the value."""
_HELD = 2**22
"""How many entries are held before equal ones are added up."""
_READ: WeakKeyDictionary[Classes, Classes] = WeakKeyDictionary()
"""The wildcard reading of records that are still in use: it follows from the record alone, which never changes."""


def has_wildcards(classes: Classes) -> bool:
    """Whether any class has an unknown quasi-identifier."""
    return bool(_patterns(classes).any())


def as_wildcards(classes: Classes) -> Classes:
    """What ``matched`` says of the classes, in people where these are counted; worked out once for each record."""
    found = _READ.get(classes)
    if found is None:
        found = matched(classes.by_people())
        if found is not classes:  # a record that is its own reading would never be let go
            _READ[classes] = found
    return found


def matched(classes: Classes) -> Classes:
    """Each class with the counts of all rows that match it; the groups overlap, so they are no partition."""
    unknown = _patterns(classes)
    if not unknown.any():
        return classes
    if classes.people is not None and classes.per_person:
        return _matched_people(classes, classes.people, unknown)
    sizes = np.zeros_like(classes.sizes)
    tallies = {name: _Sum(tally) for name, tally in classes.tallies.items()}
    for met in _meetings(classes, unknown):
        sizes[met.mine] += total(met.theirs_in, classes.sizes[met.theirs], met.groups)[met.mine_in]
        for one in tallies.values():
            one.add(met)
    return replace(classes, sizes=sizes, tallies={name: one.tally() for name, one in tallies.items()})


def _meetings(classes: Classes, unknown: Flags) -> Iterator[Meeting]:
    """Every two classes that match, in groups."""
    kind_of, kinds = distinct(list(unknown.astype(np.int32)), [2] * len(unknown), classes.count)
    if kinds > _most_kinds(classes.count):
        return by_tree(classes.keys, unknown, _radices(classes))
    return by_patterns(classes.keys, unknown, kind_of, kinds, _radices(classes))


def _most_kinds(classes: int) -> int:
    """With unknown values in more combinations of columns than this, classes are looked up in a tree.

    Every two combinations meet, so that there are never many more meetings than classes.
    """
    return max(128, isqrt(classes))


def _matched_people(classes: Classes, people: People, unknown: Flags) -> Classes:
    """The same in people: whoever has rows in several classes that match counts once."""
    pairs = [met.pairs() for met in by_tree(classes.keys, unknown, _radices(classes))]
    spread = people.spread(np.concatenate([mine for mine, _ in pairs]), np.concatenate([other for _, other in pairs]))
    whole = {name: replace(tally, whole=people.overall(tally)) for name, tally in classes.tallies.items()}
    tallies = {name: replace(spread.tally(t, classes.count), whole=t.whole) for name, t in whole.items()}
    return replace(classes, sizes=spread.sizes(classes.count), tallies=tallies, people=spread)


class _Sum:
    """The histogram of groups that overlap, added up meeting by meeting."""

    def __init__(self, tally: Tally) -> None:
        self._of = tally
        self._parts: list[Entries] = []
        self._held = 0

    def add(self, met: Meeting) -> None:
        """Bring what the other side holds to each class on this side."""
        tally = self._of
        which, place = places_of(tally.owners, met.theirs)
        groups, codes, counts = self._added((met.theirs_in[which], tally.codes[place], tally.counts[place]))
        which, place = places_of(groups, met.mine_in)
        self._parts.append((met.mine[which], codes[place], counts[place]))
        self._held += len(which)
        if self._held > _HELD:
            self._parts = [self._together()]
            self._held = len(self._parts[0][0])

    def tally(self) -> Tally:
        """The histogram, with the shares of the whole table as they were."""
        owners, codes, counts = self._together()
        return replace(self._of, owners=owners, codes=codes, counts=counts, whole=self._of.overall)

    def _together(self) -> Entries:
        owners, codes, counts = (np.concatenate(arrays) for arrays in zip(*self._parts, strict=True))
        return self._added((owners, codes, counts))

    def _added(self, entries: Entries) -> Entries:
        """One entry for each owner and value, ascending."""
        owners, codes, counts = entries
        radices = (max(self._of.classes, 1), len(self._of.values))
        entry, many = distinct((owners.astype(np.int32), codes), radices, len(owners))
        place = representatives(entry, many)
        return owners[place], codes[place], total(entry, counts, many)


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


def _radices(classes: Classes) -> list[int]:
    return [max(len(names), 1) for names in classes.labels]
