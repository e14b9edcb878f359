"""Looking for a household: against the product by hand."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attacks.labels import coverage_of
from sfumato.attacks.linkage import Households
from sfumato.attacks.subject import Subject
from sfumato.core.randomness import Chance
from tests.weights import examples

PEOPLE = st.lists(
    st.tuples(st.integers(20, 59), st.sampled_from("fm"), st.sampled_from("ABCD")), min_size=1, max_size=14
)


def subject(people: list[tuple[int, str, str]], together: str | None = "home") -> Subject:
    ages, sexes, homes = zip(*people, strict=True)
    known = pl.DataFrame({"age": list(map(str, ages)), "sex": sexes, "home": homes})
    tens = [f"[{age // 10 * 10}-{age // 10 * 10 + 10})" for age in ages]
    return Subject(
        release=pl.DataFrame({"age": tens, "sex": sexes}),
        quasi=("age", "sex"),
        sensitive=(),
        coverage={
            "age": coverage_of(sorted(set(tens)), known["age"].unique().to_list()),
            "sex": coverage_of(sorted(set(sexes)), sorted(set(sexes))),
        },
        people=known,
        together=together,
    )


@examples(60)
@given(people=PEOPLE)
def test_the_chance_to_find_one_of_them(people: list[tuple[int, str, str]]):
    groups = Counter((age // 10, sex) for age, sex, _ in people)
    found, guessed = 0.0, 0.0
    for home in {home for _, _, home in people}:
        missed = guess = 1.0
        for age, sex, mine in people:
            if mine == home:
                missed *= 1 - 1 / groups[age // 10, sex]
                guess *= 1 - 1 / len(people)
        found, guessed = found + 1 - missed, guessed + 1 - guess
    told = Households().run(subject(people), Chance(seed=1))
    assert told.rate.hits == pytest.approx(found)
    assert told.naive.hits == pytest.approx(guessed)
    assert told.rate.trials == len({home for _, _, home in people})
    assert told.figures["largest"] == max(Counter(home for _, _, home in people).values())


def test_it_needs_to_know_who_belongs_together():
    assert "[attack] group" in Households().fits(subject([(20, "f", "A")], together=None))
    assert Households().fits(subject([(20, "f", "A")])) == ""
    assert "does not have 'street'" in Households().fits(subject([(20, "f", "A")], together="street"))
