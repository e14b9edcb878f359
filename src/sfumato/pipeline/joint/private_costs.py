"""What a private algorithm would pay for each look, found out on a table without rows: no noise, no data."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from sfumato.algorithms.diffgen import noisy_specializer
from sfumato.algorithms.diffgen.noisy_specializer import DiffGen
from sfumato.algorithms.marginals import noisy_marginals
from sfumato.algorithms.marginals.noisy_marginals import Marginals
from sfumato.algorithms.private_table import Counts, Mechanisms, PrivateTable, Scores
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.dp.accounting import Cost
from sfumato.dp.events import Approximate, Concentrated, Event, Grouped, Pure
from sfumato.dp.noise import Noisy


def smallest_part(algorithm: DiffGen | Marginals, empty: PrivateTable) -> Fraction:
    """The least epsilon that one look costs; amounts follow from the options and the domains."""
    work, looking = Work(chance=Chance(seed=0)), Mechanisms(choose=_first, count=_none)
    if isinstance(algorithm, DiffGen):
        noisy_table = noisy_specializer.published(algorithm, empty, work, looking)
    else:
        noisy_table = noisy_marginals.published(algorithm, empty, work, looking)
    return min(_amounts(noisy_table.event))


def _amounts(event: Event) -> Iterator[Fraction]:
    if isinstance(event, Pure | Approximate):
        yield event.epsilon
    elif isinstance(event, Concentrated):
        yield event.rho
    else:
        for part in (event.part,) if isinstance(event, Grouped) else event.parts:
            yield from _amounts(part)


def _first(scores: Scores, cost: Cost) -> int:
    return 0


def _none(counts: Counts, cost: Cost) -> Noisy:
    scale = float(1 / cost.epsilon) if isinstance(cost, Pure) else 1.0
    return Noisy(values=np.zeros(np.shape(counts), np.int64), event=cost, scale=scale, law="laplace")
