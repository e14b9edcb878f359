"""The search again, on the rows that stay: nothing of a release depends on the values of a row that was removed.

A search decides by what all rows cost, and a hierarchy may be read off all values. So the first search only decides
which rows are removed. Then the rest is described and searched anew, as if nobody else had been in the table and with
no row left to remove: types, domains, hierarchies, costs and labels follow from the rows that stay, from the plan, and
from nothing else. The result is put back onto the cells of the whole table, which the source knows how to apply.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.table import Codes, Table
from sfumato.describe.domains import ObservedDomain, narrowed
from sfumato.describe.hierarchy import Hierarchy, Level
from sfumato.ground.brief import Brief
from sfumato.group.classes import Classes
from sfumato.group.keys import distinct, total
from sfumato.group.people import People
from sfumato.group.tally import Tally
from sfumato.models.per_person import PerPerson, per_person
from sfumato.publish.problem import Outcome
from sfumato.workflow.kinds.table.counted_from import bound_hierarchy
from sfumato.workflow.kinds.table.preparing import Prepared, scales, with_originals
from sfumato.workflow.plan.plan import Plan

if TYPE_CHECKING:
    from sfumato.workflow.kinds.kind import Searched

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Origin(Brief):
    """Where the rows that stay come from."""

    plan: Plan
    """The plan."""
    prepared: Prepared
    """The whole table."""
    suppressed: Flags
    """Which of its cells are removed."""
    lifts: tuple[Codes, ...]
    """For each column and value of the whole table, its code among the rows that stay; -1 where it is in none."""
    place: NDArray[np.int64]
    """For each cell of the whole table that stays, its place here."""

    def by_row(self) -> Prepared:
        """The rows that stay with one cell per row."""
        whole = self.prepared.at("rows")
        cells, rows = self.prepared.problem.cells, whole.problem.cells
        keys = np.concatenate([cells.keys, rows.keys], axis=1)
        ids, count = distinct(list(keys), [len(names) for names in cells.labels], keys.shape[1])
        gone = np.zeros(count, np.bool_)
        gone[ids[: cells.count]] = self.suppressed
        return rows_that_stay(self.plan, whole, gone[ids[cells.count :]])


def rows_that_stay(plan: Plan, prepared: Prepared, suppressed: Flags) -> Prepared:
    """The problem of the rows that are not removed; none of them may be removed any more."""
    problem = prepared.problem
    cells = replace(problem.cells.take(~suppressed), population=problem.cells.population)
    columns = [_column(plan, prepared, cells, place) for place in range(len(cells.quasi))]
    domains, hierarchies, lifts = (tuple(part) for part in zip(*columns, strict=True)) if columns else ((), (), ())
    counted = {name: _tally_domain(plan, tally, cells.people) for name, tally in cells.tallies.items()}
    cells, place = _renamed(cells, domains, lifts, counted, merge=prepared.grain == "cells")
    people = cells.people
    models = tuple(one.model if isinstance(one, PerPerson) else one for one in problem.models)
    numbers, days = scales(domains)
    rest = replace(
        problem,
        cells=with_originals(cells),
        hierarchies=hierarchies,
        models=models if people is None else per_person(models, people),
        limit=0,
        numbers=numbers,
        days=days,
    )
    known = dict(zip(cells.quasi, domains, strict=True))
    origin = Origin(plan=plan, prepared=prepared, suppressed=suppressed, lifts=lifts, place=place)
    return replace(prepared, problem=rest, domains={**prepared.domains, **known}, origin=origin, released=None)


def put_back(found: Searched) -> Searched:
    """What was found for the rows that stay, on the cells of the whole table."""
    origin: Origin = found.prepared.origin
    whole, outcome = origin.prepared, found.outcome
    lifted = tuple(
        _lifted(hierarchy, lift, before)
        for hierarchy, lift, before in zip(
            found.prepared.problem.hierarchies, origin.lifts, whole.problem.hierarchies, strict=True
        )
    )
    # where the labels are the same, the steward's figures are about the whole table as it was
    problem = whole.problem if same_labels(found.prepared) else replace(whole.problem, hierarchies=lifted)
    recoded = outcome.recoded
    if recoded is not None:
        keys = np.zeros((len(recoded.labels), len(origin.suppressed)), np.int32)
        keys[:, ~origin.suppressed] = recoded.keys[:, origin.place]
        recoded = replace(recoded, keys=keys)
    suppressed = origin.suppressed.copy()
    suppressed[~origin.suppressed] = outcome.suppressed[origin.place]
    placed: Outcome = replace(outcome, recoded=recoded, suppressed=suppressed)
    loss = problem.metric.loss(placed.recoding(problem).view(problem, placed.suppressed)).value
    prepared = replace(whole, problem=problem, released=found.prepared)
    return replace(found, prepared=prepared, outcome=replace(placed, loss=loss))


def same_labels(rest: Prepared) -> bool:
    """Whether the values of rows that stay have the labels that they had in the whole table."""
    assert rest.origin is not None
    pairs = zip(rest.origin.prepared.problem.hierarchies, rest.problem.hierarchies, rest.origin.lifts, strict=True)
    return all(_alike(before, after, lift) for before, after, lift in pairs)


def _alike(before: Hierarchy, after: Hierarchy, lift: Codes) -> bool:
    old, new = np.flatnonzero(lift >= 0), lift[lift >= 0]
    return before.height == after.height and all(
        [one.labels[n] for n in one.parent[old]] == [other.labels[n] for n in other.parent[new]]
        for one, other in zip(before.levels, after.levels, strict=True)
    )


def _column(plan: Plan, prepared: Prepared, cells: Classes, place: int) -> tuple[ObservedDomain, Hierarchy, Codes]:
    """The domain and the hierarchy of one quasi-identifier, from its values in rows that stay and in the population."""
    name, old = cells.quasi[place], prepared.domains[cells.quasi[place]]
    rows = total(cells.keys[place].astype(np.int64), cells.sizes, len(old.labels))
    present = rows > 0
    if cells.population is not None:
        present[cells.population.keys[place]] = True
    if name in prepared.based:
        domain = narrowed(old, {old.labels[code] for code in np.flatnonzero(present)})
        mark = str((plan.columns[name].hierarchy or {}).get("mark", "*"))
        hierarchy = _restricted(prepared.problem.hierarchies[place], np.flatnonzero(present), domain, mark)
    else:
        domain = _described(name, old, present, rows, plan.columns[name].type)
        hierarchy = bound_hierarchy(plan, domain)
    return domain, hierarchy, _lift(old.labels, present, domain.labels)


def _described(name: str, old: ObservedDomain, present: Flags, rows: NDArray[np.int64], kind: Any) -> ObservedDomain:
    """A domain anew, as if it were read from a table that has these values only; its type too."""
    texts = [value for value, here in zip(old.values, present, strict=False) if here]
    frame = pl.DataFrame({name: texts}, schema={name: pl.String})
    domain = ObservedDomain.of(Table(frame=frame).column(name, kind))
    count = dict(zip(old.values, rows.tolist(), strict=False))
    absent = old.missing is not None and bool(present[-1])
    return replace(
        domain,
        counts=np.array([count[value] for value in domain.values], np.int64),
        missing=old.missing if absent else None,
        absent=int(rows[-1]) if absent else 0,
    )


def _tally_domain(plan: Plan, tally: Tally, people: People | None) -> tuple[ObservedDomain, Codes]:
    """The domain of a counted column among the rows that stay, and where its old codes go."""
    values = tally.values if tally.missing is None else tally.values[:-1]
    missing = None if tally.missing is None else tally.values[-1]
    rows = total(tally.codes.astype(np.int64), tally.counts, len(tally.values))
    old = ObservedDomain(column=tally.column, kind="text", values=values, counts=rows[: len(values)], missing=missing)
    column = plan.columns.get(tally.column)
    domain = _described(tally.column, old, rows > 0, rows, None if column is None else column.type)
    return domain, _lift(tally.values, rows > 0, domain.labels)


def _lift(labels: tuple[str, ...], present: Flags, into: tuple[str, ...]) -> Codes:
    place = {label: code for code, label in enumerate(into)}
    return np.array([place[x] if here else -1 for x, here in zip(labels, present, strict=True)], np.int32)


def _renamed(
    cells: Classes,
    domains: tuple[ObservedDomain, ...],
    lifts: tuple[Codes, ...],
    counted: dict[str, tuple[ObservedDomain, Codes]],
    *,
    merge: bool,
) -> tuple[Classes, NDArray[np.int64]]:
    """The same classes under new codes, in the order of these where cells are ordered; and where each went."""
    tallies = {
        name: replace(
            tally,
            values=domain.labels,
            codes=lift[tally.codes],
            missing=None if domain.missing is None else len(domain.values),
            numbers=_with_missing(domain),
            original=None,
        )
        for name, tally in cells.tallies.items()
        for domain, lift in [counted[name]]
    }
    people = cells.people
    if people is not None:
        persons, codes = np.unique(people.persons, return_inverse=True)
        people = replace(
            people,
            persons=codes.reshape(-1).astype(np.int32),
            count=len(persons),
            codes={name: counted[name][1][held] for name, held in people.codes.items()},
        )
    wild = None
    if cells.wild is not None:
        unknown = [
            {x for x, odd in zip(names, flags, strict=True) if odd}
            for names, flags in zip(cells.labels, cells.wild, strict=True)
        ]
        wild = tuple(np.array([x in odd for x in d.labels], np.bool_) for d, odd in zip(domains, unknown, strict=True))
    cells = replace(cells, tallies=tallies, people=people, measures={})
    labels = tuple(domain.labels for domain in domains)
    if merge:
        found, place = cells.recoded(lifts, labels)
        return replace(found, wild=wild), place
    population = None if cells.population is None else cells.population.recoded(lifts, labels)[0]
    keys = np.array([lift[codes] for lift, codes in zip(lifts, cells.keys, strict=True)], np.int32)
    keys = keys.reshape(cells.keys.shape)
    return replace(cells, keys=keys, labels=labels, wild=wild, population=population), np.arange(cells.count)


def _with_missing(domain: ObservedDomain) -> NDArray[np.float64] | None:
    if domain.kind in ("text", "category") or domain.numbers is None:
        return None
    return domain.numbers if domain.missing is None else np.append(domain.numbers, np.nan)


def _restricted(hierarchy: Hierarchy, codes: NDArray[np.int64], domain: ObservedDomain, mark: str) -> Hierarchy:
    """A hierarchy above a base level, over some of its labels; a mask has no more levels than these labels need."""
    levels = [_over(level, codes) for level in hierarchy.levels]
    if hierarchy.open:
        hidden = [j for j, level in enumerate(levels[:-1]) if j and {*"".join(level.labels)} == {mark}]
        levels = [level for j, level in enumerate(levels) if j not in hidden]
    return replace(
        hierarchy,
        levels=tuple(levels),
        total=float(len(domain.values)),
        missing=None if domain.missing is None else len(domain.values),
    )


def _over(level: Level, codes: NDArray[np.int64]) -> Level:
    used, parent = np.unique(level.parent[codes], return_inverse=True)
    sizes = np.bincount(parent.reshape(-1), minlength=len(used)).astype(np.float64)
    return Level(labels=tuple(level.labels[n] for n in used), parent=parent.reshape(-1).astype(np.int32), sizes=sizes)


def _lifted(hierarchy: Hierarchy, lift: Codes, whole: Hierarchy) -> Hierarchy:
    """A hierarchy over all values of the whole table; those that are in removed rows only have just any label."""
    inside = np.maximum(lift, 0)
    tree = hierarchy.taxonomy
    return replace(
        hierarchy,
        levels=(whole.levels[0], *(replace(level, parent=level.parent[inside]) for level in hierarchy.levels[1:])),
        missing=None if hierarchy.missing is None else whole.missing,
        taxonomy=None if tree is None else replace(tree, leaf=tree.leaf[inside]),
    )
