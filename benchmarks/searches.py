"""All searches of the lattice on one table; and the greedy one where the lattice is too large for the others."""

from __future__ import annotations

import io
import lzma
from collections.abc import Callable
from dataclasses import replace

import polars as pl

from lattice import problem
from measure import table, timed
from sfumato.algorithms.lattice.datafly import datafly
from sfumato.algorithms.lattice.greedy import greedy
from sfumato.algorithms.lattice.incognito import incognito
from sfumato.algorithms.lattice.optimal import optimal
from sfumato.algorithms.lattice.samarati import samarati
from sfumato.algorithms.problem import Outcome, Problem
from sfumato.core.run_context import Work
from sfumato.counts.local_table import cells
from sfumato.metrics.information_loss import LossMetric
from sfumato.metrics.metric import measures
from sfumato.models.k_anonymity import KAnonymity
from sfumato.tables.hierarchy import Hierarchy
from sfumato.tables.hierarchy_builders import Flat, Intervals
from sfumato.tables.schema import ObservedDomain
from sfumato.tables.table import Column, Table
from tables import ROOT, subject

SEARCHES: tuple[Callable[[Problem, Work], Outcome], ...] = (optimal, incognito, samarati, datafly, greedy)
SECONDS = 60.0
WIDTHS = {0: (5.0, 10.0, 20.0, 40.0), 39: (13.0, 26.0)}
"""Numbers by column: age, weeks worked."""
FLAT = (1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 19, 20, 21, 22, 23, 32)
"""Texts: work, occupation, education, family, origin, region, household; with the numbers twenty columns."""


def compared() -> str:
    """Every search on the usual table, without suppression and with a little."""
    one = subject()
    rows = []
    for share in (0.0, 0.04):
        given = problem(one, share)
        for run in SEARCHES:
            found, cost = timed(lambda run=run, given=given: run(given, Work()), repeat=2)
            checked = f"{int(found.effort['checked']):,}"
            rows.append([one.name, f"{share:.0%}", run.__name__, f"{found.loss:.4f}", checked, f"{cost.wall:.2f} s"])
    headers = ["table", "may be suppressed", "search", "loss", "nodes checked", "time"]
    return table("Searches, k = 5, nine quasi-identifiers, metric loss", headers, rows)


def large() -> str:
    """The greedy search on twenty quasi-identifiers of the census income table, or nothing where it is not there."""
    path = ROOT / "census_income_kdd" / "census_income_1994_1995_train.csv.xz"
    if not path.exists():
        return ""
    given = census(path.read_bytes())
    rows = []
    for share in (0.0, 0.04):
        one = replace(given, limit=int(share * given.cells.rows))
        found, cost = timed(lambda one=one: greedy(one, Work(seconds=SECONDS)))
        first, _ = timed(lambda one=one: datafly(one, Work()))
        effort = found.effort
        rows.append(
            [
                f"{share:.0%}",
                f"{effort['nodes']:,}",
                f"{effort['checked']:,}",
                f"{first.loss:.4f}",
                f"{found.loss:.4f}",
                f"{effort['lower_bound']:.4f}",
                effort["stopped"],
                f"{cost.wall:.0f} s",
            ]
        )
    headers = ["may be suppressed", "nodes", "checked", "Datafly's loss", "loss", "lower bound", "stopped by", "time"]
    title = f"Greedy search, census income, {given.cells.rows:,} rows, {given.cells.count:,} cells, 20 columns, k = 5"
    return table(title, headers, rows)


def census(packed: bytes) -> Problem:
    """The census income table with flat hierarchies, and intervals for its numbers."""
    text = lzma.decompress(packed)
    frame = pl.read_csv(io.BytesIO(text), has_header=False, infer_schema=False)
    places = sorted([*WIDTHS, *FLAT])
    texts = {place: pl.col(frame.columns[place]).str.strip_chars() for place in places}
    narrow = frame.select(text.cast(pl.Int64) if place in WIDTHS else text for place, text in texts.items())
    loaded = Table(frame=narrow)
    columns = [loaded.column(name) for name in narrow.columns]
    grouped = cells(columns).classes
    return Problem(
        cells=replace(grouped, measures=measures(grouped)),
        hierarchies=tuple(hierarchy(column, place) for column, place in zip(columns, places, strict=True)),
        models=(KAnonymity(k=5),),
        metric=LossMetric(),
    )


def hierarchy(column: Column, place: int) -> Hierarchy:
    """Intervals where widths are given, else the value and the top."""
    domain = ObservedDomain.of(column)
    if place in WIDTHS:
        return Intervals(widths=WIDTHS[place]).build(domain)
    return Flat().build(domain)


def main() -> str:
    """Both tables."""
    return f"{compared()}\n{large()}"


if __name__ == "__main__":
    print(main())
