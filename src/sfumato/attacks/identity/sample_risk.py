"""Risks of people in a sample whose rows carry sampling weights: the population behind it is estimated.

A weight says for how many people of the population a row stands. So the sum of the weights of a class estimates how
many people of the population have its quasi-identifiers, F, where the sample has f of them.

* simple risk: 1 / F, the journalist's chance if F were known to be the sum of weights;
* individual risk: the expected 1 / F given f, where F is f plus the failures before the f-th success of probability
  p = f / sum of weights (negative binomial). See ``individual_risk``.

Source: Benedetti and Franconi 1998; Franconi and Polettini 2004; sdcMicro (Templ, Kowarik and Meindl 2015).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.identity.risk import individual_risk


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRisk:
    """Risks of a sample, each between 0 and 1 but for the number."""

    population: float
    """How many people the weights stand for in all."""
    simple: float
    """The highest 1 / sum of weights of a class."""
    individual: float
    """The highest individual risk."""
    expected: float
    """How many rows are expected to be found again, if everybody is looked for: the sum of individual risks."""
    share: float
    """The same as a share of all rows: the global risk."""

    def to_json(self) -> dict[str, Any]:
        """As ``--json`` shows it."""
        return asdict(self)


def sample_risk(sizes: NDArray[np.int64], weights: NDArray[np.float64]) -> SampleRisk:
    """The risks of classes of these sizes, whose rows have these sums of weights.

    >>> found = sample_risk(np.array([1, 2]), np.array([100.0, 200.0]))
    >>> round(found.simple, 3), round(found.individual, 4), round(found.share, 4)
    (0.01, 0.0465, 0.0219)
    """
    rows = int(sizes.sum())
    if not rows:
        return SampleRisk(population=0.0, simple=0.0, individual=0.0, expected=0.0, share=0.0)
    behind = np.maximum(weights, sizes)
    found = individual_risk(sizes, behind)
    return SampleRisk(
        population=float(weights.sum()),
        simple=float((1.0 / behind).max()),
        individual=float(found.max()),
        expected=float(sizes @ found),
        share=float(sizes @ found) / rows,
    )
