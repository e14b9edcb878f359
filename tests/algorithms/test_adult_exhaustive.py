"""Adult with nine quasi-identifiers: the optimum, proved against all 12,960 nodes by a separate plain loop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sfumato.algorithms.lattice.optimal import optimal
from sfumato.algorithms.problem import Problem
from sfumato.core.fractions import rows_within
from sfumato.core.run_context import Work
from tests.shared_data import adult_problem

K = 5
SHARES = (0.0, 0.04, 1.0)


@pytest.fixture(scope="module")
def adult() -> Problem:
    return adult_problem(K)


def every_node(grouped, hierarchies) -> dict[float, float]:
    """The smallest loss over all nodes for each share of suppressed rows, by nothing but the definitions.

    Nodes with the same first levels share their groups and costs by the first columns, and no more than that.
    """
    sizes = grouped.sizes
    rows = int(sizes.sum())
    columns = sorted(zip(hierarchies, grouped.keys, strict=True), key=lambda column: -len(column[0].levels[0].labels))
    shown = [[(len(lv.labels), lv.parent[codes].astype(np.int64)) for lv in h.levels] for h, codes in columns]
    costs = [[((lv.sizes - 1) / (h.total - 1))[lv.parent[codes]] for lv in h.levels] for h, codes in columns]
    best = dict.fromkeys(SHARES, np.inf)
    count = 0

    def nodes(place: int, group: np.ndarray, cost: np.ndarray) -> None:
        nonlocal count
        if place < len(columns):
            for (labels, label), more in zip(shown[place], costs[place], strict=True):
                nodes(place + 1, numbered(group * labels + label), cost + more)
            return
        count += 1
        small = np.bincount(group, weights=sizes)[group] < K
        suppressed = int(sizes[small].sum())
        loss = float(sizes @ np.where(small, 1.0, cost / len(columns))) / rows
        for share in SHARES:
            if suppressed <= share * rows and suppressed < rows:
                best[share] = min(best[share], loss)

    nodes(0, np.zeros(len(sizes), np.int64), np.zeros(len(sizes)))
    assert count == 12_960
    return best


def numbered(key: np.ndarray) -> np.ndarray:
    """The same groups, numbered without gaps."""
    return (np.cumsum(np.bincount(key) > 0) - 1)[key]


@pytest.mark.slow
def test_the_optimum_is_the_optimum(adult):
    expected = every_node(adult.cells, adult.hierarchies)
    for share in SHARES:
        problem = replace(adult, limit=rows_within(share, adult.cells.rows))
        found = optimal(problem, Work())
        assert found.loss == pytest.approx(expected[share], abs=1e-12)
        assert found.effort["nodes"] == 12_960
        assert found.effort["checked"] < 1_000
