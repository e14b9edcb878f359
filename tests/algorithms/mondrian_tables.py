"""Small problems for Mondrian: categories and numbers, with and without missing values, by cells or by rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from sfumato.algorithms.problem import Problem
from sfumato.counts.local_table import cells
from sfumato.metrics.information_loss import LossMetric
from sfumato.metrics.metric import measures
from sfumato.models import KAnonymity
from sfumato.tables.hierarchy_files import Paths
from sfumato.tables.schema import ObservedDomain
from tests.example_tables import PATHS, column

MISSING = "?"
NUMBERS = {str(n): ("low" if n < 5 else "high",) for n in range(10)}
TREES = {"a": PATHS["a"], "n": NUMBERS, "b": PATHS["b"], "m": NUMBERS}
NUMERIC = ("n", "m")


TWO = (KAnonymity(k=2),)


def problem_of(quasi, sensitive=None, models=TWO, target=None, *, single: bool = False) -> Problem:
    """A problem over columns of TREES; one cell per row where ``single``."""
    rows = len(next(iter(quasi.values())))
    encoded = [column(name, values, missing=(MISSING,)) for name, values in quasi.items()]
    counted = {"s": column("s", sensitive or ["1"] * rows), "y": column("y", target or ["0"] * rows)}
    made = cells(encoded, list(counted.values()))
    made = made.singly(counted) if single else made
    tallies = {name: replace(t, original=t.overall) for name, t in made.classes.tallies.items()}
    return Problem(
        cells=replace(made.classes, tallies=tallies, measures=measures(made.classes)),
        hierarchies=tuple(Paths(paths=TREES[c.name]).build(ObservedDomain.of(c)) for c in encoded),
        models=models,
        metric=LossMetric(),
        target="y",
        numbers=tuple(_numbers(c.values) if c.name in NUMERIC else None for c in encoded),
    )


def _numbers(values):
    return np.array([np.nan if value == MISSING else float(value) for value in values])


@st.composite
def mixed_rows(draw: st.DrawFn, *, most: int = 25, missing: bool = True, columns=tuple(TREES)) -> dict[str, list[str]]:
    """Random rows over some of the columns of TREES."""
    names = columns[: draw(st.integers(1, len(columns)))]
    rows = draw(st.integers(1, most))
    extra = (MISSING,) if missing else ()
    values = {name: st.sampled_from((*TREES[name], *extra)) for name in names}
    return {name: draw(st.lists(values[name], min_size=rows, max_size=rows)) for name in names}


def groups_of(problem: Problem, found) -> list[list[tuple[int, ...]]]:
    """The rows of every group, as tuples of codes."""
    made: list[list[tuple[int, ...]]] = [[] for _ in range(found.count)]
    for cell, group in enumerate(found.ids):
        made[group] += [tuple(int(code) for code in problem.cells.keys[:, cell])] * int(problem.cells.sizes[cell])
    return made
