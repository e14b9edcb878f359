"""Incognito by where its frequency sets come from: each from the table, rolled up from super-roots, or from a cube."""

from __future__ import annotations

from dataclasses import replace

from lattice import problem
from measure import table, timed
from sfumato.algorithms.lattice.incognito import feasible_nodes
from sfumato.algorithms.lattice.subsets import Cube, monotone_part
from sfumato.algorithms.problem import Problem
from sfumato.core.fractions import rows_within
from sfumato.core.run_context import Work
from sfumato.models import DistinctLDiversity, KAnonymity
from sfumato.models.model import Model
from tables import Subject, subject

MILLION = 1_000_000
SENSITIVE = "occupation"
WAYS = ("table", "super-roots", "cube")


def with_secret(one: Subject) -> Problem:
    """The table with the occupation counted in every cell, and eight quasi-identifiers."""
    from sfumato.counts.local_table import cells
    from sfumato.metrics.metric import measures
    from sfumato.tables.table import Table

    narrow = replace(one, hierarchies={name: path for name, path in one.hierarchies.items() if name != SENSITIVE})
    given, loaded = problem(narrow, 0.0), Table(frame=one.frame)
    grouped = cells([loaded.column(name) for name in narrow.hierarchies], [loaded.column(SENSITIVE)]).classes
    return replace(given, cells=replace(grouped, measures=measures(grouped)))


def rows(name: str, given: Problem, models: tuple[Model, ...], share: float, repeat: int) -> list[list[str]]:
    """One table and requirement, three ways; the nodes that are found must be the same."""
    asked = replace(given, models=models, limit=rows_within(share, given.cells.rows))
    part = monotone_part(asked)
    made = 0.0 if part is None else timed(lambda: Cube(part, Work()), repeat=repeat)[1].cpu
    found, lines = {}, []
    for way in WAYS:
        found[way], cost = timed(lambda way=way: feasible_nodes(asked, Work(), way), repeat=repeat)
        first = f"{made:.2f} s" if way == "cube" else ""
        what = " and ".join(model.name for model in models)
        head = [name, what, f"{share:.0%}", way]
        lines.append([*head, f"{found[way].checked:,}", f"{found[way].rolled_up:,}", first, f"{cost.cpu:.2f} s"])
    if len({one.nodes for one in found.values()}) > 1:
        raise SystemExit(f"{name}: the ways do not find the same nodes")
    return lines


def main() -> str:
    """Adult and a million rows made from it, by sizes alone and with a sensitive column."""
    small = subject()
    large = small.times(MILLION)
    k, diverse = (KAnonymity(k=5),), (KAnonymity(k=5), DistinctLDiversity(l=3, column=SENSITIVE))
    lines = []
    for one, repeat in ((small, 3), (large, 2)):
        given = problem(one, 0.0)
        lines += rows(one.name, given, k, 0.0, repeat)
        lines += rows(one.name, given, k, 0.04, repeat)
        lines += rows(one.name, with_secret(one), diverse, 0.0, repeat)
    headers = ["table", "requirement", "may be suppressed", "counts", "nodes judged", "not from the table"]
    return table("Incognito by where its counts come from, CPU seconds", [*headers, "cube made in", "in all"], lines)


if __name__ == "__main__":
    print(main())
