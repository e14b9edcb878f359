"""Models about sensitive values where one person can have several: against their definitions, and what they bound."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.counts.classes import Classes
from sfumato.counts.local_table import cells
from sfumato.models.composition import PerPerson
from sfumato.models.confidence import ConfidenceBounding, DivergenceBounding, Template
from sfumato.models.e_m_anonymity import EMAnonymity
from sfumato.models.k_anonymity import AlphaKAnonymity
from sfumato.models.l_diversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity, SimpleLDiversity
from sfumato.models.lkc import LKCPrivacy
from sfumato.models.model import Model, judge
from sfumato.models.monotone import steady
from sfumato.models.personalized import PersonalizedPrivacy
from sfumato.models.t_closeness import TCloseness
from sfumato.tables.table import Table
from sfumato.testing import models
from tests.brute import people as brute
from tests.weights import examples

Rows = list[dict[str, str]]
VALUES = ("1", "2", "3", "7")
PATHS = {"1": ("low",), "2": ("low",), "3": ("high",), "7": ("high",)}
COSTS = ((0, 1, 3, 2), (2, 0, 1, 4), (1, 1, 0, 1), (5, 2, 2, 0))
HALF = Fraction(1, 2)

ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "u": st.sampled_from("ab"),
            "v": st.sampled_from("xy"),
            "s": st.sampled_from(VALUES),
            "who": st.sampled_from("12345"),
        }
    ),
    min_size=1,
    max_size=14,
)
DISTANCES = ("variational", "kl", "emd-equal", "emd-ordered", "emd-hierarchical", "emd-matrix")


def classes_of(rows: Rows) -> Classes:
    table = Table(frame=pl.DataFrame(rows))
    quasi = [table.column(name, "text") for name in ("u", "v")]
    return cells(quasi, [table.column("s", "integer")], unit=table.column("who", "text")).classes


def closeness(distance: Any, t: float = 0.3) -> TCloseness:
    more: dict[str, Any] = {}
    if distance == "emd-hierarchical":
        more = {"paths": PATHS}
    if distance == "emd-matrix":
        more = {"order": VALUES, "costs": COSTS}
    return TCloseness(t=t, column="s", distance=distance, **more)


def brute_closeness(rows: Rows, distance: str, t: float = 0.3) -> Any:
    more: dict[str, Any] = {}
    if distance == "emd-hierarchical":
        more = {"paths": PATHS}
    if distance == "emd-matrix":
        more = {"order": VALUES, "costs": COSTS}
    return brute.t_closeness(rows, ("u", "v"), t=Fraction(t), column="s", distance=distance, **more)


TWINS: list[tuple[Model, Any]] = [
    (DistinctLDiversity(l=2, column="s"), lambda rows: brute.distinct_l(rows, ("u", "v"), l=2, column="s")),
    (DistinctLDiversity(l=3, column="s"), lambda rows: brute.distinct_l(rows, ("u", "v"), l=3, column="s")),
    (
        EntropyLDiversity(l=1.8, column="s"),
        lambda rows: brute.entropy_l(rows, ("u", "v"), l=Fraction(9, 5), column="s"),
    ),
    (
        RecursiveLDiversity(c=2, l=2, column="s"),
        lambda rows: brute.recursive_l(rows, ("u", "v"), c=2, l=2, column="s"),
    ),
    (SimpleLDiversity(l=2, column="s"), lambda rows: brute.simple_l(rows, ("u", "v"), l=2, column="s")),
    (
        AlphaKAnonymity(alpha=0.5, k=2, column="s", values=("1", "3")),
        lambda rows: brute.alpha_k(rows, ("u", "v"), alpha=HALF, k=2, column="s", values=("1", "3")),
    ),
    (EMAnonymity(e=1, m=2, column="s"), lambda rows: brute.e_m(rows, ("u", "v"), e=1, m=2, column="s")),
    (
        PersonalizedPrivacy(p=0.5, column="s", paths=PATHS, guards={"1": "low", "7": "7"}),
        lambda rows: brute.personalized(
            rows, ("u", "v"), p=HALF, column="s", paths=PATHS, guards={"1": "low", "7": "7"}
        ),
    ),
    (
        DivergenceBounding(confidence=0.5, column="s", far="branch", paths=PATHS),
        lambda rows: brute.divergence_bounding(rows, ("u", "v"), confidence=HALF, column="s", paths=PATHS),
    ),
    *((closeness(distance), lambda rows, d=distance: brute_closeness(rows, d)) for distance in DISTANCES),
]


@pytest.mark.parametrize(("model", "twin"), TWINS, ids=lambda one: getattr(one, "name", ""))
@examples(150)
@given(rows=ROWS)
def test_models_as_they_are_defined(model: Model, twin: Any, rows: Rows):
    table = classes_of(rows)
    verdict = judge(model, table, "value")
    holds, reached, failing = twin(rows)
    assert verdict.holds == holds
    assert {tuple(table.label(int(place)).values()) for place in verdict.failing} == failing
    assert verdict.reached == pytest.approx(reached, abs=1e-6)


@examples(60)
@given(rows=ROWS)
def test_groupings_by_some_columns(rows: Rows):
    """LKC-privacy and templates count people anew in every group."""
    table = classes_of(rows)
    for l in (1, 2):
        model = LKCPrivacy(l=l, k=2, c=0.5, column="s", values=("1", "2"))
        held = brute.lkc(rows, ("u", "v"), l=l, k=2, c=HALF, column="s", values=("1", "2"))
        assert judge(model, table, "value").holds == held
    rule = Template(quasi=("u",), column="s", value="3", limit=0.5)
    share = brute.template(rows, ("u",), column="s", value="3")
    assert judge(ConfidenceBounding(templates=(rule,)), table, "value").reached == pytest.approx(float(share))


@examples(120)
@given(rows=ROWS)
def test_whichever_value_of_each_person_is_looked_at(rows: Rows):
    """What l-diversity says holds of every way to pick one value of each person, and of the share of holders."""
    table = classes_of(rows)
    groups = brute.holdings(rows, ("u", "v"), "s")
    for place in range(table.count):
        one = table.take(np.arange(table.count) == place)
        group = groups[tuple(one.label(0).values())]
        every = list(brute.readings(group))
        distinct = judge(DistinctLDiversity(l=2, column="s"), one, "value").reached
        assert distinct <= min(map(len, every))
        assert judge(EntropyLDiversity(l=2, column="s"), one, "value").reached <= min(map(brute.entropy, every)) + 1e-9
        for l in (2, 3):
            worst = max(brute.ratio(reading, l) for reading in every)
            assert judge(RecursiveLDiversity(c=1, l=l, column="s"), one, "value").reached >= float(worst) - 1e-9
        if distinct >= 2:
            assert max(brute.held(group, [value]) for value in VALUES) < 1


@examples(80)
@given(rows=ROWS, distance=st.sampled_from(["variational", "emd-equal"]), t=st.sampled_from([0.1, 0.3]))
def test_closeness_bounds_the_share_of_people(rows: Rows, distance: str, t: float):
    """In no class is a value more frequent, in people, than t above its share of all people."""
    table = classes_of(rows)
    groups = brute.holdings(rows, ("u", "v"), "s")
    people = sum(map(len, groups.values()))
    failing = set(judge(closeness(distance, t), table, "value").failing.tolist())
    for place in set(range(table.count)) - failing:
        group = groups[tuple(table.label(place).values())]
        for value in VALUES:
            overall = Fraction(sum(brute.holders(one)[value] for one in groups.values()), people)
            assert float(brute.held(group, [value]) - overall) <= t + 1e-9


def test_everyone_has_the_same_illness_and_others_beside_it():
    """Three people with flu, two of whom have something else too: nobody doubts the flu."""
    ill = [("1", "1"), ("2", "1"), ("3", "1"), ("2", "2"), ("3", "3")]
    table = classes_of([{"u": "a", "v": "x", "s": s, "who": who} for who, s in ill])
    for model in (
        DistinctLDiversity(l=2, column="s"),
        EntropyLDiversity(l=1.01, column="s"),
        RecursiveLDiversity(c=100, l=2, column="s"),
        SimpleLDiversity(l=1.01, column="s"),
        AlphaKAnonymity(alpha=0.99, k=1, column="s"),
        DivergenceBounding(confidence=1, column="s"),
    ):
        assert not judge(model, table, "value").holds, model.name
    assert DistinctLDiversity(l=3, column="s").check(table).holds  # by rows it has three values


ONE_EACH = st.lists(
    st.fixed_dictionaries({"u": st.sampled_from("ab"), "v": st.sampled_from("xy"), "s": st.sampled_from(VALUES)}),
    min_size=1,
    max_size=14,
)


@examples(60)
@given(rows=ONE_EACH, model=st.sampled_from([model for model, _ in TWINS]))
def test_one_row_each_is_judged_as_rows_are(rows: Rows, model: Model):
    numbered = [{**row, "who": str(place)} for place, row in enumerate(rows)]
    table = classes_of(numbered)
    by_people, by_rows = judge(model, table, "value"), model.check(table)
    assert by_people.failing.tolist() == by_rows.failing.tolist()
    assert by_people.reached == pytest.approx(by_rows.reached)


def _relied_on(model: Model, table: Classes) -> Model:
    assert table.people is not None
    several = any(table.people.has_several(name) for name in model.columns)
    return PerPerson(model=model, apart=table.people.apart, several=several)  # type: ignore[return-value]


LAWFUL = [*(model for model, _ in TWINS), LKCPrivacy(l=1, k=2, c=0.6, column="s")]


@pytest.mark.parametrize("stay", [True, False], ids=["apart", "anywhere"])
@examples(150)
@given(rows=ROWS, model=st.sampled_from(LAWFUL), seed=st.integers(0, 99))
def test_laws_that_a_search_relies_on(stay: bool, rows: Rows, model: Model, seed: int):
    """People who stay in one cell, and people who move about."""
    if stay:
        first = {row["who"]: (row["u"], row["v"]) for row in rows}
        rows = [{**row, "u": first[row["who"]][0], "v": first[row["who"]][1]} for row in rows]
    table, rng = classes_of(rows), np.random.default_rng(seed)
    relied = _relied_on(model, table)
    models.check_verdict(relied, table, rng)
    models.check_merging(relied, table, rng)
    models.check_removal(relied, table, rng)
    if relied.kept_by_growth:  # a class grows when others are joined to it
        failing = set(relied.check(table).failing.tolist())
        coarser, ids = table.recoded([np.zeros(len(n), np.int32) for n in table.labels], [("*",)] * len(table.labels))
        assert set(range(table.count)) == failing or not len(relied.check(coarser).failing), ids


@examples(60)
@given(rows=ROWS)
def test_steady_forms_follow(rows: Rows):
    """What holds of the form that joining keeps holds of the model."""
    table = classes_of(rows).by_people()
    for model, _ in TWINS:
        form = steady(model, table)
        if form is not model and form.check(table).holds:
            assert model.check(table).holds


def test_entropy_is_not_kept_by_merging_where_people_have_several_values():
    """Two people with twenty values each can show every value of a long tail once more, and half of it is not left."""
    tail = [str(n) for n in range(100, 140)]
    rows = [{"u": "a", "v": "x", "s": "1", "who": f"p{n}"} for n in range(355)]
    rows += [{"u": "a", "v": "x", "s": value, "who": f"q{value}"} for value in tail]
    rows += [{"u": "a", "v": "y", "s": value, "who": f"r{n % 2}"} for n, value in enumerate(tail)]
    table = classes_of(rows)
    tight = EntropyLDiversity(l=judge(EntropyLDiversity(l=2, column="s"), table, "value").reached, column="s")
    assert table.people is not None
    assert table.people.apart
    assert judge(tight, table, "value").holds
    assert not judge(tight, table.project(["u"])[0], "value").holds
    assert not PerPerson(model=tight, apart=True, several=True).kept_by_merging
    assert PerPerson(model=tight, apart=True, several=False).kept_by_merging
