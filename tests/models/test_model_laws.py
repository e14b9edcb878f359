"""Every model keeps its word on random small tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.counts.classes import Classes
from sfumato.counts.local_table import cells
from sfumato.models.composition import AllOf
from sfumato.models.confidence import ConfidenceBounding, DivergenceBounding, Template
from sfumato.models.e_m_anonymity import EMAnonymity
from sfumato.models.k_anonymity import AlphaKAnonymity, KAnonymity
from sfumato.models.l_diversity import (
    DistinctLDiversity,
    EntropyLDiversity,
    RecursiveLDiversity,
    SimpleLDiversity,
)
from sfumato.models.lkc import LKCPrivacy
from sfumato.models.model import Model, one_class
from sfumato.models.personalized import PersonalizedPrivacy
from sfumato.models.presence import DeltaPresence, KMap
from sfumato.models.t_closeness import TCloseness
from sfumato.tables.table import Column, Table
from sfumato.testing.models import BrokenLaw, check_model, check_removal, check_table, classes_of, pinned
from tests.weights import examples

SCHEMA = {"a": pl.String, "b": pl.String, "ill": pl.String, "pay": pl.Int64, "wish": pl.String}
QUASI = ("a", "b")
ILLS = ("flu", "cold", "hiv", "cut")
PATHS = {"flu": ("lung", "body"), "cold": ("lung", "body"), "hiv": ("blood", "body"), "cut": ("skin",)}
ORDER = (*ILLS, "")
COSTS = (
    (0.0, 0.2, 1.0, 0.5, 0.9),
    (0.3, 0.0, 0.9, 0.4, 0.9),
    (1.0, 0.8, 0.0, 0.7, 0.9),
    (0.5, 0.1, 0.6, 0.0, 0.9),
    (0.9, 0.9, 0.9, 0.9, 0.0),
)

ROW = st.tuples(
    st.sampled_from(["x", "y", "z", None]),
    st.sampled_from(["u", "v"]),
    st.sampled_from([*ILLS, None]),
    st.sampled_from([0, 1, 2, 3, 5, 8, None]),
    st.sampled_from(["", "lung", "body", "hiv", "*", None]),
)
TABLES = st.tuples(st.lists(ROW, max_size=14), st.lists(ROW, max_size=8))

MODELS: list[Model] = [
    KAnonymity(k=1),
    KAnonymity(k=2),
    DistinctLDiversity(l=2, column="ill"),
    EntropyLDiversity(l=1.5, column="ill"),
    EntropyLDiversity(l=2, column="ill"),
    RecursiveLDiversity(c=2, l=2, column="ill"),
    RecursiveLDiversity(c=0.5, l=1, column="ill"),
    SimpleLDiversity(l=1.5, column="ill"),
    SimpleLDiversity(l=2, column="pay"),
    AlphaKAnonymity(alpha=0.5, k=2, column="ill"),
    AlphaKAnonymity(alpha=0.4, k=1, column="ill", values=("hiv", "cut")),
    ConfidenceBounding(templates=(Template(column="ill", value="hiv", limit=0.5),)),
    ConfidenceBounding(
        templates=(
            Template(quasi=("a",), column="ill", value="hiv", limit=0.5),
            Template(quasi=("b",), column="wish", value="lung", limit=0.4),
        )
    ),
    LKCPrivacy(l=1, k=2, c=0.6, column="ill"),
    LKCPrivacy(l=1, k=2, c=0.5, column="ill", values=("hiv",)),
    LKCPrivacy(l=5, k=1, c=0.7, column="ill", values=("flu", "hiv")),
    EMAnonymity(e=1, m=1.5, column="pay"),
    EMAnonymity(e=0.5, m=2, column="pay", relative=True),
    DivergenceBounding(confidence=0.5, column="ill"),
    DivergenceBounding(confidence=0.4, column="ill", far="branch", paths=PATHS),
    DeltaPresence(low=0, high=0.7),
    DeltaPresence(low=0.3, high=0.9),
    KMap(k=2),
    PersonalizedPrivacy(p=0.6, column="ill", paths=PATHS, guards={"flu": "lung", "hiv": "hiv", "cut": "*"}),
    PersonalizedPrivacy(p=0.6, column="ill", paths=PATHS, guard_column="wish"),
    TCloseness(t=0.3, column="ill", distance="variational"),
    TCloseness(t=0.4, column="ill", distance="emd-equal", reference="original"),
    TCloseness(t=0.5, column="ill", distance="kl", reference="original"),
    TCloseness(t=0.3, column="pay", distance="emd-ordered", reference="original"),
    TCloseness(t=0.3, column="ill", distance="emd-ordered", order=ORDER),
    TCloseness(t=0.3, column="ill", distance="emd-hierarchical", paths=PATHS, reference="original"),
    TCloseness(t=0.2, column="ill", distance="emd-matrix", order=ORDER, costs=COSTS, reference="original"),
    AllOf(models=(KAnonymity(k=2), DistinctLDiversity(l=2, column="ill"))),
    AllOf(models=(KAnonymity(k=1), LKCPrivacy(l=1, k=2, c=0.8, column="ill"), EMAnonymity(e=0, m=1, column="pay"))),
]


def grouped(rows: list[tuple[object, ...]], others: list[tuple[object, ...]], quasi=QUASI) -> Classes:
    """The classes of the rows, with the rows and others as the population."""
    table = Table(frame=pl.DataFrame([*rows, *others], schema=SCHEMA, orient="row"))
    population = {name: table.column(name) for name in SCHEMA}
    own: dict[str, Column] = {
        name: replace(column, codes=column.codes[: len(rows)]) for name, column in population.items()
    }
    counted = [own[name] for name in SCHEMA if name not in QUASI]
    classes = cells([own[name] for name in quasi], counted).classes
    return replace(classes, population=cells([population[name] for name in quasi]).classes)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{model.name}-{model.columns}")
@examples(40)
@given(table=TABLES, seed=st.integers(0, 2**32 - 1))
def test_kit(model: Model, table: tuple[list[tuple[object, ...]], list[tuple[object, ...]]], seed: int) -> None:
    classes = grouped(*table)
    assert check_model(model, lambda rng: [classes], seed=seed) == 1


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{model.name}-{model.columns}")
@examples(12)
@given(table=TABLES, data=st.data())
def test_order_of_rows_does_not_matter(
    model: Model, table: tuple[list[tuple[object, ...]], list[tuple[object, ...]]], data: st.DataObject
) -> None:
    rows, others = table
    shuffled = data.draw(st.permutations(rows))
    one, other = model.check(grouped(rows, others)), model.check(grouped(shuffled, others))
    assert (one.holds, one.limit, one.failing.tolist()) == (other.holds, other.limit, other.failing.tolist())
    assert one.reached == pytest.approx(other.reached)


@examples(25)
@given(table=TABLES, seed=st.integers(0, 2**32 - 1))
def test_classes_joined_anyhow_keep_models_that_judge_single_classes(
    table: tuple[list[tuple[object, ...]], list[tuple[object, ...]]], seed: int
) -> None:
    """With one quasi-identifier every union of classes is a recoding."""
    classes = pinned(grouped(*table, quasi=("a",)))
    rng = np.random.default_rng(seed)
    for model in MODELS:
        if not isinstance(model, ConfidenceBounding):
            check_table(model, classes, rng)


def test_kit_finds_a_false_claim() -> None:
    class Liar(KAnonymity):
        """Says that a table keeps its size when classes go."""

        def check(self, classes: Classes):
            return replace(super().check(classes), holds=True)

    class Sum:
        """Judges all classes by the rows of the table, and claims that removal keeps it."""

        kept_by_removal = True

        def check(self, classes: Classes):
            enough = classes.rows >= 3
            every = np.zeros(0, np.int64) if enough else np.arange(classes.count)
            return replace(KAnonymity(k=1).check(classes), holds=enough, failing=every)

    table = classes_of({"a": ["x", "y", "z"]}, quasi=["a"])
    with pytest.raises(BrokenLaw, match="holds iff no class fails"):
        check_model(Liar(k=2), lambda rng: [table])
    with pytest.raises(BrokenLaw, match="kept by removal"):
        [check_removal(Sum(), table, np.random.default_rng(seed)) for seed in range(20)]


def test_factories_are_called_with_the_table() -> None:
    table = classes_of({"a": ["x", "x"], "ill": ["flu", "hiv"]}, quasi=["a"])
    seen: list[Classes] = []

    def factory(classes: Classes) -> Model:
        seen.append(classes)
        return AlphaKAnonymity(alpha=0.5, k=2, column="ill", values=classes.tally("ill").values)

    assert check_model(factory, lambda rng: [table, table]) == 2
    assert seen == [table, table]


LAWS = {  # name -> merging, removal, growth
    "k-anonymity": (True, True, True),
    "distinct-l-diversity": (True, True, True),
    "entropy-l-diversity": (True, True, False),
    "recursive-l-diversity": (True, True, False),
    "simple-l-diversity": (True, True, False),
    "alpha-k-anonymity": (True, True, False),
    "lkc-privacy": (True, False, False),
    "e-m-anonymity": (False, True, False),
    "divergence-bounding": (False, True, False),
    "k-map": (True, True, True),
    "personalized-privacy": (False, True, False),
}


@pytest.mark.parametrize("model", [m for m in MODELS if m.name in LAWS], ids=lambda model: model.name)
def test_laws_are_stated(model: Model) -> None:
    assert (model.kept_by_merging, model.kept_by_removal, model.kept_by_growth) == LAWS[model.name]


def test_laws_that_hang_on_parameters() -> None:
    template = Template(column="ill", value="hiv", limit=0.5)
    assert ConfidenceBounding(templates=(template,)).kept_by_removal
    assert not ConfidenceBounding(templates=(template, replace(template, quasi=("a",)))).kept_by_removal
    assert TCloseness(t=0.1, column="ill", distance="kl", reference="original").kept_by_removal
    assert not TCloseness(t=0.1, column="ill", distance="kl").kept_by_removal
    assert DeltaPresence(low=0, high=0.5).kept_by_removal
    assert not DeltaPresence(low=0.1, high=0.5).kept_by_removal
    both = AllOf(models=(KAnonymity(k=2), EMAnonymity(e=1, m=2, column="pay")))
    assert (both.kept_by_merging, both.kept_by_removal, both.kept_by_growth) == (False, True, False)


def test_models_that_regroup_say_so() -> None:
    whole, part = (Template(quasi=q, column="ill", value="hiv", limit=0.5) for q in ((), ("a",)))
    anew = {m.name for m in MODELS if m.counts_anew}
    assert {"lkc-privacy", "delta-presence", "k-map"} <= anew
    assert not ConfidenceBounding(templates=(whole,)).counts_anew
    assert ConfidenceBounding(templates=(whole, part)).counts_anew
    assert AllOf(models=(KAnonymity(k=2), KMap(k=2))).counts_anew
    assert not KAnonymity(k=2).counts_anew


def test_merging_breaks_e_m_anonymity() -> None:
    model = EMAnonymity(e=1, m=2, column="pay")
    table = classes_of({"a": ["x", "x", "y", "y"], "pay": [1, 10, 0, 2]}, quasi=["a"])
    assert model.check(table).holds
    assert model.check(one_class(table)).reached == 0.75
    assert "smaller classes still may" in model.reachable(table).note


def test_merging_breaks_personalized_privacy() -> None:
    paths = {"flu": ("lung",), "cough": ("lung",), "cut": ("skin",)}
    model = PersonalizedPrivacy(p=0.5, column="ill", paths=paths, guards={"flu": "lung"})
    table = classes_of({"a": ["x", "x", "y", "y"], "ill": ["flu", "cut", "cough", "cough"]}, quasi=["a"])
    assert model.check(table).holds
    assert model.check(one_class(table)).reached == 0.75


def test_merging_breaks_divergence_bounding() -> None:
    model = DivergenceBounding(confidence=0.5, column="ill")
    table = classes_of({"a": ["x", "x", "y", "y"], "ill": ["flu", "flu", "cut", "cut"]}, quasi=["a"])
    assert model.check(table).holds
    assert model.check(one_class(table)).reached == 0.5
    assert "smaller classes still may" in model.reachable(table).note


def test_a_label_replaced_in_some_classes_only_breaks_lkc() -> None:
    model = LKCPrivacy(l=1, k=2, c=1, column="ill")
    before = classes_of({"a": list("xxyy"), "b": list("uvuv"), "ill": ["flu"] * 4}, quasi=["a", "b"])
    after = classes_of({"a": list("*xy*"), "b": list("*vu*"), "ill": ["flu"] * 4}, quasi=["a", "b"])
    assert model.check(before).holds
    assert not model.check(after).holds


def test_removal_moves_the_released_reference() -> None:
    table = classes_of({"a": list("xxyyz"), "ill": ["flu", "hiv", "flu", "hiv", "hiv"]}, quasi=["a"])
    less = pinned(table).take(np.array([True, True, False]))
    assert TCloseness(t=0.2, column="ill", distance="kl").check(less).reached == 0
    assert TCloseness(t=0.2, column="ill", distance="emd-equal", reference="original").check(less).reached == (
        pytest.approx(0.1)
    )
