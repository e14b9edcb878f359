"""How many people are alone in the population, judged by a sample of it.

A row that is alone in a sample need not be alone in the population. Let n be the rows and N the people, f = n/N the
sampling fraction, u the classes and s_j the classes of size j in the sample. Each estimator says how many classes of
the population have one member.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import exp, isfinite, log, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arguments import between
from sfumato.core.errors import ParameterError
from sfumato.core.extras import extra
from sfumato.core.special import log_choices, log_gamma

Sizes = NDArray[np.int64]
Floats = NDArray[np.float64]

FEW = 0.1
"""Up to this sampling fraction the rule of Dankar et al. takes Pitman's estimate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Uniques:
    """Estimates of how many people are unique in the population; NaN where a model has no solution."""

    sample: int
    """Rows that are unique in the sample."""
    population: float
    """How many people there are: rows / fraction."""
    zayatz: float
    """The estimate of Zayatz 1991."""
    pitman: float
    """The estimate by the model of Pitman, Hoshino 2001."""
    snb: float
    """The estimate by the slide negative binomial, Chen and Keller-McNulty 1998."""
    chosen: str
    """Which of them the rule of Dankar et al. 2012 takes."""

    @property
    def value(self) -> float:
        """The chosen estimate."""
        return float(getattr(self, self.chosen))

    @property
    def share(self) -> float:
        """The chosen estimate as a share of the population."""
        return self.value / self.population if self.population else 0.0

    def to_json(self) -> dict[str, Any]:
        """As the manifest has it; what has no solution is None."""
        document = {k: None if isinstance(v, float) and not isfinite(v) else v for k, v in asdict(self).items()}
        return document | {"value": self.value, "share": self.share}


def population_uniques(sizes: Sizes, fraction: float) -> Uniques:
    """Estimate the uniques of a population from the class sizes of a sample of it.

    How: up to a sampling fraction of one tenth Pitman's estimate; above, the smaller of Zayatz's and the slide negative
        binomial's. Where the model in question has no solution, Zayatz's, which always has one.
    Needs: a sample in which everybody had the same chance to be. Cost: linear in the classes for each likelihood.
    Source: Dankar, El Emam, Neisa and Roffey 2012, Estimating the re-identification risk of clinical data sets; the
        fallback is that of ARX (RiskModelPopulationUniqueness).

    >>> found = population_uniques(np.array([1] * 30 + [2] * 10 + [5] * 10), 0.5)
    >>> found.chosen, round(found.zayatz, 2), found.population
    ('snb', 41.72, 200.0)
    """
    between("fraction", fraction, 0, 1, open_low=True)
    if len(sizes) and int(sizes.min()) < 1:
        raise ParameterError("sizes must be at least 1")
    estimates = [_with_ends(estimator, sizes, fraction) for estimator in (zayatz, pitman, snb)]
    by_rule = estimates[1] if fraction <= FEW else min(estimates[0], estimates[2]) if isfinite(estimates[2]) else nan
    names = ("zayatz", "pitman", "snb")
    chosen = names[estimates.index(by_rule)] if isfinite(by_rule) else "zayatz"
    return Uniques(
        sample=int((sizes == 1).sum()),
        population=float(sizes.sum()) / fraction,
        zayatz=estimates[0],
        pitman=estimates[1],
        snb=estimates[2],
        chosen=chosen,
    )


def _with_ends(estimator: Any, sizes: Sizes, fraction: float) -> float:
    """Where nothing has to be estimated: no sample uniques, everybody unique, or the sample is the population."""
    unique, rows = int((sizes == 1).sum()), int(sizes.sum())
    if not unique or fraction == 1:
        return float(unique)
    if unique == rows:
        return rows / fraction
    return float(estimator(sizes, fraction))


def zayatz(sizes: Sizes, fraction: float) -> float:
    """The estimate of Zayatz: s_1 P(F = 1 | f = 1) / f.

    By Bayes' rule with the sample's class sizes in place of the population's: P(F = 1 | f = 1) is s_1 h(1) over the sum
    of s_j h(j), where h(j) is the hypergeometric probability that a class of j members has one in the sample.
    Source: Zayatz 1991, Estimation of the number of unique population elements using a sample.
    """
    rows = int(sizes.sum())
    population = round(rows / fraction)
    size, classes = np.unique(sizes, return_counts=True)
    once = _once(size, population, rows)
    alone = float(classes[size == 1].sum())
    return alone * (alone * float(once[size == 1].sum()) / float((classes * once).sum())) / fraction


def _once(size: Sizes, population: int, rows: int) -> Floats:
    """How likely one member of a class, and no more, is among the rows drawn from the population."""
    able = population - size >= rows - 1
    members = size[able].astype(np.float64)
    chances = np.zeros(len(size))
    chances[able] = members * np.exp(log_choices(population - members, rows - 1) - log_choices(population, rows))
    return chances


def pitman(sizes: Sizes, fraction: float) -> float:
    """The estimate by Pitman's sampling model, with parameters of highest likelihood; NaN where there are none.

    The likelihood of theta and 0 < alpha < 1 is prod_{i<u} (theta + i alpha) / prod_{i<n} (theta + i) times
    prod_j [prod_{i<j} (i - alpha)]^{s_j}. The expected number of uniques among N people is
    N Gamma(theta + 1) Gamma(theta + alpha + N - 1) / (Gamma(theta + alpha) Gamma(theta + N)), which for large N is
    Hoshino's Gamma(theta + 1) / Gamma(theta + alpha) N^alpha.
    Source: Pitman 1995; Hoshino 2001, Applying Pitman's sampling formula to microdata disclosure risk assessment.
    """
    size, classes = np.unique(sizes, return_counts=True)
    if len(size) == 1:
        return nan

    def cost(at: Floats) -> float:
        return -_pitman_likelihood(*_pitman_parameters(at), size, classes)

    minimize = extra("scipy.optimize", "the estimate by Pitman's model").minimize
    starts = [np.array([s, t]) for s in (-2.0, 0.0, 2.0) for t in (0.0, 3.0, 6.0)]
    best = min((minimize(cost, s, method="Nelder-Mead", options=_PRECISE) for s in starts), key=lambda r: float(r.fun))
    theta, alpha = _pitman_parameters(best.x)
    people = float(sizes.sum()) / fraction
    logs = (
        log_gamma(theta + 1)
        - log_gamma(theta + alpha)
        + log_gamma(theta + alpha + people - 1)
        - log_gamma(theta + people)
    )
    return exp(log(people) + float(logs)) if isfinite(float(logs)) else nan


_PRECISE = {"xatol": 1e-6, "fatol": 1e-6, "maxiter": 2000}


def _pitman_parameters(at: Floats) -> tuple[float, float]:
    """Theta above -alpha and alpha between 0 and 1, from any two numbers."""
    alpha = float(1 / (1 + np.exp(-np.clip(at[0], -30, 30))))
    return float(np.exp(np.clip(at[1], -30, 30))) - alpha, alpha


def _pitman_likelihood(theta: float, alpha: float, size: Sizes, classes: Sizes) -> float:
    count, rows = int(classes.sum()), int((size * classes).sum())
    log_likelihood = float(np.log(theta + alpha * np.arange(1, count)).sum())
    log_likelihood -= float(log_gamma(theta + rows) - log_gamma(theta + 1))
    return log_likelihood + float((classes * (log_gamma(size - alpha) - log_gamma(1 - alpha))).sum())


def shlosser(sizes: Sizes, fraction: float) -> float:
    """How many classes the population has: the modified estimator of Shlosser.

    u + s_1 A/B (C/D)^2 with the sums over j of A = j f^2 (1-f^2)^(j-1) s_j, B = (1-f)^j ((1+f)^j - 1) s_j,
    C = (1-f)^j s_j and D = j f (1-f)^(j-1) s_j.
    Source: Haas and Stokes 1998, Estimating the number of classes in a finite population.
    """
    size, classes = np.unique(sizes, return_counts=True)
    f, j = fraction, size.astype(np.float64)
    square = f * f
    over = float((j * square * (1 - square) ** (j - 1) * classes).sum())
    under = float(((1 - square) ** j - (1 - f) ** j) @ classes)
    missed, once = float((1 - f) ** j @ classes), float(j * f * (1 - f) ** (j - 1) @ classes)
    return len(sizes) + float(classes[size == 1].sum()) * over / under * (missed / once) ** 2


def snb(sizes: Sizes, fraction: float) -> float:
    """The estimate by the slide negative binomial: K beta^alpha; NaN where the equations have no solution.

    Class sizes of the population are 1 plus a negative binomial number with parameters alpha and beta, K is the number
    of classes by Shlosser, and everybody is in the sample with probability f. With x = (1-f)(1-beta) and
    g = (beta/(1-x))^alpha the expected numbers of classes of size 1 and 2 are K f g (1 + alpha x/(1-x)) and
    K f^2/2 alpha (1-beta) g (2 - (1-alpha) x) / (1-x)^2; alpha and beta make them s_1 and s_2.
    Source: Chen and Keller-McNulty 1998, Estimation of identification disclosure risk in microdata.
    """
    count = shlosser(sizes, fraction)
    seen = np.array([(sizes == 1).sum(), (sizes == 2).sum()], np.float64)
    if not seen[1]:
        return nan

    def off(at: Floats) -> Floats:
        expected_counts = _snb_expected(float(np.exp(at[0])), _squeezed(at[1]), count, fraction)
        return np.asarray(np.log(expected_counts) - np.log(seen))

    least_squares = extra("scipy.optimize", "the estimate by the slide negative binomial").least_squares
    starts = [(a, b) for a in (-2.0, 0.0, 2.0) for b in (-4.0, -1.0, 1.0)]
    best = min((least_squares(off, s, bounds=([-15, -15], [15, 15])) for s in starts), key=lambda r: float(r.cost))
    alpha, beta = float(np.exp(best.x[0])), _squeezed(best.x[1])
    return count * float(beta**alpha) if best.cost < 1e-8 else nan


def _squeezed(x: float) -> float:
    return float(1 / (1 + np.exp(-x)))


def _snb_expected(alpha: float, beta: float, count: float, f: float) -> Floats:
    x = (1 - f) * (1 - beta)
    g = count * f * np.exp(alpha * (np.log(beta) - np.log1p(-x)))
    once = g * (1 + alpha * x / (1 - x))
    twice = g * f / 2 * alpha * (1 - beta) * (2 - (1 - alpha) * x) / (1 - x) ** 2
    return np.asarray(np.maximum(np.array([once, twice]), 1e-300), np.float64)
