"""Adult with nine quasi-identifiers: what is known about how the algorithms compare holds."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from sfumato.algorithms.lattice.datafly import datafly
from sfumato.algorithms.lattice.greedy import greedy
from sfumato.algorithms.lattice.optimal import optimal
from sfumato.algorithms.lattice.samarati import samarati
from sfumato.algorithms.local import CellSuppression, Local
from sfumato.algorithms.mondrian import Mondrian
from sfumato.algorithms.problem import Outcome, Problem
from sfumato.core.fractions import rows_within
from sfumato.core.run_context import Work
from sfumato.testing.searches import check_outcome
from tests.shared_data import adult_problem

FULL_DOMAIN = {"optimal": optimal, "samarati": samarati, "datafly": datafly, "greedy": greedy}
LOCAL = {"mondrian": Mondrian(), "local": Local(), "cell-suppression": CellSuppression()}
_NEAR = 1e-12
pytestmark = pytest.mark.xdist_group("compared on Adult")


@pytest.fixture(scope="module", params=[(5, 0.0), (25, 0.04)], ids=["k=5", "k=25, 4% suppressed"])
def compared(request: pytest.FixtureRequest) -> tuple[Problem, dict[str, Outcome]]:
    return searched(*request.param)


@cache
def searched(k: int, share: float) -> tuple[Problem, dict[str, Outcome]]:
    """Every search on Adult; made once, whatever the order of the tests."""
    whole = adult_problem(k)
    problem = replace(whole, limit=rows_within(share, whole.cells.rows))
    return problem, {name: run(problem, Work()) for name, run in {**FULL_DOMAIN, **LOCAL}.items()}


@pytest.mark.slow
def test_every_result_is_what_it_says(compared):
    problem, found = compared
    for outcome in found.values():
        check_outcome(problem, outcome)


@pytest.mark.slow
def test_no_full_domain_search_loses_less_than_the_optimal_one(compared):
    _, found = compared
    for name in FULL_DOMAIN:
        assert found["optimal"].loss <= found[name].loss + _NEAR, name
    assert found["optimal"].proven


@pytest.mark.slow
def test_local_recoding_loses_less_than_global(compared):
    """Far less, and the two that cut freely less than the one that only suppresses cells."""
    _, found = compared
    for name in LOCAL:
        assert found[name].loss < found["optimal"].loss, name
    assert max(found["mondrian"].loss, found["local"].loss) < found["cell-suppression"].loss
