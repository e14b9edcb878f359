"""Item sets that too few records have, or that reveal a sensitive value too surely."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.core.errors import ParameterError
from sfumato.core.run_context import Work
from sfumato.counts.transactions import ItemCodes, Starts, Transactions, ragged

# Records that are alike, counted once.


_WORDS = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Repeats:
    """The different records, how often each occurs, and what sensitive values its occurrences have."""

    records: Transactions
    """The different records, without a secret."""
    times: ItemCodes
    """How often each occurs."""
    watched: tuple[Starts, ItemCodes, ItemCodes]
    """The watched values of each: where they begin, the values, and how often."""


def repeats(transactions: Transactions, values: tuple[str, ...] = ()) -> Repeats:
    """Count records that have the same items once; of the secret only named values are watched, or all.

    Records are compared by a hash, and then item by item.
    """
    group, first = _groups(transactions)
    whole = transactions.starts[first + 1] - transactions.starts[first]
    different = replace(
        transactions,
        starts=np.concatenate(([0], np.cumsum(whole))).astype(np.int64),
        codes=transactions.codes[ragged(transactions.starts, first)],
        secret=None,
    )
    times = np.bincount(group, minlength=len(first)).astype(np.int32)
    return Repeats(records=different, times=times, watched=_watched(transactions, values, group, len(first)))


def singly(transactions: Transactions, values: tuple[str, ...] = ()) -> Repeats:
    """The records as they are, each once."""
    every, times = np.arange(transactions.rows), np.ones(transactions.rows, np.int32)
    watched = _watched(transactions, values, every, transactions.rows)
    return Repeats(records=replace(transactions, secret=None), times=times, watched=watched)


def _groups(transactions: Transactions) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of each record, equal for equal records, and the first record of each number."""
    words = (np.arange(1, transactions.count + 1, dtype=np.uint64) * _WORDS) ** np.uint64(3)
    words ^= words >> np.uint64(29)
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(words[transactions.codes], dtype=np.uint64)))
    lengths = np.diff(transactions.starts)
    hashes = (sums[transactions.starts[1:]] - sums[transactions.starts[:-1]]) * _WORDS + lengths.astype(np.uint64)
    _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    heads = first[group]
    if not np.array_equal(lengths, lengths[heads]) or not np.array_equal(
        transactions.codes, transactions.codes[ragged(transactions.starts, heads)]
    ):  # two different records with one hash: none is counted with another
        every = np.arange(transactions.rows)
        return every, every
    return group, first


def _watched(
    transactions: Transactions, values: tuple[str, ...], group: NDArray[np.int64], count: int
) -> tuple[Starts, ItemCodes, ItemCodes]:
    """The watched values of the records of each number, and how often."""
    secret = transactions.secret
    if secret is None:
        return np.zeros(count + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.int32)
    looked_at = np.array([not values or value in values for value in secret.values], np.bool_)
    seen = (secret.codes >= 0) & (looked_at[secret.codes] if len(looked_at) else False)
    many = max(len(secret.values), 1)
    keys, times = np.unique(group[seen] * many + secret.codes[seen], return_counts=True)
    owner, codes = np.divmod(keys, many)
    starts = np.searchsorted(owner, np.arange(count + 1)).astype(np.int64)
    return starts, codes.astype(np.int32), times.astype(np.int32)


# Which sets of few items are had by too few records, or tell a sensitive value too surely.


_MOST_ROWS = 2**31 - 1
"""No set has more records than this."""
MOST_HELD = 120_000_000
"""The sets of one size, with their records, are held in at most so many numbers."""
_CHUNK = 4_000_000
"""How many list entries are extended between two looks at the clock."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Itemsets:
    """Sets of items, each ascending, with how many records have them."""

    starts: Starts
    """Where each set begins, and where the last ends."""
    codes: ItemCodes
    """The items of all sets."""
    rows: NDArray[np.int64]
    """The records that have each set."""
    top: NDArray[np.int64]
    """Of those, the most that share one watched sensitive value."""
    listed: ItemCodes = field(default_factory=lambda: np.empty(0, np.int32))
    """Where they are asked for: the records of each set, one set's behind the other's."""

    @property
    def count(self) -> int:
        """How many sets there are."""
        return len(self.starts) - 1

    def labelled(self, labels: Sequence[str]) -> list[tuple[str, ...]]:
        """The sets as labels, in their order."""
        bounds = zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True)
        return [tuple(labels[code] for code in self.codes[a:b]) for a, b in bounds]

    def some(self, wanted: NDArray[np.bool_]) -> Itemsets:
        """Those of the sets that are wanted."""
        sizes = np.diff(self.starts)
        starts = np.concatenate(([0], np.cumsum(sizes[wanted], dtype=np.int64)))
        kept = np.repeat(wanted, sizes)
        return Itemsets(starts=starts, codes=self.codes[kept], rows=self.rows[wanted], top=self.top[wanted])

    @classmethod
    def chained(cls, parts: Sequence[Itemsets]) -> Itemsets:
        """The sets of several, one behind the other."""
        sizes = np.concatenate([np.diff(part.starts) for part in parts])
        return cls(
            starts=np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))),
            codes=np.concatenate([part.codes for part in parts]),
            rows=np.concatenate([part.rows for part in parts]),
            top=np.concatenate([part.top for part in parts]),
            listed=np.concatenate([part.listed for part in parts]),
        )

    @classmethod
    def joined(cls, parts: Sequence[tuple[ItemCodes, NDArray[np.int64], NDArray[np.int64]]]) -> Itemsets:
        """From tables of sets of one size each, with their rows and tops."""
        none, counts = np.empty(0, np.int32), np.empty(0, np.int64)
        sizes = np.concatenate([counts, *(np.full(len(sets), sets.shape[1], np.int64) for sets, _, _ in parts)])
        return cls(
            starts=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
            codes=np.concatenate([none, *(sets.ravel() for sets, _, _ in parts)]),
            rows=np.concatenate([counts, *(rows for _, rows, _ in parts)]),
            top=np.concatenate([counts, *(top for _, _, top in parts)]),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Level:
    """All sets of one size whose smaller sets are all within the limits."""

    sets: ItemCodes
    """A row of items, ascending, for each set."""
    rows: NDArray[np.int64]
    """The records that have each set."""
    top: NDArray[np.int64]
    """Of those, the most that share one watched value."""
    good: NDArray[np.bool_]
    """Whether it is within the limits itself."""
    listed: ItemCodes
    """Where they are asked for: the records of the sets beyond the limits, one set's behind the other's."""
    keys: NDArray[np.int64]
    """The number of the set without its last item, among the good ones one level before, and the last item, as one."""


def violating(
    transactions: Transactions,
    *,
    l: int,
    k: int,
    c: float,
    values: tuple[str, ...] = (),
    listed: bool = False,
    work: Work | None = None,
) -> Itemsets:
    """The minimal violating sets of at most ``l`` items.

    A set violates if some, but fewer than ``k`` records have it, or if among those a watched value has a share above
    ``c``; it is minimal if no smaller set of its items violates.

    Claim: a table without any meets the requirement, and every violating set has one of them in it.
    How: level by level; a set is looked at if all sets of one item fewer are within the limits. Rows are counted on
        lists of slots that shrink with every item; the table is not read again.
    Cost: at most the number of sets of up to ``l`` items in the records, less what is pruned.
    Source: Mohammed 2012, section 4.3.1, algorithm 4.1.
    """
    parts, lists = [], [np.empty(0, np.int32)]
    for level in known_sets(transactions, l=l, k=k, c=c, values=values, listed=listed, work=work):
        parts.append((level.sets[~level.good], level.rows[~level.good], level.top[~level.good]))
        lists.append(level.listed)
    return replace(Itemsets.joined(parts), listed=np.concatenate(lists))


def known_sets(
    transactions: Transactions,
    *,
    l: int,
    k: int,
    c: float,
    values: tuple[str, ...] = (),
    listed: bool = False,
    work: Work | None = None,
) -> Iterator[Level]:
    """Every set of 1 to ``l`` items that records have, size by size, without those that hold a violating one."""
    from sfumato.core.kernels.itemsets import extended

    work = work or Work()
    once = singly(transactions, values) if listed else repeats(transactions, values)
    rows, values_at = (*slots_of(once.records), once.times), 1 + int(once.watched[1].max(initial=0))
    tree = _Tree.root()
    lists = (np.array([0, once.records.rows], np.int64), np.flatnonzero(rows[0] < 0).astype(np.int32))
    sets = np.empty((1, 0), np.int32)
    for size in range(1, l + 1):
        begin, parts, held = tree.begin, [], 0
        for a, b in _chunks(lists[0]):
            work.advance(f"sets of {size} known items", int(lists[0][a]), max(int(lists[0][-1]), 1))
            part = (begin + a, lists[0][a : b + 1] - lists[0][a], lists[1][lists[0][a] : lists[0][b]])
            limits = (min(k, _MOST_ROWS), float(c), size < l, listed)
            parts.append(extended(rows, once.watched, tree.arrays, part, limits, transactions.count, values_at))
            held += parts[-1][0].size + parts[-1][1].size
            if held > MOST_HELD:
                raise ParameterError(
                    f"sets of {size} of at most {l} known items are too many to count: their lists hold more than "
                    f"{MOST_HELD:,} numbers; at most {size - 1} known items, or records with fewer items, would do"
                )
        extensions, placed = _gathered(parts)
        before, good = extensions[0] - begin, extensions[4].astype(np.bool_)
        bad_places, placed = _apart(extensions, placed, good, size < l, listed)
        sets = np.column_stack((sets[before], extensions[1])).astype(np.int32)
        yield Level(
            sets=sets,
            rows=extensions[2].astype(np.int64),
            top=extensions[3].astype(np.int64),
            good=good,
            listed=rows[1][bad_places],
            keys=before * np.int64(transactions.count) + extensions[1],
        )
        if not good.any():
            return
        sets = sets[good]
        tree = tree.grown(extensions[0][good], extensions[1][good])
        lists = (np.concatenate(([0], np.cumsum(extensions[5][good], dtype=np.int64))), placed)


def _apart(
    extensions: ItemCodes, placed: ItemCodes, good: NDArray[np.bool_], kept_good: bool, kept_bad: bool
) -> tuple[ItemCodes, ItemCodes]:
    """The lists of the sets beyond the limits, and those of the sets within."""
    if not (kept_good and kept_bad):
        return (placed, placed[:0]) if kept_bad else (placed[:0], placed)
    of_good = np.repeat(good, extensions[5])
    return placed[~of_good], placed[of_good]


def _gathered(parts: list[tuple[ItemCodes, ItemCodes]]) -> tuple[ItemCodes, ItemCodes]:
    if not parts:
        return np.empty((6, 0), np.int32), np.empty(0, np.int32)
    return np.concatenate([extensions for extensions, _ in parts], axis=1), np.concatenate(
        [listed for _, listed in parts]
    )


def _chunks(starts: Starts) -> Iterator[tuple[int, int]]:
    """Runs of lists of about the same length in sum."""
    a = 0
    while a < len(starts) - 1:
        b = int(np.searchsorted(starts, starts[a] + _CHUNK, side="right")) - 1
        b = min(max(b, a + 1), len(starts) - 1)
        yield a, b
        a = b


def slots_of(transactions: Transactions) -> tuple[ItemCodes, ItemCodes, ItemCodes]:
    """Every record opened by -1; the record of each slot; the slot behind its record."""
    rows, starts = transactions.rows, transactions.starts
    lengths = np.diff(starts) + 1
    opening = starts[:-1] + np.arange(rows)
    slots = np.full(len(transactions.codes) + rows, -1, np.int32)
    taken = np.ones(len(slots), np.bool_)
    taken[opening] = False
    slots[taken] = transactions.codes
    row_of = np.repeat(np.arange(rows, dtype=np.int32), lengths)
    return slots, row_of, np.repeat((opening + lengths).astype(np.int32), lengths)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Tree:
    """The sets within the limits, as nodes; the root is the empty set."""

    item: ItemCodes
    parent: ItemCodes
    first: Starts
    last: Starts
    begin: int
    """The first node of the deepest level."""

    @classmethod
    def root(cls) -> _Tree:
        no_item = np.array([-1], np.int32)
        return cls(item=no_item, parent=no_item, first=np.zeros(1, np.int64), last=np.zeros(1, np.int64), begin=0)

    @property
    def arrays(self) -> tuple[ItemCodes, ItemCodes, Starts, Starts]:
        return self.item, self.parent, self.first, self.last

    def grown(self, parents: ItemCodes, items: ItemCodes) -> _Tree:
        """With one more level; its nodes come parent by parent."""
        size, many = len(self.item), len(items)
        inner = np.searchsorted(parents, np.arange(self.begin, size + 1)) + size
        first, last = self.first.copy(), self.last.copy()
        first[self.begin :], last[self.begin :] = inner[:-1], inner[1:]
        none = np.zeros(many, np.int64)
        return _Tree(
            item=np.concatenate((self.item, items)),
            parent=np.concatenate((self.parent, parents)),
            first=np.concatenate((first, none)),
            last=np.concatenate((last, none)),
            begin=size,
        )
