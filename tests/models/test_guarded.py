"""A column that is a quasi-identifier and sensitive: the model against literal counting, its laws, its refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import DataError, ParameterError
from sfumato.counts.classes import Classes
from sfumato.counts.local_table import cells
from sfumato.models.composition import PerPerson
from sfumato.models.confidence import ConfidenceBounding, Template
from sfumato.models.guarded import Guarded
from sfumato.models.k_anonymity import AlphaKAnonymity
from sfumato.models.l_diversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity, SimpleLDiversity
from sfumato.models.lkc import LKCPrivacy
from sfumato.models.model import judge
from sfumato.models.t_closeness import TCloseness
from sfumato.tables.table import Table
from sfumato.testing.models import check_order, check_verdict, classes_of
from tests.brute import guarded as brute
from tests.weights import examples

TREE = {
    "flu": ("lung", "inner"),
    "asthma": ("lung", "inner"),
    "tb": ("lung", "inner"),
    "ulcer": ("gut", "inner"),
    "cut": ("skin", "skin"),
    "burn": ("skin", "skin"),
}
LABELS = (*TREE, "lung", "gut", "inner", "skin", "*", None)
AREAS = {"1": ("north",), "2": ("north",), "3": ("south",)}
ROWS = st.lists(
    st.tuples(st.sampled_from("12"), st.sampled_from("uv"), st.sampled_from(LABELS)), min_size=1, max_size=12
)
LEAVES = st.lists(st.tuples(st.sampled_from("123"), st.sampled_from([*TREE, None])), min_size=1, max_size=10)


def about(**given: Any) -> ConfidenceBounding:
    return ConfidenceBounding(templates=(Template(column="ill", **given),))


def on(model: Any, paths: Any = None) -> Guarded:
    return Guarded(model=model, column="ill", paths=paths or TREE)


MODELS: list[tuple[Any, Any, Any, tuple[str, ...]]] = [
    (SimpleLDiversity(l=2, column="ill"), brute.simple, max, ("zip", "sex")),
    (SimpleLDiversity(l=3.5, column="ill"), brute.simple, max, ("zip", "sex")),
    (DistinctLDiversity(l=3, column="ill"), brute.distinct, min, ("zip", "sex")),
    (EntropyLDiversity(l=2.3, column="ill"), brute.entropy, min, ("zip", "sex")),
    (RecursiveLDiversity(c=1.1, l=2, column="ill"), brute.recursive, max, ("zip", "sex")),
    (TCloseness(t=0.3, column="ill", distance="variational"), brute.variational, max, ("zip", "sex")),
    (TCloseness(t=0.3, column="ill", distance="emd-equal"), brute.variational, max, ("zip", "sex")),
    (about(value="flu", limit=0.4), brute.share_of("flu"), max, ("zip", "sex")),
    (about(quasi=("sex",), value="cut", limit=0.3), brute.share_of("cut"), max, ("sex",)),
]


def test_the_worked_example_of_the_docs():
    """docs/theory/l-diversity.md, a column that is known too."""
    tree = {"flu": ("lung",), "asthma": ("lung",), "tb": ("lung",), "ulcer": ("gut",), "colic": ("gut",)}
    classes = classes_of({"zip": ["1"] * 6, "ill": ["lung"] * 4 + ["gut"] * 2}, quasi=["zip", "ill"])
    wanted: list[tuple[Any, float]] = [
        (DistinctLDiversity(l=5, column="ill"), 5),
        (EntropyLDiversity(l=4.9, column="ill"), 4.953),
        (RecursiveLDiversity(c=1, l=2, column="ill"), 2 / 7),
        (SimpleLDiversity(l=4, column="ill"), 2 / 9),
    ]
    for model, reached in wanted:
        found = on(model, tree).check(classes)
        assert found.holds
        assert found.reached == pytest.approx(reached, abs=5e-4)
    plain = classes_of({"zip": ["1"] * 6, "ill": ["flu"] * 4 + ["ulcer"] * 2}, quasi=["zip", "ill"])
    assert on(SimpleLDiversity(l=4, column="ill"), tree).check(plain).reached == pytest.approx(2 / 3)


def table(rows: Any, names: tuple[str, ...]) -> Classes:
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    made = Table(frame=frame)
    return cells([made.column(name) for name in names], [], stars="*").classes


@pytest.mark.parametrize(("model", "score", "pick", "known"), MODELS)
@given(rows=ROWS)
@examples(120)
def test_it_counts_as_its_definition_does(model: Any, score: Any, pick: Any, known: tuple[str, ...], rows: Any):
    names = ("zip", "sex", "ill")
    classes = table(rows, names)
    found = on(model).check(classes)
    plain = [dict(zip(names, row, strict=True)) for row in rows]
    wanted = brute.worst(plain, known, "ill", TREE, score, pick)
    assert found.reached == pytest.approx(pick(wanted.values()), abs=1e-12)
    good = {
        "at least": lambda x: x >= found.limit - 1e-12,
        "at most": lambda x: x <= found.limit + 1e-12,
        "below": lambda x: x < found.limit,
    }[found.sense]
    bad = [place for place in range(classes.count) if not good(wanted[tuple(classes.label(place)[n] for n in known)])]
    assert found.failing.tolist() == bad
    assert found.holds == (not bad)


@pytest.mark.parametrize("model", [one[0] for one in MODELS])
@given(rows=ROWS)
@examples(40)
def test_it_agrees_with_itself(model: Any, rows: Any):
    rng = np.random.default_rng(0)
    for check in (check_verdict, check_order):
        check(on(model), table(rows, ("zip", "sex", "ill")), rng)


def at(rows: Any, area: int, level: int) -> list[tuple[str, str | None]]:
    """The table with both columns at a level; a missing value is itself below the top."""
    tops = (1 + 1, 2 + 1)
    shown = []
    for zip_code, ill in rows:
        place = "*" if area == tops[0] else (zip_code, *AREAS[zip_code])[area]
        what = "*" if level == tops[1] else None if ill is None else (ill, *TREE[ill])[level]
        shown.append((place, what))
    return shown


@pytest.mark.parametrize("model", [one[0] for one in MODELS if not getattr(one[0], "templates", ())])
@given(rows=LEAVES, fine=st.tuples(st.integers(0, 2), st.integers(0, 3)), by=st.tuples(*[st.integers(0, 3)] * 2))
@examples(200)
def test_coarser_labels_keep_what_they_are_said_to_keep(model: Any, rows: Any, fine: Any, by: Any):
    wrapped = on(model)
    assert wrapped.kept_by_merging
    coarse = (min(fine[0] + by[0], 2), min(fine[1] + by[1], 3))
    names = ("zip", "ill")
    if wrapped.check(table(at(rows, *fine), names)).holds:
        assert wrapped.check(table(at(rows, *coarse), names)).holds


def test_what_coarser_labels_can_break_does_not_claim_to_be_kept():
    """A coarser label can make a named value likelier, and can move values that stand next to each other apart."""
    named = on(about(value="asthma", limit=0.2))
    assert named.check(classes_of({"zip": ["1"], "ill": ["flu"]}, quasi=["zip", "ill"])).holds
    assert not named.check(classes_of({"zip": ["1"], "ill": ["lung"]}, quasi=["zip", "ill"])).holds
    assert not named.kept_by_merging
    near = {"a": ("ends",), "b": ("b",), "c": ("c",), "d": ("ends",)}
    ordered = TCloseness(t=0.2, column="ill", distance="emd-ordered", order=tuple(near))
    fine = classes_of({"zip": ["1", "2"], "ill": ["a", "b"]}, quasi=["zip", "ill"])
    coarse = classes_of({"zip": ["1", "2"], "ill": ["ends", "b"]}, quasi=["zip", "ill"])
    assert on(ordered, near).check(fine).holds
    assert not on(ordered, near).check(coarse).holds
    assert not on(ordered, near).kept_by_merging
    assert not on(TCloseness(t=1, column="ill", distance="kl")).kept_by_merging


def test_taking_a_class_out_can_break_the_rest_of_its_group():
    whole = classes_of({"zip": ["1", "1"], "ill": ["flu", "cut"]}, quasi=["zip", "ill"])
    model = on(SimpleLDiversity(l=2, column="ill"))
    assert model.check(whole).holds
    assert not model.check(whole.take(np.array([True, False]))).holds
    assert not model.kept_by_removal


def people(rows: list[tuple[str, str, str]]) -> Classes:
    frame = pl.DataFrame(rows, schema={"who": pl.String, "zip": pl.String, "ill": pl.String}, orient="row")
    made = Table(frame=frame)
    return cells([made.column("zip"), made.column("ill")], [], unit=made.column("who")).classes


def test_people_count_once_under_a_label_and_once_in_a_group():
    """Ann has three rows of flu, Bob one of each: two of two people have flu, whatever number of rows."""
    classes = people([("ann", "1", "flu")] * 3 + [("bob", "1", "flu"), ("bob", "1", "cut")])
    found = judge(PerPerson(model=on(SimpleLDiversity(l=2, column="ill")), apart=False), classes, "strict")
    assert (found.reached, found.holds) == (1.0, False)
    lung = people([("ann", "1", "lung")] * 3 + [("bob", "1", "skin")])
    found = judge(PerPerson(model=on(SimpleLDiversity(l=2, column="ill")), apart=True), lung, "strict")
    assert found.reached == pytest.approx(1 / 4)


def test_many_leaves_are_counted_without_overflow():
    """Numbers of leaves whose least common multiple is no 64-bit number: shares are right to twelve digits."""
    sizes = (7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61)
    tree = {f"{n}-{i}": (f"of {n}",) for n in sizes for i in range(n)}
    rows = {"zip": ["1"] * len(sizes), "ill": [f"of {n}" for n in sizes]}
    found = on(SimpleLDiversity(l=2, column="ill"), tree).check(classes_of(rows, quasi=["zip", "ill"]))
    assert found.reached == pytest.approx(1 / 7 / len(sizes), abs=1e-12)


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (LKCPrivacy(l=1, k=2, c=0.5, column="ill"), "lkc-privacy cannot be asked of 'ill'"),
        (AlphaKAnonymity(alpha=0.5, k=2, column="ill"), "distinct-l-diversity"),
        (SimpleLDiversity(l=2, column="other"), "must be about 'ill' alone"),
        (TCloseness(t=0.1, column="ill", distance="kl", reference="original"), "does not show its original"),
        (about(quasi=("ill",), value="flu", limit=0.5), "from itself"),
        (about(value="flue", limit=0.5), "no declared value"),
    ],
)
def test_what_cannot_be_asked_is_refused(model: Any, says: str):
    with pytest.raises(ParameterError, match=says):
        on(model)


def test_a_label_for_different_values_is_refused():
    with pytest.raises(ParameterError, match="'other' for different sets"):
        on(SimpleLDiversity(l=2, column="ill"), {"other": ("other",), "flu": ("other",)})


def test_a_label_that_the_tree_does_not_have_is_refused():
    classes = classes_of({"zip": ["1"], "ill": ["plague"]}, quasi=["zip", "ill"])
    with pytest.raises(DataError, match="no label 'plague'"):
        on(SimpleLDiversity(l=2, column="ill")).check(classes)
