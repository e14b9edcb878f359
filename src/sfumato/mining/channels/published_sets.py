"""Published item sets with their supports, and their document."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sfumato.core.errors import DataError
from sfumato.core.short_repr import Brief
from sfumato.counts.frequent_itemsets import Counts, FrequentItemsets, FrequentLevel
from sfumato.counts.transactions import ItemCodes
from sfumato.mining.document_json import SCHEMA, count_of, keyed, many, parsed, texts

# Sets of items whose records are told, in one order with all sets within them.


UNTOLD = -1
"""The records of a set that are not told."""
MOST_ITEMS = 12
"""A told set has at most so many items: all sets within it are looked at."""
MOST_HELD = 30_000_000
"""Sets within sets are looked at while they make no more numbers than this."""
Set = tuple[int, ...]
"""Items by code, ascending."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ToldSets(Brief):
    """Supports that a publication tells, and the number of all records, which it tells too."""

    family: FrequentItemsets
    """The told sets and every set within one; the records are ``UNTOLD`` where only a larger set is told."""

    @property
    def records(self) -> int:
        """How many records there are."""
        return self.family.rows

    @property
    def labels(self) -> tuple[str, ...]:
        """The items as written."""
        return self.family.labels

    @property
    def count(self) -> int:
        """How many sets are told."""
        return sum(int((level.rows >= 0).sum()) for level in self.family.levels)

    def each(self) -> Iterator[tuple[Set, int]]:
        """Every told set with its records, the small ones first."""
        return ((items, rows) for items, rows in self.family.each() if rows >= 0)

    def items(self) -> Set:
        """The items that some told set has."""
        return tuple(self.family.levels[0].sets[:, 0].tolist()) if self.family.levels else ()

    def without(self, gone: Sequence[Set]) -> ToldSets:
        """The same without some sets: nothing is left of those that were only within them."""
        left = set(gone)
        return told_sets(self.records, self.labels, {items: n for items, n in self.each() if items not in left})

    def filled(self, rows: Sequence[Counts]) -> ToldSets:
        """The same sets with other records, one array for each size."""
        levels = tuple(
            FrequentLevel(sets=level.sets, rows=some, keys=level.keys)
            for level, some in zip(self.family.levels, rows, strict=True)
        )
        return ToldSets(
            family=FrequentItemsets(rows=self.records, support=self.family.support, labels=self.labels, levels=levels)
        )


def of_frequent(itemsets: FrequentItemsets) -> ToldSets:
    """All frequent sets: every set within one is frequent too."""
    if len(itemsets.levels) > MOST_ITEMS:
        raise DataError(f"a set has {len(itemsets.levels)} items; sets of at most {MOST_ITEMS} are looked at")
    return ToldSets(family=itemsets)


def told_sets(records: int, labels: Sequence[str], supports: Mapping[Set, int]) -> ToldSets:
    """From sets with their records; each set has different items, ascending.

    >>> some = told_sets(9, ("a", "b"), {(0,): 5, (0, 1): 3})
    >>> some.count, [level.rows.tolist() for level in some.family.levels]
    (2, [[5, -1], [3]])
    """
    longest = max(map(len, supports), default=0)
    if longest > MOST_ITEMS:
        raise DataError(f"a set has {longest} items; sets of at most {MOST_ITEMS} are looked at")
    sized = {size: [itemset for itemset in supports if len(itemset) == size] for size in range(1, longest + 1)}
    closed: dict[int, ItemCodes] = {}
    above = np.empty((0, longest + 1), np.int32)
    for size in range(longest, 0, -1):
        within = [np.delete(above, place, axis=1) for place in range(size + 1)]
        given = np.array(sized[size], np.int32).reshape(-1, size)
        above = closed[size] = np.unique(np.concatenate([given, *within]), axis=0)
    family = FrequentItemsets(rows=records, support=0, labels=tuple(labels), levels=())
    for size in range(1, longest + 1):
        family = grown(family, closed[size], np.full(len(closed[size]), UNTOLD, np.int64))
        given = np.array(sized[size], np.int32).reshape(-1, size)
        family.levels[-1].rows[family.places(given)] = [supports[itemset] for itemset in sized[size]]
    return ToldSets(family=family)


def grown(family: FrequentItemsets, sets: ItemCodes, rows: Counts) -> FrequentItemsets:
    """One more level: sets in order, each without its last item in the level before."""
    before = family.places(sets[:, :-1]) if sets.shape[1] > 1 else np.zeros(len(sets), np.int64)
    keys = before * np.int64(len(family.labels)) + sets[:, -1]
    level = FrequentLevel(sets=np.asarray(sets, np.int32), rows=rows, keys=keys)
    return FrequentItemsets(
        rows=family.rows, support=family.support, labels=family.labels, levels=(*family.levels, level)
    )


def chosen(size: int, mask: int) -> list[int]:
    """The places of a set of so many items that a mask stands for.

    >>> chosen(3, 0b101)
    [0, 2]
    """
    return [place for place in range(size) if mask >> place & 1]


def windows(family: FrequentItemsets, sets: ItemCodes) -> Counts:
    """For each set the records of every set within it, by mask; those of no items first."""
    size = sets.shape[1]
    counts = np.empty((len(sets), 1 << size), np.int64)
    for mask in range(1 << size):
        counts[:, mask] = family.supports(sets[:, chosen(size, mask)])
    return counts


def chunks(many: int, width: int) -> Iterator[slice]:
    """Runs of rows so that a run of so many columns is held at once."""
    step = max(1, MOST_HELD // (8 * max(width, 1)))
    return (slice(at, min(at + step, many)) for at in range(0, many, step))


Mask = NDArray[np.bool_]


# Published patterns as a document: the number of records, and sets of items with how many records have them.


KIND = "sfumato-patterns"
MOST_SETS = 1_000_000
"""A document has at most so many sets."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PatternDocument(Brief):
    """Supports to publish, and what was done so that they tell of no group of few people."""

    told: ToldSets
    """The sets with their records."""
    k: int
    """No group of 1 to k - 1 people follows."""
    withheld: int = 0
    """How many sets are not told."""
    added: int = 0
    """How many records were counted in that nobody is."""


def write_patterns(document: PatternDocument) -> str:
    """The document as a text: small sets first, in the order of their items."""
    published = document.told
    sets = sorted(
        (len(items), sorted(published.labels[item] for item in items), rows) for items, rows in published.each()
    )
    whole = {
        "document": KIND,
        "schema": SCHEMA,
        "records": published.records,
        "k": document.k,
        "withheld": document.withheld,
        "added": document.added,
        "sets": [{"items": names, "rows": rows} for _, names, rows in sets],
    }
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":")) + "\n"


def read_patterns(text: str) -> PatternDocument:
    """The patterns in a text from anybody, or a refusal that says where they are none."""
    part = keyed(
        parsed(text, KIND), "the document", ("document", "schema", "records", "k", "withheld", "added", "sets")
    )
    numbers = {name: count_of(part[name], name) for name in ("records", "k", "withheld", "added")}
    lines = many(part["sets"], "sets")
    if len(lines) > MOST_SETS:
        raise DataError(f"the document has {len(lines):,} sets; at most {MOST_SETS:,} are read")
    named: dict[tuple[str, ...], int] = {}
    for place, line in enumerate(lines):
        keyed(line, f"set {place}", ("items", "rows"))
        items = texts(line["items"], f"set {place}, items")
        if not items or any(item >= two for item, two in pairwise(items)) or items in named:
            raise DataError(f"set {place} must have items, each once and in order, and must not stand there twice")
        named[items] = count_of(line["rows"], f"set {place}, rows")
        if named[items] > numbers["records"]:
            raise DataError(f"set {place} is had by more records than there are")
    labels = tuple(sorted({name for items in named for name in items}))
    code = {name: place for place, name in enumerate(labels)}
    supports = {tuple(code[name] for name in items): rows for items, rows in named.items()}
    return PatternDocument(
        told=told_sets(numbers["records"], labels, supports),
        k=numbers["k"],
        withheld=numbers["withheld"],
        added=numbers["added"],
    )


def joined(documents: Sequence[PatternDocument]) -> ToldSets:
    """What several documents about the same records tell together."""
    records = {document.told.records for document in documents}
    if len(records) != 1:
        numbers = " and ".join(f"{count:,}" for count in sorted(records))
        raise DataError(f"the documents are about {numbers} records; together only those about the same are looked at")
    labels = tuple(sorted({label for document in documents for label in document.told.labels}))
    code, supports = {name: place for place, name in enumerate(labels)}, dict[Set, int]()
    for document in documents:
        for items, rows in document.told.each():
            named = tuple(sorted(code[document.told.labels[item]] for item in items))
            if supports.setdefault(named, rows) != rows:
                raise DataError(
                    f"the documents tell {supports[named]:,} and {rows:,} records with "
                    f"{', '.join(labels[item] for item in named)}; they are not about the same records"
                )
    return told_sets(records.pop(), labels, supports)
