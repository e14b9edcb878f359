"""Attacks on a written bundle of many files, in bounded memory: on whole groups that are drawn at random.

DuckDB counts the parts, and an engine counts the original. Behind the drawn groups are the people of the original whose
values their labels cover; nobody else's row leaves the engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.labels import coverage_of
from sfumato.bundles.checks.evidence import all_stars, evidence
from sfumato.bundles.columns import Published
from sfumato.bundles.part_counts import counted_parts
from sfumato.core.errors import PlanError, unknown_column
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.counts.classes import Classes
from sfumato.counts.keys import distinct
from sfumato.counts.local_table import LocalTable
from sfumato.counts.sources import CellMapping, CellSource
from sfumato.pipeline.attack import attacked
from sfumato.pipeline.inputs import (
    duckdb_reads,
    frame_source,
    is_relation,
    is_spark,
    load_table,
    planned_source,
    without_nan,
)
from sfumato.pipeline.methods.method import Audit
from sfumato.pipeline.methods.table.stages import none_drawn, told_of
from sfumato.pipeline.methods.table.subject import (
    drawn_groups,
    planned_hierarchy,
    stated_subject,
    told_sample,
    whole_groups,
)
from sfumato.pipeline.plan.evaluation import AttackPlan
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.plan.sections import InputPlan
from sfumato.tables.frames import from_frame
from sfumato.tables.schema import ObservedDomain, Role
from sfumato.tables.table import Table

Marked = NDArray[np.bool_]
_OVERLAP = "; labels overlap, so some of the people that they cover may belong to other groups"


def attack_parts(
    folder: Path,
    manifest: Mapping[str, Any],
    original: object,
    attack_plan: AttackPlan,
    *,
    control: Table | None,
    plan: Plan | None,
    seed: int | None,
    work: Work,
) -> Audit:
    """Attack random groups of a bundle; every finding says so."""
    chance = Chance(seed=seed)
    published = Published.from_json(manifest["data"])
    released = counted_parts(folder, manifest["data"])
    classes = evidence(released, published)
    chosen = drawn_groups(classes, chance)
    if chosen is None:
        return none_drawn(attack_plan)
    people = _people(manifest, published, original, plan)
    known, rows, sure = _drawn_people(people, published, plan, classes, chosen)
    drawn = whole_groups(released, classes, chosen)
    subject = stated_subject(drawn, manifest, known, people=rows, groups=None, control=control, plan=plan)
    note = told_sample(classes, chosen, published.rows) + ("" if sure else _OVERLAP)
    return told_of(attacked(subject, attack_plan, work, chance), note)


def _drawn_people(
    people: CellSource, published: Published, plan: Plan | None, classes: Classes, chosen: Marked
) -> tuple[tuple[dict[str, ObservedDomain], dict[str, ObservedDomain]], pl.DataFrame, bool]:
    """The domains of people's columns, those behind some groups as texts, and whether none can be in another group."""
    kinds: dict[str, Any] = {} if plan is None else {name: column.type for name, column in plan.columns.items()}
    quasi = {name: people.domain(name, kinds.get(name)) for name in classes.quasi}
    cells = people.cells(list(quasi.values()))
    covers = [
        coverage_of(labels, quasi[name].labels, planned_hierarchy(plan, quasi[name])).covers
        for name, labels in zip(classes.quasi, classes.labels, strict=True)
    ]
    only = _single(classes, covers, ~all_stars(classes))
    inside = _behind(classes, cells, covers, chosen, only)
    mapping = CellMapping(cells=cells, labels=cells.labels, shown=cells.keys, suppressed=~inside)
    named = published.schema.named(Role.SENSITIVE, Role.TARGET, Role.KEEP)
    others = [name for name in named if name in people.names and not people.dtype(name).is_nested()]
    rows = people.texts((*quasi, *others), mapping)
    table = Table(frame=rows, missing=published.missing)
    other_domains = {name: ObservedDomain.of(table.column(name, kinds.get(name))) for name in others}
    return (
        ({**quasi, **{name: other_domains[name] for name in published.schema.sensitive}}, other_domains),
        rows,
        only is not None,
    )


def _people(manifest: Mapping[str, Any], published: Published, original: object, plan: Plan | None) -> CellSource:
    """The original where it is: in the plan's engine, in files that DuckDB reads, or a frame."""
    source = _source(original, plan or Plan(columns={}, privacy={}, input=InputPlan(missing=published.missing)))
    for name in published.schema.named(Role.QUASI, Role.SENSITIVE):
        if name not in source.names:
            raise unknown_column(name, source.names, where="--original")
    if manifest["plan"]["input"].get("on_missing") != "drop":
        return source
    used = published.schema.named(Role.QUASI, Role.SENSITIVE, Role.TARGET)
    return source.complete([name for name in used if name in source.names])


def _source(original: object, plan: Plan) -> CellSource:
    if original is None:
        if plan.input.engine is None:
            raise PlanError("--original is missing; a bundle is attacked beside the table that it was made from")
        return planned_source(plan)
    if isinstance(original, str | Path):
        path = Path(original).resolve()
        known = duckdb_reads(path) or not path.is_file()
        return planned_source(plan, str(path)) if known else LocalTable(load_table(plan, None, str(path)))
    if isinstance(original, pl.LazyFrame) or is_relation(original) or is_spark(original):
        return frame_source(plan, original)
    return LocalTable(without_nan(from_frame(original, missing=plan.input.missing)))


def _behind(
    classes: Classes, cells: Classes, covers: list[Marked], chosen: Marked, only: list[NDArray[np.int64]] | None
) -> Marked:
    """Which cells of the original are behind chosen groups: covered by one of them.

    The group of nothing but ``*`` covers everybody; behind it are those whom no other group covers.
    """
    stars = all_stars(classes)
    if only is None:
        return _covered(classes, cells, covers, chosen & ~stars)
    keys = [label[codes] for label, codes in zip(only, cells.keys, strict=True)]
    group = _numbered(classes, np.stack(keys).astype(np.int32)) if keys else np.zeros(cells.count, np.int64)
    alone = (group < 0) & bool((chosen & stars).any())
    return np.asarray(alone | ((group >= 0) & chosen[group]))


def _single(classes: Classes, covers: list[Marked], group_mask: Marked) -> list[NDArray[np.int64]] | None:
    """For each column, the one label of some groups that covers each value, -1 for none; None where labels overlap."""
    label_codes = []
    for codes, mask in zip(classes.keys, covers, strict=True):
        used = np.unique(codes[group_mask])
        if (mask[used].sum(axis=0) > 1).any():
            return None
        label_codes.append(np.where(mask[used].any(axis=0), used[mask[used].argmax(axis=0)] if len(used) else -1, -1))
    return label_codes


def _numbered(classes: Classes, keys: NDArray[np.int32]) -> NDArray[np.int64]:
    """The group that has each combination of labels, -1 for none."""
    known = np.flatnonzero((keys >= 0).all(axis=0))
    joint = np.concatenate([classes.keys, keys[:, known]], axis=1)
    ids, count = distinct(list(joint), [len(labels) for labels in classes.labels], joint.shape[1])
    place = np.full(count, -1, np.int64)
    place[ids[: classes.count]] = np.arange(classes.count)
    group_numbers = np.full(keys.shape[1], -1, np.int64)
    group_numbers[known] = place[ids[classes.count :]]
    return group_numbers


def _covered(classes: Classes, cells: Classes, covers: list[Marked], chosen: Marked) -> Marked:
    """Which cells some of the groups cover, where labels overlap; group by group."""
    cell_mask = np.zeros(cells.count, np.bool_)
    for group in np.flatnonzero(chosen):
        fits = ~cell_mask
        for place, mask in enumerate(covers):
            fits[fits] = mask[classes.keys[place, group]][cells.keys[place][fits]]
        cell_mask |= fits
    return cell_mask
