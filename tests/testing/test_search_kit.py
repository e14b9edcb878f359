"""Every search over tables passes the kit on small problems; searches that are known to be bad do not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sfumato.algorithms.lattice.greedy import greedy
from sfumato.algorithms.lattice.optimal import optimal
from sfumato.algorithms.problem import Outcome, Problem
from sfumato.core.errors import Infeasible
from sfumato.core.run_context import Work
from sfumato.counts.local_table import Cells
from sfumato.metrics.information_loss import LossMetric
from sfumato.models import DistinctLDiversity, KAnonymity
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.methods.table.stages import grain_of
from sfumato.testing.searches import BrokenSearch, check_search
from tests.example_tables import PATHS, column, problem_cells

FULL_DOMAIN = ("optimal", "samarati", "incognito")
"""These find something wherever something fits."""


def problems(run: Any, *, numbers: bool = False) -> Iterator[Problem]:
    """Random tables of a few rows, single rows apart where the search asks for that."""
    draw = np.random.default_rng(3)
    for rows in (6, 12, 20):
        quasi = {name: draw.choice(list(PATHS[name]), rows).tolist() for name in PATHS}
        ill = [str(n % 4) for n in draw.permutation(rows)]
        cells, hierarchies = problem_cells(quasi, {"s": ill})
        for models in ((KAnonymity(k=2),), (DistinctLDiversity(l=2, column="s"),), (KAnonymity(k=100),)):
            problem = Problem(
                cells=cells.classes,
                hierarchies=hierarchies,
                models=models,
                metric=LossMetric(),
                limit=rows // 5,
                numbers=tuple(np.arange(float(len(names))) for names in cells.classes.labels) if numbers else (),
            )
            yield problem if grain_of(run, problem) == "cells" else apart(problem, cells, ill)


def apart(problem: Problem, cells: Cells, ill: list[str]) -> Problem:
    return replace(problem, cells=cells.singly({"s": column("s", ill)}).classes)


@pytest.mark.parametrize("name", [name for name in catalog().solving("table") if name != "anatomy"])
def test_every_search_passes(name: str):
    """Anatomy changes no quasi-identifier and has tests of its own: its groups are judged, not its classes."""
    part = catalog().algorithms[name]
    run = part.found() if isinstance(part.found, type) else part.found
    assert check_search(run, problems(run, numbers=name == "microaggregation"), complete=name in FULL_DOMAIN) == 9


def emptying(problem: Problem, work: Work) -> Outcome:
    """Gives an empty table where nothing fits."""
    try:
        return optimal(problem, work)
    except Infeasible:
        levels = tuple(h.height for h in problem.hierarchies)
        hidden = np.ones(problem.cells.count, np.bool_)
        return Outcome(levels=levels, suppressed=hidden, loss=1.0, proven=False)


def rolling(problem: Problem, work: Work) -> Outcome:
    """Has dice of its own: it ends at any node above a good one."""
    found = optimal(problem, work)
    room = [h.height - n for h, n in zip(problem.hierarchies, found.levels or (), strict=True)]
    raised = tuple(n + int(np.random.default_rng().integers(r + 1)) for n, r in zip(found.levels, room, strict=True))
    view = Outcome(levels=raised, suppressed=np.zeros(problem.cells.count, np.bool_), loss=0.0, proven=False)
    loss = problem.metric.loss(view.recoding(problem).view(problem, view.suppressed)).value
    return replace(view, loss=loss)


def lying(problem: Problem, work: Work) -> Outcome:
    """Says that it loses nothing."""
    return replace(greedy(problem, work), loss=0.0)


def boasting(problem: Problem, work: Work) -> Outcome:
    """Calls the top of the lattice proven."""
    levels = tuple(h.height for h in problem.hierarchies)
    return Outcome(levels=levels, suppressed=np.zeros(problem.cells.count, np.bool_), loss=1.0, proven=True)


@pytest.mark.parametrize("run", [emptying, rolling, lying, boasting], ids=lambda run: run.__name__)
def test_what_is_known_to_be_bad_is_caught(run: Any):
    with pytest.raises(BrokenSearch):
        check_search(run, problems(run))
