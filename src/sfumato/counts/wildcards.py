"""Unknown cells as values of their own or as wildcards, and which classes then match."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isqrt
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from sfumato.counts.classes import Classes, People
from sfumato.counts.keys import Ids, distinct, places_of, ranges, representatives, total
from sfumato.counts.tally import Tally

# Which classes match which, where some of their values are unknown and match every value.
#
# Two classes match where they agree in every column that both know. Few classes have unknown values as a rule, and
# those that do have them in few combinations of columns, called patterns here. Nobody compares every two classes:
#
# - with few patterns, the classes of every two patterns meet in groups that agree in what both know (``by_patterns``);
# - with many, all classes stand in one tree, a column per level, and those with unknown values walk down it
#   (``by_tree``).


Flags = NDArray[np.bool_]
_MOST = 2**62
_PAIRS = 2**22
"""How many pairs are held at once."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Meeting:
    """Groups in which everybody on one side matches everybody on the other."""

    mine: Ids
    """Classes on one side, each once."""
    mine_in: Ids
    """The group of each of them."""
    theirs: Ids
    """Classes on the other side."""
    theirs_in: Ids
    """The group of each of them."""
    groups: int
    """How many groups there are."""

    def pairs(self) -> tuple[Ids, Ids]:
        """Each class of this side beside each that it meets."""
        order = np.argsort(self.theirs_in, kind="stable")
        which, place = places_of(self.theirs_in[order], self.mine_in)
        return self.mine[which], self.theirs[order[place]]

    def turned(self) -> Meeting:
        """The same, seen from the other side."""
        return Meeting(
            mine=self.theirs, mine_in=self.theirs_in, theirs=self.mine, theirs_in=self.mine_in, groups=self.groups
        )


def by_patterns(
    keys: NDArray[np.int32], unknown: Flags, kind_of: Ids, kinds: int, radices: Sequence[int]
) -> Iterator[Meeting]:
    """Every two matching classes, once from each side; a meeting or two for every two patterns.

    ``kind_of`` numbers the pattern of each class.
    Cost: classes times patterns; nothing is sorted but the smaller side.
    """
    members = np.split(np.argsort(kind_of, kind="stable"), np.cumsum(np.bincount(kind_of, minlength=kinds))[:-1])
    project = _projection(keys, unknown, radices)
    for a, mine in enumerate(members):
        for b in range(a, len(members)):
            open_ = unknown[:, mine[0]] | unknown[:, members[b][0]]
            few, many = (mine, members[b]) if len(mine) <= len(members[b]) else (members[b], mine)
            met = _met(few, many, *project(few, many, open_))
            if met is not None:
                yield met
                if a != b:
                    yield met.turned()


class _Strides:
    """What the columns add to one number for each class; the open ones are taken off."""

    def __init__(self, keys: NDArray[np.int32], unknown: Flags, radices: Sequence[int]) -> None:
        strides = np.cumprod([1, *radices[:-1]], dtype=np.int64)
        self.parts = np.where(unknown, 0, keys * strides[:, None])
        self.whole = self.parts.sum(axis=0)

    def __call__(self, few: Ids, many: Ids, open_: Flags) -> tuple[Ids, Ids]:
        """The numbers of two sides, by the columns that are not open."""
        numbers, other = self.whole[few], self.whole[many]
        for column in np.flatnonzero(open_):
            numbers, other = numbers - self.parts[column][few], other - self.parts[column][many]
        return numbers, other


def _projection(keys: NDArray[np.int32], unknown: Flags, radices: Sequence[int]) -> _Strides | _Numbered:
    space = 1
    for radix in radices:
        space *= radix
    return _Strides(keys, unknown, radices) if space <= _MOST else _Numbered(keys, radices)


class _Numbered:
    """The same where the combinations are too many for one number: they are numbered anew for every two sides."""

    def __init__(self, keys: NDArray[np.int32], radices: Sequence[int]) -> None:
        self.keys, self.radices = keys, radices

    def __call__(self, few: Ids, many: Ids, open_: Flags) -> tuple[Ids, Ids]:
        both, shared = np.concatenate([few, many]), np.flatnonzero(~open_)
        ids, _ = distinct([self.keys[c][both] for c in shared], [self.radices[c] for c in shared], len(both))
        return ids[: len(few)], ids[len(few) :]


def _met(few: Ids, many: Ids, numbers: Ids, other: Ids) -> Meeting | None:
    """The groups with equal numbers on both sides."""
    distinct_numbers, few_in = np.unique(numbers, return_inverse=True)
    place = np.minimum(np.searchsorted(distinct_numbers, other), len(distinct_numbers) - 1)
    hit = np.flatnonzero(distinct_numbers[place] == other)
    if not len(hit):
        return None
    theirs_in = place[hit]
    met = np.zeros(len(distinct_numbers), np.bool_)
    met[theirs_in] = True
    number, inside = np.cumsum(met) - 1, met[few_in]
    return Meeting(
        mine=few[inside],
        mine_in=number[few_in[inside]],
        theirs=many[hit],
        theirs_in=number[theirs_in],
        groups=int(met.sum()),
    )


def by_tree(keys: NDArray[np.int32], unknown: Flags, radices: Sequence[int]) -> Iterator[Meeting]:
    """The same by pairs: classes with unknown values walk down a tree of all classes.

    Cost: a sort of the classes for every column, and the beginnings that match; at the end these are the pairs.
    """
    tree = _Tree(keys, unknown, radices)
    holed = unknown.any(axis=0)
    whole = np.flatnonzero(~holed)
    if len(whole):
        _, places = np.unique(tree.leaf_of[whole], return_inverse=True)
        yield Meeting(mine=whole, mine_in=places, theirs=whole, theirs_in=places, groups=int(places.max()) + 1)
    for mine, theirs in tree.pairs(np.flatnonzero(holed)):
        yield _paired(mine, theirs)
        back = ~holed[theirs]
        if back.any():
            yield _paired(theirs[back], mine[back])


def _paired(mine: Ids, theirs: Ids) -> Meeting:
    """Pairs as groups of one on this side."""
    owners, groups = np.unique(mine, return_inverse=True)
    return Meeting(
        mine=owners, mine_in=np.arange(len(owners)), theirs=theirs, theirs_in=groups.reshape(-1), groups=len(owners)
    )


class _Tree:
    """All classes by their values, the column with the most values first; an unknown value is a branch of its own."""

    def __init__(self, keys: NDArray[np.int32], unknown: Flags, radices: Sequence[int]) -> None:
        seen = [len(np.unique(codes)) for codes in keys]
        order = np.argsort([-n for n in seen], kind="stable")
        self.codes = np.where(unknown, 0, keys.astype(np.int64) + 1)[order]
        self.radices = [radices[c] + 1 for c in order]
        self.branches: list[Ids] = []
        """Per level, parent times radix plus code of every node, ascending."""
        nodes = np.zeros(keys.shape[1], np.int64)
        for codes, radix in zip(self.codes, self.radices, strict=True):
            branches, nodes = np.unique(nodes * radix + codes, return_inverse=True)
            self.branches.append(branches)
        self.leaf_of = nodes
        self._members = np.argsort(nodes, kind="stable")
        self._begins = np.append(0, np.cumsum(np.bincount(nodes, minlength=1)))

    def pairs(self, walkers: Ids) -> Iterator[tuple[Ids, Ids]]:
        """Each walker beside each class that matches it, some at a time."""
        ways = [(0, walkers, np.zeros(len(walkers), np.int64))] if len(walkers) else []
        while ways:
            level, mine, nodes = ways.pop()
            if len(mine) > max(_PAIRS, 1):
                half = len(mine) // 2
                ways += [(level, mine[:half], nodes[:half]), (level, mine[half:], nodes[half:])]
            elif level == len(self.codes):
                which, place = ranges(self._begins[nodes], self._begins[nodes + 1])
                yield mine[which], self._members[place]
            elif len(mine):
                ways.append((level + 1, *self._below(level, mine, nodes)))

    def _below(self, level: int, mine: Ids, nodes: Ids) -> tuple[Ids, Ids]:
        """Where the walkers may go: to the own value and to the unknown, or from an unknown value anywhere."""
        branches, radix, codes = self.branches[level], self.radices[level], self.codes[level][mine]
        free = codes == 0
        first, last = (np.searchsorted(branches, (nodes[free] + more) * radix) for more in (0, 1))
        which, place = ranges(first, last)
        owners, there = [mine[free][which]], [place]
        for code in (codes[~free], np.zeros(int((~free).sum()), np.int64)):
            wanted = nodes[~free] * radix + code
            place = np.minimum(np.searchsorted(branches, wanted), len(branches) - 1)
            hit = branches[place] == wanted
            owners.append(mine[~free][hit])
            there.append(place[hit])
        return np.concatenate(owners), np.concatenate(there)


# Two readings of a missing or suppressed cell: a value of its own, or a wildcard that matches every value.
#
# Under the first, rows fall into classes. Under the second, each class is weighed by all rows that could be taken for
# one of its own: the rows that agree with it wherever both are known. For every model that merging cannot break the
# first reading is the stricter one: what matches a class is a union of classes. Missing sensitive values go the other
# way: as a wildcard they may all be the same value, so each class is judged by its worst case.


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
    reading = _READ.get(classes)
    if reading is None:
        reading = matched(classes.by_people())
        if reading is not classes:  # a record that is its own reading would never be let go
            _READ[classes] = reading
    return reading


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
        for running_sum in tallies.values():
            running_sum.add(met)
    return replace(classes, sizes=sizes, tallies={name: running_sum.tally() for name, running_sum in tallies.items()})


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
