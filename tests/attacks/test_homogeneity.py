"""Fitting rows counted by the definition, and homogeneous groups that tell the disease (G1, G2)."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attacks.finding import Outcome
from sfumato.attacks.homogeneity import Background, Homogeneity
from sfumato.attacks.posterior import counted
from sfumato.attacks.subject import Coverage, Subject
from sfumato.core.randomness import Chance
from sfumato.tables.datasets.synthetic_census import census
from tests.attacks.kit import failed_trials_are_no_resistance, passes, raw_subject, refuses, released_subject
from tests.weights import examples

QUASI = ("age", "workclass", "education", "marital-status", "race", "sex")
G2_JOBS = ["Engineer", "Engineer", "Lawyer", "Writer", "Writer", "Dancer", "Dancer"]
G2_DISEASES = ["Hepatitis", "Hepatitis", "HIV", "Flu", "HIV", "HIV", "HIV"]


def g1() -> Subject:
    """Golden G1 released in decades and regions, each row ten times so that there are trials enough."""
    people = pl.DataFrame(
        {
            "age": ["24", "37", "26", "38", "36", "25"],
            "zip": ["10598", "90210", "10547", "90345", "89119", "02139"],
            "disease": ["HIV", "Hepatitis C", "HIV", "Hepatitis C", "Diabetes", "HIV"],
        }
    )
    east = pl.col("zip").is_in(["10598", "10547", "02139"])
    release = people.with_columns(
        age=pl.when(pl.col("age") < "30").then(pl.lit("[20-30)")).otherwise(pl.lit("[30-40)")),
        zip=pl.when(east).then(pl.lit("Northeastern US")).otherwise(pl.lit("Western US")),
    )
    zips = tuple(people["zip"])
    covers = np.array([[z in ("10598", "10547", "02139") for z in zips], [z[0] in "89" for z in zips]])
    found = released_subject(pl.concat([release] * 10), pl.concat([people] * 10), ("age",), ("disease",))
    coverage = {**found.coverage, "zip": Coverage(labels=("Northeastern US", "Western US"), values=zips, covers=covers)}
    return Subject(
        release=found.release,
        people=found.people,
        quasi=("age", "zip"),
        sensitive=("disease",),
        coverage=coverage,
    )


def anatomy() -> Subject:
    """Golden G2 with the disease apart, in the buckets {1,3}, {2,5}, {4,6,7}."""
    people = pl.DataFrame({"job": G2_JOBS, "age": ["35", "38", "38", "30", "33", "30", "30"], "disease": G2_DISEASES})
    groups = pl.DataFrame(
        {
            "group": ["1", "1", "2", "2", "3", "3"],
            "disease": ["Hepatitis", "HIV", "Hepatitis", "HIV", "Flu", "HIV"],
            "count": ["1", "1", "1", "1", "1", "2"],
        }
    )
    release = people.drop("disease").with_columns(group=pl.Series(["1", "2", "1", "3", "2", "3", "3"]))
    return Subject(
        release=release,
        people=people,
        quasi=("job", "age"),
        sensitive=("disease",),
        coverage={name: Coverage.plain(people[name].to_list()) for name in ("job", "age")},
        groups=groups,
        group="group",
    )


def test_g1_three_rows_that_all_say_hiv():
    """East: HIV for sure, 3 of 6 people. West: 2 of 3 have hepatitis C, and it is named: 5 of 6 are right."""
    found = Homogeneity().run(g1(), Chance(seed=1))
    assert found.rate.hits == 50
    assert found.worst == 1.0
    assert found.figures["surely_known"] == 0.5
    assert found.figures["confidence"] == pytest.approx((1 + 2 / 3) / 2)
    assert found.naive.hits == 30, "HIV is the most frequent disease: 3 of 6"
    assert found.outcome is Outcome.REFUTED


def test_g2_the_dancers_have_hiv():
    """Rows 6 and 7 fit dancers: HIV with 100 %. Engineer 1: both engineers have hepatitis. Lawyer: 1 of 1."""
    people = pl.DataFrame({"job": G2_JOBS, "disease": G2_DISEASES})
    found = Homogeneity().run(raw_subject(people, ("job",), ("disease",)), Chance(seed=1))
    assert found.figures["surely_known"] == pytest.approx(5 / 7)
    assert found.rate.hits == 6, "each writer counts one half: flu and HIV are equally frequent"
    assert found.naive.hits == 4


def test_values_apart_are_read_by_group():
    """Anatomy: engineer 35 is in group 1, half and half; writer 30 in group 3, where HIV is twice as frequent."""
    subject = anatomy()
    posterior = counted(subject, "disease").posterior(subject.people)
    shares = [
        {
            posterior.values[posterior.code[at]]: posterior.share[at]
            for at in range(posterior.starts[v], posterior.starts[v + 1])
        }
        for v in posterior.view.tolist()
    ]
    assert shares[0] == {"Hepatitis": 0.5, "HIV": 0.5}
    assert shares[3] == pytest.approx({"Flu": 1 / 3, "HIV": 2 / 3})
    found = Homogeneity().run(subject, Chance(seed=1))
    assert found.rate.hits == pytest.approx(4 * 0.5 + 2)
    assert found.figures["surely_known"] == 0.0
    blank = Homogeneity().run(subject.without_release(), Chance(seed=1))
    assert blank.rate.hits == blank.naive.hits == 4


@examples(60)
@given(st.data())
def test_fitting_rows_by_the_definition(data):
    """Random labels that cover random values: counts are those of the rows whose labels cover all known values."""
    width = data.draw(st.integers(1, 3))
    values, labels = ("a", "b", "c"), ("L0", "L1", "L2", "L3")
    mask = st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=4, max_size=4)
    covers = [np.array(data.draw(mask)) for _ in range(width)]
    names = [f"q{i}" for i in range(width)]
    rows = data.draw(st.lists(st.tuples(*[st.integers(0, 3)] * width, st.sampled_from("xyz")), min_size=1, max_size=12))
    persons = data.draw(
        st.lists(st.tuples(*[st.integers(0, 2)] * width, st.sampled_from("xyz")), min_size=1, max_size=6)
    )
    subject = Subject(
        release=pl.DataFrame(
            {**{n: [labels[r[i]] for r in rows] for i, n in enumerate(names)}, "s": [r[-1] for r in rows]}
        ),
        people=pl.DataFrame(
            {**{n: [values[p[i]] for p in persons] for i, n in enumerate(names)}, "s": [p[-1] for p in persons]}
        ),
        quasi=tuple(names),
        sensitive=("s",),
        coverage={n: Coverage(labels=labels, values=values, covers=covers[i]) for i, n in enumerate(names)},
    )
    count = counted(subject, "s")
    known = data.draw(st.lists(st.integers(0, width - 1), min_size=1, max_size=width, unique=True))
    posterior = count.posterior(subject.people, known)
    right = 0.0
    full = count.posterior(subject.people)
    for place, person in enumerate(persons):
        for which, view in ((known, posterior), (range(width), full)):
            fits = [row for row in rows if all(covers[c][row[c], person[c]] for c in which)]
            at = view.view[place]
            entries = [] if at < 0 else range(view.starts[at], view.starts[at + 1])
            assert {view.values[view.code[e]]: view.weight[e] for e in entries} == dict(Counter(r[-1] for r in fits))
        counts = Counter(r[-1] for r in fits)
        best = [value for value, many in counts.items() if many == max(counts.values())]
        right += (person[-1] in best) / max(len(best), 1)
    found = Homogeneity().run(subject, Chance(seed=1))
    assert found.rate.hits == pytest.approx(right)
    assert found.rate.failed == int((full.view < 0).sum())


@pytest.mark.parametrize("attack", [Homogeneity(), Background(), Background(m=2, choice="worst")], ids=str)
def test_the_kit(attack):
    subject = raw_subject(census(1500, seed=1), QUASI, ("occupation",), control=census(1500, seed=2))
    found = passes(attack, subject)
    assert found.control is not None
    assert found.control.value < found.rate.value


def test_people_whom_no_row_fits():
    people = census(600, seed=1)
    subject = raw_subject(people, QUASI, ("occupation",))
    fewer = Subject(
        release=subject.release[:300],
        quasi=subject.quasi,
        sensitive=subject.sensitive,
        coverage=subject.coverage,
        people=subject.people,
    )
    for attack in (Homogeneity(), Background()):
        failed_trials_are_no_resistance(attack.run(fewer, Chance(seed=1)))


def test_facts_by_hand():
    """A class with flu 3, HIV 2, cancer 1: cancer is named once the two more frequent values are struck out."""
    people = pl.DataFrame({"job": ["a"] * 6, "s": ["flu"] * 3 + ["HIV"] * 2 + ["cancer"]})
    found = Background(m=1, choice="worst").run(raw_subject(people, ("job",), ("s",)), Chance(seed=1))
    assert found.figures["rate_0"] == 0.5
    assert found.figures["rate_1"] == pytest.approx(5 / 6), "without HIV flu is named, without flu HIV is named"
    assert found.figures["rate_2"] == 1.0
    assert found.rate == found.naive, "one class is the whole table: the guesser with the same facts knows as much"


def test_nonsense_is_refused():
    refuses(Homogeneity, trials=0, column="")
    refuses(Background, m=-1, choice="best", trials=0, column="")
    bare = raw_subject(pl.DataFrame({"a": ["1"], "s": ["x"]}), (), ("s",))
    assert Homogeneity().fits(bare) == "there are no quasi-identifiers"
    plain = raw_subject(pl.DataFrame({"a": ["1"], "s": ["x"]}), ("a",))
    assert Homogeneity().fits(plain) == "there is no sensitive column"
    assert "'b' is not among" in Homogeneity(column="b").fits(plain)
    wide = pl.DataFrame({"a": ["1"] * 1001, "s": [str(i) for i in range(1001)]})
    assert "use proximity" in Background().fits(raw_subject(wide, ("a",), ("s",)))


def test_nobody_and_nothing():
    """No rows: every trial failed. No people: no trials."""
    subject = raw_subject(pl.DataFrame({"a": ["1", "2"], "s": ["x", "y"]}), ("a",), ("s",))
    for attack in (Homogeneity(), Background()):
        for release, people in ((subject.release[:0], subject.people), (subject.release, subject.people[:0])):
            found = attack.run(
                Subject(release=release, people=people, quasi=("a",), sensitive=("s",), coverage=subject.coverage),
                Chance(seed=1),
            )
            assert found.rate.hits == 0
            assert found.rate.failed == found.rate.trials == people.height
            assert found.outcome is Outcome.NOT_TRIED
