"""Skewness, similarity, proximity, divergence and the adversary with L facts, on examples worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attacks.finding import Outcome
from sfumato.attacks.lkc import LkcAdversary
from sfumato.attacks.similarity import Divergence, Proximity, Similarity, Skewness
from sfumato.core.randomness import Chance
from sfumato.tables.datasets.synthetic_census import census
from tests.attacks.kit import (
    failed_trials_are_no_resistance,
    learns_nothing_without_the_release,
    passes,
    raw_subject,
    refuses,
    released_subject,
    repeats_under_a_seed,
)
from tests.weights import examples

QUASI = ("age", "workclass", "education", "marital-status", "race", "sex")
G3 = pl.DataFrame(
    [
        ("Janitor", "M", "34", "Transgender"),
        ("Doctor", "M", "58", "Plastic"),
        ("Mover", "M", "34", "Transgender"),
        ("Lawyer", "M", "24", "Vascular"),
        ("Mover", "M", "58", "Urology"),
        ("Janitor", "M", "44", "Plastic"),
        ("Doctor", "M", "24", "Urology"),
        ("Lawyer", "F", "58", "Plastic"),
        ("Doctor", "F", "44", "Vascular"),
        ("Carpenter", "F", "63", "Vascular"),
        ("Technician", "F", "63", "Plastic"),
    ],
    schema=["job", "sex", "age", "surgery"],
    orient="row",
)
STOMACH = {
    "gastritis": ("inflammation",),
    "gastric ulcer": ("inflammation",),
    "stomach cancer": ("tumour",),
    "lung cancer": ("tumour",),
}


def some_census(rows: int = 1500, **more):
    people = census(rows, seed=1)
    jobs = people["occupation"].cast(pl.String).unique()
    trees = {"occupation": {job: ("low" if job < "M" else "high",) for job in jobs}}
    control = census(rows, seed=2)
    return raw_subject(people, QUASI, ("occupation", "hours-per-week"), control=control, trees=trees, **more)


@pytest.mark.parametrize(
    "attack",
    [Skewness(), Similarity(), Proximity(), LkcAdversary(), LkcAdversary(l=3, choice="worst")],
    ids=lambda attack: attack.name,
)
def test_the_kit(attack):
    subject = some_census()
    found = passes(attack, subject)
    assert found.control is not None
    kept = replace(subject, release=subject.release[:200], control=None)
    unfit = attack.run(kept, Chance(seed=1))
    if unfit.rate.failed:
        failed_trials_are_no_resistance(unfit)
    if attack.threat == "attribute disclosure":
        assert unfit.rate.value < found.rate.value
    nobody = attack.run(replace(subject, release=subject.release[:0], control=None), Chance(seed=1))
    assert nobody.rate.failed == nobody.rate.trials
    assert nobody.outcome is Outcome.NOT_TRIED


def test_skewness_by_hand():
    """HIV 1 in 100; in a class of two it is one half: fifty times as frequent, and named for both."""
    people = pl.DataFrame({"zip": ["a"] * 2 + ["b"] * 98, "test": ["HIV"] + ["normal"] * 99})
    found = Skewness().run(raw_subject(people, ("zip",), ("test",)), Chance(seed=1))
    assert found.figures["ratio_worst"] == pytest.approx(50)
    assert found.worst == 0.5
    assert found.rate.hits == 1
    assert found.naive.hits == pytest.approx(2 * 0.01), "of two people somebody says HIV at random"
    assert found.figures["moved"] == 0.02
    assert found.figures["distance"] == pytest.approx((2 * 0.49 + 98 * 0.01) / 100)


def test_similarity_by_hand():
    """Gastritis and gastric ulcer are two values and one kind: 2-diverse, and the kind is known for sure."""
    people = pl.DataFrame(
        {
            "zip": ["a", "a", "b", "b"] * 10,
            "disease": ["gastritis", "gastric ulcer", "stomach cancer", "gastritis"] * 10,
        }
    )
    found = Similarity().run(raw_subject(people, ("zip",), ("disease",), trees={"disease": STOMACH}), Chance(seed=1))
    assert found.figures["surely_known"] == found.figures["diverse_and_known"] == 0.5
    assert found.rate.hits == 20 + 10, "in b both kinds are equally frequent"
    assert found.naive.hits == 30, "inflammation: three of four"
    assert found.figures["confidence"] == 0.75


def test_a_tree_is_needed():
    subject = raw_subject(pl.DataFrame({"a": ["1"], "s": ["x"]}), ("a",), ("s",))
    assert Similarity().fits(subject) == "there is no sensitive column of the right kind"
    assert Similarity(column="s").fits(subject) == "column 's' has no tree over its values"
    assert Proximity(column="s").fits(subject) == "column 's' has no numbers"


def incomes() -> pl.DataFrame:
    """The 2-anonymous example of 002, section 2.1: X 10,000 and Y 10,050, among other pairs that lie far apart."""
    pairs = [(10000 + 3000 * i, 10050 + 3000 * i) for i in range(30)]
    return pl.DataFrame({"group": np.repeat(np.arange(30), 2), "income": [x for pair in pairs for x in pair]})


def test_proximity_by_hand():
    """X is 10,000 with confidence one half, and within 50 of it with certainty."""
    subject = raw_subject(incomes(), ("group",), ("income",), numeric=frozenset({"income"}))
    found = Proximity(width=0.001).run(subject, Chance(seed=1))
    assert found.figures["width"] == pytest.approx(0.001 * (97050 - 10000))
    assert found.rate.hits == 60
    assert found.worst == 1.0
    assert found.figures["surely_known"] == found.figures["diverse_and_known"] == 1.0
    assert found.naive.hits == 2, "without the release any of 30 pairs"
    assert found.outcome is Outcome.REFUTED
    narrow = Proximity(width=0).run(subject, Chance(seed=1))
    assert narrow.rate.hits == 30
    assert narrow.figures["confidence"] == 0.5


@examples(50)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 20)), min_size=1, max_size=25),
    st.sampled_from([0.0, 0.05, 0.25, 0.5, 1.0]),
)
def test_the_densest_interval_by_the_definition(rows, width):
    people = pl.DataFrame({"g": [str(g) for g, _ in rows], "x": [str(x) for _, x in rows]})
    found = Proximity(width=width).run(raw_subject(people, ("g",), ("x",), numeric=frozenset({"x"})), Chance(seed=1))
    reach = width * (max(x for _, x in rows) - min(x for _, x in rows))

    def hits(points, own):
        inside = {low: sum(low <= x <= low + reach + 1e-9 for x in points) for low in sorted(set(points))}
        low = max(inside, key=lambda one: (inside[one], -one))
        return sum(low <= x <= low + reach + 1e-9 for x in own)

    everybody = [x for _, x in rows]
    classes = [[x for g, x in rows if g == one] for one in range(3)]
    assert found.rate.hits == sum(hits(one, one) for one in classes if one)
    assert found.naive.hits == hits(everybody, everybody)


def test_divergence_by_hand():
    """Gastritis and stomach cancer in one class: each is linked with the other's disease with confidence one half."""
    people = pl.DataFrame(
        {
            "zip": [f"{i // 2}" for i in range(60)],
            "disease": ["gastritis", "stomach cancer"] * 10 + ["gastritis", "gastric ulcer"] * 20,
        }
    )
    subject = raw_subject(people, ("zip",), ("disease",), trees={"disease": STOMACH})
    found = Divergence().run(subject, Chance(seed=1))
    assert found.rate.hits == 20, "an ulcer is of the same branch as gastritis"
    assert found.worst == 0.5
    assert found.figures["right"] == 1.0
    assert found.naive.hits == 10, "gastritis is half of all: far from the ten cancers"
    plain = Divergence().run(replace(subject, trees={}), Chance(seed=1))
    assert plain.rate.hits == 60
    assert plain.naive.hits == 30
    assert plain.outcome is Outcome.REFUTED
    alone = Divergence().run(raw_subject(people.with_row_index(), ("index",), ("disease",)), Chance(seed=1))
    assert alone.rate.hits == 0, "where everybody is alone nobody is taken for another"
    learns_nothing_without_the_release(Divergence(), subject)
    repeats_under_a_seed(Divergence(), subject)


def test_g3_two_facts():
    """<Mover, 34> is record 3 alone, <M, 34> gives Transgender with 100 %; the release holds (2, 2, 50 %)."""
    raw = raw_subject(G3, ("job", "sex", "age"), ("surgery",))
    found = LkcAdversary(l=2, choice="worst", values=("Transgender",)).run(raw, Chance(seed=1))
    assert found.worst == 1.0
    assert found.figures["confidence_worst"] == 1.0
    assert found.figures["rows_fewest"] == 1
    job = ["Non-Technical", "Professional"]
    release = G3.with_columns(
        job=pl.col("job").replace(
            {"Janitor": job[0], "Mover": job[0], "Doctor": job[1], "Lawyer": job[1]}
            | {"Carpenter": "Technical", "Technician": "Technical"}
        ),
        age=pl.col("age")
        .cast(pl.Int64)
        .map_elements(lambda a: "[1-30)" if a < 30 else "[30-60)" if a < 60 else "[60-99)", return_dtype=pl.String),
    )
    covers = {"Non-Technical": "Janitor Mover", "Professional": "Doctor Lawyer", "Technical": "Carpenter Technician"}
    shown = released_subject(release, G3, ("job", "sex", "age"), ("surgery",))
    coverage = shown.coverage["job"]
    reads = np.array([[value in covers[label].split() for value in coverage.values] for label in coverage.labels])
    shown = replace(shown, coverage={**shown.coverage, "job": replace(coverage, covers=reads)})
    for choice in ("worst", "random"):
        two = LkcAdversary(l=2, choice=choice, values=("Transgender",)).run(shown, Chance(seed=1))
        assert two.figures["rows_fewest"] >= 2
        assert two.figures["confidence_worst"] <= 0.5
        assert two.worst is not None
        assert two.worst <= 0.5
    three = LkcAdversary(l=3).run(shown, Chance(seed=1))
    assert three.worst == 1.0, "with all three facts record 2 is alone: it is not 2-anonymous"
    assert three.figures["below_2"] == pytest.approx(1 / 11)


def test_the_worst_facts_by_the_definition():
    """All pairs of columns for each person: the fewest rows that fit."""
    from itertools import combinations

    rows = G3.select("job", "sex", "age").rows()
    fewest = [
        min(sum(all(r[c] == p[c] for c in pair) for r in rows) for pair in combinations(range(3), 2)) for p in rows
    ]
    raw = raw_subject(G3, ("job", "sex", "age"), ("surgery",))
    found = LkcAdversary(l=2, choice="worst").run(raw, Chance(seed=1))
    assert found.rate.hits == pytest.approx(sum(1 / few for few in fewest))
    assert found.figures["rows_mean"] == pytest.approx(sum(fewest) / len(fewest))


def test_many_columns():
    """Of 210 and more choices some are taken; more facts never leave more rows."""
    rng = np.random.default_rng(5)
    people = pl.DataFrame({f"q{i}": rng.integers(0, 3, 300).astype(str) for i in range(10)})
    subject = raw_subject(people, people.columns)
    rates = [LkcAdversary(l=l, choice="worst").run(subject, Chance(seed=1)).rate.value for l in (1, 4, 10, 12)]
    assert rates == sorted(rates)
    random = LkcAdversary(l=4).run(subject, Chance(seed=1))
    assert random.rate.value <= rates[1]
    assert "confidence" not in random.figures


def test_nonsense_is_refused():
    refuses(Skewness, factor=1, trials=0, column="")
    refuses(Similarity, level=0, trials=0, column="")
    refuses(Proximity, width=1.5, trials=0, column="")
    refuses(Divergence, threshold=0, trials=0, column="")
    refuses(LkcAdversary, l=0, choice="best", trials=0, column="", values=("",))
