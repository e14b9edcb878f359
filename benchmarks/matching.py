"""Which classes match where values are unknown: in groups and by a tree, against comparing every two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import polars as pl
from numpy.typing import NDArray

from measure import table, timed
from sfumato.counts import wildcards
from sfumato.counts.classes import Classes
from sfumato.counts.local_table import cells
from sfumato.counts.wildcards import matched
from sfumato.tables.table import Table
from tables import subject

ROWS = (25_000, 50_000, 100_000, 200_000, 400_000)
EVERY_TWO = 100_000
"""Up to so many classes every two are compared."""
WAYS = ("every two", "groups", "tree", "tallies")
HOLES = 0.03
"""The share of rows that lack one, two or three values."""


def holed(rows: int) -> Classes:
    """Rows drawn from Adult, one cell in ten from another row; a few have ``*`` in some columns, as releases do."""
    frame = subject().times(rows).frame
    draw = np.random.Generator(np.random.PCG64(2))
    lacks = np.where(draw.random(rows) < HOLES, draw.integers(1, 4, rows), 0)
    order = draw.random((frame.width, rows)).argsort(axis=0)
    stars = [
        pl.when(pl.Series(order[c] < lacks)).then(pl.lit("*")).otherwise(pl.col(name)).alias(name)
        for c, name in enumerate(frame.columns)
    ]
    whole = Table(frame=frame.with_columns(stars), missing=())
    quasi = [whole.column(name, "text") for name in whole.names if name != "occupation"]
    return cells(quasi, [whole.column("occupation", "text")], stars="*").classes


def every_two(classes: Classes) -> NDArray[np.int64]:
    """The definition, a class at a time beside all others: the rows that match each."""
    unknown = np.array([flags[codes] for flags, codes in zip(classes.wild or (), classes.keys, strict=True)])
    sizes = np.zeros_like(classes.sizes)
    for place in range(classes.count):
        fits = np.ones(classes.count, np.bool_)
        for codes, holes in zip(classes.keys, unknown, strict=True):
            if not holes[place]:
                fits &= (codes == codes[place]) | holes
        sizes[place] = classes.sizes[fits].sum()
    return sizes


def row(classes: Classes, found: dict[str, float], before: dict[str, float], grown: float) -> list[str]:
    """One line: seconds of each way, how often quicker, and how they grew since the line above."""
    slow = found.get("every two")
    both = [way for way in WAYS if way in found and way in before]
    growth = [f"{np.log(found[way] / before[way]) / np.log(grown):.2f}" for way in both]
    return [
        f"{classes.count:,}",
        "-" if slow is None else f"{slow:.2f} s",
        *(f"{found[way]:.3f} s" for way in ("groups", "tree", "tallies")),
        "-" if slow is None else f"{slow / found['groups']:,.0f}",
        "-" if slow is None else f"{slow / found['tree']:,.0f}",
        ", ".join(growth) or "-",
    ]


def seconds(call: Callable[[], object], *, repeat: int = 1) -> float:
    """CPU of the best of some runs."""
    return timed(call, repeat=repeat)[1].cpu


def measured(classes: Classes) -> dict[str, float]:
    """Each way on the same classes, as far as it can be waited for; what they find is the same."""
    plain, found = replace(classes, tallies={}), {}
    with patch.object(wildcards, "_most_kinds", lambda classes: 10_000):
        found["groups"] = seconds(lambda: matched(plain), repeat=2)
        sizes = matched(plain).sizes
    with patch.object(wildcards, "_most_kinds", lambda classes: -1):
        found["tree"] = seconds(lambda: matched(plain), repeat=2)
        alike = np.array_equal(sizes, matched(plain).sizes)
    found["tallies"] = seconds(lambda: matched(classes), repeat=2)
    if classes.count <= EVERY_TWO:
        literal, cost = timed(lambda: every_two(plain))
        found["every two"], alike = cost.cpu, alike and np.array_equal(sizes, literal)
    if not alike:
        raise SystemExit("the ways do not find the same")
    return found


def main() -> str:
    """Seconds of CPU for each way and number of classes."""
    rows, before, count = [], dict[str, float](), 0
    for many in ROWS:
        classes = holed(many)
        found = measured(classes)
        rows.append(row(classes, found, before, classes.count / count if count else 1.0))
        before, count = found, classes.count
    headers = ["classes", "every two", "groups", "tree", "as released, with a tally", "groups are quicker by"]
    headers += ["tree is quicker by", "growth: power of the classes"]
    title = (
        f"{subject().name}, {HOLES:.0%} of the rows with one to three unknown values: which classes match which, CPU"
    )
    return table(title, headers, rows)


if __name__ == "__main__":
    print(main())
