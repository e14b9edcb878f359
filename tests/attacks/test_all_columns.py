"""Attacks on all published columns: linkage against its definition, statements by hand, and what is not tried."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attacks.finding import Limit, Outcome
from sfumato.attacks.linkage import Linkage, fitting_whole_rows
from sfumato.attacks.singling_out import SinglingOut
from sfumato.core.randomness import Chance
from sfumato.pipeline.attack import limit_of
from sfumato.tables.datasets.synthetic_census import census
from tests.attacks import kit
from tests.weights import examples

NAMES = ["age", "pay", "job"]
ROW = st.tuples(
    st.sampled_from(["[20-30)", "[30-40)", "25", "*"]),
    st.sampled_from(["5", "5.0", "7.25", "", "none"]),
    st.sampled_from(["a", "b", "5", "5.0"]),
)
PERSON = st.tuples(
    st.sampled_from(["25", "29", "31", "70"]),
    st.sampled_from(["5", "05", "7.250", "", "9", "none"]),
    st.sampled_from(["a", "b", "c", "5"]),
)
COVERS = {
    "[20-30)": {"25", "29"},
    "[30-40)": {"31"},
    "25": {"25"},
    "*": {"25", "29", "31", "70"},
}


def literal(row: tuple[str, ...], person: tuple[str, ...]) -> bool:
    """Whether a row may be a person's, straight from the definition: pay is a number, job is a word."""
    if person[0] not in COVERS[row[0]]:
        return False
    try:
        alike = float(row[1]) == float(person[1])
    except ValueError:
        alike = row[1] == person[1]
    return alike and row[2] == person[2]


@examples(150)
@given(
    released=st.lists(ROW, min_size=1, max_size=12),
    people=st.lists(PERSON, min_size=1, max_size=12),
    quasi=st.booleans(),
)
def test_rows_that_fit_everything_are_counted_as_defined(released, people, quasi):
    """Against the definition for every pair of a row and a person, with a quasi-identifier and without one."""
    release, frame = (pl.DataFrame(rows, schema=NAMES, orient="row") for rows in (released, people))
    subject = kit.released_subject(
        release,
        pl.DataFrame({"age": ["25", "29", "31"], "pay": ["5"] * 3, "job": ["a"] * 3}),
        ["age"] if quasi else [],
        numeric=frozenset({"age", "pay"}),
        beside=("pay", "job"),
    )
    shown = released if quasi else [("*", *row[1:]) for row in released]
    expected = [sum(literal(row, person) for row in shown) for person in people]
    assert fitting_whole_rows(subject, frame).tolist() == expected


def exact_incomes(rows: int = 400, *, control: bool = False):
    """People whose quasi-identifiers say nothing, and whose incomes are nearly all different."""
    people = census(rows, seed=1).select("sex", income=pl.int_range(rows) * 37 % 1009)
    others = census(rows, seed=2).select("sex", income=pl.int_range(rows) * 41 % 1013) if control else None
    return kit.released_subject(
        people.with_columns(sex=pl.lit("*")),
        people,
        ["sex"],
        numeric=frozenset({"income"}),
        beside=("income",),
        control=others,
        claims=(("k-anonymity", {"k": 5}),),
    )


def test_who_knows_everything_that_is_published_finds_everybody():
    """Every income occurs once: by all columns one row fits each person; by the quasi-identifier all 400 do."""
    subject = exact_incomes()
    whole, part = (Linkage(about=about).run(subject, Chance(seed=1)) for about in ("all", "quasi"))
    assert (whole.rate.value, whole.outcome, whole.beyond) == (1.0, Outcome.REFUTED, True)
    assert (part.rate.value, part.beyond) == (pytest.approx(1 / 400), False)
    assert whole.naive.value == pytest.approx(1 / 400)
    assert "'income'" in whole.knows
    controlled = Linkage(about="all").run(exact_incomes(control=True), Chance(seed=1))
    assert controlled.control is not None
    assert controlled.control.hits == 0


def test_statements_about_all_columns_single_out_and_those_about_quasi_identifiers_are_not_tried():
    subject = exact_incomes()
    whole, part = (SinglingOut(about=about, trials=100).run(subject, Chance(seed=1)) for about in ("all", "quasi"))
    assert (whole.rate.value, whole.rate.failed, whole.outcome) == (1.0, 0, Outcome.REFUTED)
    assert whole.naive.value < 0.2
    assert (part.rate.carried_out, part.outcome) == (0, Outcome.NOT_TRIED)
    assert part.note == "no statement fits exactly one released row"
    assert part.to_json()["target"]["rate"] is None
    assert part.to_json()["risk"]["value"] is None
    assert "about quasi-identifiers" in part.does


def test_statements_about_exact_words_and_numbers_by_hand():
    """Jobs a, a, b and pays 5, 7, 7: alone are b, and 5 as equal and as smallest; 7 fits two, and sex says nothing."""
    people = pl.DataFrame({"sex": ["f", "f", "m"], "job": ["a", "a", "b"], "pay": ["5", "7", "7"]})
    subject = kit.released_subject(
        people.with_columns(sex=pl.lit("*")), people, ["sex"], numeric=frozenset({"pay"}), beside=("job", "pay")
    )
    found = SinglingOut(kind="univariate").run(subject, Chance(seed=1))
    assert (found.rate.hits, found.rate.trials, found.rate.failed) == (3, 4, 1)
    assert SinglingOut(kind="univariate", about="quasi").run(subject, Chance(seed=1)).outcome is Outcome.NOT_TRIED


def test_only_the_run_over_quasi_identifiers_has_the_limit_of_k_anonymity():
    subject, limit = exact_incomes(), Limit(value=0.2, why="claim k-anonymity (k = 5)")
    for attack in (Linkage, SinglingOut):
        assert limit_of(attack(about="all"), subject, None) is None
        assert limit_of(attack(about="quasi"), subject, None) == limit
    alone = kit.raw_subject(census(50, seed=1), ["sex"], claims=(("k-anonymity", {"k": 5}),))
    assert limit_of(SinglingOut(), alone, None) == limit


def test_the_kit_with_everything_published():
    subject = kit.raw_subject(
        census(500, seed=1),
        ("sex", "race", "age"),
        control=census(500, seed=2),
        beside=("occupation", "fnlwgt", "income"),
    )
    kit.passes(SinglingOut(trials=200), subject)
    kit.passes(Linkage(trials=200, about="all"), subject)
    kit.refuses(SinglingOut, about="some")
    kit.refuses(Linkage, about="some")
    nothing = kit.raw_subject(census(5, seed=1), [])
    assert "no column is published" in SinglingOut().fits(nothing)
    assert "quasi" in Linkage().fits(nothing)


def test_control_people_without_a_column_give_no_control_run():
    subject = exact_incomes(control=True)
    assert subject.control is not None
    lacking = kit.released_subject(
        subject.release,
        subject.people,
        ["sex"],
        control=subject.control,
        beside=("income",),
        numeric=frozenset({"income"}),
        left_out=("savings",),
    )
    object.__setattr__(lacking, "control", subject.control.drop("income"))
    for attack in (Linkage(about="all"), SinglingOut(trials=50)):
        found = attack.run(lacking, Chance(seed=1))
        assert found.control is None
        assert "does not have all published columns" in found.note
        assert "'savings': published, but not in the original" in found.note
