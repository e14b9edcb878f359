"""Rebuilds classes from released rows, and judges privacy models on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.bundles.columns import Apart, Published, count_column
from sfumato.core.claims import Claim
from sfumato.counts.classes import Classes
from sfumato.counts.local_table import cells
from sfumato.counts.tally import Tally
from sfumato.counts.wildcards import as_wildcards
from sfumato.models.model import Model, Reading, judge, worse
from sfumato.tables.hierarchy import TOP
from sfumato.tables.schema import ObservedDomain, Role
from sfumato.tables.table import Column, Kind, Table

if TYPE_CHECKING:
    from sfumato.counts.engine_source import EngineSource


# From released rows to classes, by what the manifest says about the columns and by nothing else.


def evidence(table: Table | EngineSource, published: Published, *, counted: Sequence[str] = ()) -> Classes:
    """The equivalence classes of released rows, with histograms of the sensitive, target and ``counted`` columns."""
    kinds = {column.name: column.kind for column in published.columns}
    roles = (Role.SENSITIVE, Role.TARGET)
    wanted = [name for name, role in published.schema.roles.items() if role in roles or name in counted]
    wanted = [name for name in wanted if name in table.names]
    if not isinstance(table, Table):
        return _counted(table, published, {name: kinds[name] for name in wanted})
    quasi = [table.column(name, "text") for name in published.schema.quasi]
    if published.population:
        quasi = [_widened(c, {labels[place] for labels, _ in published.population}) for place, c in enumerate(quasi)]
    unit = None if published.unit is None else table.column(published.unit, "text")
    grouped = cells(quasi, [table.column(name, kinds[name]) for name in wanted], stars=TOP, unit=unit).classes
    return replace(grouped, population=_population(grouped, published))


def _counted(rows: EngineSource, published: Published, counted: Mapping[str, Kind]) -> Classes:
    """The same from an engine, which counts the rows where they are."""
    quasi = [rows.domain(name, "text") for name in published.schema.quasi]
    if published.population:
        quasi = [_wider(d, {labels[place] for labels, _ in published.population}) for place, d in enumerate(quasi)]
    grouped = rows.cells(quasi, [rows.domain(name, kind) for name, kind in counted.items()])
    stars = [np.array([label == TOP for label in labels], np.bool_) for labels in grouped.labels]
    wild = grouped.wild or [np.zeros(len(labels), np.bool_) for labels in grouped.labels]
    both = tuple(np.asarray(mask | other) for mask, other in zip(wild, stars, strict=True))
    grouped = replace(grouped, wild=both)
    return replace(grouped, population=_population(grouped, published))


def _wider(domain: ObservedDomain, labels: set[str]) -> ObservedDomain:
    """The domain with labels that only the population has."""
    more = sorted(labels - set(domain.labels))
    return replace(
        domain, values=(*domain.values, *more), counts=np.append(domain.counts, np.zeros(len(more), np.int64))
    )


def groups_apart(table: Table, sensitive: Table, apart: Apart) -> Classes:
    """The groups of a bucketized release as classes, with the histogram that the sensitive table gives them.

    The sizes are those of the rows; whether both tables count alike is another question (``counted_alike``).
    """
    rows, lines = table.column(apart.group, "text"), sensitive.column(apart.group, "text")
    number = {name: code for code, name in enumerate(rows.values)}
    owners = np.array([number.get(name, -1) for name in lines.values], np.int64)[lines.codes]
    values = sensitive.column(apart.column.name, apart.column.kind)
    counts = sensitive.frame[count_column(apart.column.name)].cast(pl.String).cast(pl.Int64).to_numpy()
    known = np.flatnonzero(owners >= 0)
    known = known[np.lexsort((values.codes[known], owners[known]))]
    tally = Tally(
        column=apart.column.name,
        values=values.values,
        owners=owners[known],
        codes=values.codes[known],
        counts=counts[known].astype(np.int64),
        classes=len(rows.values),
        missing=values.missing,
        numbers=None if values.kind in ("text", "category") else values.numbers,
    )
    return Classes(
        quasi=(apart.group,),
        keys=np.arange(len(rows.values), dtype=np.int32)[None, :],
        labels=(rows.values,),
        sizes=rows.counts,
        tallies={apart.column.name: tally.merged(np.arange(len(rows.values), dtype=np.int64), len(rows.values))},
    )


def counted_alike(groups: Classes, sensitive: Table, apart: Apart) -> bool:
    """Whether the sensitive table has one line per group and value, and as many values in each group as rows."""
    tally = groups.tally(apart.column.name)
    lines = sensitive.frame.select(apart.group, apart.column.name)
    counts = sensitive.frame[count_column(apart.column.name)].cast(pl.String).cast(pl.Int64)
    once = not bool(lines.is_duplicated().any()) and bool((counts > 0).all())
    held = np.zeros(groups.count, np.int64)
    np.add.at(held, tally.owners, tally.counts)
    return once and int(counts.sum()) == groups.rows and bool((held == groups.sizes).all())


def all_stars(classes: Classes) -> NDArray[np.bool_]:
    """Which classes have nothing but ``*``: the published group of suppressed rows."""
    stars = np.ones(classes.count, np.bool_)
    for codes, names in zip(classes.keys, classes.labels, strict=True):
        stars &= np.array([name == TOP for name in names], np.bool_)[codes]
    return stars if classes.quasi else ~stars


def required(classes: Classes, published: Published) -> Classes:
    """The classes that must meet the requirement: all, unless suppressed rows are exempt."""
    stars = all_stars(classes)
    if not published.exempt or not stars.any() or stars.all():
        return classes
    kept = {
        name: replace(t, original=t.overall if t.original is None else t.original)
        for name, t in classes.tallies.items()
    }
    return replace(classes, tallies=kept).take(~stars)


def _widened(column: Column, labels: set[str]) -> Column:
    """The column with codes for labels that only the population has."""
    more = sorted(labels - set(column.values))
    return replace(column, values=(*column.values, *more))


def _population(classes: Classes, published: Published) -> Classes | None:
    if not published.population:
        return None
    index = [{name: code for code, name in enumerate(names)} for names in classes.labels]
    keys = [[index[c][labels[c]] for labels, _ in published.population] for c in range(len(classes.quasi))]
    return Classes(
        quasi=classes.quasi,
        keys=np.array(keys, np.int32).reshape(len(classes.quasi), len(published.population)),
        labels=classes.labels,
        sizes=np.array([rows for _, rows in published.population], np.int64),
    )


# Judging models on evidence: from classes to claims.


def claim(model: Model, parameters: Mapping[str, Any], classes: Classes, reading: Reading) -> Claim:
    """What the classes show about a model, under both readings of unknown cells."""
    value = judge(model, classes, "value")
    wildcard = judge(model, classes, "wildcard")
    deciding = {"value": value, "wildcard": wildcard}.get(reading) or worse(value, wildcard)
    return Claim(
        model=model.name,
        parameters=parameters,
        holds=deciding.holds,
        sense=deciding.sense,
        limit=deciding.limit,
        reading=reading,
        as_value=value.reached,
        as_wildcard=wildcard.reached,
        classes_failing=len(deciding.failing),
        note=deciding.note,
    )


def smallest(classes: Classes) -> dict[str, int]:
    """The size of the smallest class under both readings of unknown cells, in people where these are counted."""
    sizes = {"value": classes.by_people().sizes, "wildcard": as_wildcards(classes).sizes}
    return {reading: int(class_sizes.min()) if classes.count else 0 for reading, class_sizes in sizes.items()}
