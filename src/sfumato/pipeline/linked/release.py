"""Linked tables from their plan to one folder of bundles: read, searched together, released one by one, verified."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.algorithms.lattice.nodes import Checker, Judged, outcome_of
from sfumato.bundles.files import MANIFEST
from sfumato.bundles.manifest.document import dump
from sfumato.bundles.manifest.linked import LinkedManifest
from sfumato.bundles.provenance import Verification
from sfumato.bundles.signatures import Signer, sign
from sfumato.bundles.staging import staged
from sfumato.core.errors import ClaimRefuted, DataError, Infeasible, PlanError
from sfumato.core.fractions import rows_within
from sfumato.core.run_context import Work
from sfumato.counts.linked_rows import Codes, Link, parents, persons
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.inputs import load_table, marked
from sfumato.pipeline.linked.plan import LinkedPlan
from sfumato.pipeline.linked.search import LinkedProblem, LinkedTable, Node, search_linked
from sfumato.pipeline.methods.method import Request, SearchResult
from sfumato.pipeline.methods.table.problem import Prepared, prepare
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.release import Release, refuse_key_inside, release
from sfumato.pipeline.verification import verify
from sfumato.tables.table import Kind, Table


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LinkedRelease:
    """Tables that were released together, not yet written."""

    plan: LinkedPlan
    """The plan."""
    tables: Mapping[str, Release]
    """The release of each table."""
    people: int
    """How many people are in it."""
    suppressed: int
    """How many were left out of all tables."""
    orphans: Mapping[str, int]
    """Rows that named no row of the table above, by table, and were left out."""

    def write(
        self, folder: str | Path, *, force: bool = False, signer: Signer | None = None, work: Work | None = None
    ) -> Verification:
        """Write one folder with a bundle for each table: all, verified on the join from their bytes, or none."""
        place = Path(folder)
        for plan in self.plan.tables.values():
            refuse_key_inside(plan, place)
        with staged(place, force=force) as inner:
            for name, release in self.tables.items():
                release.write(inner / name, signer=signer, work=work)
            (inner / MANIFEST).write_text(dump(self._manifest().sealed(inner)), encoding="utf-8")
            if signer is not None:
                sign(inner, signer)
            verification = verify(inner, signer=None if signer is None else signer.card)
            if (wrong := verification.wrong) is not None:
                raise ClaimRefuted(f"the tables were not written: {wrong.what} does not hold ({wrong.detail})")
        return replace(verification, folder=place.name)

    def _manifest(self) -> LinkedManifest:
        return LinkedManifest(
            tables=tuple(self.tables), links=self.plan.links, known=self.plan.known, people=self.people,
            suppressed=self.suppressed,
        )  # fmt: skip


def release_linked(plan: LinkedPlan, *, work: Work | None = None) -> LinkedRelease:
    """Search levels for all tables together, leave out whom they do not hide, and release every table so."""
    work = work or Work()
    problem, orphans = pose(plan, work)
    node, out = search_linked(problem, work)
    suppressed, tables = int(out.sum()), _kept(problem, out)
    if suppressed:  # the levels of those who stay follow from their own rows: nobody who is left out can move them
        tables, above, _ = _resolved(plan, tables)
        node, _ = search_linked(_posed(plan, tables, above, 0, work), work)
    releases = {
        name: release(plan.tables[name], kept, work=work, search=_at_levels(_levels(node, name), name))
        for name, kept in tables.items()
    }
    people = tables[plan.root].rows
    return LinkedRelease(plan=plan, tables=releases, people=people, suppressed=suppressed, orphans=orphans)


def pose(plan: LinkedPlan, work: Work) -> tuple[LinkedProblem, dict[str, int]]:
    """Read and count all tables; also how many rows of each were left out because they name nobody."""
    with work.stage("read"):
        tables = {
            name: marked(load_table(table_plan, None, table_plan.input.path), table_plan)
            for name, table_plan in plan.tables.items()
        }
        tables, above, orphans = _resolved(plan, tables)
    limit = rows_within(plan.max_suppressed, tables[plan.root].rows)
    return _posed(plan, tables, above, limit, work), orphans


def _posed(
    plan: LinkedPlan, tables: Mapping[str, Table], above: Mapping[str, Codes], limit: int, work: Work
) -> LinkedProblem:
    """The search for levels of some tables, where so many people may be left out."""
    with work.stage("count"):
        counted = {name: _counted(plan.tables[name], table, name) for name, table in tables.items()}
    problem = LinkedProblem(
        tables=counted, root=plan.root, order=plan.links, above=above, counted=plan.known == "rows", limit=limit
    )
    return replace(problem, alone=lambda node, out: _fails_alone(plan, problem, node, out))


def _kept(problem: LinkedProblem, out: NDArray[np.bool_]) -> dict[str, Table]:
    """The rows of people who are not left out."""
    whose = persons(problem.above, problem.order, problem.root, problem.people)
    return {
        name: replace(linked.table, frame=linked.table.frame.filter(pl.Series(~out[whose[name]])))
        for name, linked in problem.tables.items()
    }


def _levels(node: Node, name: str) -> dict[str, int]:
    return {column: level for (table, column), level in node.items() if table == name}


def _fails_alone(plan: LinkedPlan, problem: LinkedProblem, node: Node, out: NDArray[np.bool_]) -> str | None:
    """The first table whose rows by themselves do not meet its requirement."""
    for name, kept in _kept(problem, out).items():
        prepared = prepare(plan.tables[name], kept, None, catalog())
        if not _judged(prepared, _levels(node, name)).feasible:
            return name
    return None


def _judged(prepared: Prepared, levels: Mapping[str, int]) -> Judged:
    """What one node of a table comes to."""
    pairs = zip(prepared.problem.cells.quasi, prepared.problem.hierarchies, strict=True)
    return Checker(prepared.problem).judge(tuple(min(levels[name], h.height) for name, h in pairs))


def _at_levels(levels: Mapping[str, int], table: str) -> Callable[[Request, Prepared, Work], SearchResult]:
    """A search that looks at one node alone."""

    def search(request: Request, prepared: Prepared, work: Work) -> SearchResult:
        evaluation = _judged(prepared, levels)
        if not evaluation.feasible:
            raise Infeasible(
                f"tables.{table}: its requirement holds in people on the join, but not for the table's rows alone; "
                "use a coarser hierarchy, or ask for less"
            )
        effort: dict[str, Any] = {"strategy": "levels of all linked tables together"}
        outcome = outcome_of(evaluation, proven=False, effort=effort)
        return SearchResult(prepared=prepared, outcome=outcome, algorithm="greedy", why="Named in the plan.")

    return search


def _resolved(plan: LinkedPlan, tables: dict[str, Table]) -> tuple[dict[str, Table], dict[str, Codes], dict[str, int]]:
    """The tables without rows that name nobody, and the places of the rows that theirs name."""
    above: dict[str, Codes] = {}
    orphans: dict[str, int] = {}
    for link in reversed(plan.links):
        parent_rows = _named(link, tables)
        lost = int((parent_rows < 0).sum())
        if lost and plan.orphans == "refuse":
            raise DataError(
                f"{link.told}: {lost:,} of {len(parent_rows):,} rows name no row of {link.to_table}; mend them, or "
                "leave "
                'them out with people.orphans = "drop"'
            )
        if lost:
            table = tables[link.table]
            tables = {**tables, link.table: replace(table, frame=table.frame.filter(pl.Series(parent_rows >= 0)))}
            orphans[link.table] = lost
        above[link.table] = parent_rows[parent_rows >= 0]
    return tables, above, orphans


def _named(link: Link, tables: Mapping[str, Table]) -> Codes:
    for table, column in ((link.table, link.column), (link.to_table, link.to_column)):
        tables[table].require(column, where=f"links: {table}")
    child_table, other = tables[link.table], tables[link.to_table]
    named = child_table.frame[link.column].cast(pl.String)
    return parents(link, named.zip_with(~child_table.is_missing(link.column), pl.Series([None], dtype=pl.String)),
                   other.frame[link.to_column])  # fmt: skip


def _counted(plan: Plan, table: Table, called: str) -> LinkedTable:
    """A table with its hierarchies bound, as its plan says; a refusal names the table."""
    try:
        prepared = prepare(plan, table, None, catalog())
    except PlanError as error:
        raise PlanError(f"tables.{called}: {error}") from error
    names = prepared.problem.cells.quasi
    kinds: dict[str, Kind] = {name: domain.kind for name, domain in prepared.domains.items()}
    return LinkedTable(
        table=table,
        hierarchies=dict(zip(names, prepared.problem.hierarchies, strict=True)),
        codes={name: np.asarray(table.column(name, kinds[name]).codes, np.int32) for name in names},
        kinds=kinds,
        models=prepared.models,
    )
