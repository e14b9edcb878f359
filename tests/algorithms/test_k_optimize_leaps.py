"""Leaps: whatever they find is a set of cuts that is feasible and loses what it says, and a seed repeats them."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.algorithms.k_optimize.cuts import Best
from sfumato.algorithms.k_optimize.nodes import Nodes
from sfumato.algorithms.k_optimize.set_enumeration import Leaps, Search
from sfumato.algorithms.problem import Problem
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.metrics.information_loss import Discernibility, LossMetric
from sfumato.models import KAnonymity
from tests.example_tables import PATHS, problem_cells


def nodes_of(metric: LossMetric | Discernibility, limit: int) -> Nodes:
    draws = np.random.default_rng(3)
    quasi = {name: draws.choice(list(PATHS[name]), 40).tolist() for name in PATHS}
    made, hierarchies = problem_cells(quasi, {})
    return Nodes(
        Problem(cells=made.classes, hierarchies=hierarchies, models=(KAnonymity(k=3),), metric=metric, limit=limit),
        "boxes",
    )


def leapt(nodes: Nodes, seed: int) -> tuple[Best, list[bool]]:
    best = Best()
    root = nodes.at(nodes.none(), ~nodes.none())
    best.offer(root.head, nodes.loss(root))
    leaps = Leaps(nodes, best, Work(chance=Chance(seed=seed)))
    return best, [leaps.leap() for _ in range(12)]


@pytest.mark.parametrize("metric", [LossMetric(), Discernibility()])
@pytest.mark.parametrize("limit", [0, 4])
def test_leaps_find_feasible_sets_and_never_better_than_the_proven_best(metric, limit):
    nodes = nodes_of(metric, limit)
    best, better = leapt(nodes, 1)
    again, _ = leapt(nodes, 1)
    assert any(better)
    assert best.head is not None
    assert again.head is not None
    assert best.loss == again.loss
    assert best.head.tolist() == again.head.tolist()
    assert nodes.loss(nodes.at(best.head, nodes.none())) == pytest.approx(best.loss)
    proven = Best()
    search = Search(nodes, proven, Work())
    search.run()
    assert search.exhausted
    assert proven.loss <= best.loss + 1e-9
