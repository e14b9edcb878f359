"""The report that a bundle of paths and sets hands out: a function of its manifest and its records."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sfumato.attacks.frame.trials import Finding
from sfumato.bundle.claims import Claim, titled
from sfumato.data.table import Table
from sfumato.describe.roles import Role
from sfumato.ground.work import Work
from sfumato.group.assembled import ItemPart, assembled
from sfumato.group.itemsets import Itemsets
from sfumato.group.maximal import maximal_within
from sfumato.group.near_unique import asked_size, near_unique_columns, unchanged
from sfumato.group.transactions import Transactions
from sfumato.publish.items.item_algorithms import records as support_of
from sfumato.report.base.claim_facts import ClaimFacts
from sfumato.report.items.item_facts import GridCounts, ItemColumnFacts, ItemFacts, SequenceFacts, Spot
from sfumato.report.items.item_sentences import claimed
from sfumato.verification.item_checks import released_records
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.dating import moved_marks

MOST = 40
"""How many items and frequent sets a report names."""
MOST_LOOKED_AT = 50_000_000
"""How many places in records are looked at for frequent sets; where that does not suffice, none are shown."""
SUPPORT = 0.01
"""What is frequent where the algorithm has no support of its own: a share of the records."""

Manifest = Mapping[str, Any]


def public_page(manifest: Manifest, tables: Mapping[str, Table], work: Work) -> str:
    """The report as one HTML page."""
    from sfumato.report.items.item_page import render

    return render(public_facts(manifest, tables), work)


def public_facts(manifest: Manifest, tables: Mapping[str, Table]) -> ItemFacts:
    """Everything that the report of a bundle shows."""
    table, columns = tables["data"], manifest["data"]["columns"]
    claims = [Claim.from_json(one) for one in manifest["claims"]]
    quasi = [column for column in columns if column["role"] == "quasi"]
    parts = [released_records(table, [column]) for column in quasi]
    roles = unchanged({column["name"]: Role(column["role"]) for column in columns})
    k = asked_size(one.parameters for one in claims)
    left_out = manifest["recoding"].get("left_out")
    return ItemFacts(
        title="Release report",
        made=str(manifest["made"]),
        version=str(manifest["sfumato"]),
        inside=False,
        records_before=table.rows,
        records_after=table.rows,
        claims=tuple(map(_claim, claims)),
        columns=tuple(_column(manifest, column, part) for column, part in zip(quasi, parts, strict=True)),
        algorithm=manifest["recoding"]["algorithm"],
        why=manifest["recoding"]["why"],
        sequences=tuple(_frequent_sets(manifest, quasi, parts)),
        marks=(*manifest["marks"], *moved_marks(manifest)),
        near_unique=near_unique_columns(table.frame, roles, table.missing, k),
        findings=tuple(map(Finding.from_json, manifest["attacks"])),
        notes=(f"{left_out} rows were left out before, because of missing values.",) if left_out else (),
    )


def promises(manifest: Manifest) -> list[tuple[str, str]]:
    """What each promise means, and what it leaves open."""
    told = [_claim(Claim.from_json(one)) for one in manifest["claims"]]
    return [(one.meaning, one.limits) for one in told]


def _claim(claim: Claim) -> ClaimFacts:
    """A claim with the words for paths and sets, or with those that its part of the catalog brings."""
    told = claimed(claim)
    if told.meaning:
        return told
    meaning, limits = catalog().explained(claim.model, claim.parameters)
    return ClaimFacts(claim=claim, title=titled(claim.model, claim.parameters), meaning=meaning, limits=limits)


def _column(manifest: Manifest, column: Mapping[str, Any], records: Transactions) -> ItemColumnFacts:
    stated = manifest["recoding"]["columns"][column["name"]]
    supports = records.supports()
    path = column["type"] == "trajectory"
    return ItemColumnFacts(
        name=column["name"],
        kind=stated["kind"],
        items_after=stated["shown"],
        entries_after=stated["entries"],
        items_coarser=len(stated["coarser"]),
        frequent=() if path else _foremost_items(records.labels, supports),
        after=_grid(records.labels, supports, column["mark"]) if path else None,
    )


def _foremost_items(labels: Sequence[str], supports: Any) -> tuple[tuple[str, None, int], ...]:
    order = np.argsort(-supports, kind="stable")[:MOST]
    return tuple((labels[item], None, int(supports[item])) for item in order.tolist())


def _grid(labels: Sequence[str], supports: Any, mark: str) -> GridCounts:
    """Readings by places and times, these in the order of the numbers in their names."""
    spots = [spot(label, mark) for label in labels]
    places = tuple(sorted({place for place, _ in spots}, key=by_numbers))
    times = tuple(sorted({time for _, time in spots}, key=by_numbers))
    rows, columns = ({name: n for n, name in enumerate(names)} for names in (places, times))
    table = np.zeros((len(rows), len(columns)), np.int64)
    for (place, time), many in zip(spots, supports.tolist(), strict=True):
        table[rows[place], columns[time]] += many
    return GridCounts(places=places, times=times, counts=tuple(map(tuple, table.tolist())))


def by_numbers(name: str) -> tuple[bool, tuple[float, ...], int, str]:
    """The key by which places and times are put in order: by the numbers in them, what has none by its letters.

    >>> sorted(["10", "9", "[8, 10)", "night", "08:30"], key=by_numbers)
    ['[8, 10)', '08:30', '9', '10', 'night']
    """
    numbers = tuple(float(digits) for digits in re.findall(r"[0-9]{1,18}", name))
    return not numbers, numbers, len(name), name


def spot(label: str, mark: str) -> Spot:
    """The place and the time of a reading."""
    place, _, time = label.rpartition(mark)
    return place, time


def _frequent_sets(
    manifest: Manifest, columns: Sequence[Mapping[str, Any]], parts: Sequence[Transactions]
) -> list[SequenceFacts]:
    """The maximal frequent sets of the release, which anybody can count."""
    records = assembled([ItemPart(starts=one.starts, codes=one.codes, labels=one.labels) for one in parts])
    support = support_of(float(manifest["plan"]["algorithm"].get("support", SUPPORT)), records.rows)
    found = maximal_within(records, support, MOST_LOOKED_AT)
    if found is None:
        return []
    owner = np.repeat(np.arange(len(parts)), [len(part.labels) for part in parts])
    facts = []
    for number in foremost(found):
        items = found.codes[found.starts[number] : found.starts[number + 1]]
        labels, spots = [records.labels[item] for item in items], []
        column = columns[int(owner[items[0]])]
        if column["type"] == "trajectory" and (owner[items] == owner[items[0]]).all():
            labels.sort(key=lambda label, mark=column["mark"]: by_numbers(spot(label, mark)[1]))  # type: ignore[misc]
            spots = [spot(label, column["mark"]) for label in labels]
        facts.append(SequenceFacts(labels=tuple(labels), after=int(found.rows[number]), spots=tuple(spots)))
    return facts


def foremost(sets: Itemsets) -> list[int]:
    """The most frequent sets, those of several items first."""
    order = np.lexsort((-sets.rows, -np.minimum(np.diff(sets.starts), 2)))
    return [int(number) for number in order[:MOST]]
