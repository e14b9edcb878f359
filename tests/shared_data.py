"""Where the real data sets are, for tests that want them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from sfumato.algorithms.problem import Problem
from sfumato.counts.local_table import cells
from sfumato.metrics.information_loss import LossMetric
from sfumato.metrics.metric import measures
from sfumato.models import KAnonymity
from sfumato.tables.files import read
from sfumato.tables.hierarchy_files import read_hierarchy
from sfumato.tables.schema import ObservedDomain


def shared(*parts: str) -> Path:
    """A file of the shared data folder; the test is skipped where there is none."""
    named = os.environ.get("SFUMATO_DATA")
    root = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    path = root.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"needs {'/'.join(parts)} from the shared data; set SFUMATO_DATA to the folder that holds it")
    return path


def adult_problem(k: int, quasi: int = 9) -> Problem:
    """Adult as ARX ships it, with its nine quasi-identifiers or the first of them.

    Asked for is k-anonymity with the least loss, and nothing suppressed.
    """
    table = read(shared("arx", "adult.csv"))
    columns = [table.column(name) for name in table.names[:quasi]]
    folder = shared("adult", "hierarchies", "arx")
    hierarchies = tuple(
        read_hierarchy(folder / f"adult_hierarchy_{c.name}.csv").build(ObservedDomain.of(c)) for c in columns
    )
    grouped = cells(columns).classes
    grouped = replace(grouped, measures=measures(grouped))
    return Problem(cells=grouped, hierarchies=hierarchies, models=(KAnonymity(k=k),), metric=LossMetric())
