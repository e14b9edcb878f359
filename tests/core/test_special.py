"""Special functions against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special, stats

from sfumato.attacks.population_uniques import _once
from sfumato.attacks.risk import individual_risk
from sfumato.core.special import (
    beta_cdf,
    beta_quantile,
    binomial_chances,
    binomial_floor,
    bisected,
    chi_square_quantile,
    gamma_cdf,
    log_gamma,
    normal_quantile,
)
from tests.weights import examples

SHARES = st.floats(1e-6, 1 - 1e-6)
COUNTS = st.integers(1, 10**6)


@examples(200)
@given(p=st.floats(1e-12, 1 - 1e-12))
def test_quantiles_of_the_normal_law(p):
    assert normal_quantile(p) == pytest.approx(special.ndtri(p), rel=1e-10, abs=1e-12)


@examples(200)
@given(x=st.floats(0, 1), a=COUNTS, b=COUNTS)
def test_the_beta_law(x, a, b):
    assert beta_cdf(x, a, b) == pytest.approx(special.betainc(a, b, x), rel=1e-6, abs=1e-12)


@examples(100)
@given(p=SHARES, a=COUNTS, b=COUNTS)
def test_quantiles_of_the_beta_law(p, a, b):
    assert beta_quantile(a, b, p) == pytest.approx(special.betaincinv(a, b, p), rel=1e-8)


@examples(100)
@given(at=SHARES, trials=st.integers(1, 10**5), share=SHARES)
def test_quantiles_of_the_binomial_law(at, trials, share):
    """The largest number whose probability is at most ``at``, but for rounding at the limit."""
    found = binomial_floor(at, trials, share)
    assert found == 0 or stats.binom.cdf(found, trials, share) <= at * (1 + 1e-6) + 1e-12
    assert found + 1 >= trials or stats.binom.cdf(found + 1, trials, share) >= at * (1 - 1e-6) - 1e-12


@examples(100)
@given(x=st.lists(st.floats(1e-3, 1e7), min_size=1))
def test_the_logarithm_of_gamma(x):
    assert log_gamma(np.array(x)) == pytest.approx(special.gammaln(x), rel=1e-12, abs=1e-12)


@examples(100)
@given(root=st.floats(-5, 5), width=st.floats(0.1, 100))
def test_roots_are_exact(root, width):
    assert bisected(lambda x: x - root, root - width, root + 2 * width) == pytest.approx(root, abs=1e-14)


@examples(100)
@given(f=st.integers(1, 3000), beyond=st.floats(1, 1e6))
def test_individual_risks_are_the_integral_that_they_stand_for(f, beyond):
    """E(1/F) of a negative binomial F: the integral of p u^(f-1) / (p + (1-p) u) from 0 to 1."""
    p = 1 / beyond
    peaks = sorted({p, 1 - 1 / f, 0.5})
    expected, _ = integrate.quad(
        lambda u: p * u ** (f - 1) / (p + (1 - p) * u), 0, 1, points=peaks, limit=500, epsabs=0
    )
    assert individual_risk(np.array([f]), np.array([f * beyond]))[0] == pytest.approx(expected, rel=1e-6)


@examples(100)
@given(sizes=st.lists(st.integers(1, 30), min_size=1, max_size=10), more=st.integers(0, 500))
def test_one_member_of_a_class_is_drawn_by_the_hypergeometric_law(sizes, more):
    size = np.array(sizes)
    rows = int(size.sum())
    expected = stats.hypergeom.pmf(1, rows + more, size, rows)
    assert _once(size, rows + more, rows) == pytest.approx(expected, rel=1e-8, abs=1e-12)


@examples(200)
@given(x=st.floats(0, 1e5), a=st.floats(0.5, 1e5))
def test_the_gamma_law(x, a):
    assert gamma_cdf(x, a) == pytest.approx(special.gammainc(a, x), rel=1e-6, abs=1e-10)


@examples(100)
@given(p=st.floats(0.01, 0.999), freedom=st.integers(1, 10**4))
def test_quantiles_of_the_chi_square_law(p, freedom):
    assert chi_square_quantile(p, freedom) == pytest.approx(stats.chi2.ppf(p, freedom), rel=1e-7)


@examples(100)
@given(trials=st.integers(0, 2000), share=SHARES)
def test_chances_of_the_binomial_law(trials, share):
    expected = stats.binom.pmf(np.arange(trials + 1), trials, share)
    assert binomial_chances(trials, share) == pytest.approx(expected, rel=1e-8, abs=1e-12)
