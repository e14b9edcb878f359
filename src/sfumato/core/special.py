"""The few special functions that attacks and intervals need, from Python's own mathematics."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import exp, lgamma, log, log1p
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
_ROUNDS = 100_000
_TINY = 1e-300
"""Stands for a 0 that is divided by."""


def normal_quantile(p: float) -> float:
    """The number that a standard normal draw stays below with probability ``p``.

    >>> round(normal_quantile(0.975), 4)
    1.96
    """
    return NormalDist().inv_cdf(p)


def log_gamma(x: NDArray[np.number] | float) -> Reals:  # type: ignore[type-arg]
    """The logarithm of the gamma function.

    >>> log_gamma(np.array([1.0, 5.0])).round(4).tolist()
    [0.0, 3.1781]
    """
    return np.asarray(np.frompyfunc(lgamma, 1, 1)(x), np.float64)


def beta_cdf(x: float, a: float, b: float) -> float:
    """How likely a draw from the beta distribution is at most ``x``: the regularized incomplete beta function.

    How: the continued fraction of DLMF 8.17.22, by Lentz's method, on the side where it converges quickly.

    >>> round(beta_cdf(0.3, 2, 5), 6)
    0.579825
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_cdf(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    c, d = 1.0, 1 / ((1 - (a + b) * x / (a + 1)) or _TINY)
    fraction = d
    for m in range(1, _ROUNDS):
        far = a + 2 * m
        term = m * (b - m) * x / ((far - 1) * far)
        c, d = (1 + term / c) or _TINY, 1 / ((1 + term * d) or _TINY)
        fraction *= c * d
        term = -(a + m) * (a + b + m) * x / (far * (far + 1))
        c, d = (1 + term / c) or _TINY, 1 / ((1 + term * d) or _TINY)
        fraction *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return front * fraction


@lru_cache(maxsize=16_384)
def beta_quantile(a: float, b: float, p: float) -> float:
    """The number that a draw from the beta distribution stays below with probability ``p``.

    >>> round(beta_quantile(2, 5, 0.5), 6)
    0.26445
    """
    return bisected(lambda x: beta_cdf(x, a, b) - p, 0.0, 1.0)


def gamma_cdf(x: float, a: float) -> float:
    """How likely a draw from the gamma distribution of shape ``a`` is at most ``x``.

    How: the series of DLMF 8.11.4, or the continued fraction of 8.9.2 beyond the mean.

    >>> round(gamma_cdf(2.0, 1.0), 6)
    0.864665
    """
    if x <= 0:
        return 0.0
    front = exp(a * log(x) - x - lgamma(a))
    if x < a + 1:
        term = value = 1 / a
        for n in range(1, _ROUNDS):
            term *= x / (a + n)
            value += term
            if term < value * 1e-17:
                break
        return front * value
    b = x + 1 - a
    c, d = 1 / _TINY, 1 / b
    value = d
    for n in range(1, _ROUNDS):
        b += 2
        d, c = 1 / ((n * (a - n) * d + b) or _TINY), (b + n * (a - n) / c) or _TINY
        value *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return 1 - front * value


def chi_square_quantile(p: float, freedom: int) -> float:
    """The number that a sum of so many squared normal draws stays below with probability ``p``.

    >>> round(chi_square_quantile(0.95, 1), 4)
    3.8415
    """
    far = freedom + 40 * (2 * freedom) ** 0.5 + 100
    return bisected(lambda x: gamma_cdf(x / 2, freedom / 2) - p, 0.0, far)


def log_choices(of: NDArray[np.float64] | float, some: NDArray[np.int64] | float) -> Reals:
    """The logarithm of how many ways there are to choose some of them.

    >>> float(np.exp(log_choices(4, 2)).round(6))
    6.0
    """
    return np.asarray(log_gamma(of + 1.0) - log_gamma(some + 1.0) - log_gamma(of - some + 1.0))


def binomial_chances(trials: int, share: float, most: int | None = None) -> Reals:
    """How likely 0, 1, ... all of so many trials work, or up to ``most``.

    >>> binomial_chances(2, 0.5).round(6).tolist()
    [0.25, 0.5, 0.25]
    """
    some = np.arange((trials if most is None else most) + 1)
    return np.asarray(np.exp(log_choices(trials, some) + some * log(share) + (trials - some) * log1p(-share)))


def binomial_floor(at: float, trials: int, share: float) -> int:
    """The largest number that so many trials stay at or below with probability ``at`` at most; 0 if none does.

    >>> binomial_floor(0.01, 100, 0.5), binomial_floor(0.99, 100, 0.5)
    (37, 61)
    """
    low, high = 0, trials
    while high - low > 1:
        middle = (low + high) // 2
        below = 1 - beta_cdf(share, middle + 1, trials - middle)
        low, high = (middle, high) if below <= at else (low, middle)
    return low


def bisected(rising: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function becomes 0, as exactly as a float can say it."""
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
