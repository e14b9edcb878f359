"""All that the golden releases need to know about the library's modules.

Noise cannot be seeded. So a private release is compared by its algorithm, whose mechanisms are replaced: the best score
is chosen, the first of equal ones; a count is moved by an amount that depends on nothing but the count; and no empty
set of items ever passes.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import sfumato as sf
from sfumato.algorithms import private_table
from sfumato.algorithms.diffgen import noisy_specializer as diffgen
from sfumato.algorithms.marginals import noisy_marginals as marginals
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.dp.accounting import Cost
from sfumato.dp.events import Pure
from sfumato.dp.noise import Noisy
from sfumato.pipeline.inputs import rows_or_none
from sfumato.pipeline.methods.private.domains import declared_table, released_rows
from sfumato.pipeline.methods.private.plan import private_algorithm

SEED = 40
"""Of the rows that are drawn from noisy marginals."""


def plan_of(tree: dict[str, Any], folder: Path) -> Any:
    """The plan of a tree; its paths start at the folder."""
    return sf.Plan.parse(tree, folder=folder)


def made(plan: Any) -> Any:
    """The release of a plan; that of a private one is noisy."""
    return sf.release(plan)


def checked(made: Any, folder: Path) -> bool:
    """Put the bundle into an empty folder, and tell whether it verifies."""
    return bool(made.checked(folder).holds)


def private_rows(plan: Any) -> pl.DataFrame:
    """The rows of a private release whose mechanisms draw nothing."""
    table = declared_table(plan, rows_or_none(plan, None))
    asked: Any
    name, asked, _ = private_algorithm(plan)
    work = Work(chance=Chance(seed=SEED))
    run: Any = diffgen.published if name == "diffgen" else marginals.published
    found = run(asked, table, work, private_table.Mechanisms(choose=_highest, count=_shifted, waits=_never))
    return released_rows(found, table, counts=plan.algorithm.options.get("output") == "counts")


def _highest(scores: private_table.Scores, cost: Cost) -> int:
    return int(np.argmax(scores.values))


def _shifted(counts: Any, cost: Cost) -> Noisy:
    """Counts that are off by up to 2: none stay none, and single ones become -1, which must be mended."""
    assert isinstance(cost, Pure)
    off = np.array([0, -2, 1, -1, 2])[counts % 5]
    return Noisy(values=counts + off, event=cost, scale=float(1 / cost.epsilon), law="laplace")


def _never(number: int, rate: Fraction) -> Any:
    return np.array([2**61])
