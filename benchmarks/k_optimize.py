"""K-Optimize against trying every set of cuts, and what it has found on Adult when it is stopped."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl

from measure import table, timed
from sfumato.algorithms.k_optimize.nodes import Nodes
from sfumato.algorithms.k_optimize.set_enumeration import KOptimize
from sfumato.algorithms.lattice.optimal import optimal
from sfumato.algorithms.problem import Problem
from sfumato.core.fractions import rows_within
from sfumato.core.run_context import Work
from sfumato.counts.local_table import cells
from sfumato.metrics.information_loss import ClassificationMetric, Discernibility, LossMetric
from sfumato.metrics.metric import Metric, measures
from sfumato.models.k_anonymity import KAnonymity
from sfumato.tables.hierarchy_files import read_hierarchy
from sfumato.tables.schema import ObservedDomain
from sfumato.tables.table import Table
from tables import Subject, subject

TARGETS = ("salary-class", "income")
SMALL = ("sex", "race", "marital-status")
LARGER = ("sex", "race", "marital-status", "workclass", "education")
SAMPLE = 2048
STOPS = (1.0, 5.0, 20.0)


def problem(one: Subject, names: list[str], metric: Metric, share: float = 0.0, *, k: int) -> Problem:
    """K-anonymity over some columns, with the subject's class attribute as the target."""
    loaded = Table(frame=one.frame)
    columns = [loaded.column(name) for name in names]
    target = next(name for name in TARGETS if name in loaded.names)
    grouped = cells(columns, [loaded.column(target)]).classes
    return Problem(
        cells=replace(grouped, measures=measures(grouped)),
        hierarchies=tuple(read_hierarchy(one.hierarchies[c.name]).build(ObservedDomain.of(c)) for c in columns),
        models=(KAnonymity(k=k),),
        metric=metric,
        target=target,
        limit=rows_within(share, one.frame.height),
        numbers=tuple(c.numbers if c.kind in ("integer", "real") else None for c in columns),
    )


def naive(frame: pl.DataFrame, given: Problem, orders: list[list[str]], bits: tuple[bool, ...]) -> int:
    """Recode every row and group: the rows of classes smaller than 20 under one set of cuts."""
    shown, first = [], 0
    for name, order in zip(given.cells.quasi, orders, strict=True):
        part = np.append(0, np.cumsum(bits[first : first + len(order) - 1]))
        shown.append(pl.col(name).replace_strict(order, part, return_dtype=pl.Int64))
        first += len(order) - 1
    sizes = frame.select(shown).group_by(given.cells.quasi).len()["len"]
    return int(sizes.filter(sizes < 20).sum())


def brute_seconds(one: Subject, given: Problem) -> tuple[float, int]:
    """What all sets of cuts would take, from some of them, evenly chosen."""
    cuts = Nodes(given, "boxes").cuts
    orders = [[given.cells.labels[c][code] for code in order] for c, order in enumerate(cuts.orders)]
    every = 2**cuts.count
    step = max(every // SAMPLE, 1)
    chosen = [tuple(bool(number >> c & 1) for c in range(cuts.count)) for number in range(0, every, step)]
    _, cost = timed(lambda: [naive(one.frame, given, orders, bits) for bits in chosen])
    return cost.wall / len(chosen) * every, every


def exact_row(given: Problem, slow: float, every: int) -> list[str]:
    """One line: the search to its end beside every set of cuts."""
    found, cost = timed(lambda: KOptimize()(given, Work().allowing(120.0)))
    return [
        str(len(given.hierarchies)),
        given.metric.name,
        f"{given.limit:,} rows",
        f"{found.loss:.6g}",
        "yes" if found.proven else "no",
        f"{found.effort['checked']:,} of {every:,}",
        f"{cost.wall:.2f} s",
        f"{slow:,.0f} s",
        f"{slow / cost.wall:,.0f}",
    ]


def stopped_row(one: Subject, metric: Metric, share: float) -> list[str]:
    """One line: all columns, stopped after some seconds."""
    target = next(name for name in TARGETS if name in one.frame.columns)
    given = problem(one, [name for name in one.hierarchies if name != target], metric, share, k=5)
    runs = [KOptimize()(given, Work().allowing(seconds)) for seconds in STOPS]
    return [
        metric.name,
        f"{share:.0%}",
        f"{optimal(given, Work()).loss:.6g}",
        *(f"{found.loss:.6g}" for found in runs),
        f"{runs[-1].effort.get('lower_bound', runs[-1].loss):.6g}",
        f"{runs[-1].effort.get('gap', 0.0):.6g}",
        f"{runs[-1].effort['checked']:,}",
    ]


def main() -> str:
    """Both tables."""
    one = subject()
    metrics: list[Metric] = [ClassificationMetric(), Discernibility(), LossMetric()]
    exact = []
    for names in (SMALL, LARGER):
        slow, every = brute_seconds(one, problem(one, list(names), metrics[0], k=20))
        asked = [problem(one, list(names), *what, k=20) for what in product(metrics, (0.0, 0.02))]
        exact += [exact_row(given, slow, every) for given in asked]
    stopped = [stopped_row(one, metric, share) for metric, share in product(metrics, (0.0, 0.02))]
    first = ["quasi-identifiers", "metric", "may be suppressed", "loss", "proven", "nodes", "k-optimize"]
    first += [f"every set, from {SAMPLE:,} of them", "ratio"]
    second = ["metric", "may be suppressed", "full-domain optimum", *(f"after {s:g} s" for s in STOPS)]
    second += ["lower bound", "gap", "nodes"]
    return "\n".join(
        [
            table(f"K-Optimize to the end, {one.name}, k = 20, against a group-by for every set of cuts", first, exact),
            table(f"K-Optimize stopped early, {one.name}, k = 5, all quasi-identifiers", second, stopped),
        ]
    )


if __name__ == "__main__":
    print(main())
