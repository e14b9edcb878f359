"""Prosecutor, journalist and marketer: against the definition, and by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attacks.finding import Outcome
from sfumato.attacks.linkage import Linkage, fitting_people, fitting_rows
from sfumato.attacks.risk import individual_risk, risk
from sfumato.core.randomness import Chance
from sfumato.tables.datasets.synthetic_census import census
from tests.attacks import kit

DECADES = {"age": ["[20-30)", "[20-30)", "[30-40)", "*"], "sex": ["f", "m", "*", "f"]}
PEOPLE = {"age": ["21", "29", "35", "44"], "sex": ["f", "m", "m", "f"]}


def rows(most: int = 12):
    ages, sexes = ["[20-30)", "[30-40)", "25", "*"], ["f", "m", "*"]
    return st.lists(st.tuples(st.sampled_from(ages), st.sampled_from(sexes)), min_size=1, max_size=most)


@given(
    released=rows(),
    people=st.lists(st.tuples(st.sampled_from(["25", "29", "31", "70"]), st.sampled_from(["f", "m", "x"])), min_size=1),
)
def test_rows_and_people_that_fit_are_counted_as_defined(released, people):
    names = ["age", "sex"]
    subject = kit.released_subject(
        pl.DataFrame(released, schema=names, orient="row"),
        pl.DataFrame({"age": ["25", "29", "31"], "sex": ["f", "m", "m"]}),
        names,
    )
    frame = pl.DataFrame(people, schema=names, orient="row")
    _, sizes, _ = subject.classes
    expected = [int(sizes[subject.fitting(person)].sum()) for person in subject.coded(frame).T]
    assert fitting_rows(subject, frame).tolist() == expected
    labels = subject.classes[0]
    fits = np.array([subject.fitting(person) for person in subject.coded(frame).T])
    assert fitting_people(subject, labels, frame).tolist() == fits.sum(axis=0).tolist()


def test_by_hand():
    """Woman of 21: rows 1 and 4 fit; man of 29: 2; man of 35: 3; woman of 44: 4. Two have two rows.

    The third row fits "m, 35" only; the fourth all women: 21 has rows 1 and 4, 44 has row 4.
    """
    subject = kit.released_subject(pl.DataFrame(DECADES), pl.DataFrame(PEOPLE), ["age", "sex"])
    found = Linkage().run(subject, Chance(seed=1))
    assert fitting_rows(subject, subject.people).tolist() == [2, 1, 1, 1]
    assert found.rate.hits == pytest.approx(0.5 + 3)
    assert found.naive.value == pytest.approx(1 / 4)
    assert found.worst == 1.0
    assert found.figures["unique"] == 0.75
    assert found.outcome is Outcome.INCONCLUSIVE


def test_the_published_formulas_by_hand():
    """Five classes of sizes 1, 2, 3, 4, 10 (n = 20) in a population of 2, 2, 6, 8, 20.

    ARX (RiskModelSampleSummary): prosecutor 1/min f = 1, at risk (1/f > 0.2) 10/20, journalist 1/min F = 1/2,
    at risk (1/F > 0.2) 3/20, marketer (1/2 + 2/2 + 3/6 + 4/8 + 10/20) / 20 = 3/20. sdcMicro without weights: individual
    risk 1/f, expected re-identifications the number of classes, 5, global risk 5/20.
    """
    sizes, population = np.array([1, 2, 3, 4, 10]), np.array([2, 2, 6, 8, 20])
    people = pl.DataFrame({"g": np.repeat(list("abcde"), sizes)})
    control = pl.DataFrame({"g": np.repeat(list("abcde"), population - sizes)})
    found = Linkage().run(kit.raw_subject(people, ["g"], control=control), Chance(seed=1))
    assert found.worst == 1.0
    assert found.rate.value == pytest.approx(5 / 20)
    assert found.figures["unique"] == pytest.approx(1 / 20)
    assert found.figures["at_risk"] == pytest.approx(10 / 20)
    assert found.figures["marketer"] == pytest.approx(5 / 20)
    assert found.figures["journalist"] == pytest.approx(1 / 2)
    assert found.figures["journalist_at_risk"] == pytest.approx(3 / 20)
    assert found.figures["marketer_of_population"] == pytest.approx(3 / 20)
    assert found.control is not None
    assert found.control.hits == 0
    figures = risk(sizes, population)
    assert (figures.prosecutor, figures.journalist) == (1.0, 0.5)
    assert figures.marketer == pytest.approx(found.figures["marketer_of_population"])
    assert risk(sizes).marketer == pytest.approx(found.rate.value)


def test_the_individual_risk_of_sdcmicro():
    """Benedetti and Franconi 1998: closed forms for f = 1 and 2 as sdcMicro has them, and 1/f for the population."""
    p = np.array([0.1, 0.5, 0.9])
    odds = p / (1 - p)
    assert individual_risk(np.array([1, 1, 1]), 1 / p) == pytest.approx(odds * np.log(1 / p))
    assert individual_risk(np.array([2, 2, 2]), 2 / p) == pytest.approx(odds - odds**2 * np.log(1 / p))
    assert individual_risk(np.array([1, 4]), np.array([1, 4])) == pytest.approx([1.0, 0.25])
    many = individual_risk(np.array([50]), np.array([100]))
    assert many == pytest.approx(0.5 / (50 - 0.5), rel=0.02)


def test_the_kit():
    found = kit.passes(Linkage(trials=300), kit.census_subject(600))
    assert found.outcome is Outcome.REFUTED
    kit.refuses(Linkage, trials=0, threshold=1.5)
    assert "quasi" in Linkage().fits(kit.raw_subject(census(5, seed=1), []))


def test_people_who_fit_no_row_are_failed_trials():
    subject = kit.raw_subject(census(200, seed=1), kit.QUASI)
    stranger = kit.released_subject(census(200, seed=2), subject.people, kit.QUASI, numeric=frozenset())
    found = Linkage().run(stranger, Chance(seed=1))
    kit.failed_trials_are_no_resistance(found)
