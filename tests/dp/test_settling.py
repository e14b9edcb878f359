"""A charge is reserved for the most and settled for what it was: never for more, and never lost by a crash."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.errors import BudgetError, ParameterError
from sfumato.dp.accounting import Promise, rho_of
from sfumato.dp.events import Approximate, Concentrated, Event, Pure, Sequential, from_json
from sfumato.dp.ledger import Ledger
from tests.dp.test_chain import PRIVATE
from tests.weights import examples

COLUMNS = {**PRIVATE["columns"], "income": {"role": "target", "values": ["<=50K", ">50K"]}}
PEOPLE = sf.datasets.census(200, seed=1).select("age", "sex", "income")


def book(place: Path, unit: Any = "rho", total: Any = 10) -> Ledger:
    made = Ledger.create(place / "l.db", total=total, unit=unit)
    made.grant("ann", total)
    return made


def spent(ledger: Ledger) -> list[Fraction]:
    return [one.spent for one in ledger.accounts()]


def released(place: Path, **privacy: Any) -> Any:
    told = {"columns": COLUMNS, "privacy": {"ledger": "l.db", "analyst": "ann", **privacy}}
    return sf.release(sf.Plan.parse(told, folder=place), PEOPLE)


@pytest.mark.parametrize("algorithm", ["marginals", "diffgen"])
def test_a_release_costs_what_its_parts_cost_in_rho(tmp_path: Path, algorithm: str):
    """A release at epsilon 1 was charged 1/2; its parts, each squared and halved, cost much less."""
    ledger = book(tmp_path)
    told = {
        "columns": COLUMNS,
        "privacy": {"epsilon": 1, "ledger": "l.db", "analyst": "ann"},
        "algorithm": {"name": algorithm},
    }
    made = sf.release(sf.Plan.parse(told, folder=tmp_path), PEOPLE)
    (charge,) = ledger.history()
    by_hand = sum((one**2 / 2 for one in _epsilons(made.event)), Fraction(0))
    assert (
        charge.cost == rho_of(made.event) == by_hand < (Fraction(1, 5) if algorithm == "marginals" else Fraction(1, 2))
    )
    assert (from_json(charge.event), charge.status) == (made.event, "settled")
    assert spent(ledger) == [by_hand, by_hand]
    assert spent(Ledger(ledger.path)) == [by_hand, by_hand], "and the chain says so"


def _epsilons(event: Event) -> list[Fraction]:
    if isinstance(event, Pure):
        return [event.epsilon]
    return [amount for part in event.parts for amount in _epsilons(part)]  # type: ignore[union-attr]


def test_what_a_release_does_not_need_can_be_spent_again(tmp_path: Path):
    ledger = book(tmp_path, total="0.6")
    released(tmp_path, epsilon=1)
    released(tmp_path, epsilon="1/2")
    assert len(ledger.history()) == 2
    assert spent(ledger)[0] < Fraction(3, 10)


EVENTS = st.lists(st.fractions(Fraction(1, 20), Fraction(1, 2)), min_size=1, max_size=4)


@examples(25)
@given(asked=st.lists(st.tuples(EVENTS, st.booleans()), max_size=6), unit=st.sampled_from(["epsilon", "rho"]))
def test_sums_are_those_of_a_plain_recount(asked: list[tuple[list[Fraction], bool]], unit: Any, tmp_path_factory: Any):
    """Reserved for the sum of all parts in one, settled for the parts, or never: recounted with plain fractions."""
    ledger = book(tmp_path_factory.mktemp("ledger"), unit=unit, total=2)
    total = Fraction(0)
    for parts, settled in asked:
        most, event = Pure(epsilon=sum(parts)), Sequential(parts=tuple(Pure(epsilon=one) for one in parts))
        reserved = most.epsilon if unit == "epsilon" else most.epsilon**2 / 2
        cost = sum(parts) if unit == "epsilon" else sum(one**2 / 2 for one in parts)
        try:
            number = ledger.reserve("ann", most)
        except BudgetError:
            assert total + reserved > 2
            continue
        if settled:
            ledger.settle(number, event)
        total += cost if settled else reserved
        assert spent(ledger) == [total, total]
    assert spent(Ledger(ledger.path)) == [total, total]


def test_nothing_is_settled_for_more_than_was_reserved(tmp_path: Path):
    ledger = book(tmp_path)
    ledger.grant_delta("1/1000")
    number = ledger.reserve("ann", Pure(epsilon=1))
    for more in (Pure(epsilon="1.1"), Concentrated(rho="0.51"), Approximate(epsilon="1/2", delta="1e-9")):
        with pytest.raises(BudgetError, match=r"has 0\.5 reserved, and"):
            ledger.settle(number, more)
    assert (spent(ledger), ledger.history()[0].status) == ([Fraction(1, 2)] * 2, "reserved")
    ledger.settle(number, Concentrated(rho="1/4"))
    with pytest.raises(BudgetError, match="not reserved"):
        ledger.settle(number, Concentrated(rho="1/8"))
    assert spent(ledger) == [Fraction(1, 4)] * 2


def test_a_charge_can_be_given_back_once(tmp_path: Path):
    ledger = book(tmp_path)
    number = ledger.reserve("ann", Pure(epsilon=1))
    ledger.give_back(number, "another table")
    assert (spent(ledger), ledger.history()[0].cost) == ([0, 0], 0)
    with pytest.raises(BudgetError, match="not reserved"):
        ledger.give_back(number, "again")


@pytest.mark.parametrize("promise", [{"epsilon": 1, "delta": 1e-6}, {"rho": "1/10"}])
def test_an_epsilon_ledger_says_what_would_pay_for_gaussian_noise(tmp_path: Path, promise: dict[str, Any]):
    ledger = book(tmp_path, unit="epsilon")
    most = Concentrated(rho=Promise.of(promise).amount(), what="release")
    with pytest.raises(BudgetError, match=r"counts in epsilon and cannot pay for Gaussian noise.*--unit rho"):
        ledger.reserve("ann", most)
    assert spent(ledger) == [0, 0]
    rho = Ledger.create(tmp_path / "rho.db", total=1, unit="rho")
    rho.grant("ann", 1)
    rho.reserve("ann", most)
    assert spent(rho)[0] == rho_of(most)


# Delta.


@pytest.mark.parametrize("unit", ["epsilon", "rho"])
def test_without_a_grant_no_delta_is_spent(tmp_path: Path, unit: Any):
    ledger, rare = book(tmp_path, unit=unit), Approximate(epsilon="1/10", delta="1e-6")
    with pytest.raises(BudgetError, match=r"a delta of 0 left .*--delta DELTA"):
        ledger.reserve("ann", rare)
    assert (spent(ledger), ledger.history()) == ([0, 0], [])
    ledger.grant_delta("2e-6")
    number = ledger.reserve("ann", rare)
    ledger.reserve("ann", rare)
    with pytest.raises(BudgetError, match="a delta of 0 left"):
        ledger.reserve("ann", rare)
    assert (ledger.deltas().spent, len(ledger.history())) == (Fraction(2, 10**6), 2)
    ledger.settle(number, Pure(epsilon="1/10"))
    assert Ledger(ledger.path).deltas().left == Fraction(1, 10**6)
    with pytest.raises(BudgetError, match="has spent a delta of 1e-06 already"):
        ledger.grant_delta("1e-7")
    for wrong in (1, 0, "x"):
        with pytest.raises(ParameterError, match="delta"):
            ledger.grant_delta(wrong)
