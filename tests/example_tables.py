"""Small tables for tests: hypothesis strategies and builders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl
from hypothesis import strategies as st

from sfumato.counts.local_table import Cells, cells
from sfumato.metrics.metric import measures
from sfumato.tables.hierarchy import Hierarchy
from sfumato.tables.hierarchy_files import Paths
from sfumato.tables.schema import ObservedDomain
from sfumato.tables.table import Column, Table

PATHS = {
    "a": {"a1": ("A", "AB"), "a2": ("A", "AB"), "b1": ("B", "AB"), "c1": ("C", "CC"), "c2": ("C", "CC")},
    "b": {"x": ("X",), "y": ("X",), "z": ("Z",)},
    "c": {"m": (), "n": ()},
}


def column(name: str, values: Sequence[str], *, missing: tuple[str, ...] = ()) -> Column:
    return Table(frame=pl.DataFrame({name: list(values)}, schema={name: pl.String}), missing=missing).column(name)


def hierarchy(column: Column) -> Hierarchy:
    return Paths(paths=PATHS[column.name]).build(ObservedDomain.of(column))


@st.composite
def quasi_rows(draw: st.DrawFn, *, most: int = 14, columns: int | None = None) -> dict[str, list[str]]:
    """Random rows over the columns of PATHS."""
    names = list(PATHS)[: columns or draw(st.integers(1, 3))]
    rows = draw(st.integers(1, most))
    return {name: draw(st.lists(st.sampled_from(list(PATHS[name])), min_size=rows, max_size=rows)) for name in names}


def problem_cells(quasi: dict[str, list[str]], counted: dict[str, list[str]]) -> tuple[Cells, tuple[Hierarchy, ...]]:
    """Cells with measures and original distributions, and the hierarchies of the columns."""
    encoded = [column(name, values) for name, values in quasi.items()]
    made = cells(encoded, [column(name, values) for name, values in counted.items()])
    tallies = {name: replace(t, original=t.overall) for name, t in made.classes.tallies.items()}
    grouped = replace(made.classes, tallies=tallies, measures=measures(made.classes))
    return replace(made, classes=grouped), tuple(map(hierarchy, encoded))
