"""From a release of paths and sets to what its report shows.

The bundle's report is given what follows from the released records and nothing else: the original's distributions, what
was left out, what was lost and how the search went are for the inside report.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.bundle.claims import Claim, titled
from sfumato.bundle.manifest import plain
from sfumato.data.itemized import ItemColumn
from sfumato.ground.work import Work
from sfumato.group.itemsets import Itemsets
from sfumato.group.maximal import maximal_frequent
from sfumato.publish.items.item_space import ItemSpace
from sfumato.report.base.claim_facts import ClaimFacts
from sfumato.report.items.item_facts import (
    GridCounts,
    ItemColumnFacts,
    ItemFacts,
    ItemUtilityFacts,
    SequenceFacts,
    Spot,
    StepFacts,
)
from sfumato.report.items.item_sentences import claimed
from sfumato.version import __version__
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.kinds.items.item_columns import RecodedColumn, column_of
from sfumato.workflow.kinds.items.item_release import QUERY_COUNT
from sfumato.workflow.kinds.kind import Summary

if TYPE_CHECKING:
    from sfumato.workflow.kinds.items.item_release import ItemRelease

MOST = 40
"""How many items and frequent sets a report names."""
Ints = NDArray[np.int64]


def page(made: ItemRelease, inside: bool, work: Work) -> str:
    """The report as one HTML page."""
    from sfumato.report.items.item_page import render

    return render(item_facts(made, inside=inside), work)


def item_facts(made: ItemRelease, *, inside: bool) -> ItemFacts:
    """Everything the report of a release of paths and sets shows."""
    rows = made.prepared.table.rows
    spaces = zip(made.prepared.problem.spaces, made.recoded, strict=True)
    return ItemFacts(
        title="Inside report" if inside else "Release report",
        made=datetime.now(UTC).date().isoformat(),
        version=__version__,
        inside=inside,
        records_before=rows,
        records_after=made.rows.height,
        claims=tuple(map(_claim, made.claims)),
        columns=tuple(_column(made, space, told, inside=inside) for space, told in spaces),
        algorithm=made.algorithm,
        why=made.why,
        utility=_utility(made) if inside else None,
        sequences=_sequences(made) if inside else _released_sets(made),
        steps=tuple(
            StepFacts(action=step.action, label=step.label, to=step.to, gain=step.gain, loss=step.loss, left=step.left)
            for step in (made.outcome.steps if inside else ())
        ),
        effort=dict(made.outcome.effort) if inside else {},
        marks=tuple(made.marks),
        near_unique=made.near_unique,
        findings=made.audit.findings,
        notes=_notes(made),
    )


def _claim(claim: Claim) -> ClaimFacts:
    """A claim with the words for paths and sets, or with those that its part of the catalog brings."""
    told = claimed(claim)
    if told.meaning:
        return told
    meaning, limits = catalog().explained(claim.model, claim.parameters)
    return ClaimFacts(claim=claim, title=titled(claim.model, claim.parameters), meaning=meaning, limits=limits)


def _notes(made: ItemRelease) -> tuple[str, ...]:
    dropped = made.prepared.dropped_rows
    return (f"{dropped} rows were left out before, because of missing values.",) if dropped else ()


def _column(made: ItemRelease, space: ItemSpace, told: RecodedColumn, *, inside: bool) -> ItemColumnFacts:
    to = made.outcome.shown.to[space.begin : space.begin + space.count]
    before, after = _supports(made, space)
    gone = to < 0
    vanished = _vanished(made, space)
    items = made.prepared.items.get(space.name)
    grids: dict[str, GridCounts | None] = {}
    if items is not None and items.kind == "trajectory":
        grids["after"] = _shown_grid(made, space, items)
        if inside:
            grids |= {"before": _grid(items, before), "vanished": _grid(items, vanished)}
    left_out = int((gone | (vanished == before))[before > 0].sum())
    return ItemColumnFacts(
        name=space.name,
        kind=told.kind,  # type: ignore[arg-type]
        items_after=told.shown,
        entries_after=told.entries,
        items_coarser=len(told.coarser),
        items_before=told.items if inside else None,
        entries_before=told.entries_before if inside else None,
        items_left_out=left_out if inside else None,
        entries_left_out=int(vanished.sum()) if inside else None,
        frequent=() if grids else _frequent(made, space, before, after, inside=inside),
        **grids,
    )


def _supports(made: ItemRelease, space: ItemSpace) -> tuple[Ints, Ints]:
    """Records per item: of the original's items, and of those that are shown."""
    whole = made.prepared.problem.transactions.supports()[space.begin : space.begin + space.count]
    part, labels = column_of(space, made.outcome)
    return whole, np.bincount(part.codes, minlength=len(labels)).astype(np.int64)


def _vanished(made: ItemRelease, space: ItemSpace) -> Ints:
    """Per original item, the entries that the release does not show at all."""
    records = made.prepared.problem.transactions
    gone = made.outcome.shown.to[records.codes] < 0
    gone[made.outcome.stripped] = True
    found = np.bincount(records.codes[gone], minlength=records.count)
    return found[space.begin : space.begin + space.count].astype(np.int64)


def _grid(items: ItemColumn, counts: Ints) -> GridCounts:
    """Entries by the places and times of the original."""
    table = np.zeros((len(items.places), len(items.times)), np.int64)
    np.add.at(table, (items.place, items.time), counts)
    return GridCounts(places=items.places, times=items.times, counts=tuple(map(tuple, table.tolist())))


def _shown_grid(made: ItemRelease, space: ItemSpace, items: ItemColumn) -> GridCounts:
    """Readings of the release by places and times as it shows them, those first that cover the first."""
    part, labels = column_of(space, made.outcome)
    supports = np.bincount(part.codes, minlength=len(labels))
    first = _firsts(made, space)
    places: dict[str, int] = {}
    times: dict[str, int] = {}
    spots = [_spot(label, space.mark) for label in labels]
    for (place, time), item in zip(spots, first, strict=True):
        places[place] = min(places.get(place, len(items.places)), int(items.place[item]))
        times[time] = min(times.get(time, len(items.times)), int(items.time[item]))
    rows = {place: n for n, place in enumerate(sorted(places, key=lambda one: (places[one], one)))}
    columns = {time: n for n, time in enumerate(sorted(times, key=lambda one: (times[one], len(one), one)))}
    table = np.zeros((len(rows), len(columns)), np.int64)
    for (place, time), many in zip(spots, supports.tolist(), strict=True):
        table[rows[place], columns[time]] += many
    return GridCounts(places=tuple(rows), times=tuple(columns), counts=tuple(map(tuple, table.tolist())))


def _firsts(made: ItemRelease, space: ItemSpace) -> list[int]:
    """For each item that is shown of a column, its first original item there."""
    shown = made.outcome.shown
    mine = (shown.first >= space.begin) & (shown.first < space.begin + space.count)
    return [int(item) - space.begin for item in shown.first[mine]]


def _spot(label: str, mark: str) -> Spot:
    place, _, time = label.rpartition(mark)
    return place, time


def _frequent(
    made: ItemRelease, space: ItemSpace, before: Ints, after: Ints, *, inside: bool
) -> tuple[tuple[str, int | None, int | None], ...]:
    """The most frequent items of the release; inside also those of the original."""
    _, labels = column_of(space, made.outcome)
    found: dict[str, tuple[int | None, int | None]] = {}
    if inside:
        names = made.prepared.problem.transactions.labels[space.begin : space.begin + space.count]
        for item in np.argsort(-before, kind="stable")[:MOST].tolist():
            found[names[item]] = (int(before[item]), None)
    for item in np.argsort(-after, kind="stable")[:MOST].tolist():
        found[labels[item]] = (found.get(labels[item], (None, None))[0], int(after[item]))
    if inside:
        seen = dict(zip(labels, after.tolist(), strict=True))
        found = {label: (b, seen.get(label) if a is None else a) for label, (b, a) in found.items()}
    return tuple((label, b, a) for label, (b, a) in found.items())


def _utility(made: ItemRelease) -> ItemUtilityFacts:
    found, changes = made.frequent, made.frequent.changes
    medians = [one.median for one in made.queries]
    return ItemUtilityFacts(
        support=found.support,
        frequent=found.sets.count,
        lost_share=found.lost,
        coarser_share=found.blurred,
        changed=int((changes > 0).sum()),
        largest_change=float(changes.max(initial=0.0)),
        ncp=made.utility["ncp"],
        queries=QUERY_COUNT * len(made.queries),
        query_median=float(np.median(medians)) if medians else None,
        query_mean=float(np.mean([one.mean for one in made.queries])) if medians else None,
        by_size=tuple((one.items, one.median, one.mean) for one in made.queries),
    )


def _sequences(made: ItemRelease) -> tuple[SequenceFacts, ...]:
    """The most frequent of the original's maximal frequent sets, longer ones first, and what became of them."""
    found, to, shown = made.frequent, made.outcome.shown.to, made.outcome.shown
    labels = made.prepared.problem.transactions.labels
    facts = []
    for number in _foremost(found.sets):
        items = found.sets.codes[found.sets.starts[number] : found.sets.starts[number + 1]]
        kept, coarser = bool(found.kept[number]), bool(found.coarser[number])
        names = tuple(labels[item] for item in items)
        as_shown = tuple(dict.fromkeys(shown.labels[to[item]] for item in items)) if kept and coarser else ()
        facts.append(
            SequenceFacts(
                labels=names,
                before=int(found.sets.rows[number]),
                after=int(found.after[number]) if kept else None,
                shown=as_shown,
                spots=_spots(made, names, items),
                shown_spots=_spots(made, as_shown, items),
            )
        )
    return tuple(facts)


def _released_sets(made: ItemRelease) -> tuple[SequenceFacts, ...]:
    """The same of the release itself: its own maximal frequent sets, which anybody can count."""
    records, shown = made.outcome.transactions, made.outcome.shown
    found = maximal_frequent(records, made.frequent.support)
    facts = []
    for number in _foremost(found):
        items = found.codes[found.starts[number] : found.starts[number + 1]]
        names = tuple(records.labels[item] for item in items)
        spots = _spots(made, names, shown.first[items])
        facts.append(SequenceFacts(labels=names, after=int(found.rows[number]), spots=spots))
    return tuple(facts)


def _foremost(sets: Itemsets) -> list[int]:
    """The most frequent sets, those of several items first."""
    order = np.lexsort((-sets.rows, -np.minimum(np.diff(sets.starts), 2)))
    return [int(number) for number in order[:MOST]]


def _spots(made: ItemRelease, labels: tuple[str, ...], items: NDArray[np.int32] | Ints) -> tuple[Spot, ...]:
    """The places and times of a sequence, if all of its (original) items are readings of one path."""
    for space in made.prepared.problem.spaces:
        inside = (items >= space.begin) & (items < space.begin + space.count)
        if len(space.axes) == 2 and inside.all():
            return tuple(_spot(label, space.mark) for label in labels)
    return ()


def summary(made: ItemRelease) -> Summary:
    """Claims in lines, what became of each column in a table, and what was lost."""
    lost, sets = made.utility["lost_frequent_sets"], made.frequent.sets.count
    claims = [
        f"Holds: {titled(one.model, one.parameters)}; {one.note or f'reached {one.reached:g}'}." for one in made.claims
    ]
    return Summary(
        lines=(f"{made.rows.height:,} records, by {made.algorithm}.", *claims),
        heads=("column", "items before", "shown", "entries before", "entries shown", "shown coarser"),
        cells=tuple((c.name, c.items, c.shown, c.entries_before, c.entries, len(c.coarser)) for c in made.recoded),
        after=(
            f"Of {sets:,} maximal frequent sets (from {made.frequent.support:,} records on) {lost:.1%} are lost.",
            *(f"Beware: {mark}." for mark in made.marks),
        ),
        changes=(
            ("records", made.prepared.table.rows, made.rows.height),
            *((f"different items of {c.name}", c.items, c.shown) for c in made.recoded),
            *((f"entries of {c.name}", c.entries_before, c.entries) for c in made.recoded),
        ),
    )


def figures(made: ItemRelease) -> dict[str, Any]:
    """What was made, for programs."""
    return {
        "rows": made.rows.height,
        "algorithm": made.algorithm,
        "claims": plain([claim.to_json() for claim in made.claims]),
        "utility": plain(made.utility),
        "search": dict(made.outcome.effort),
    }
