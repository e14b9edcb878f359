"""A claim about named values, or about few known columns, is held against somebody made for it."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attacks.finding import Outcome
from sfumato.attacks.lkc import LkcAdversary, ProtectedValues
from sfumato.attacks.subject import Subject
from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance
from sfumato.pipeline.attack import limit_of
from tests.attacks import kit
from tests.weights import examples

QUASI = ("a", "b", "c")


def lkc(l: int, c: float, *values: str, k: int = 2) -> tuple[str, dict[str, Any]]:
    return "lkc-privacy", {"l": l, "k": k, "c": c, "column": "ill", "values": values}


def subject_of(rows: pl.DataFrame, *claims: tuple[str, dict[str, Any]]) -> Subject:
    """Rows that are published as they are."""
    return kit.raw_subject(rows, QUASI, ("ill",), claims=claims)


def mixed(rows: int, seed: int, share: float = 0.3) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    columns = {name: draw.integers(3, size=rows).astype(str) for name in QUASI}
    return pl.DataFrame({**columns, "ill": np.where(draw.random(rows) < share, "HIV", "flu")})


def in_groups(table: pl.DataFrame, *, by: list[str], value: str) -> float:
    """The largest share of a value in a group of equal rows."""
    shares = table.group_by(by).agg((pl.col("ill") == value).mean())["ill"]
    return float(shares.max() or 0.0)  # type: ignore[arg-type]


@examples(40)
@given(seed=st.integers(0, 10_000), rows=st.integers(1, 40), l=st.integers(1, 3))
def test_the_worst_confidence_is_that_of_all_groups(seed: int, rows: int, l: int):
    """Every choice of L columns and every group that it makes, one by one."""
    table = mixed(rows, seed)
    found = ProtectedValues(l=l, values=("HIV",)).run(subject_of(table, lkc(l, 0.5, "HIV")), Chance(seed=1))
    expected = max(in_groups(table, by=list(known), value="HIV") for known in combinations(QUASI, l))
    assert found.figures["confidence_worst"] == pytest.approx(expected)
    assert found.worst == pytest.approx(expected)


def broken(rows: int = 2000) -> pl.DataFrame:
    """The known-bad twin: whoever has a = 0 and b = 0 has HIV three times in four; a tenth of all are so."""
    table = mixed(rows, 4, 0.2)
    draw = np.random.default_rng(5)
    bad = pl.Series(draw.random(rows) < 0.75)
    return table.with_columns(
        ill=pl.when((pl.col("a") == "0") & (pl.col("b") == "0") & bad).then(pl.lit("HIV")).otherwise("ill")
    )


@pytest.mark.parametrize("choice", ["worst", "random"])
def test_a_broken_c_is_refuted(choice: str):
    subject = subject_of(broken(), lkc(2, 0.5, "HIV"))
    forms = dict(ProtectedValues().variants(subject))
    assert [*forms] == [" of 'HIV', 2 known, worst", " of 'HIV', 2 known, random"]
    attack = forms[f" of 'HIV', 2 known, {choice}"]
    limit = limit_of(attack, subject, "ill")
    assert limit is not None
    assert (limit.value, "lkc-privacy" in limit.why) == (0.5, True)
    found = attack.run(subject, Chance(seed=1), limit)
    assert found.outcome is Outcome.REFUTED
    assert found.figures["confidence_worst"] == pytest.approx(in_groups(broken(), by=["a", "b"], value="HIV"))
    assert choice in found.knows


def test_a_kept_c_is_not_refuted_though_classes_tell_more():
    """By all three columns classes are small and sure; by one they keep C at its very worst group."""
    table = mixed(1500, 6, 0.45)
    bound = max(in_groups(table, by=[name], value="HIV") for name in QUASI)
    assert in_groups(table, by=list(QUASI), value="HIV") > bound
    subject = subject_of(table, lkc(1, bound, "HIV"))
    for _, attack in ProtectedValues().variants(subject):
        found = attack.run(subject, Chance(seed=1), limit_of(attack, subject, "ill"))
        assert found.limit is not None
        assert found.outcome is not Outcome.REFUTED
    worst = dict(ProtectedValues().variants(subject))[" of 'HIV', 1 known, worst"].run(subject, Chance(seed=1))
    assert worst.rate.value <= bound + 1e-9, "groups are bet on as a whole, so that no luck is in it"


def test_who_knows_less_or_more_than_the_claim_speaks_of():
    subject = subject_of(mixed(200, 1), lkc(2, 0.5, "HIV"))
    assert limit_of(ProtectedValues(l=1, values=("HIV",)), subject, "ill") is not None
    assert limit_of(ProtectedValues(l=3, values=("HIV",)), subject, "ill") is None
    assert limit_of(ProtectedValues(values=("HIV",)), subject, "ill") is None
    assert limit_of(ProtectedValues(l=2, values=("flu",)), subject, "ill") is None


def test_templates_are_tried_by_their_columns():
    rule = {"quasi": ("a", "b"), "column": "ill", "value": "HIV", "limit": 0.5}
    subject = subject_of(broken(), ("confidence-bounding", {"templates": (rule,)}))
    ((title, attack),) = ProtectedValues().variants(subject)
    assert title == " of 'HIV', by 'a', 'b'"
    found = attack.run(subject, Chance(seed=1), limit_of(attack, subject, "ill"))
    assert found.limit is not None
    assert (found.limit.value, found.outcome) == (0.5, Outcome.REFUTED)
    assert "'a', 'b' of a person" in found.knows


def test_named_values_are_tried_by_all_columns():
    alpha = ("alpha-k-anonymity", {"alpha": 0.5, "k": 2, "column": "ill", "values": ("HIV",)})
    paths, guards = {"HIV": ("virus",), "flu": ("virus",)}, {"HIV": "virus", "flu": ""}
    guarded = ("personalized-privacy", {"p": 0.5, "column": "ill", "paths": paths, "guards": guards})
    for claim in (alpha, guarded):
        subject = subject_of(broken(), claim)
        ((title, attack),) = ProtectedValues().variants(subject)
        assert title == " of 'HIV'"
        found = attack.run(subject, Chance(seed=1), limit_of(attack, subject, "ill"))
        assert found.outcome is Outcome.REFUTED


def test_what_no_claim_protects_is_not_tried():
    attack = ProtectedValues()
    simple = subject_of(mixed(50, 1), ("simple-l-diversity", {"l": 2, "column": "ill"}))
    assert "no claim protects" in attack.fits(simple)
    assert list(attack.variants(simple)) == [("", attack)]
    assert "no sensitive" in attack.fits(replace(simple, sensitive=()))
    with pytest.raises(ParameterError, match="no sensitive"):
        attack.run(replace(simple, sensitive=()), Chance(seed=1))
    kit.refuses(ProtectedValues, trials=0, l=0, choice="best")
    subject = subject_of(broken(), lkc(2, 0.5, "HIV"))
    kit.repeats_under_a_seed(replace(attack, l=2, choice="random"), subject)


def test_rows_are_looked_for_by_as_many_columns_as_claims_speak_of():
    subject = subject_of(mixed(500, 2), lkc(1, 0.9, "HIV", k=4), lkc(3, 1.0, k=2))
    forms = LkcAdversary().variants(subject)
    assert [title for title, _ in forms] == [
        ", 1 known, worst",
        ", 1 known, random",
        ", 3 known, worst",
        ", 3 known, random",
    ]
    assert [(attack.l, attack.choice) for _, attack in forms][:2] == [(1, "worst"), (1, "random")]
    limits = [limit_of(attack, subject, "ill") for _, attack in forms]
    assert [None if one is None else one.value for one in limits] == [0.25, 0.25, 0.5, 0.5]
    assert LkcAdversary().variants(replace(subject, claims=())) == [("", LkcAdversary())]
