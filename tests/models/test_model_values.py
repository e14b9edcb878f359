"""Values computed by hand, and the worked examples of the golden file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sfumato.counts.classes import Classes
from sfumato.models.composition import AllOf
from sfumato.models.confidence import ConfidenceBounding, Template
from sfumato.models.e_m_anonymity import EMAnonymity
from sfumato.models.k_anonymity import AlphaKAnonymity, KAnonymity
from sfumato.models.l_diversity import (
    DistinctLDiversity,
    EntropyLDiversity,
    RecursiveLDiversity,
    SimpleLDiversity,
)
from sfumato.models.lkc import LKCPrivacy
from sfumato.models.personalized import PersonalizedPrivacy
from sfumato.models.presence import DeltaPresence, KMap
from sfumato.models.t_closeness import (
    TCloseness,
    emd_hierarchical,
    emd_matrix,
    emd_ordered,
    kullback_leibler,
    variational,
)
from sfumato.testing.models import classes_of, pinned


def rows(names: str, *records: str, quasi: str) -> Classes:
    """A table written as lines of words."""
    columns = list(zip(*(record.split() for record in records), strict=True))
    return classes_of(dict(zip(names.split(), map(list, columns), strict=True)), quasi=quasi.split())


def one(values: list[object]) -> Classes:
    """A table with one class."""
    return classes_of({"a": ["x"] * len(values), "ill": values}, quasi=["a"])


# --- G1, G2, G3 -------------------------------------------------------------------------------------------------------


def test_g1_generalized_table_is_3_anonymous_and_not_2_diverse() -> None:
    table = rows(
        "age region disease",
        *["(20,30] Northeast HIV"] * 3,
        "(30,40] West HepatitisC",
        "(30,40] West HepatitisC",
        "(30,40] West Diabetes",
        quasi="age region",
    )
    assert KAnonymity(k=3).check(table).holds
    assert not KAnonymity(k=4).check(table).holds
    verdict = DistinctLDiversity(l=2, column="disease").check(table)
    assert (verdict.holds, verdict.reached, len(verdict.failing)) == (False, 1, 1)
    assert table.label(int(verdict.failing[0])) == {"age": "(20,30]", "region": "Northeast"}


G2 = rows(
    "job sex age bucket disease",
    "Professional Male [35-40) 1 Hepatitis",
    "Professional Male [35-40) 2 Hepatitis",
    "Professional Male [35-40) 1 HIV",
    "Writer Female [30-35) 3 Flu",
    "Writer Female [30-35) 2 HIV",
    "Dancer * 30 3 HIV",
    "Dancer * 30 3 HIV",
    quasi="job sex age",
)


def test_g2_release_is_2_anonymous_and_breaks_the_confidence_template() -> None:
    assert KAnonymity(k=2).check(G2).holds
    template = Template(column="disease", value="HIV", limit=0.5)
    verdict = ConfidenceBounding(templates=(template,)).check(G2)
    assert (verdict.holds, verdict.reached, verdict.limit) == (False, 1, 0.5)
    assert [G2.label(int(place))["job"] for place in verdict.failing] == ["Dancer"]
    assert "1 of 3 groups" in verdict.note


def test_g2_bucketization_is_2_diverse() -> None:
    diseases = ["Hepatitis", "HIV", "Hepatitis", "HIV", "Flu", "HIV", "HIV"]
    table = classes_of({"bucket": list("1122333"), "disease": diseases}, quasi=["bucket"])
    assert DistinctLDiversity(l=2, column="disease").check(table).holds


G3_RAW = rows(
    "job sex age surgery",
    "Janitor M 34 Transgender",
    "Doctor M 58 Plastic",
    "Mover M 34 Transgender",
    "Lawyer M 24 Vascular",
    "Mover M 58 Urology",
    "Janitor M 44 Plastic",
    "Doctor M 24 Urology",
    "Lawyer F 58 Plastic",
    "Doctor F 44 Vascular",
    "Carpenter F 63 Vascular",
    "Technician F 63 Plastic",
    quasi="job sex age",
)
G3 = rows(
    "job sex age surgery",
    "Non-Technical M [30,60) Transgender",
    "Professional M [30,60) Plastic",
    "Non-Technical M [30,60) Transgender",
    "Professional M [1,30) Vascular",
    "Non-Technical M [30,60) Urology",
    "Non-Technical M [30,60) Plastic",
    "Professional M [1,30) Urology",
    "Professional F [30,60) Plastic",
    "Professional F [30,60) Vascular",
    "Technical F [60,99) Vascular",
    "Technical F [60,99) Plastic",
    quasi="job sex age",
)
LKC = LKCPrivacy(l=2, k=2, c=0.5, column="surgery", values=("Transgender",))


def test_g3_published_solution_is_lkc_private_and_not_2_anonymous() -> None:
    private, anonymous = LKC.check(G3), KAnonymity(k=2).check(G3)
    assert (private.holds, private.reached, private.limit) == (True, 0.5, 0.5)
    assert (anonymous.holds, anonymous.reached) == (False, 1)
    alone = [G3.label(int(place)) for place in anonymous.failing]
    assert alone == [{"job": "Professional", "sex": "M", "age": "[30,60)"}]
    assert not replace(LKC, l=3).check(G3).holds


def test_g3_raw_table_is_attacked() -> None:
    verdict = LKC.check(G3_RAW)
    assert (verdict.holds, verdict.reached, verdict.sense) == (False, 1, "at most")
    assert verdict.failing.tolist() == list(range(11))
    known = Template(quasi=("sex", "age"), column="surgery", value="Transgender", limit=0.5)
    assert ConfidenceBounding(templates=(known,)).check(G3_RAW).reached == 1


# --- l-diversity ------------------------------------------------------------------------------------------------------


def test_entropy_by_hand() -> None:
    verdict = EntropyLDiversity(l=2.8, column="ill").check(one(["a", "a", "b", "c"]))
    assert verdict.holds
    assert verdict.reached == pytest.approx(2**1.5)
    assert EntropyLDiversity(l=3, column="ill").check(one(["a", "b", "c"])).holds


def test_entropy_of_many_equal_values_is_not_lost_to_rounding() -> None:
    table = one([f"v{i}" for i in range(4999)])
    assert EntropyLDiversity(l=4999, column="ill").check(table).holds
    assert not EntropyLDiversity(l=4999.001, column="ill").check(table).holds


def test_entropy_that_no_generalization_reaches_is_explained() -> None:
    table = classes_of({"a": list("xxyy"), "ill": ["a", "a", "b", "c"]}, quasi=["a"])
    verdict = EntropyLDiversity(l=5, column="ill").reachable(table)
    assert not verdict.holds
    assert verdict.note == "no generalization can reach entropy l = 5: the whole table has exp(H) = 2.82843"


@pytest.mark.parametrize(("l", "ratio"), [(1, 0.4), (2, 4 / 6), (3, 4 / 3), (4, 4.0), (5, np.inf), (9, np.inf)])
def test_recursive_by_hand(l: int, ratio: float) -> None:
    table = one(list("aaaabbbccd"))
    verdict = RecursiveLDiversity(c=10, l=l, column="ill").check(table)
    assert verdict.reached == ratio
    assert verdict.holds == (ratio < 10)


def test_recursive_is_strict() -> None:
    table = one(list("aaaabbbccd"))
    assert not RecursiveLDiversity(c=4, l=4, column="ill").check(table).holds
    assert RecursiveLDiversity(c=4.001, l=4, column="ill").check(table).holds
    assert not RecursiveLDiversity(c=0.4, l=1, column="ill").check(table).holds


def test_simple_and_distinct_by_hand() -> None:
    table = classes_of({"a": list("xxxyyy"), "ill": list("aab") + list("abc")}, quasi=["a"])
    simple = SimpleLDiversity(l=3, column="ill").check(table)
    assert (simple.reached, simple.failing.tolist()) == (pytest.approx(2 / 3), [0])
    assert SimpleLDiversity(l=1.5, column="ill").check(table).holds
    assert DistinctLDiversity(l=3, column="ill").check(table).failing.tolist() == [0]


def test_a_missing_value_is_a_value_of_its_own() -> None:
    assert DistinctLDiversity(l=2, column="ill").check(one(["a", None])).holds
    assert EMAnonymity(e=5, m=2, column="ill").check(one([1, None])).holds
    assert EMAnonymity(e=5, m=2, column="ill").check(one([1, None, None])).reached == pytest.approx(2 / 3)


# --- t-closeness ------------------------------------------------------------------------------------------------------

SALARY = classes_of({"a": list("xxxyyyzzz"), "pay": [3, 4, 5, 6, 8, 11, 7, 9, 10]}, quasi=["a"])


def test_salaries_of_li_et_al() -> None:
    """Li, Li, Venkatasubramanian 2007, section 5: 0.375 for {3k,4k,5k} and 0.167 for {6k,8k,11k}."""
    model = TCloseness(t=0.375, column="pay", distance="emd-ordered")
    verdict = model.check(SALARY)
    assert (verdict.holds, verdict.note) == (True, "reference: released rows")
    assert verdict.reached == pytest.approx(0.375)
    alone = [
        model.check(pinned(SALARY).take(np.arange(3) == place)) for place in range(3)
    ]  # the released reference moves
    assert [v.reached for v in alone] == [0, 0, 0]
    fixed = replace(model, reference="original")
    found = [fixed.check(pinned(SALARY).take(np.arange(3) == place)).reached for place in range(3)]
    assert found[:2] == [pytest.approx(0.375), pytest.approx(1 / 6)]
    assert fixed.check(SALARY).note == "reference: original table"


def test_order_of_texts_is_given() -> None:
    table = classes_of({"a": list("xxyy"), "ill": ["low", "mid", "mid", "high"]}, quasi=["a"])
    model = TCloseness(t=1, column="ill", distance="emd-ordered", order=("low", "mid", "high"))
    assert model.check(table).reached == pytest.approx((0.25 + 0.25) / 2)
    wider = replace(model, order=("low", "mid", "high", "never"))
    assert wider.check(table).reached == pytest.approx((0.25 + 0.25) / 3)


def test_equal_numbers_are_one_place() -> None:
    table = classes_of({"a": list("xyz"), "pay": ["1", "1.0", "3.5"]}, quasi=["a"])
    verdict = TCloseness(t=1, column="pay", distance="emd-ordered").check(table)
    assert verdict.reached == pytest.approx(2 / 3)


def test_one_value_is_no_distance() -> None:
    table = classes_of({"a": list("xy"), "pay": [1, 1]}, quasi=["a"])
    for distance in ("variational", "kl", "emd-equal", "emd-ordered"):
        assert TCloseness(t=0, column="pay", distance=distance).check(table).holds


HALVES = np.array([[1.0, 0, 0, 0], [0.5, 0, 0.5, 0], [0.25, 0.25, 0.25, 0.25]])
EVEN = np.full(4, 0.25)


def test_variational_and_kl_by_hand() -> None:
    assert variational(HALVES, EVEN).tolist() == [0.75, 0.5, 0]
    assert kullback_leibler(HALVES, EVEN).tolist() == pytest.approx([np.log(4), np.log(2), 0])
    assert kullback_leibler(HALVES[:1], np.array([0, 0.5, 0.5, 0])).tolist() == [np.inf]


def test_hierarchical_by_hand() -> None:
    """Values 0, 1 under one node, 2, 3 under another; a quarter moves for 1/2 and a half for 1."""
    levels = [np.array([0, 0, 1, 1])]
    assert emd_hierarchical(HALVES, EVEN, levels).tolist() == [0.25 / 2 + 0.5, 2 * 0.25 / 2, 0]
    assert emd_hierarchical(HALVES, EVEN, []).tolist() == variational(HALVES, EVEN).tolist()


def test_hierarchical_model_pads_short_paths() -> None:
    """Height 3; flu and cold meet at 1, both meet hiv at 2, and cut is a branch of its own: 3."""
    paths = {"flu": ("lung", "inside"), "cold": ("lung", "inside"), "hiv": ("blood", "inside"), "cut": ("skin",)}
    base = TCloseness(t=1, column="ill", distance="emd-hierarchical", paths=paths)
    for other, apart in (("cold", 1 / 3), ("hiv", 2 / 3), ("cut", 1)):
        table = classes_of({"a": list("xy"), "ill": ["flu", other]}, quasi=["a"])
        assert base.check(table).reached == pytest.approx(apart / 2)


def shares(rng: np.random.Generator, classes: int, values: int) -> np.ndarray:
    counts = (
        rng.integers(0, 4, size=(classes, values)) + np.eye(values, dtype=np.int64)[rng.integers(values, size=classes)]
    )
    return counts / counts.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("seed", range(5))
def test_matrix_agrees_with_the_closed_forms(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 8))
    found, place = shares(rng, 30, m), np.arange(m)
    reference = found.mean(axis=0)
    ordered = np.abs(place[:, None] - place) / (m - 1)
    assert emd_matrix(found, reference, 1.0 - np.eye(m)) == pytest.approx(variational(found, reference))
    assert emd_matrix(found, reference, ordered) == pytest.approx(emd_ordered(found, reference))
    nodes = [place // 2, place // 4]
    heights = np.where(np.eye(m, dtype=bool), 0, 1 + sum((n[:, None] != n).astype(int) for n in nodes)) / 3
    assert emd_matrix(found, reference, heights) == pytest.approx(emd_hierarchical(found, reference, nodes))


def test_matrix_moves_from_the_class_to_the_reference() -> None:
    """Costs need not be symmetric, nor shorter directly than by a detour."""
    costs = np.array([[0.0, 1.0, 9.0], [5.0, 0.0, 1.0], [5.0, 5.0, 0.0]])
    assert emd_matrix(np.array([[1.0, 0, 0]]), np.array([0.5, 0.0, 0.5]), costs).tolist() == [4.5]
    assert emd_matrix(np.array([[0.5, 0.5, 0]]), np.array([0.0, 0.5, 0.5]), costs).tolist() == [1.0]


# --- the others -------------------------------------------------------------------------------------------------------


def test_alpha_k_tells_sizes_only_when_only_they_fail() -> None:
    table = classes_of({"a": list("xxxy"), "ill": ["a", "b", "c", "c"]}, quasi=["a"])
    both = AlphaKAnonymity(alpha=0.5, k=2, column="ill").check(table)
    assert (both.sense, both.reached, both.failing.tolist()) == ("at most", 1, [1])
    small = AlphaKAnonymity(alpha=0.5, k=2, column="ill", values=("a",)).check(table)
    assert (small.sense, small.reached, small.limit, small.failing.tolist()) == ("at least", 1, 2, [1])
    union = AlphaKAnonymity(alpha=0.3, k=2, column="ill", values=("a",)).check(table)
    assert (union.sense, union.limit, union.failing.tolist()) == ("at most", 0.3, [0, 1])
    misspelt = AlphaKAnonymity(alpha=0.5, k=1, column="ill", values=("A",)).check(table)
    assert (misspelt.holds, misspelt.note) == (True, "column 'ill' has no value 'A'")


def test_confidence_groups_by_the_columns_of_the_template() -> None:
    table = classes_of({"a": list("xxyy"), "b": list("uvuv"), "ill": ["h", "f", "f", "f"]}, quasi=["a", "b"])
    by_a = Template(quasi=("a",), column="ill", value="h", limit=0.4)
    by_all = Template(column="ill", value="h", limit=1)
    verdict = ConfidenceBounding(templates=(by_all, by_a)).check(table)
    assert (verdict.reached, verdict.limit, verdict.failing.tolist()) == (0.5, 0.4, [0, 1])
    assert verdict.note == "<a -> ill = h, 0.4>: 1 of 2 groups above the limit"


def test_lkc_judges_all_values_when_none_is_named() -> None:
    table = classes_of({"a": list("xxyy"), "b": list("uvuv"), "ill": ["h", "f", "f", "f"]}, quasi=["a", "b"])
    assert LKCPrivacy(l=1, k=2, c=0.5, column="ill", values=("h",)).check(table).holds
    every = LKCPrivacy(l=1, k=2, c=0.5, column="ill").check(table)
    assert (every.reached, every.failing.tolist()) == (1, [1, 2, 3])
    small = LKCPrivacy(l=7, k=2, c=1, column="ill").check(table)
    assert (small.sense, small.reached, small.failing.tolist()) == ("at least", 1, [0, 1, 2, 3])


def test_lkc_checks_smaller_knowledge_where_a_value_is_unknown() -> None:
    """The group of all x gives h two rows of three; the classes x, u (2 of 2) and x, missing (0 of 1) are in it."""
    table = classes_of({"a": list("xxxyy"), "b": ["u", "u", None, "u", "u"], "ill": list("hhfff")}, quasi=["a", "b"])
    model = LKCPrivacy(l=2, k=1, c=0.5, column="ill", values=("h",))
    assert model.check(table).failing.tolist() == [0, 1]
    assert model.check(replace(table, wild=None)).failing.tolist() == [0]


def test_e_m_by_hand() -> None:
    table = one([10, 11, 12, 90])
    assert EMAnonymity(e=1, m=2, column="ill").check(table).reached == 0.75
    assert EMAnonymity(e=0.5, m=4, column="ill").check(table).holds
    relative = EMAnonymity(e=0.1, m=2, column="ill", relative=True).check(one([-100, -91, 100, 111]))
    assert relative.reached == 0.5  # -91 is within 10 of -100; 111 is not within 10 of 100, and 100 within 11.1 of 111
    decimals = EMAnonymity(e=0.1, m=2, column="ill").check(one([0.3, 0.4, 0.6, 0.7]))
    assert (decimals.reached, decimals.holds) == (0.5, True)


def test_presence_by_hand() -> None:
    population = classes_of({"a": list("xxxxyyyy")}, quasi=["a"])
    table = replace(classes_of({"a": list("xyyy")}, quasi=["a"]), population=population)
    assert DeltaPresence(low=0.25, high=0.75).check(table).holds
    over = DeltaPresence(low=0.3, high=0.7).check(table)
    assert (over.reached, over.sense, over.failing.tolist()) == (0.75, "at most", [0, 1])
    under = DeltaPresence(low=0.3, high=0.8).check(table)
    assert (under.reached, under.limit, under.sense, under.failing.tolist()) == (0.25, 0.3, "at least", [0])
    assert KMap(k=4).check(table).holds
    assert KMap(k=5).check(table).failing.tolist() == [0, 1]
    assert KMap(k=8).reachable(table).holds
    assert "8 population rows" in KMap(k=9).reachable(table).note


def test_population_outside_every_class_is_known_to_be_absent() -> None:
    wide = classes_of({"a": list("xxyz")}, quasi=["a"])
    table = wide.take(np.array([True, True, False]))
    table = replace(table, sizes=np.array([1, 1]), population=wide)
    assert DeltaPresence(low=0, high=1).check(table).holds
    verdict = DeltaPresence(low=0.1, high=1).check(table)
    assert (verdict.holds, verdict.reached, verdict.failing.tolist()) == (False, 0, [0, 1])
    assert verdict.note == "1 population rows fall into no class"


def test_personalized_by_hand() -> None:
    paths = {"flu": ("lung", "ill"), "cough": ("lung", "ill"), "hiv": ("blood", "ill"), "none": ()}
    table = classes_of(
        {
            "a": list("xxxxyyy"),
            "ill": ["flu", "cough", "hiv", "none", "hiv", "none", "none"],
            "wish": ["lung", "", "ill", None, "hiv", "*", ""],
        },
        quasi=["a"],
    )
    verdict = PersonalizedPrivacy(p=0.5, column="ill", paths=paths, guard_column="wish").check(table)
    assert (verdict.reached, verdict.failing.tolist()) == (0.75, [0])
    by_value = PersonalizedPrivacy(p=0.4, column="ill", paths=paths, guards={"flu": "lung", "none": "*"})
    assert (by_value.check(table).reached, by_value.check(table).failing.tolist()) == (0.5, [0])
    nobody = PersonalizedPrivacy(p=0.1, column="ill", paths=paths, guards={"plague": "lung"})
    assert (nobody.check(table).holds, nobody.check(table).reached) == (True, 0)


def test_all_of_tells_the_first_failure_and_all_failing_classes() -> None:
    table = classes_of({"a": list("xyyzz"), "ill": ["a", "b", "b", "a", "b"]}, quasi=["a"])
    model = AllOf(models=(KAnonymity(k=1), KAnonymity(k=2), DistinctLDiversity(l=2, column="ill")))
    verdict = model.check(table)
    assert (verdict.reached, verdict.limit, verdict.failing.tolist()) == (1, 2, [0, 1])
    assert (verdict.note, model.columns) == ("k-anonymity", ("ill",))
    fine = AllOf(models=(KAnonymity(k=1), DistinctLDiversity(l=1, column="ill"))).check(table)
    assert (fine.holds, fine.note) == (True, "distinct-l-diversity")
    asked = AllOf(models=(KAnonymity(k=2), DistinctLDiversity(l=3, column="ill"))).reachable(table)
    assert asked.note.endswith(
        "no generalization can reach distinct l = 3: the whole table has 2 different values of 'ill'"
    )
