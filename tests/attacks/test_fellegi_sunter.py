"""Registers with errors: the voter roll of golden G1, what is learned, and how much more is found than by a join."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sfumato.attacks.fellegi_sunter import AGREE, DISAGREE, MISSING, NEAR, Comparison, FellegiSunter, learn, with_errors
from sfumato.attacks.finding import Outcome
from sfumato.core.randomness import Chance
from sfumato.tables.datasets.synthetic_census import census
from tests.attacks import kit

PATIENTS = pl.DataFrame(
    {
        "age": ["24", "37", "26", "38", "36", "25"],
        "zip": ["10598", "90210", "10547", "90345", "89119", "02139"],
        "disease": ["HIV", "Hepatitis C", "HIV", "Hepatitis C", "Diabetes", "HIV"],
    }
)
VOTERS = pl.DataFrame(
    {
        "name": ["Mary", "John", "Ann", "Jack", "Joy", "Victor", "Peter", "Diana", "William", "Sue"],
        "age": ["38", "36", "31", "57", "26", "46", "25", "24", "37", "26"],
        "zip": ["90345", "89119", "02139", "10562", "10547", "90345", "02139", "10598", "90210", "10547"],
    }
)


def test_the_voter_roll():
    """G1: five are found with certainty, Joy and Sue share a row, Ann, Jack and Victor have none."""
    subject = kit.raw_subject(PATIENTS, ["age", "zip"], ["disease"], numeric=frozenset({"age"}))
    given = []
    for seed in range(20):
        links = FellegiSunter(near=0.0, surely=0.4).link(subject, VOTERS, Chance(seed=seed))
        labels, _, of_row = subject.classes
        row_of = {int(c): r for r, c in enumerate(of_row)}
        given.append([row_of.get(int(c), -1) for c in links.classes])
        assert labels.shape == (2, 6)
    found = dict(zip(VOTERS["name"], np.array(given).T.tolist(), strict=True))
    for name, row in {"Mary": 3, "John": 4, "Peter": 5, "Diana": 0, "William": 1}.items():
        assert set(found[name]) == {row}
    for name in ("Ann", "Jack", "Victor"):
        assert set(found[name]) == {-1}
    assert set(found["Joy"]) == set(found["Sue"]) == {2, -1}
    assert all((joy == 2) != (sue == 2) for joy, sue in zip(found["Joy"], found["Sue"], strict=True))


def test_levels_of_agreement():
    subject = kit.released_subject(
        pl.DataFrame({"age": ["[20-30)", "31", "*"], "sex": ["f", "m", "*"]}),
        pl.DataFrame({"age": ["20", "29", "31"], "sex": ["f", "m", "m"]}),
        ["age", "sex"],
        numeric=frozenset({"age"}),
    )
    register = pl.DataFrame({"age": ["30", "20", "", "60"], "sex": ["f", "", "x", "m"]})
    found = Comparison.of(subject, register, 1.0)
    labels = subject.coverage["age"].labels
    levels = [
        [int(found.tables[0][found.values[0, i], labels.index(l)]) for l in ("[20-30)", "31", "*")] for i in range(4)
    ]
    assert levels[0] == [NEAR, NEAR, AGREE]
    assert levels[1] == [AGREE, DISAGREE, AGREE]
    assert levels[2] == [MISSING] * 3
    assert levels[3] == [DISAGREE, DISAGREE, AGREE]


def test_what_is_learned():
    """With 15 % errors, a third of them missing, a column agrees for the same person with 0.85 / 0.95 at least.

    Words of somebody else may agree by chance, so m may be higher; 300 lines, standard error 0.018, five of them.
    """
    subject = kit.raw_subject(census(2000, seed=3), kit.QUASI)
    people = subject.some(300, Chance(seed=1))
    register = with_errors(people, kit.QUASI, kit.NUMERIC, 0.15, Chance(seed=2).generator())
    compared = Comparison.of(subject, register, 1.0)
    found = learn(compared, np.arange(300))
    assert (found.m[:, AGREE] > 0.85 / 0.95 - 0.09).all()
    assert (found.m[:, AGREE] < 1 + 1e-9).all()
    numbers = [number for number, name in enumerate(kit.QUASI) if name in kit.NUMERIC]
    assert (found.m[numbers, NEAR] > 5 * found.m[numbers, DISAGREE]).all()
    truth = [(subject.people[name].value_counts()["count"].to_numpy() / 2000) ** 2 for name in kit.QUASI]
    assert found.u[:, AGREE] == pytest.approx([share.sum() for share in truth], abs=0.08)
    assert found.inside > 0.8


@pytest.mark.parametrize("errors", [0.1, 0.2])
def test_errors_do_not_hide_people(errors):
    """Far more is found than by joining on all columns: 0.9^8 = 43 %, or 0.8^8 = 17 %, of lines have no error."""
    found = FellegiSunter(errors=errors, trials=500).run(kit.census_subject(3000, control=False), Chance(seed=1))
    assert found.figures["exact_join"] < (0.5 if errors == 0.1 else 0.25)
    assert found.rate.low > found.figures["exact_join"] + 0.2
    assert found.outcome is Outcome.REFUTED


def test_errors_are_as_many_as_said():
    people = census(4000, seed=1)
    made = with_errors(kit.texts(people), ["age", "sex"], kit.NUMERIC, 0.3, Chance(seed=1).generator())
    wrong = (made["age"] != people["age"].cast(pl.String)).mean()
    assert wrong == pytest.approx(0.3, abs=5 * (0.21 / 4000) ** 0.5)
    assert (made["age"] == "").mean() == pytest.approx(0.1, abs=5 * (0.09 / 4000) ** 0.5)
    same = with_errors(kit.texts(people), ["age"], kit.NUMERIC, 0.0, Chance(seed=1).generator())
    assert same["age"].to_list() == people["age"].cast(pl.String).to_list()


def test_the_kit():
    subject = kit.census_subject(500)
    found = kit.passes(FellegiSunter(trials=300), subject)
    assert found.control is not None
    assert found.control.hits == 0
    nothing = FellegiSunter(trials=300).run(subject.without_release(), Chance(seed=1))
    kit.failed_trials_are_no_resistance(nothing)
    kit.refuses(FellegiSunter, trials=0, errors=1.5, near=-1.0, surely=2.0, block="age")
    assert "no quasi-identifier" in FellegiSunter(block=("income",)).fits(subject)


def test_blocks_look_at_fewer_rows_and_find_nearly_as_many():
    subject = kit.census_subject(1000, control=False)
    every = FellegiSunter(trials=300).run(subject, Chance(seed=1))
    some = FellegiSunter(trials=300, block=("age", "occupation")).run(subject, Chance(seed=1))
    assert some.rate.value > every.rate.value - 0.1
