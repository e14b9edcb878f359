"""A condensed release as an attacker finds it, and the attacks that every one is put through."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sfumato.attacks.frame.subject import Coverage, Subject
from sfumato.attacks.membership.membership import Membership
from sfumato.attacks.membership.nearest_neighbour import NearestNeighbour
from sfumato.bundle.condensed_names import EPOCH
from sfumato.bundle.published import Published
from sfumato.data.table import Table
from sfumato.ground.chance import Chance
from sfumato.ground.errors import BundleError, Infeasible, unknown_column
from sfumato.ground.work import Work
from sfumato.group.keys import Ids
from sfumato.verification.released_file import read_released
from sfumato.workflow.attacking import attacked, chosen_attacks
from sfumato.workflow.audit import Audit
from sfumato.workflow.kinds.condensed.condensed_release import CondensedRelease
from sfumato.workflow.kinds.condensed.condensed_table import CondensePrepared
from sfumato.workflow.loading import load_table
from sfumato.workflow.plan.plan import Plan

_HALF = "made on a condensation of a random half of {what}; the other half are the people who are not in it"
_BY_HALVES = (Membership.name, NearestNeighbour.name)
_MOST = 200_000
"""Of larger tables so many rows are condensed for it, in parts of records that lie together."""
_PART = 4000
"""About so many rows of a part."""


def attack(made: CondensedRelease, work: Work) -> Audit:
    """Single out, link, and tell who is in the table; more than the plan allows is refused.

    Where no control file is given, the membership of people in a condensation of one half of the table is attacked with
    the other half as people who are not in it: the same table, k and options. Of a large table some parts are halved.
    """
    asked, chance = made.plan.attack, Chance(seed=made.plan.algorithm.seed)
    if not asked.run:
        return Audit()
    control = None if asked.control is None else load_table(made.plan, None, asked.control)
    subject = _release_subject(made, made.prepared, made.rows, control)
    found = attacked(subject, asked, work, chance, kind="condensed")
    waiting = [name for name in _BY_HALVES if not found.skipped.get(name, "the time").startswith("the time")]
    if control is None and waiting:
        found = _halved(made, found, waiting, chance)
    found.refuse(asked.max_risk, asked.accept)
    return found


def _halved(made: CondensedRelease, found: Audit, names: list[str], chance: Chance) -> Audit:
    """Membership, measured on a condensation of one half; of a large table, of one half of some parts of it."""
    refused = ""
    for rows, what in _tried(made, chance):
        try:
            shown = _half(made, rows, chance)
        except Infeasible as error:
            refused = f"no control file, and of half {what}: {error}"
            continue
        parts, trials = chosen_attacks(names, "condensed"), made.plan.attack.trials
        runs = [(name, part.make(trials).run(shown, chance, None)) for name, part in parts.items()]
        findings = [replace(one, attack=name, note=_HALF.format(what=what)) for name, one in runs]
        skipped = {title: why for title, why in found.skipped.items() if title not in names}
        return replace(found, findings=(*found.findings, *findings), skipped=skipped)
    return replace(found, skipped={**found.skipped, **dict.fromkeys(names, refused)})


def _tried(made: CondensedRelease, chance: Chance) -> Iterator[tuple[Ids, str]]:
    """Rows that are halved, in random order, and what they are: some of a large table, or all.

    Whole neighbourhoods are taken, so that records have the neighbours that they have in the table. Groups are numbered
    part by part of the table: those with numbers next to each other lie together.
    """
    draw, rows = chance.generator(), made.prepared.source.rows
    if rows > _MOST:
        part = made.outcome.groups * made.condense.k // _PART
        chosen = draw.permutation(int(part.max()) + 1)
        many = np.cumsum(np.bincount(part)[chosen])
        inside = np.isin(part, chosen[: int(np.searchsorted(many, _MOST)) + 1])
        some = np.flatnonzero(inside)
        yield some[draw.permutation(len(some))], f"{len(some):,} rows of the table that lie together in parts"
    yield chance.generator().permutation(rows), "the table"


def _half(made: CondensedRelease, order: Ids, chance: Chance) -> Subject:
    """A condensation of the first half of some rows, with the second half as people who are not in it."""
    middle = len(order) // 2
    inside, outside = (made.prepared.some(np.sort(part)) for part in (order[:middle], order[middle:]))
    work = Work()
    work.chance = chance
    outcome = made.condense(inside.problem, work)
    draw = chance.generator()
    if made.condense.output == "distributions":
        rows = inside.uncertain(outcome, draw)
    else:
        rows = inside.drawn(made.condense, outcome, draw)
    return _release_subject(made, inside, rows, outside.source.table)


def _release_subject(
    made: CondensedRelease, prepared: CondensePrepared, rows: pl.DataFrame, control: Table | None
) -> Subject:
    kinds = {one.name: one.kind for one in prepared.condensed}
    return _subject(rows, kinds, prepared.dealt, prepared.source.table, control, made.algorithm)


def bundle_subject(
    folder: Path, manifest: Mapping[str, Any], original: Table, *, control: Table | None, plan: Plan | None
) -> Subject:
    """A bundle as an attacker finds it; the original has every column that it shows."""
    published, stated = Published.from_json(manifest["data"]), manifest["recoding"]["columns"]
    rows = read_released(folder / str(manifest["data"]["file"]), manifest, published.missing).frame
    shown = [column for column in published.columns if stated[column.name] != "spread"]
    original = replace(original, missing=published.missing or original.missing)
    for column in shown:
        if column.name not in original.names:
            raise unknown_column(column.name, original.names, where="--original")
    if manifest["plan"]["input"]["on_missing"] == "drop":
        absent = np.zeros(original.rows, np.bool_)
        for column in shown:
            absent |= original.is_missing(column.name).to_numpy()
        original = replace(original, frame=original.frame.filter(~pl.Series(absent)))
    if not original.rows:
        raise BundleError(f"{folder}: the original has no row that the release can have been made from")
    kinds = {c.name: _kind(original, c.name, c.kind) for c in shown if stated[c.name] != "dealt"}
    dealt = tuple(column.name for column in shown if stated[column.name] == "dealt")
    return _subject(rows, kinds, dealt, original, control, str(manifest["recoding"]["algorithm"]))


def _kind(original: Table, name: str, stated: str) -> str:
    """How a column of numbers is read; means of dates are days, and so the original says what they are."""
    return "date" if original.column(name).kind == "date" else stated


def _subject(
    rows: pl.DataFrame,
    kinds: Mapping[str, str],
    dealt: tuple[str, ...],
    original: Table,
    control: Table | None,
    algorithm: str,
) -> Subject:
    """All published columns as what others may know: condensation treats them alike."""
    readable = [name for name in dealt if not rows[name].dtype.is_nested() and rows[name].dtype != pl.Binary]
    names = (*kinds, *readable)
    mark = next(iter(original.missing), "")
    release = pl.DataFrame([_text(rows[name], kinds.get(name), mark) for name in names])
    people = pl.DataFrame([_text(original.frame[name], kinds.get(name), mark) for name in names])
    others = None
    if control is not None:
        for name in names:
            if name not in control.names:
                raise unknown_column(name, control.names, where="the control file")
        others = pl.DataFrame([_text(control.frame[name], kinds.get(name), mark) for name in names])
    known = people if others is None else pl.concat([people, others])
    return Subject(
        release=release,
        quasi=names,
        sensitive=(),
        coverage={name: _coverage(release[name], known[name], drawn=name in kinds) for name in names},
        people=people,
        control=others,
        algorithm=algorithm,
        numeric=frozenset(kinds),
        drawn=frozenset(kinds),
        synthetic=True,
    )


def _text(cells: pl.Series, kind: str | None, mark: str) -> pl.Series:
    """Cells as texts that can be compared; dates as day numbers."""
    if kind == "date" and not cells.dtype.is_float():
        days = cells.cast(pl.Date) if cells.dtype.is_temporal() else cells.cast(pl.String).str.to_date(strict=False)
        cells = days.to_physical() + EPOCH
    return cells.cast(pl.String).fill_null(mark)


def _coverage(released: pl.Series, known: pl.Series, *, drawn: bool) -> Coverage:
    """Words stand for themselves; drawn numbers cover nobody, and no table of who covers whom is laid out."""
    labels, values = (tuple(cells.unique().sort().to_list()) for cells in (released, known))
    if drawn:
        return Coverage(labels=labels, values=values, covers=np.broadcast_to(np.False_, (len(labels), len(values))))
    place = {value: at for at, value in enumerate(values)}
    covers = np.zeros((len(labels), len(values)), np.bool_)
    for row, label in enumerate(labels):
        if label in place:
            covers[row, place[label]] = True
    return Coverage(labels=labels, values=values, covers=covers)
