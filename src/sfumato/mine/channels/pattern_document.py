"""Published patterns as a document: the number of records, and sets of items with how many records have them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from sfumato.ground.brief import Brief
from sfumato.ground.errors import DataError
from sfumato.mine.channels.told_sets import Set, ToldSets, told_sets
from sfumato.mine.document_parts import SCHEMA, count_of, keyed, many, parsed, texts

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
    told = document.told
    sets = sorted((len(items), sorted(told.labels[item] for item in items), rows) for items, rows in told.each())
    whole = {
        "document": KIND,
        "schema": SCHEMA,
        "records": told.records,
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
        if not items or any(one >= two for one, two in pairwise(items)) or items in named:
            raise DataError(f"set {place} must have items, each once and in order, and must not stand there twice")
        named[items] = count_of(line["rows"], f"set {place}, rows")
        if named[items] > numbers["records"]:
            raise DataError(f"set {place} is had by more records than there are")
    labels = tuple(sorted({name for items in named for name in items}))
    code = {name: place for place, name in enumerate(labels)}
    told = {tuple(code[name] for name in items): rows for items, rows in named.items()}
    return PatternDocument(
        told=told_sets(numbers["records"], labels, told),
        k=numbers["k"],
        withheld=numbers["withheld"],
        added=numbers["added"],
    )


def joined(documents: Sequence[PatternDocument]) -> ToldSets:
    """What several documents about the same records tell together."""
    records = {one.told.records for one in documents}
    if len(records) != 1:
        numbers = " and ".join(f"{one:,}" for one in sorted(records))
        raise DataError(f"the documents are about {numbers} records; together only those about the same are looked at")
    labels = tuple(sorted({label for one in documents for label in one.told.labels}))
    code, told = {name: place for place, name in enumerate(labels)}, dict[Set, int]()
    for one in documents:
        for items, rows in one.told.each():
            named = tuple(sorted(code[one.told.labels[item]] for item in items))
            if told.setdefault(named, rows) != rows:
                raise DataError(
                    f"the documents tell {told[named]:,} and {rows:,} records with "
                    f"{', '.join(labels[item] for item in named)}; they are not about the same records"
                )
    return told_sets(records.pop(), labels, told)
