"""Adult with many quasi-identifiers: every search runs, and they agree where they must."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import pytest

from sfumato.algorithms.lattice.datafly import datafly
from sfumato.algorithms.lattice.greedy import greedy
from sfumato.algorithms.lattice.incognito import incognito
from sfumato.algorithms.lattice.optimal import optimal
from sfumato.algorithms.lattice.samarati import samarati
from sfumato.core.fractions import rows_within
from sfumato.core.run_context import Work
from sfumato.testing.searches import check_outcome
from tests.shared_data import adult_problem


@pytest.mark.slow
@pytest.mark.parametrize(("share", "quasi"), [(0.0, 9), (0.04, 6)])
def test_all_searches_on_adult(share, quasi):
    """Where rows may be suppressed, incognito judges far more of the lattice: six quasi-identifiers are enough."""
    adult = adult_problem(5, quasi)
    problem = replace(adult, limit=rows_within(share, adult.cells.rows))
    nodes_of_subsets = prod(len(one.levels) + 1 for one in adult.hierarchies) - 1
    best = optimal(problem, Work())
    every = incognito(problem, Work())
    assert every.loss == pytest.approx(best.loss, abs=1e-12)
    assert every.effort["checked"] + every.effort["tagged"] + every.effort["pruned_by_closure"] == nodes_of_subsets
    for found in (every, *(run(problem, Work()) for run in (samarati, datafly, greedy))):
        check_outcome(problem, found)
        assert best.loss <= found.loss + 1e-12
    assert found.effort["lower_bound"] <= best.loss
