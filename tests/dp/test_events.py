"""Costs are exact, add up, and survive being written down."""

from __future__ import annotations

import json
from fractions import Fraction
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import ParameterError
from sfumato.dp.accounting import Promise, delta_of, epsilon_at, epsilon_of, rho_at, rho_of
from sfumato.dp.events import (
    Approximate,
    Concentrated,
    Grouped,
    Parallel,
    Pure,
    Sequential,
    exactly,
    from_json,
    to_json,
    written,
)
from sfumato.dp.mechanisms import opendp
from tests.weights import examples

BUDGETS = st.fractions(min_value=Fraction(1, 10**9), max_value=Fraction(10**6), max_denominator=10**20)
WORDS = st.text(max_size=8)
PURE = st.builds(Pure, epsilon=BUDGETS, what=WORDS)


def composed(leaf):
    return st.recursive(
        leaf,
        lambda inner: st.builds(
            lambda kind, parts, what: kind(parts=tuple(parts), what=what),
            st.sampled_from([Sequential, Parallel]),
            st.lists(inner, max_size=4),
            WORDS,
        ),
        max_leaves=12,
    )


PURE_EVENTS = composed(PURE)
EVENTS = composed(st.one_of(PURE, st.builds(Concentrated, rho=BUDGETS, what=WORDS)))


@given(PURE_EVENTS, st.integers(0, 50))
def test_n_events_cost_n_times_as_much(event, n):
    assert epsilon_of(Sequential(parts=(event,) * n)) == n * epsilon_of(event)
    assert rho_of(Sequential(parts=(event,) * n)) == n * rho_of(event)


@given(st.lists(PURE_EVENTS, max_size=6))
def test_sequences_add_up_and_parallels_cost_the_dearest(events):
    costs = [epsilon_of(event) for event in events]
    assert epsilon_of(Sequential(parts=tuple(events))) == sum(costs)
    assert epsilon_of(Parallel(parts=tuple(events))) == max(costs, default=0)
    rhos = [rho_of(event) for event in events]
    assert rho_of(Sequential(parts=tuple(events))) == sum(rhos)
    assert rho_of(Parallel(parts=tuple(events))) == max(rhos, default=0)


@given(PURE_EVENTS)
def test_costs_are_exact_fractions(event):
    assert isinstance(epsilon_of(event), Fraction)
    assert isinstance(rho_of(event), Fraction)


@given(PURE)
def test_a_pure_epsilon_is_half_its_square_in_rho(event):
    assert rho_of(event) == event.epsilon * event.epsilon / 2


@given(EVENTS)
def test_an_event_is_read_as_it_was_written(event):
    assert from_json(json.loads(json.dumps(to_json(event)))) == event


@given(BUDGETS)
def test_a_fraction_survives_as_text(budget):
    assert exactly("epsilon", str(budget)) == budget
    assert to_json(Pure(epsilon=budget))["epsilon"] == str(budget)


@given(st.integers(1, 10**6), st.integers(0, 6))
def test_a_float_means_the_decimal_that_is_written_for_it(digits, places):
    text = f"{digits}e-{places}"
    assert exactly("epsilon", float(text)) == Fraction(text)
    assert exactly("epsilon", np.float64(text)) == Fraction(text)


def test_ten_tenths_are_one():
    assert epsilon_of(Sequential(parts=(Pure(epsilon=0.1),) * 10)) == 1
    assert sum([0.1] * 10) != 1


def test_numbers_of_numpy_become_python_integers():
    found = exactly("epsilon", np.int64(2**62))
    assert found * 4 == 2**64
    assert type(found.numerator) is int


@pytest.mark.parametrize("bad", [0, -1, "0", "-1/2", "1/0", "", "x", float("nan"), float("inf"), None, True, [], 1j])
def test_what_is_no_budget_is_refused(bad):
    with pytest.raises(ParameterError, match="epsilon"):
        Pure(epsilon=bad)
    with pytest.raises(ParameterError, match="rho"):
        Concentrated(rho=bad)


@pytest.mark.parametrize(
    "tree",
    [
        None,
        [],
        {},
        "pure",
        {"kind": "pure"},
        {"kind": "pure", "epsilon": "0"},
        {"kind": "pure", "epsilon": "1/0"},
        {"kind": "pure", "epsilon": "-1"},
        {"kind": "pure", "epsilon": None},
        {"kind": "concentrated", "epsilon": "1"},
        {"kind": "other", "parts": []},
        {"kind": "sequential"},
        {"kind": "sequential", "parts": [{"kind": "pure"}]},
        {"kind": "parallel", "parts": 3},
    ],
)
def test_what_is_no_event_is_refused(tree):
    with pytest.raises(ParameterError, match="event must be pure"):
        from_json(tree)


def test_gaussian_noise_has_no_pure_epsilon():
    with pytest.raises(ParameterError, match=r"counts is concentrated.*zCDP"):
        epsilon_of(Sequential(parts=(Pure(epsilon=1), Concentrated(rho=1, what="counts"))))


@examples(60)
@given(rho=st.floats(1e-6, 20), delta=st.sampled_from([1e-3, 1e-6, 1e-9, 1e-12]))
def test_zcdp_as_epsilon_and_delta(rho, delta):
    """OpenDP says the same, and Bun and Steinke 2016 (proposition 1.3), by a closed form, never less."""
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T=float)
    made = dp.c.make_zCDP_to_approxDP(space >> dp.m.then_gaussian(scale=(1 / (2 * rho)) ** 0.5))
    found = epsilon_at(rho, delta)
    assert found == pytest.approx(made.map(1.0).epsilon(delta), rel=1e-6)
    assert found <= rho + 2 * (rho * log(1 / delta)) ** 0.5


def test_no_delta_is_refused():
    for bad in (0, 1, -0.1, 2):
        with pytest.raises(ParameterError, match="delta"):
            epsilon_at(Fraction(1), bad)


@examples(40)
@given(epsilon=st.fractions("1/1000", 20), delta=st.sampled_from([Fraction(1, 10**6), Fraction(1, 10**12)]))
def test_the_largest_rho_for_epsilon_and_delta(epsilon, delta):
    rho = rho_at(epsilon, delta)
    assert epsilon_at(rho, delta) <= epsilon < epsilon_at(rho * Fraction(1000001, 1000000), delta)


def test_parts_of_an_approximate_event_and_of_a_group():
    keys = Approximate(epsilon=Fraction(1, 2), delta=Fraction(1, 10**6), what="values")
    event = Sequential(parts=(keys, Grouped(part=Pure(epsilon=Fraction(1, 4)), rows=3)))
    assert (epsilon_of(event), delta_of(event)) == (Fraction(5, 4), Fraction(1, 10**6))
    assert rho_of(event) == Fraction(1, 8) + 9 * Fraction(1, 32)
    assert from_json(to_json(event)) == event
    with pytest.raises(ParameterError, match="within a group"):
        delta_of(Grouped(part=keys, rows=2))
    with pytest.raises(ParameterError, match="delta must be below 1"):
        Approximate(epsilon=1, delta=1)
    with pytest.raises(ParameterError, match="rows must be"):
        Grouped(part=keys, rows=0)


def test_a_promise_is_one_of_three():
    pure, loose, rho = Promise(epsilon=1), Promise(epsilon=1, delta="1e-6"), Promise(rho="1/10")
    assert [one.unit for one in (pure, loose, rho)] == ["epsilon", "rho", "rho"]
    assert pure.kept_by(Pure(epsilon=Fraction(1)))
    assert not pure.kept_by(Pure(epsilon=Fraction(1, 2)))
    assert not pure.kept_by(Approximate(epsilon=1, delta="1e-9"))
    assert loose.kept_by(Concentrated(rho=loose.amount()))
    assert not loose.kept_by(Concentrated(rho=Fraction(3, 100)))
    keys = Approximate(epsilon="1/10", delta="1/2000000")
    left = loose.amount(delta_of(keys)) - rho_of(keys)
    assert loose.kept_by(Sequential(parts=(keys, Concentrated(rho=left))))
    assert not loose.kept_by(Sequential(parts=(keys, Concentrated(rho=loose.amount()))))
    assert rho.kept_by(Concentrated(rho=Fraction(1, 10)))
    assert not rho.kept_by(Concentrated(rho=Fraction(1, 9)))
    assert str(loose) == "epsilon = 1, delta = 1e-06"
    for bad in ({}, {"epsilon": 1, "rho": 1}, {"rho": 1, "delta": "1e-6"}, {"epsilon": 1, "delta": 1}):
        with pytest.raises(ParameterError, match=r"epsilon|delta"):
            Promise(**bad)


def test_messages_are_short():
    assert [written(Fraction(x)) for x in ("1/3", "1e400", "1e-400", "0", "2")] == [
        "0.333333",
        "about 10^400",
        "about 10^-400",
        "0",
        "2",
    ]


def test_a_budget_of_too_many_digits_is_refused_at_once():
    texts = ["1e999999999", "1e-5000", "1e31", "9" * 31, "1/" + "9" * 31, "0." + "1" * 5000]
    for bad in (*texts, 1e-300, 10**5000, -(10**5000)):
        with pytest.raises(ParameterError, match="30 digits"):
            exactly("epsilon", bad)
    with pytest.raises(ParameterError, match="event must be"):
        from_json({"kind": "pure", "epsilon": "1e999999999"})


def test_shares_of_the_longest_budgets_are_still_budgets():
    assert exactly("epsilon", "1e-30") == Fraction(1, 10**30)
    assert Pure(epsilon=exactly("epsilon", "1/" + "9" * 30) / 3000).epsilon < Fraction(1, 10**30)
    with pytest.raises(ParameterError, match="digits"):
        Pure(epsilon=Fraction(1, 10**5000))
