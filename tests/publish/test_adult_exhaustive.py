"""Adult with nine quasi-identifiers: the optimum, proved against all 12,960 nodes by a separate plain loop."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from sfumato.ground.shares import rows_within
from sfumato.ground.work import Work
from sfumato.publish.lattice.optimal import optimal
from sfumato.publish.problem import Problem
from tests.shared_data import adult_problem

K = 5
SHARES = (0.0, 0.04, 1.0)


@pytest.fixture(scope="module")
def adult() -> Problem:
    return adult_problem(K)


def every_node(grouped, hierarchies) -> dict[float, float]:
    """The smallest loss over all nodes for each share of suppressed rows, by nothing but the definitions."""
    codes = list(grouped.keys)
    sizes = grouped.sizes
    rows = int(sizes.sum())
    costs = [[(lv.sizes - 1) / (h.total - 1) for lv in h.levels] for h in hierarchies]
    cell_label = [[lv.parent[c].astype(np.int64) for lv in h.levels] for h, c in zip(hierarchies, codes, strict=True)]
    cell_cost = [
        [cost[label] for cost, label in zip(cs, ls, strict=True)] for cs, ls in zip(costs, cell_label, strict=True)
    ]
    best = dict.fromkeys(SHARES, np.inf)
    count = 0
    for levels in product(*(range(h.height + 1) for h in hierarchies)):
        count += 1
        key = np.zeros(len(sizes), np.int64)
        cost = np.zeros(len(sizes))
        for column, level in enumerate(levels):
            key = key * len(hierarchies[column].levels[level].labels) + cell_label[column][level]
            cost += cell_cost[column][level]
        cost /= len(levels)
        _, ids = np.unique(key, return_inverse=True)
        small = np.bincount(ids, weights=sizes)[ids] < K
        suppressed = int(sizes[small].sum())
        loss = float(sizes @ np.where(small, 1.0, cost)) / rows
        for share in SHARES:
            if suppressed <= share * rows and suppressed < rows:
                best[share] = min(best[share], loss)
    assert count == 12_960
    return best


@pytest.mark.slow
def test_the_optimum_is_the_optimum(adult):
    expected = every_node(adult.cells, adult.hierarchies)
    for share in SHARES:
        problem = replace(adult, limit=rows_within(share, adult.cells.rows))
        found = optimal(problem, Work())
        assert found.loss == pytest.approx(expected[share], abs=1e-12)
        assert found.effort["nodes"] == 12_960
        assert found.effort["checked"] < 1_000
