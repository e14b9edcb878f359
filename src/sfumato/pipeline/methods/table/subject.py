"""A released table as an attacker finds it, with the people behind it, whole or as sampled groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.labels import coverage_of
from sfumato.attacks.subject import PERSON, Coverage, Several, Subject, with_all_rows
from sfumato.bundles.columns import Published
from sfumato.bundles.verify import read_released
from sfumato.core.errors import DataError, PlanError, listed, unknown_column
from sfumato.core.randomness import Chance
from sfumato.core.short_repr import Brief
from sfumato.counts.classes import Classes
from sfumato.counts.keys import distinct
from sfumato.counts.sources import CellMapping
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.dates import shifts_of
from sfumato.pipeline.methods.table.release import TableRelease, kept
from sfumato.pipeline.plan.hierarchies import builder
from sfumato.pipeline.plan.plan import Plan
from sfumato.tables.hierarchy import TOP, Hierarchy
from sfumato.tables.schema import ObservedDomain, Role, Schema, narrowed
from sfumato.tables.table import Column, Table, as_text

if TYPE_CHECKING:
    from sfumato.counts.engine_source import EngineSource


# A part of a large release for attacks: whole groups that are drawn at random, and the people behind them.
#
# A random sample of single rows would make every group look smaller than it is, and attacks stronger than they are. So
# groups are drawn, each with the same chance, until so many rows are reached, and every row of them is taken. A group
# of more rows than that is never drawn: whoever is in it is one of more people than the sample has.


ROWS = 100_000
"""How many released rows are attacked at most where they stay in files."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SampledGroups(Brief):
    """Some whole groups of a release."""

    rows: pl.DataFrame
    """Their released rows, as texts."""
    people: CellMapping
    """Which rows of the original are theirs: all others are suppressed in it."""
    told: str
    """What a reader must know about attacks on them."""


def sampled_groups(release: TableRelease, chance: Chance, *, most: int = ROWS) -> SampledGroups | None:
    """Random groups with at most so many rows together; None where every group is larger."""
    chosen = drawn_groups(release.classes, chance, most=most)
    if release.parts is None or chosen is None:
        return None
    rows = whole_groups(release.parts.source, release.classes, chosen)
    return SampledGroups(
        rows=rows, people=_behind(release, chosen), told=told_sample(release.classes, chosen, release.height)
    )


def drawn_groups(classes: Classes, chance: Chance, *, most: int = ROWS) -> NDArray[np.bool_] | None:
    """Which groups are drawn, each with the same chance, so that they have at most so many rows together."""
    order = chance.generator().permutation(np.flatnonzero(classes.sizes <= most))
    drawn = order[classes.sizes[order].cumsum() <= most]
    chosen = np.zeros(classes.count, np.bool_)
    chosen[drawn] = True
    return chosen if len(drawn) else None


def whole_groups(source: EngineSource, classes: Classes, chosen: NDArray[np.bool_]) -> pl.DataFrame:
    """All released rows of some groups, as texts."""
    missing = [source.domain(name, "text").missing is not None for name in classes.quasi]
    plain = replace(classes, wild=tuple(map(_last, map(len, classes.labels), missing)))
    mapping = CellMapping(cells=plain, labels=plain.labels, shown=plain.keys, suppressed=~chosen)
    return source.texts(source.names, mapping)


def told_sample(classes: Classes, chosen: NDArray[np.bool_], rows: int) -> str:
    """What a reader must know about attacks on some groups of so many rows."""
    return (
        f"on {int(classes.sizes[chosen].sum()):,} of {rows:,} released rows: {int(chosen.sum()):,} of "
        f"{classes.count:,} groups, drawn at random and whole; the intervals are about these groups"
    )


def _last(labels: int, missing: bool) -> NDArray[np.bool_]:
    """Which label means a missing value: the last one, where there is any."""
    return np.asarray(np.arange(labels) == (labels - 1 if missing else -1))


def _behind(release: TableRelease, chosen: NDArray[np.bool_]) -> CellMapping:
    """The mapping of the release, in which every cell that is not in a chosen group is suppressed."""
    mapping, starred = release.recoding.mapping, release.recoding.rows == "star"
    group = _groups(mapping, release.classes, starred=starred)
    inside = (group >= 0) & chosen[group] & (starred | ~mapping.suppressed)
    return replace(mapping, suppressed=~inside)


def _groups(mapping: CellMapping, classes: Classes, *, starred: bool) -> NDArray[np.int64]:
    """The released group that each cell is in, -1 for none."""
    keys = []
    for place, labels in enumerate(classes.labels):
        number = {label: code for code, label in enumerate(labels)}
        of_label = np.array([number.get(label, -1) for label in mapping.labels[place]], np.int32)
        code = of_label[mapping.shown[place]]
        keys.append(np.where(mapping.suppressed & starred, np.int32(number.get(TOP, -1)), code))
    known = np.flatnonzero((np.stack(keys) >= 0).all(axis=0))
    joint = np.concatenate([classes.keys, np.stack(keys)[:, known].astype(np.int32)], axis=1)
    ids, count = distinct(list(joint), [len(labels) for labels in classes.labels], joint.shape[1])
    place_of = np.full(count, -1, np.int64)
    place_of[ids[: classes.count]] = np.arange(classes.count)
    group_numbers = np.full(mapping.cells.count, -1, np.int64)
    group_numbers[known] = place_of[ids[classes.count :]]
    return group_numbers


# A release as an attacker finds it, with the people behind it as only the steward knows them.


Claims = Sequence[tuple[str, Mapping[str, Any]]]


def release_subject(
    release: TableRelease, *, control: Table | None = None, drawn: SampledGroups | None = None
) -> Subject:
    """A release that was just made, or some groups of it; its own rows and hierarchies are at hand.

    Behind it are the people whose rows it shows: nobody who was removed can move what an attack finds.
    """
    prepared = release.prepared
    names = prepared.problem.cells.quasi
    public = prepared.public
    hierarchies = dict(zip(names, public.problem.hierarchies, strict=True))
    forms = release.outcome.recoding(prepared.problem).forms
    watched = (*names, *prepared.schema.sensitive)
    others = beside_quasi(release.published, release.rows)
    wanted = tuple(dict.fromkeys((*watched, *others)))
    unit, chance = prepared.unit, Chance(seed=release.plan.algorithm.seed)
    together = release.plan.attack.group
    column_names = dict.fromkeys((*wanted, *(name for name in (unit, together) if name is not None)))
    missing = release.published.missing
    behind_it = kept(release) if drawn is None else drawn.people
    people, everyone = _once(prepared.source.texts(tuple(column_names), behind_it), unit, chance, missing)
    domains = {name: narrowed(public.domains[name], set(everyone[name].unique())) for name in watched}
    other_domains = {
        name: domains.get(name)
        or narrowed(prepared.source.domain(name, _kind(release.plan, name)), set(everyone[name].unique()))
        for name in others
    }
    rows, released = _once(release.rows if drawn is None else drawn.rows, unit, chance)
    subject = _subject(
        rows,
        release.published,
        (domains, other_domains),
        hierarchies,
        people=people,
        several=None if unit is None else (released, everyone),
        reading=prepared.problem.reading,
        claims=[(claim.model, claim.parameters) for claim in release.claims],
        algorithm=release.algorithm,
        groups=release.sensitive,
        control=control,
        trees={
            **{name: _paths(tree, public.domains[name], domains[name]) for name, tree in hierarchies.items()},
            **_trees(release.plan, {name: domains[name] for name in prepared.schema.sensitive}),
        },
    )
    means = frozenset(n for n, form in zip(names, forms, strict=False) if form == "means")
    return replace(subject, means=means, together=together, unit=unit, shifts=release.shifts)


def bundle_subject(
    folder: Path, manifest: Mapping[str, Any], original: Table, *, control: Table | None, plan: Plan | None
) -> Subject:
    """A bundle with its original; the plan's hierarchies tell what labels cover, where those do not tell it."""
    published = Published.from_json(manifest["data"])
    rows = read_released(folder / str(manifest["data"]["file"]), manifest, published.missing).frame
    groups = None
    if published.apart is not None:
        groups = read_released(folder / str(manifest["data"]["apart"]["file"]), manifest, published.missing).frame
    schema, original = published.schema, behind(manifest, original)
    other_columns = beside_quasi(published, rows)
    needed = schema.named(Role.QUASI, Role.SENSITIVE)
    columns = {}
    for name in dict.fromkeys((*needed, *(name for name in other_columns if name in original.names))):
        if name not in original.names:
            raise unknown_column(name, original.names, where="--original")
        columns[name] = original.column(name, None if plan is None else _kind(plan, name))
    every = {name: ObservedDomain.of(column) for name, column in columns.items()}
    domains = {name: every[name] for name in needed}
    people, everyone = _persons(manifest, original, columns)
    rows, released = _once(rows, published.unit, Chance(seed=0))
    known = domains, {name: every[name] for name in other_columns if name in every}
    several = None if published.unit is None else (released, everyone)
    subject = stated_subject(
        rows, manifest, known, people=people, several=several, groups=groups, control=control, plan=plan
    )
    return (
        subject if plan is None else replace(subject, shifts=shifts_of(plan, original.frame.select, original.missing))
    )


def stated_subject(
    rows: pl.DataFrame,
    manifest: Mapping[str, Any],
    known: tuple[Mapping[str, ObservedDomain], Mapping[str, ObservedDomain]],
    *,
    people: pl.DataFrame,
    several: tuple[pl.DataFrame, pl.DataFrame] | None = None,
    groups: pl.DataFrame | None,
    control: Table | None,
    plan: Plan | None,
) -> Subject:
    """Rows of a bundle, and what its manifest states about them; ``known`` are the domains of people's columns."""
    published, (domains, other_domains) = Published.from_json(manifest["data"]), known
    subject = _subject(
        rows,
        published,
        known,
        {name: planned_hierarchy(plan, domains[name]) for name in published.schema.quasi},
        people=people,
        several=several,
        reading=manifest["plan"]["privacy"].get("reading", "strict"),
        claims=[(str(claim["model"]), claim["parameters"]) for claim in manifest["claims"]],
        algorithm=str(manifest["recoding"]["algorithm"]),
        groups=groups,
        control=control,
        trees={} if plan is None else _trees(plan, domains),
    )
    stated = manifest["recoding"]["columns"]
    means = frozenset(n for n, column in stated.items() if column.get("form") == "means")
    left_out = tuple(name for name in beside_quasi(published, rows) if name not in {**domains, **other_domains})
    return replace(subject, means=means, left_out=left_out, unit=published.unit)


def _once(
    rows: pl.DataFrame, unit: str | None, chance: Chance, missing: Sequence[str] = ()
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """One row of each person, and all rows; twice the rows where each is a person."""
    return (rows, rows) if unit is None else with_all_rows(rows, unit, chance, missing)


def _persons(
    manifest: Mapping[str, Any], original: Table, columns: Mapping[str, Column]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The people of the original, each by one row where the release counts people, and all of their rows."""
    unit = manifest["plan"]["input"].get("unit")
    texts = [column.texts for column in columns.values()]
    if unit is None:
        return pl.DataFrame(texts), pl.DataFrame(texts)
    if unit not in original.names:
        raise unknown_column(unit, original.names, where="--original")
    rows = pl.DataFrame([*texts, original.column(unit, "text").texts])
    return with_all_rows(rows, unit, Chance(seed=0), original.missing)


def behind(manifest: Mapping[str, Any], original: Table) -> Table:
    """The rows of the original that a release was made from: without missing values, where those were dropped."""
    if manifest["plan"]["input"].get("on_missing") != "drop":
        return original
    published = Published.from_json(manifest["data"])
    return _complete(original, published.schema, published.missing)


def _complete(table: Table, schema: Schema, missing: tuple[str, ...]) -> Table:
    """The rows that a release without missing values was made from."""
    read_so = replace(table, missing=missing)
    kept = np.ones(table.rows, np.bool_)
    for name in schema.named(Role.QUASI, Role.SENSITIVE, Role.TARGET):
        if name in table.names:
            kept &= ~read_so.is_missing(name).to_numpy()
    return replace(read_so, frame=table.frame.filter(pl.Series(kept)))


def _subject(
    rows: pl.DataFrame,
    published: Published,
    known: tuple[Mapping[str, ObservedDomain], Mapping[str, ObservedDomain]],
    hierarchies: Mapping[str, Hierarchy | None],
    *,
    people: pl.DataFrame,
    several: tuple[pl.DataFrame, pl.DataFrame] | None,
    reading: str,
    claims: Claims,
    algorithm: str,
    groups: pl.DataFrame | None,
    control: Table | None,
    trees: Mapping[str, Mapping[str, tuple[str, ...]]],
) -> Subject:
    (domains, other_domains), schema = known, published.schema
    missing = published.missing[0] if published.missing else ""
    released_cells = rows.select(
        _text(rows[name], published.missing, plain=name in other_domains) for name in _readable(rows) if name != PERSON
    )
    coverage = {}
    for name in schema.quasi:
        values = domains[name].labels if control is None else _both(domains[name], control)
        labels = released_cells[name].unique().cast(pl.String).sort().to_list()
        coverage[name] = _read(name, labels, values, hierarchies.get(name))
    return Subject(
        release=released_cells,
        quasi=schema.quasi,
        sensitive=schema.sensitive,
        guarded=schema.guarded,
        beside=tuple(other_domains),
        coverage=coverage,
        people=people,
        control=None if control is None else _people(control, tuple(domains), tuple(other_domains), missing),
        claims=tuple(claims),
        algorithm=algorithm,
        groups=groups if groups is None else groups.select(pl.all().cast(pl.String)),
        group=None if published.apart is None else published.apart.group,
        trees=trees,
        numeric=frozenset(
            n for n, domain in {**other_domains, **domains}.items() if domain.kind in ("integer", "real")
        ),
        readers=catalog().readers,
        several=None if several is None else _several(*several, published, other_domains),
        exempt=published.exempt or reading == "wildcard",
    )


def _several(
    rows: pl.DataFrame, people: pl.DataFrame, published: Published, other_domains: Mapping[str, ObservedDomain]
) -> Several:
    """All rows of people who have several, as the attacks read them."""
    names = [name for name in published.schema.sensitive if name in _readable(rows)]
    values = [_text(rows[name], published.missing, plain=name in other_domains) for name in names]
    return Several(release=pl.DataFrame([rows[PERSON], *values]), people=people)


def beside_quasi(published: Published, rows: pl.DataFrame) -> tuple[str, ...]:
    """The released columns that are neither quasi-identifiers nor pseudonyms, and that somebody may know."""
    named = published.schema.named(Role.SENSITIVE, Role.TARGET, Role.KEEP)
    return tuple(name for name in named if name in _readable(rows))


def _readable(rows: pl.DataFrame) -> list[str]:
    """The columns with one value a cell; lists and the like are read by no attack on tables."""
    return [
        name for name, dtype in rows.schema.items() if not dtype.is_nested() and dtype not in (pl.Binary, pl.Object)
    ]


def _text(cells: pl.Series, missing: Sequence[str], *, plain: bool) -> pl.Series:
    """Released cells as text, encoded where they are; columns that are shown as they are have one missing marker."""
    if not plain and cells.dtype == pl.Categorical and not cells.null_count():
        return cells
    texts, mark = as_text(cells) if plain else cells.cast(pl.String), missing[0] if missing else ""
    if plain and len(missing) > 1:
        texts = texts.set(texts.is_in(list(missing)).fill_null(value=False), mark)
    return texts.fill_null(mark)


def _read(name: str, labels: list[str], values: Sequence[str], hierarchy: Hierarchy | None) -> Coverage:
    """What the labels of a column mean; one that covers nobody cannot be read."""
    coverage = coverage_of(labels, values, hierarchy)
    blank = [label for label, covers in zip(coverage.labels, coverage.covers, strict=True) if not covers.any()]
    if blank and hierarchy is None:
        raise PlanError(
            f"column {name!r}: {listed(blank, most=3)} covers nobody in the original; is it the table that the "
            "bundle was made from? Where a label does not say which values it covers, name the plan with its "
            "hierarchies (--plan)"
        )
    return coverage


def _people(table: Table, names: Sequence[str], other_columns: Sequence[str], missing: str) -> pl.DataFrame:
    """Control people with the columns that the release is about, and those of the others that they have."""
    for name in names:
        if name not in table.names:
            raise unknown_column(name, table.names, where="the control file")
    if not table.rows:
        raise DataError(f"{table.source} has no rows; a control run needs some")
    there = dict.fromkeys((*names, *(name for name in other_columns if name in table.names)))
    texts = [table.column(name).texts for name in there]
    return pl.DataFrame(texts).with_columns(pl.all().fill_null(missing))


def _both(domain: ObservedDomain, control: Table) -> list[str]:
    """The values of the people and of the control people."""
    theirs = control.column(domain.column).values if domain.column in control.names else ()
    return list(dict.fromkeys((*domain.labels, *theirs)))


def _kind(plan: Plan, name: str) -> Any:
    return plan.columns[name].type if name in plan.columns else None


def planned_hierarchy(plan: Plan | None, domain: ObservedDomain) -> Hierarchy | None:
    """The hierarchy that a plan gives a column, if there is a plan and it gives one."""
    tree = plan.columns[domain.column].hierarchy if plan is not None and domain.column in plan.columns else None
    if tree is None or plan is None:
        return None
    return builder(tree, f"columns.{domain.column}.hierarchy", plan.folder).build(domain)


def _trees(plan: Plan, domains: Mapping[str, ObservedDomain]) -> dict[str, dict[str, tuple[str, ...]]]:
    """What lies above the values of columns that the plan gives a tree."""
    built = {name: (planned_hierarchy(plan, domain), domain) for name, domain in domains.items()}
    return {name: _paths(tree, domain) for name, (tree, domain) in built.items() if tree is not None}


def _paths(
    hierarchy: Hierarchy, domain: ObservedDomain, kept: ObservedDomain | None = None
) -> dict[str, tuple[str, ...]]:
    """What lies above each value (that is kept), nearest first, without the top."""
    levels, known = hierarchy.levels[1:-1], frozenset((kept or domain).labels)
    return {
        value: tuple(level.labels[level.parent[code]] for level in levels)
        for code, value in enumerate(domain.labels)
        if value in known
    }
