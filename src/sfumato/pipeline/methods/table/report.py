"""The public report of a table, made from its manifest and its data files alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from sfumato.algorithms.problem import Form, Trail
from sfumato.attacks.finding import Finding
from sfumato.attacks.risk import Risk
from sfumato.bundles.checks.cells import near_unique_released
from sfumato.bundles.checks.evidence import evidence, required
from sfumato.bundles.columns import Apart, Published, PublishedColumn, count_column
from sfumato.core.claims import Claim, titled
from sfumato.core.run_context import Work
from sfumato.counts.classes import Classes
from sfumato.counts.keys import total
from sfumato.counts.near_unique import asked_size
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.dates import moved_by, moved_marks
from sfumato.reports.language import count, figured, label, retold, translated
from sfumato.reports.pages import session_shown
from sfumato.reports.sentences import sentence
from sfumato.reports.table_facts import ClaimFacts, ColumnFacts, ReportFacts, UtilityFacts
from sfumato.tables.hierarchy import TOP
from sfumato.tables.schema import ObservedDomain, Role
from sfumato.tables.table import Kind, Table

if TYPE_CHECKING:
    from sfumato.counts.engine_source import EngineSource


# What was done to a quasi-identifier, in words.


_FORMS = {
    "boxes": "shown as the range or set of values of each group",
    "means": "shown as group means",
    "distributions": "shown as how many rows of each group have each value",
    "nodes": "cut through its tree: generalized by {average} of {height} levels on average, a value always alike",
    "intervals": "shown as intervals that were found for the purpose, a value always alike",
}


def done_words(level: int | None, height: int, average: float | None, form: Form) -> str:
    """What was done to a quasi-identifier; a value always alike has one label in all rows."""
    climbed = figured(f"{average or 0.0:.1f}")  # only labels of a hierarchy have one
    if form != "levels":
        return translated(_FORMS[form], average=climbed, height=height)
    if level is None:
        return translated(
            "generalized group by group, on average {average} of {height} levels", average=climbed, height=height
        )
    if level == height:
        return translated("suppressed entirely (every cell is *)")
    if not level:
        return translated("published as it was")
    return translated("generalized to level {level} of {height}", level=level, height=height)


# What was done to a table, in the report's first paragraph.


Manifest = Mapping[str, Any]
MOST = 8
"""How many columns a sentence names."""


def done(manifest: Manifest) -> str:
    """How many rows are released, which columns were made coarser, and what was left out."""
    suppression, rows = manifest["suppression"], manifest["data"]["rows"]
    before, lost = suppression["of"], suppression["rows"]
    parts = [translated("Of {before} rows, {rows} are released.", before=count(before), rows=count(rows))]
    if lost and suppression["how"] == "star":
        parts.append(translated("{n} rows are shown without their quasi-identifiers.", n=count(lost)))
    return " ".join([*parts, *_columns_summary(manifest)])


def _columns_summary(manifest: Manifest) -> list[str]:
    """Which quasi-identifiers were made coarser, and which are as they were."""
    if manifest["data"].get("apart") is not None:
        return [translated("Quasi-identifiers are as they were; sensitive values stand apart from them, by group.")]
    stated = manifest["recoding"]["columns"]
    same = [name for name, column in stated.items() if column.get("level") == 0]
    coarser = [name for name in stated if name not in same]
    shared = translated(
        "Made coarser, so that several people share the same values: {columns}.", columns=_named(coarser)
    )
    return [
        *([shared] if coarser else []),
        *([translated("As it was: {columns}.", columns=_named(same))] if same else []),
    ]


def _named(names: Sequence[str]) -> str:
    """Columns as a sentence lists them; of many, the first."""
    labels = [label(name) for name in names[: len(names) if len(names) <= MOST else MOST - 1]]
    more = [] if len(names) == len(labels) else [translated("{n} more", n=count(len(names) - len(labels)))]
    return ", ".join([*labels, *more])


# The report that a bundle hands out: a function of its manifest and its data files, and of nothing else.
#
# So it can show nothing that they do not, and ``verify`` makes the page again and compares.


Distribution = tuple[tuple[str, int], ...]


def public_page(manifest: Manifest, tables: Mapping[str, Any], work: Work) -> str:
    """The report as one HTML page."""
    from sfumato.reports.table import render

    return render(public_facts(manifest, tables), work)


def public_facts(manifest: Manifest, tables: Mapping[str, Any]) -> ReportFacts:
    """Everything that the report of a bundle shows."""
    published, suppression = Published.from_json(manifest["data"]), manifest["suppression"]
    table = tables["data"]
    classes = evidence(table, published)
    sizes, counts = np.unique(required(classes, published).by_people().sizes, return_counts=True)
    claims = [Claim.from_json(claim) for claim in manifest["claims"]]
    k = asked_size(claim.parameters for claim in claims)
    trail = manifest["trail"]
    return ReportFacts(
        title="Release report",
        made=str(manifest["made"]),
        version=str(manifest["sfumato"]),
        inside=False,
        rows_before=suppression["of"],
        rows_after=table.rows,
        rows_suppressed=suppression["rows"],
        suppressed_how=suppression["how"],
        suppressed_limit=suppression["limit"],
        claims=tuple(_claim(claim, people=published.unit is not None) for claim in claims),
        smallest_class=manifest["smallest_class"],
        columns=tuple(_columns(manifest, published, tables, classes)),
        class_sizes=tuple((int(size), int(count)) for size, count in zip(sizes, counts, strict=True)),
        risk_before=None,
        risk_after=Risk(**manifest["risk"]),
        utility=utility_facts(manifest["utility"], manifest["plan"]["utility"]["metric"]),
        metric=manifest["plan"]["utility"]["metric"],
        algorithm=manifest["recoding"]["algorithm"],
        why=manifest["recoding"]["why"],
        findings=tuple(map(Finding.from_json, manifest["attacks"])),
        skipped_attacks=manifest["attacks_not_made"],
        proven=manifest["search"]["proven_optimal"],
        trail=None if trail is None else Trail.from_json(trail),
        marks=tuple(_marks(manifest, published)),
        unit=published.unit,
        people_before=suppression.get("people_of"),
        people_suppressed=suppression.get("people"),
        near_unique=near_unique_released(table, published.schema.roles, k),
        session=session_shown(manifest.get("session")),
    )


def _claim(claim: Claim, *, people: bool) -> ClaimFacts:
    meaning, limits = catalog().explained(claim.model, claim.parameters, people=people)
    title = retold(titled(claim.model, claim.parameters))
    return ClaimFacts(claim=claim, title=title, meaning=meaning, limits=limits, people=people)


def utility_facts(measured: Mapping[str, Any], metric: str) -> tuple[UtilityFacts, ...]:
    """Metrics with their scales."""
    parts = catalog()
    return tuple(
        UtilityFacts(
            name=name,
            value=float(value),
            better=parts.metrics[name].make.direction,
            low=parts.metrics[name].make.low,
            high=parts.metrics[name].make.high,
            chosen=name == metric,
            meaning=translated(parts.metrics[name].meaning),
        )
        for name, value in measured.items()
    )


def _marks(manifest: Manifest, published: Published) -> list[str]:
    marks = [sentence(retold(mark)) for mark in manifest["marks"]]
    keyed = [name for name, spec in manifest["plan"]["columns"].items() if "pseudonym" in spec]
    if keyed:
        words = "Pseudonymized, not anonymized: {columns}. Whoever holds the key can name these people."
        marks.append(translated(words, columns=", ".join(keyed)))
    marks += moved_marks(manifest)
    if published.apart is not None:
        marks.append(
            translated(
                "Bucketized: quasi-identifiers are published as they were, so whoever knows them finds the row. What "
                "is hidden is which of its group's sensitive values is whose."
            )
        )
    left_out = manifest["suppression"].get("left_out")
    if left_out:
        marks.append(translated("{n} rows with missing values were left out before anything else.", n=count(left_out)))
    if published.exempt and manifest["suppression"]["rows"]:
        marks.append(
            translated("Suppressed rows are published as * and were exempted from the requirement by the plan.")
        )
    return marks


def _columns(
    manifest: Manifest, published: Published, tables: Mapping[str, Any], classes: Classes
) -> list[ColumnFacts]:
    """Column by column in the order of the plan, with what the plan does not name at the end."""
    columns = {column.name: column for column in published.columns}
    plan, apart = manifest["plan"]["columns"], published.apart
    return [_column(name, manifest, (columns, apart), tables, classes) for name in dict.fromkeys([*plan, *columns])]


def _column(
    name: str,
    manifest: Manifest,
    published_parts: tuple[Mapping[str, PublishedColumn], Apart | None],
    tables: Mapping[str, Any],
    classes: Classes,
) -> ColumnFacts:
    (columns, apart), planned = published_parts, manifest["plan"]["columns"].get(name, {"role": str(Role.KEEP)})
    if apart is not None and name == apart.column.name:
        counted = _values_apart(tables["sensitive"], name)
        done = translated("published apart by {group}, in the file of sensitive values", group=apart.group)
        return ColumnFacts(
            name=name, role="sensitive", done=done, distinct_after=len(counted), before=counted, after=counted
        )
    if name not in columns:
        return ColumnFacts(name=name, role=str(planned["role"]), done=translated("not published"))
    role = columns[name].role
    if role is Role.QUASI:
        return _quasi(columns[name], manifest, classes)
    moved = moved_by(planned)
    if role in _DONE:
        return ColumnFacts(name=name, role=str(role), done=moved or translated(_DONE[role]))
    after = distribution(_domain(tables["data"], name, columns[name].kind))
    whole = not manifest["suppression"]["rows"]
    return ColumnFacts(
        name=name,
        role=str(role),
        done=moved or translated("published unchanged"),
        distinct_before=len(after) if whole else None,
        distinct_after=len(after),
        before=after if whole else (),
        after=after,
    )


def _domain(table: Table | EngineSource, name: str, kind: Kind) -> ObservedDomain:
    return ObservedDomain.of(table.column(name, kind)) if isinstance(table, Table) else table.domain(name, kind)


_DONE = {
    Role.UNIT: "replaced by a random number for each person in each group",
    Role.IDENTIFIER: "replaced by a keyed pseudonym",
    Role.KEEP: "published unchanged",
}


def _values_apart(sensitive: Table, name: str) -> Distribution:
    """The sensitive values of all groups together, in the order of the values."""
    values, counts = sensitive.column(name), sensitive.frame[count_column(name)].cast(pl.String).cast(pl.Int64)
    many = total(values.codes.astype(np.int64), counts.to_numpy(), len(values.values))
    return tuple(sorted((value, int(count)) for value, count in zip(values.values, many, strict=True) if count))


def _quasi(column: PublishedColumn, manifest: Manifest, classes: Classes) -> ColumnFacts:
    name = column.name
    stated = manifest["recoding"]["columns"][name]
    level, height = stated.get("level"), int(stated["of"])
    counts = label_rows(classes, name)
    after = tuple((label, counts[label]) for label in dict.fromkeys([*stated["labels"], *counts]) if label in counts)
    declared = "total" in stated and not stated["continuous"]
    return ColumnFacts(
        name=name,
        role="guarded" if column.guarded else "quasi",
        done=done_words(level, height, _climbed(stated["labels"], counts, height), stated.get("form", "levels")),
        level=level,
        height=height,
        loss=_loss(stated, counts, manifest["suppression"]),
        distinct_before=int(stated["total"]) if declared else None,
        distinct_after=len(after),
        before=after if level is not None and not manifest["suppression"]["rows"] else (),
        after=after,
    )


def label_rows(classes: Classes, name: str) -> dict[str, int]:
    """How many released rows show each label of a quasi-identifier, in the order of the labels."""
    place = classes.quasi.index(name)
    rows = total(classes.keys[place].astype(np.int64), classes.sizes, len(classes.labels[place]))
    return {label: int(many) for label, many in zip(classes.labels[place], rows, strict=True) if many}


def column_loss(counts: Mapping[str, int], cost: Mapping[str, float], removed: int) -> float:
    """The share of what a column could tell that is lost; a row that was removed costs 1, as an unknown label does."""
    lost = sum(many * cost.get(label, 1.0) for label, many in counts.items())
    return float((lost + removed) / max(sum(counts.values()) + removed, 1))


def label_costs(sizes: Mapping[str, float], whole: float, *, continuous: bool) -> dict[str, float]:
    """What each label costs: (s - 1) / (c - 1) for one that covers s of the c values that all labels cover together.

    Of a continuous column, lengths count in place of values, and a single value has none.
    """
    leaf = 0.0 if continuous else 1.0
    covered = min(sum(sizes.values()), whole) - leaf
    if covered <= 0:
        return dict.fromkeys(sizes, 0.0)
    return {label: float(np.clip((size - leaf) / covered, 0.0, 1.0)) for label, size in sizes.items()}


def _loss(stated: Mapping[str, Any], counts: Mapping[str, int], suppression: Mapping[str, Any]) -> float | None:
    """The loss of a column where the bundle states how much its labels cover, or all or nothing is lost."""
    removed = suppression["rows"] if suppression["how"] == "remove" else 0
    steps = {label: step for label, step in stated["labels"].items() if label in counts}
    if "sizes" in stated:
        sizes = {label: float(size) for label, size in stated["sizes"].items() if label in counts}
        return column_loss(counts, label_costs(sizes, float(stated["total"]), continuous=stated["continuous"]), removed)
    if all(step == 0 for step in steps.values()):
        return column_loss(counts, dict.fromkeys(steps, 0.0), removed)
    return 1.0 if len(counts) == 1 else None


def _climbed(steps: Mapping[str, float | None], counts: Mapping[str, int], height: int) -> float | None:
    """By how many levels a released cell was generalized on average; None where that is not public."""
    if None in steps.values():
        return None
    climbed = sum(many * float(steps.get(label) or (height if label == TOP else 0)) for label, many in counts.items())
    return climbed / max(sum(counts.values()), 1)


def distribution(domain: ObservedDomain) -> Distribution:
    """Rows per value; many different days are shown by year."""
    if domain.kind == "date" and len(domain.values) > 40:
        years: dict[str, int] = {}
        for value, count in zip(domain.values, domain.counts, strict=True):
            years[value[:4]] = years.get(value[:4], 0) + int(count)
        return tuple(years.items())
    return tuple((value, int(count)) for value, count in zip(domain.labels, domain.all_counts, strict=True) if count)
