"""Re-identification risk of a table or of a weighted sample."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Re-identification risk of a table as it stands.
#
# Three adversaries (El Emam and Dankar 2008). The prosecutor knows that the target is in the table and picks a row of
# the class that fits: right with probability 1 / class size. The journalist does not know who is in the table and
# needs the population behind it: 1 / population class size. The marketer wants as many people as possible: the average
# over all rows.


Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """Re-identification risks, each between 0 and 1."""

    prosecutor: float
    """The highest chance to pick the right row of a target known to be in the table."""
    journalist: float
    """The highest chance when the target is only known to be in the population."""
    marketer: float
    """The expected share of all rows that are matched rightly."""
    unique: float
    """The share of rows that are alone in their class."""
    at_risk: float
    """The share of rows whose prosecutor risk is above one fifth."""
    population_known: bool
    """Whether the journalist's figure comes from a population; otherwise the table itself stands in for it."""

    def to_json(self) -> dict[str, Any]:
        """As the manifest has it."""
        return asdict(self)


def risk_of_sizes(sizes: NDArray[np.int64], many: NDArray[np.int64]) -> Risk:
    """The risks where only so many classes of each size are known, and not the classes.

    >>> risk_of_sizes(np.array([1, 2, 6]), np.array([2, 1, 1])) == risk(np.array([1, 1, 2, 6]))
    True
    """
    rows = int((sizes * many).sum())
    worst = float(1.0 / sizes.min())
    return Risk(
        prosecutor=worst,
        journalist=worst,
        marketer=float(many.sum() / rows),
        unique=float(many[sizes == 1].sum() / rows),
        at_risk=float((sizes * many)[sizes < 5].sum() / rows),
        population_known=False,
    )


def risk(sizes: NDArray[np.int64], population: NDArray[np.int64] | None = None) -> Risk:
    """The risks of rows in classes of these sizes.

    >>> r = risk(np.array([1, 1, 2, 6]))
    >>> r.prosecutor, r.marketer, r.unique, r.at_risk
    (1.0, 0.4, 0.2, 0.4)
    """
    rows = int(sizes.sum())
    if not rows:
        return Risk(prosecutor=0.0, journalist=0.0, marketer=0.0, unique=0.0, at_risk=0.0, population_known=False)
    behind = sizes if population is None else np.maximum(population, sizes)
    return Risk(
        prosecutor=float(1.0 / sizes.min()),
        journalist=float(1.0 / behind.min()),
        marketer=float(len(sizes) / rows if population is None else (sizes / behind).sum() / rows),
        unique=float((sizes == 1).sum() / rows),
        at_risk=float(sizes[sizes < 5].sum() / rows),
        population_known=population is not None,
    )


def individual_risk(sizes: NDArray[np.int64], population: NDArray[np.float64]) -> NDArray[np.float64]:
    """The expected 1/F of rows whose class has f members in a sample, where F itself is only estimated.

    Claim: with p = f / estimated F, and F distributed as in the model of Benedetti and Franconi, the risk is
        p^f / f times 2F1(f, f; f + 1; 1 - p): p/(1-p) ln(1/p) for f = 1. It is 1/f where the sample is the population.
    Source: Benedetti and Franconi 1998; the individual risk of sdcMicro (Templ, Kowarik and Meindl 2015).

    >>> individual_risk(np.array([1, 2]), np.array([10.0, 2.0])).round(3).tolist()
    [0.256, 0.5]
    """
    f = sizes.astype(np.float64)
    p = np.clip(f / population, 1e-12, 1.0)
    steps = (p < 0.5) & (f <= _TERMS)
    risk = np.empty(len(f))
    risk[steps], risk[~steps] = _stepwise(f[steps], p[steps]), _series(f[~steps], p[~steps])
    return risk


_TERMS = 64
"""As many terms are more than enough where p is above 1/2 or f above so many."""


def _series(f: Reals, p: Reals) -> Reals:
    """p/f times 2F1(1, 1; f + 1; 1 - p), which is the same by Euler's transformation: the terms fall quickly."""
    term = total = np.ones(len(f))
    for n in range(1, _TERMS + 1):
        term = term * n / (f + n) * (1 - p)
        total = total + term
    return np.asarray(p / f * total)


def _stepwise(f: Reals, p: Reals) -> Reals:
    """From f = 1 on, by integration by parts: r_f = p/(1-p) (1/(f-1) - r_{f-1}); errors shrink where p is below 1/2."""
    odds = p / (1 - p)
    risk = odds * np.log(1 / p)
    for n in range(2, int(min(f.max(initial=1), _TERMS)) + 1):
        risk = np.where(f >= n, odds * (1 / (n - 1) - risk), risk)
    return np.asarray(risk)


# Risks of people in a sample whose rows carry sampling weights: the population behind it is estimated.
#
# A weight says for how many people of the population a row stands. So the sum of the weights of a class estimates how
# many people of the population have its quasi-identifiers, F, where the sample has f of them.
#
# * simple risk: 1 / F, the journalist's chance if F were known to be the sum of weights;
# * individual risk: the expected 1 / F given f, where F is f plus the failures before the f-th success of probability
#   p = f / sum of weights (negative binomial). See ``individual_risk``.
#
# Source: Benedetti and Franconi 1998; Franconi and Polettini 2004; sdcMicro (Templ, Kowarik and Meindl 2015).


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
    risks = individual_risk(sizes, behind)
    return SampleRisk(
        population=float(weights.sum()),
        simple=float((1.0 / behind).max()),
        individual=float(risks.max()),
        expected=float(sizes @ risks),
        share=float(sizes @ risks) / rows,
    )
