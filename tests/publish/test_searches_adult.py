"""Adult with nine quasi-identifiers: every search runs, and they agree where they must."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sfumato.data.files import read
from sfumato.describe.domains import ObservedDomain
from sfumato.describe.paths import read_hierarchy
from sfumato.ground.shares import rows_within
from sfumato.ground.work import Work
from sfumato.group.cells import cells
from sfumato.models import KAnonymity
from sfumato.publish.lattice.datafly import datafly
from sfumato.publish.lattice.greedy import greedy
from sfumato.publish.lattice.incognito import incognito
from sfumato.publish.lattice.optimal import optimal
from sfumato.publish.lattice.samarati import samarati
from sfumato.publish.problem import Problem
from sfumato.testing.search_kit import check_outcome
from sfumato.utility.cell_metrics import LossMetric
from sfumato.utility.view import measures
from tests.shared_data import shared


@pytest.fixture(scope="module")
def adult() -> Problem:
    table = read(shared("arx", "adult.csv"))
    columns = [table.column(name) for name in table.names]
    folder = shared("adult", "hierarchies", "arx")
    hierarchies = tuple(
        read_hierarchy(folder / f"adult_hierarchy_{c.name}.csv").build(ObservedDomain.of(c)) for c in columns
    )
    grouped = cells(columns).classes
    grouped = replace(grouped, measures=measures(grouped))
    return Problem(cells=grouped, hierarchies=hierarchies, models=(KAnonymity(k=5),), metric=LossMetric())


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.04])
def test_all_searches_on_adult(adult, share):
    problem = replace(adult, limit=rows_within(share, adult.cells.rows))
    best = optimal(problem, Work())
    every = incognito(problem, Work())
    assert every.loss == pytest.approx(best.loss, abs=1e-12)
    assert every.effort["checked"] + every.effort["tagged"] + every.effort["pruned_by_closure"] == 207_359
    for found in (every, *(run(problem, Work()) for run in (samarati, datafly, greedy))):
        check_outcome(problem, found)
        assert best.loss <= found.loss + 1e-12
    assert found.effort["lower_bound"] <= best.loss
