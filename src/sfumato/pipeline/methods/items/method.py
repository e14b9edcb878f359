"""Paths and sets as a method: the internal report, its charts, previews and summary."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.items.problem import ItemSpace
from sfumato.bundles.checks.items import item_checks, item_claim, secret_of
from sfumato.bundles.manifest.document import plain
from sfumato.core.claims import titled
from sfumato.core.errors import SfumatoError
from sfumato.core.run_context import Work
from sfumato.core.strict_parsing import read_toml
from sfumato.models.item_models import ItemModel
from sfumato.pipeline.catalog.catalog import catalog, parameters
from sfumato.pipeline.inputs import marked
from sfumato.pipeline.methods.items import attack, problem, stages
from sfumato.pipeline.methods.items.problem import item_algorithm, item_models, item_table, prepare_items
from sfumato.pipeline.methods.items.stages import (
    MOST,
    QUERY_COUNT,
    RecodedColumn,
    column_of,
    foremost,
    public_facts,
    search,
    spot,
)
from sfumato.pipeline.methods.method import Asked, Counted, Kind, Summary, warned
from sfumato.pipeline.methods.schema import fitting
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.release import unwritten
from sfumato.reports.items.facts import (
    GridCounts,
    ItemColumnFacts,
    ItemFacts,
    ItemUtilityFacts,
    SequenceFacts,
    Spot,
    StepFacts,
)
from sfumato.reports.items.page import item_pictures
from sfumato.reports.items.sequences import shown_sequences
from sfumato.reports.language import count, said
from sfumato.reports.svg import Drawn, DrawnColumn, Picture, drawn_parts
from sfumato.tables.item_sets import ItemColumn
from sfumato.tables.table import Table

if TYPE_CHECKING:
    from sfumato.pipeline.methods.items.stages import ItemRelease


# What the steward sees of a release of paths and sets: the bundle's report with the original's own figures beside.


Ints = NDArray[np.int64]


def inside_page(made: ItemRelease, work: Work) -> str:
    """The steward's report as one HTML page."""
    from sfumato.reports.items.page import render

    return render(inside_facts(made), work)


def inside_facts(made: ItemRelease) -> ItemFacts:
    """What the bundle's report shows, with the original's figures beside."""
    public = public_facts(*unwritten(made))
    spaces = zip(public.columns, made.prepared.problem.spaces, made.recoded, strict=True)
    return replace(
        public,
        title="Inside report",
        inside=True,
        records_before=made.prepared.table.rows,
        columns=tuple(_column(made, column, space, told) for column, space, told in spaces),
        utility=_utility(made),
        sequences=_sequences(made),
        steps=tuple(
            StepFacts(action=step.action, label=step.label, to=step.to, gain=step.gain, loss=step.loss, left=step.left)
            for step in made.outcome.steps
        ),
        effort=dict(made.outcome.effort),
    )


def _column(made: ItemRelease, public: ItemColumnFacts, space: ItemSpace, told: RecodedColumn) -> ItemColumnFacts:
    before, after = _supports(made, space)
    vanished = _vanished(made, space)
    gone = made.outcome.shown.to[space.begin : space.begin + space.count] < 0
    left_out = int((gone | (vanished == before))[before > 0].sum())
    items = made.prepared.items.get(space.name)
    path = items if items is not None and items.kind == "trajectory" else None
    return replace(
        public,
        items_before=told.items,
        entries_before=told.entries_before,
        items_left_out=left_out,
        entries_left_out=int(vanished.sum()),
        frequent=() if path else _frequent(made, space, before, after),
        after=None if path is None else _shown_grid(made, space, path),
        before=None if path is None else _grid(path, before),
        vanished=None if path is None else _grid(path, vanished),
    )


def _supports(made: ItemRelease, space: ItemSpace) -> tuple[Ints, Ints]:
    """Records per item: of the original's items, and of those that are shown."""
    whole = made.prepared.problem.transactions.supports()[space.begin : space.begin + space.count]
    part, labels = column_of(space, made.outcome)
    return whole, np.bincount(part.codes, minlength=len(labels)).astype(np.int64)


def _vanished(made: ItemRelease, space: ItemSpace) -> Ints:
    """Per original item, the entries that the release does not show at all."""
    records = made.prepared.problem.transactions
    gone = made.outcome.entries(records) < 0
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
    spots = [spot(label, space.mark) for label in labels]
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


def _frequent(
    made: ItemRelease, space: ItemSpace, before: Ints, after: Ints
) -> tuple[tuple[str, int | None, int | None], ...]:
    """The most frequent items of the original, and of the release."""
    _, labels = column_of(space, made.outcome)
    names = made.prepared.problem.transactions.labels[space.begin : space.begin + space.count]
    found: dict[str, int | None] = {}
    for item in np.argsort(-before, kind="stable")[:MOST].tolist():
        found[names[item]] = int(before[item])
    for item in np.argsort(-after, kind="stable")[:MOST].tolist():
        found.setdefault(labels[item], None)
    seen = dict(zip(labels, after.tolist(), strict=True))
    return tuple((label, many, seen.get(label)) for label, many in found.items())


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
    found, shown = made.frequent, made.outcome.shown
    labels = made.prepared.problem.transactions.labels
    facts = []
    for number in foremost(found.sets):
        items = found.sets.codes[found.sets.starts[number] : found.sets.starts[number + 1]]
        kept, coarser = bool(found.kept[number]), bool(found.coarser[number])
        names = tuple(labels[item] for item in items)
        ways = [shown.ways(item) for item in items.tolist()] if kept and coarser else []
        as_shown = tuple(dict.fromkeys(" or ".join(shown.labels[way] for way in one) for one in ways))
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


def _spots(made: ItemRelease, labels: tuple[str, ...], items: NDArray[np.int32] | Ints) -> tuple[Spot, ...]:
    """The places and times of a sequence, if all of its (original) items are readings of one path."""
    for space in made.prepared.problem.spaces:
        inside = (items >= space.begin) & (items < space.begin + space.count)
        if len(space.axes) == 2 and inside.all():
            return tuple(spot(label, space.mark) for label in labels)
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
            *warned(made.marks),
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


# The pictures of released paths and sets with the original's figures.


def drawn(made: ItemRelease) -> Drawn:
    """Places and times, the most frequent items, frequent sequences, and what was lost."""
    facts = inside_facts(made)
    found = item_pictures(facts, shown_sequences(facts))
    paths = [(column, () if one is None else (*one.panels, *one.maps)) for column, one in found.places]
    others = [(column, () if one is None else (one,)) for column, one in found.items]
    wide = None if found.flow is None else found.flow[0]
    return Drawn(
        columns=tuple(_column_charts(column, pictures) for column, pictures in (*paths, *others) if pictures),
        parts=drawn_parts(Frequent_sequences=[wide, found.sets], What_was_lost=[found.fates, found.errors]),
    )


def _column_charts(column: ItemColumnFacts, pictures: tuple[Picture, ...]) -> DrawnColumn:
    about = f"{count(column.entries_before or 0)} entries before, {count(column.entries_after)} after"
    return DrawnColumn(name=column.name, about=about, pictures=pictures)


# Paths and sets under a plan: what the raw records reach, and which algorithms fit.


class CountedItems(Counted):
    """Records as sets of items."""

    def __init__(self, plan: Plan, table: Table) -> None:
        """Every record is made a set of items."""
        super().__init__(plan)
        self.prepared = prepare_items(plan, marked(item_table(plan, table), plan))

    def reached(self) -> list[dict[str, Any]]:
        """What the raw records reach of every model of the plan."""
        return [self._claim(model) for model in self.prepared.problem.models]

    def offered(self) -> list[dict[str, Any]]:
        """What they reach of the others, each asked for as the catalog's own example does where that can be."""
        asked = {model.name for model in self.prepared.problem.models}
        parts = [
            part
            for part in catalog().models.values()
            if "items" in part.judges and part.make.name not in asked and "sensitive" not in part.plan
        ]
        found = []
        for part in parts:
            try:
                models = item_models(read_toml(part.plan), self.prepared.schema.sensitive)
                found += [self._claim(model) for model in models]
            except (SfumatoError, ValueError):
                continue
        return found

    def fitting(self) -> dict[str, Any]:
        """Each algorithm for paths and sets is begun and says what it refuses."""
        name, _, why = item_algorithm(
            replace(self.plan, algorithm=replace(self.plan.algorithm, name="auto", options={}))
        )
        return fitting(
            self.plan, "items", lambda plan, work: search(Asked(plan=plan, keys={}), self.prepared, work), name, why
        )

    def _claim(self, model: ItemModel) -> dict[str, Any]:
        records = self.prepared.problem.transactions
        if model.columns:
            name = model.columns[0]
            kind: Any = self.plan.columns[name].type
            records = replace(records, secret=secret_of(self.prepared.table.column(name, kind)))
        found: dict[str, Any] = plain(item_claim(model, parameters(model), records).to_json())
        return found


# Paths, sets and mixed records as a kind of release.


def _drawn(made: Any) -> Drawn:

    return drawn(made)


def _counted(plan: Plan, table: Table) -> Counted:

    return CountedItems(plan, table)


KIND = Kind(
    name="items",
    needs=(("numba", "a release of paths or sets"),),
    check=problem.check,
    counted=_counted,
    read=stages.read,
    prepare=lambda asked, rows: prepare_items(asked.plan, rows),
    notes=stages.notes,
    search=stages.search,
    recode=stages.recode,
    judge=stages.judge,
    attack=attack.attack_records,
    files=stages.files,
    manifest=stages.manifest,
    checks=lambda *bundle: item_checks(*bundle, known=problem.ItemModels()),
    subject=attack.refuse_bundle,
    apply=stages.refuse_records,
    public_page=stages.public_page,
    done=lambda manifest: said(
        "Records of paths and sets are released. Items that too few people share were left out or made coarser."
    ),
    promises=stages.promises,
    inside_page=inside_page,
    summary=summary,
    drawn=_drawn,
    figures=figures,
    draft=problem.draft,
)
