"""Adult with nine quasi-identifiers: every search runs, and they agree where they must."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sfumato.ground.shares import rows_within
from sfumato.ground.work import Work
from sfumato.publish.lattice.datafly import datafly
from sfumato.publish.lattice.greedy import greedy
from sfumato.publish.lattice.incognito import incognito
from sfumato.publish.lattice.optimal import optimal
from sfumato.publish.lattice.samarati import samarati
from sfumato.publish.problem import Problem
from sfumato.testing.search_kit import check_outcome
from tests.shared_data import adult_problem


@pytest.fixture(scope="module")
def adult() -> Problem:
    return adult_problem(5)


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
