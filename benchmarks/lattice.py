"""The optimal search against a naive one: a polars group-by for every node of the lattice."""

from __future__ import annotations

import random
import tempfile
from dataclasses import replace
from itertools import product
from pathlib import Path

import polars as pl

from measure import command, table, timed
from sfumato.algorithms.lattice.optimal import optimal
from sfumato.algorithms.problem import Outcome, Problem
from sfumato.core.fractions import rows_within
from sfumato.core.run_context import Work
from sfumato.counts.local_table import cells
from sfumato.metrics.information_loss import LossMetric
from sfumato.metrics.metric import measures
from sfumato.models.k_anonymity import KAnonymity
from sfumato.tables.hierarchy import Hierarchy
from sfumato.tables.hierarchy_files import read_hierarchy
from sfumato.tables.schema import ObservedDomain
from sfumato.tables.table import Table
from tables import Subject, subject

SAMPLE = 60


def problem(one: Subject, share: float) -> Problem:
    """The problem from encoded columns on; what the search starts from."""
    loaded = Table(frame=one.frame)
    columns = [loaded.column(name) for name in one.hierarchies]
    grouped = cells(columns).classes
    return Problem(
        cells=replace(grouped, measures=measures(grouped)),
        hierarchies=tuple(read_hierarchy(one.hierarchies[c.name]).build(ObservedDomain.of(c)) for c in columns),
        models=(KAnonymity(k=5),),
        metric=LossMetric(),
        limit=rows_within(share, one.frame.height),
    )


def naive_node(frame: pl.DataFrame, hierarchies: tuple[Hierarchy, ...], levels: tuple[int, ...]) -> int:
    """Recode every row and group: how a node is checked without cells, roll-up and codes."""
    recoded = frame.select(
        pl.col(h.column).replace_strict(
            list(h.levels[0].labels), [h.levels[n].labels[p] for p in h.levels[n].parent], return_dtype=pl.String
        )
        for h, n in zip(hierarchies, levels, strict=True)
    )
    sizes = recoded.group_by(recoded.columns).len()["len"]
    return int(sizes.filter(sizes < 5).sum())


def naive_seconds(one: Subject, given: Problem) -> tuple[float, int]:
    """What all nodes would take, from a random sample of them."""
    nodes = list(product(*(range(h.height + 1) for h in given.hierarchies)))
    sample = random.Random(1).sample(nodes, SAMPLE)
    _, cost = timed(lambda: [naive_node(one.frame, given.hierarchies, levels) for levels in sample])
    return cost.wall / SAMPLE * len(nodes), len(nodes)


def row(one: Subject, share: float, naive: float, nodes: int) -> list[str]:
    """One line of the table."""
    given = problem(one, share)
    found, cost = timed(lambda: optimal(given, Work()), repeat=3)
    with tempfile.TemporaryDirectory() as place:
        plan = one.write(Path(place), suppressed=share)
        whole = command(
            ["release", str(plan), "--set", "attack.run=false", "-o", str(Path(place) / "out"), "--no-inside", "--json"]
        )
    return [
        one.name,
        f"{share:.0%}",
        f"{found.loss:.4f}",
        f"{_checked(found):,} of {nodes:,}",
        f"{cost.wall:.2f} s",
        f"{naive:,.0f} s",
        f"{naive / cost.wall:,.0f}",
        f"{whole.wall:.1f} s",
        f"{whole.cpu:.1f} s",
        f"{whole.peak_mb:,.0f} MB",
    ]


def _checked(found: Outcome) -> int:
    return int(found.effort["checked"])


def main() -> str:
    """Both tables, three limits of suppression."""
    small = subject()
    rows = []
    for one in (small, small.times(1_000_000)):
        naive, nodes = naive_seconds(one, problem(one, 0.0))
        rows += [row(one, share, naive, nodes) for share in (0.0, 0.04, 1.0)]
    headers = ["table", "may be suppressed", "loss", "nodes checked", "search", f"naive, from {SAMPLE} nodes", "ratio"]
    headers += ["whole command", "its CPU", "its peak memory"]
    return table("Optimal search, k = 5, nine quasi-identifiers, metric loss", headers, rows)


if __name__ == "__main__":
    print(main())
