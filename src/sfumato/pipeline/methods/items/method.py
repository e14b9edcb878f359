"""Paths and sets as a method: the internal report, its charts, previews and summary."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from sfumato.algorithms.items.problem import ItemSpace
from sfumato.bundles.checks.items import item_checks, item_claim, secret_of
from sfumato.bundles.manifest.document import plain
from sfumato.core.claims import titled
from sfumato.core.errors import SfumatoError
from sfumato.core.run_context import Work
from sfumato.core.strict_parsing import read_toml
from sfumato.models.item_models import ItemModel
from sfumato.pipeline.artifacts import ITEM_ROWS
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
from sfumato.pipeline.methods.method import Counted, Method, Request, Summary, refused_bundle, warned
from sfumato.pipeline.methods.schema import fitting
from sfumato.pipeline.methods.supports import Supports
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
from sfumato.reports.language import count, translated
from sfumato.reports.svg import Drawn, DrawnColumn, Picture, drawn_parts
from sfumato.tables.item_sets import ItemColumn
from sfumato.tables.table import Table

if TYPE_CHECKING:
    from sfumato.pipeline.methods.items.stages import ItemRelease


# What the steward sees of a release of paths and sets: the bundle's report with the original's own figures beside.


Ints = NDArray[np.int64]


def inside_page(release: ItemRelease, work: Work) -> str:
    """The steward's report as one HTML page."""
    from sfumato.reports.items.page import render

    return render(inside_facts(release), work)


def inside_facts(release: ItemRelease) -> ItemFacts:
    """What the bundle's report shows, with the original's figures beside."""
    public = public_facts(*unwritten(release))
    spaces = zip(public.columns, release.prepared.problem.spaces, release.recoded, strict=True)
    return replace(
        public,
        title="Inside report",
        inside=True,
        records_before=release.prepared.table.rows,
        columns=tuple(_column(release, column, space, recoded_column) for column, space, recoded_column in spaces),
        utility=_utility(release),
        sequences=_sequences(release),
        steps=tuple(
            StepFacts(action=step.action, label=step.label, to=step.to, gain=step.gain, loss=step.loss, left=step.left)
            for step in release.outcome.steps
        ),
        effort=dict(release.outcome.effort),
    )


def _column(
    release: ItemRelease, public: ItemColumnFacts, space: ItemSpace, recoded_column: RecodedColumn
) -> ItemColumnFacts:
    before, after = _supports(release, space)
    vanished = _vanished(release, space)
    gone = release.outcome.shown.to[space.begin : space.begin + space.count] < 0
    left_out = int((gone | (vanished == before))[before > 0].sum())
    items = release.prepared.items.get(space.name)
    path = items if items is not None and items.kind == "trajectory" else None
    return replace(
        public,
        items_before=recoded_column.items,
        entries_before=recoded_column.entries_before,
        items_left_out=left_out,
        entries_left_out=int(vanished.sum()),
        frequent=() if path else _frequent(release, space, before, after),
        after=None if path is None else _shown_grid(release, space, path),
        before=None if path is None else _grid(path, before),
        vanished=None if path is None else _grid(path, vanished),
    )


def _supports(release: ItemRelease, space: ItemSpace) -> tuple[Ints, Ints]:
    """Records per item: of the original's items, and of those that are shown."""
    whole = release.prepared.problem.transactions.supports()[space.begin : space.begin + space.count]
    part, labels = column_of(space, release.outcome)
    return whole, np.bincount(part.codes, minlength=len(labels)).astype(np.int64)


def _vanished(release: ItemRelease, space: ItemSpace) -> Ints:
    """Per original item, the entries that the release does not show at all."""
    records = release.prepared.problem.transactions
    gone = release.outcome.entries(records) < 0
    counts = np.bincount(records.codes[gone], minlength=records.count)
    return counts[space.begin : space.begin + space.count].astype(np.int64)


def _grid(items: ItemColumn, counts: Ints) -> GridCounts:
    """Entries by the places and times of the original."""
    table = np.zeros((len(items.places), len(items.times)), np.int64)
    np.add.at(table, (items.place, items.time), counts)
    return GridCounts(places=items.places, times=items.times, counts=tuple(map(tuple, table.tolist())))


def _shown_grid(release: ItemRelease, space: ItemSpace, items: ItemColumn) -> GridCounts:
    """Readings of the release by places and times as it shows them, those first that cover the first."""
    part, labels = column_of(space, release.outcome)
    supports = np.bincount(part.codes, minlength=len(labels))
    first = _firsts(release, space)
    places: dict[str, int] = {}
    times: dict[str, int] = {}
    spots = [spot(label, space.mark) for label in labels]
    for (place, time), item in zip(spots, first, strict=True):
        places[place] = min(places.get(place, len(items.places)), int(items.place[item]))
        times[time] = min(times.get(time, len(items.times)), int(items.time[item]))
    rows = {place: n for n, place in enumerate(sorted(places, key=lambda label: (places[label], label)))}
    columns = {time: n for n, time in enumerate(sorted(times, key=lambda label: (times[label], len(label), label)))}
    table = np.zeros((len(rows), len(columns)), np.int64)
    for (place, time), many in zip(spots, supports.tolist(), strict=True):
        table[rows[place], columns[time]] += many
    return GridCounts(places=tuple(rows), times=tuple(columns), counts=tuple(map(tuple, table.tolist())))


def _firsts(release: ItemRelease, space: ItemSpace) -> list[int]:
    """For each item that is shown of a column, its first original item there."""
    recoding = release.outcome.shown
    mine = (recoding.first >= space.begin) & (recoding.first < space.begin + space.count)
    return [int(item) - space.begin for item in recoding.first[mine]]


def _frequent(
    release: ItemRelease, space: ItemSpace, before: Ints, after: Ints
) -> tuple[tuple[str, int | None, int | None], ...]:
    """The most frequent items of the original, and of the release."""
    _, labels = column_of(space, release.outcome)
    names = release.prepared.problem.transactions.labels[space.begin : space.begin + space.count]
    supports: dict[str, int | None] = {}
    for item in np.argsort(-before, kind="stable")[:MOST].tolist():
        supports[names[item]] = int(before[item])
    for item in np.argsort(-after, kind="stable")[:MOST].tolist():
        supports.setdefault(labels[item], None)
    seen = dict(zip(labels, after.tolist(), strict=True))
    return tuple((label, many, seen.get(label)) for label, many in supports.items())


def _utility(release: ItemRelease) -> ItemUtilityFacts:
    frequent_sets, changes = release.frequent, release.frequent.changes
    medians = [query.median for query in release.queries]
    return ItemUtilityFacts(
        support=frequent_sets.support,
        frequent=frequent_sets.sets.count,
        lost_share=frequent_sets.lost,
        coarser_share=frequent_sets.blurred,
        changed=int((changes > 0).sum()),
        largest_change=float(changes.max(initial=0.0)),
        ncp=release.utility["ncp"],
        queries=QUERY_COUNT * len(release.queries),
        query_median=float(np.median(medians)) if medians else None,
        query_mean=float(np.mean([query.mean for query in release.queries])) if medians else None,
        by_size=tuple((query.items, query.median, query.mean) for query in release.queries),
    )


def _sequences(release: ItemRelease) -> tuple[SequenceFacts, ...]:
    """The most frequent of the original's maximal frequent sets, longer ones first, and what became of them."""
    frequent_sets, recoding = release.frequent, release.outcome.shown
    labels = release.prepared.problem.transactions.labels
    facts = []
    for number in foremost(frequent_sets.sets):
        items = frequent_sets.sets.codes[frequent_sets.sets.starts[number] : frequent_sets.sets.starts[number + 1]]
        kept, coarser = bool(frequent_sets.kept[number]), bool(frequent_sets.coarser[number])
        names = tuple(labels[item] for item in items)
        ways = [recoding.ways(item) for item in items.tolist()] if kept and coarser else []
        as_shown = tuple(dict.fromkeys(" or ".join(recoding.labels[way] for way in item_ways) for item_ways in ways))
        facts.append(
            SequenceFacts(
                labels=names,
                before=int(frequent_sets.sets.rows[number]),
                after=int(frequent_sets.after[number]) if kept else None,
                shown=as_shown,
                spots=_spots(release, names, items),
                shown_spots=_spots(release, as_shown, items),
            )
        )
    return tuple(facts)


def _spots(release: ItemRelease, labels: tuple[str, ...], items: NDArray[np.int32] | Ints) -> tuple[Spot, ...]:
    """The places and times of a sequence, if all of its (original) items are readings of one path."""
    for space in release.prepared.problem.spaces:
        inside = (items >= space.begin) & (items < space.begin + space.count)
        if len(space.axes) == 2 and inside.all():
            return tuple(spot(label, space.mark) for label in labels)
    return ()


def summary(release: ItemRelease) -> Summary:
    """Claims in lines, what became of each column in a table, and what was lost."""
    lost, sets = release.utility["lost_frequent_sets"], release.frequent.sets.count
    claims = [
        f"Holds: {titled(claim.model, claim.parameters)}; {claim.note or f'reached {claim.reached:g}'}."
        for claim in release.claims
    ]
    return Summary(
        lines=(f"{release.rows.height:,} records, by {release.algorithm}.", *claims),
        heads=("column", "items before", "shown", "entries before", "entries shown", "shown coarser"),
        cells=tuple((c.name, c.items, c.shown, c.entries_before, c.entries, len(c.coarser)) for c in release.recoded),
        after=(
            f"Of {sets:,} maximal frequent sets (from {release.frequent.support:,} records on) {lost:.1%} are lost.",
            *warned(release.marks),
        ),
        changes=(
            ("records", release.prepared.table.rows, release.rows.height),
            *((f"different items of {c.name}", c.items, c.shown) for c in release.recoded),
            *((f"entries of {c.name}", c.entries_before, c.entries) for c in release.recoded),
        ),
    )


def figures(release: ItemRelease) -> dict[str, Any]:
    """What was made, for programs."""
    return {
        "rows": release.rows.height,
        "algorithm": release.algorithm,
        "claims": plain([claim.to_json() for claim in release.claims]),
        "utility": plain(release.utility),
        "search": dict(release.outcome.effort),
    }


# The pictures of released paths and sets with the original's figures.


def drawn(release: ItemRelease) -> Drawn:
    """Places and times, the most frequent items, frequent sequences, and what was lost."""
    facts = inside_facts(release)
    item_charts = item_pictures(facts, shown_sequences(facts))
    paths = [
        (column, () if picture is None else (*picture.panels, *picture.maps)) for column, picture in item_charts.places
    ]
    others = [(column, () if picture is None else (picture,)) for column, picture in item_charts.items]
    wide = None if item_charts.flow is None else item_charts.flow[0]
    return Drawn(
        columns=tuple(_column_charts(column, pictures) for column, pictures in (*paths, *others) if pictures),
        parts=drawn_parts(
            Frequent_sequences=[wide, item_charts.sets], What_was_lost=[item_charts.fates, item_charts.errors]
        ),
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
        model_names = {model.name for model in self.prepared.problem.models}
        parts = [
            part
            for part in catalog().models.values()
            if "items" in part.judges and part.make.name not in model_names and "sensitive" not in part.plan
        ]
        claims = []
        for part in parts:
            try:
                models = item_models(read_toml(part.plan), self.prepared.schema.sensitive)
                claims += [self._claim(model) for model in models]
            except (SfumatoError, ValueError):
                continue
        return claims

    def fitting(self) -> dict[str, Any]:
        """Each algorithm for paths and sets is begun and says what it refuses."""
        name, _, why = item_algorithm(
            replace(self.plan, algorithm=structs.replace(self.plan.algorithm, name="auto", options={}))
        )
        return fitting(
            self.plan, "items", lambda plan, work: search(Request(plan=plan, keys={}), self.prepared, work), name, why
        )

    def _claim(self, model: ItemModel) -> dict[str, Any]:
        records = self.prepared.problem.transactions
        if model.columns:
            name = model.columns[0]
            kind: Any = self.plan.columns[name].type
            records = replace(records, secret=secret_of(self.prepared.table.column(name, kind)))
        claim: dict[str, Any] = plain(item_claim(model, parameters(model), records).to_json())
        return claim


# Paths, sets and mixed records as a kind of release.


def _drawn(release: Any) -> Drawn:

    return drawn(release)


def _counted(plan: Plan, table: Table) -> Counted:

    return CountedItems(plan, table)


METHOD = Method(
    name="items",
    attacks="items",
    supports=Supports(title="a release of paths or sets", unit=True, population=True, suppression=True, itemized=True),
    needs=(("numba", "a release of paths or sets"),),
    check=problem.check,
    counted=_counted,
    read=stages.read,
    prepare=lambda request, rows: prepare_items(request.plan, rows),
    notes=stages.notes,
    search=stages.search,
    recode=stages.recode,
    judge=stages.judge,
    attack=attack.attack_records,
    artifact=ITEM_ROWS,
    manifest=stages.manifest,
    checks=lambda *bundle: item_checks(*bundle, known=problem.ItemModels()),
    subject=refused_bundle(
        "paths and sets are attacked when they are released, where it is known whose record is whose; the figures "
        "stand in its report"
    ),
    public_page=stages.public_page,
    done=lambda manifest: translated(
        "Records of paths and sets are released. Items that too few people share were left out or made coarser."
    ),
    promises=stages.promises,
    inside_page=inside_page,
    summary=summary,
    drawn=_drawn,
    figures=figures,
    draft=problem.draft,
)
