"""Hierarchy files of the McGill programs: what they say, and what is refused on which line."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.errors import HierarchyError, PlanError
from sfumato.pipeline.plan.hierarchies import builder
from sfumato.tables.hchy_files import HierarchyFile, SensitiveValue, VirtualIdentifier, braces, parse_hchy, read_hchy
from sfumato.tables.hierarchy import Hierarchy
from sfumato.tables.hierarchy_builders import Grown, Intervals
from sfumato.tables.hierarchy_files import Paths
from sfumato.tables.schema import Numbers, ObservedDomain
from tests.example_tables import column
from tests.shared_data import shared

TEXT = """\
| a comment
classes:discrete\t\t| the class
{Any Class {>50K} {<=50K}}

age:continuous
{15-95 {15-55 {15-35} {35-55}} {55-95}}
home country : Discrete:suppression
{Any {America {United-States} {Outlying-US(Guam-USVI-etc)}}
     {Trinadad&Tobago} {LIFE PARTNER } }
balance:continuous
{-10--2.5 {-10--5} {-5--2.5}}
debt:continuous
{0-2001 {ignored}}
VID: | Top
{{{100} {age} {home country}} {{5} {debt}}}
sensitive: | concepts
{{0.5 home country:United-States} {.25 home country:America}}
"""


def parsed(text: str) -> HierarchyFile:
    return parse_hchy(text, source="t.hchy")


def domain(values: list[str], *, missing: tuple[str, ...] = ()) -> ObservedDomain:
    return ObservedDomain.of(column("v", values, missing=missing))


def shown(hierarchy: Hierarchy) -> dict[str, list[str]]:
    leaves = hierarchy.levels[0].labels
    return {leaf: [lv.labels[lv.parent[code]] for lv in hierarchy.levels[1:]] for code, leaf in enumerate(leaves)}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_everything_a_file_says(end: str):
    found = parsed(TEXT.replace("\n", end))
    assert [(one.name, one.kind, one.masking) for one in found.attributes] == [
        ("classes", "discrete", None),
        ("age", "continuous", None),
        ("home country", "discrete", "suppression"),
        ("balance", "continuous", None),
        ("debt", "continuous", None),
    ]
    assert found.attribute("classes").root.label == "Any Class"
    country = found.attribute("home country").hierarchy
    assert isinstance(country, Paths)
    assert country.paths == {
        "United-States": ("America",),
        "Outlying-US(Guam-USVI-etc)": ("America",),
        "Trinadad&Tobago": (),
        "LIFE PARTNER": (),
    }
    assert found.attribute("age").hierarchy == Intervals(cuts=((35, 55), (55,)), low=15, high=95)
    assert found.attribute("balance").hierarchy == Intervals(cuts=((-5,),), low=-10, high=-2.5)
    assert found.attribute("debt").hierarchy == Grown(low=0, high=2001)
    assert found.vids == (
        VirtualIdentifier(k=100, columns=("age", "home country")),
        VirtualIdentifier(k=5, columns=("debt",)),
    )
    assert found.sensitive == (
        SensitiveValue(column="home country", value="United-States", confidence=0.5),
        SensitiveValue(column="home country", value="America", confidence=0.25),
    )


def test_nested_intervals_of_uneven_depth_are_levels_and_a_tree():
    """An interval without intervals below it stays as it is at the finer levels, and is one node of the tree."""
    made = (
        parsed(TEXT).attribute("age").hierarchy.build(domain(["15", "34", "35", "55", "94", "95", "?"], missing=("?",)))
    )
    assert shown(made) == {
        "15": ["[15-35)", "[15-55)", "*"],
        "34": ["[15-35)", "[15-55)", "*"],
        "35": ["[35-55)", "[15-55)", "*"],
        "55": ["[55-95]", "[55-95]", "*"],
        "94": ["[55-95]", "[55-95]", "*"],
        "95": ["[55-95]", "[55-95]", "*"],
        "?": ["?", "?", "*"],
    }
    assert made.declared == Numbers(low=15, high=95)
    tree = made.tree()
    assert [tree.labels[node] for node in tree.children[0]] == ["[15-55)", "[55-95]", "?"]
    assert [tree.labels[node] for node in tree.children[tree.labels.index("[55-95]")]] == ["55", "94", "95"]
    with pytest.raises(HierarchyError, match=r"'96' \(1 rows\) outside the limits 15 to 95"):
        parsed(TEXT).attribute("age").hierarchy.build(domain(["96"]))
    assert Grown(low=0, high=2001).build(domain(["1", "2"])).height == 1


def test_a_single_branch_below_the_root_is_no_level_of_its_own():
    assert parsed("a:discrete\n{Any {All {x} {y}}}").attribute("a").hierarchy.paths == {"x": (), "y": ()}
    assert parsed("a:continuous\n{0-9 {0-9 {0-4} {4-9}}}").attribute("a").hierarchy.cuts == ((4.0,),)
    assert parsed("a:continuous\n{0-9 {0-9}}").attribute("a").hierarchy == Grown(low=0, high=9)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"t.hchy holds no attribute"),
        ("| only a comment\n", r"t.hchy holds no attribute"),
        ("{Any {x}}", r"line 1: expected name:discrete, .*, not '\{Any \{x\}\}'"),
        ("a:nominal\n{Any {x}}", r"line 1: expected name:discrete, .*, not 'a:nominal'"),
        ("a:discrete\n{Any {x}}\nb:nominal\n{Any {y}}", r"line 3: expected name:discrete, .*, not 'b:nominal'"),
        ("a:discrete {Any {x}}", r"line 1: expected name:discrete"),
        ("a:discrete", r"line 1: 'a:discrete' has no tree in braces below it"),
        ("a:discrete\nb:discrete\n{Any {x}}", r"line 1: 'a:discrete' has no tree"),
        ("a:discrete\nx y\n", r"line 2: expected a tree in braces for 'a:discrete', not 'x y'"),
        ("a:discrete\n{Any {x}", r"line 2: 1 of the braces opened from here on are not closed by line 2"),
        ("a:discrete\n{Any {x}\nb:discrete\n{Any {y}}", r"line 2: 1 of the braces .* not closed by line 2"),
        ("a:discrete\n{Any {x}}}", r"line 2: '\}' follows the end of the tree"),
        ("a:discrete\n{Any {x}} {y}", r"line 2: '\{' follows the end of the tree"),
        ("a:discrete\n{Any {x} y}", r"line 2: 'y' must be in braces of its own"),
        ("a:discrete\n{Any}", r"line 2: nothing lies below 'Any'"),
        ("a:discrete\n{Any {x}\n{}}", r"line 3: a node has no name"),
        ("a:discrete\n{Any {x}\n{B {x}}}", r"line 3: the value 'x' is there twice \(first on line 2\)"),
        ("a:discrete\n{Any {x}}\na:discrete\n{Any {x}}", r"line 3: the attribute 'a' is there a second time"),
        ("a:discrete\n" + "{a" * 101 + "}" * 101, r"line 2: braces are nested deeper than 100"),
        ("a:continuous\n{Any {0-5}}", r"line 2: an interval is low-high with low below high, not 'Any'"),
        ("a:continuous\n{5-0}", r"line 2: an interval is low-high with low below high, not '5-0'"),
        ("a:continuous\n{0-9 {0-4}\n{x}}", r"line 3: an interval is low-high with low below high, not 'x'"),
        ("a:continuous\n{0-9 {0-4}\n{5-9}}", r"line 3: '5-9' must begin where the interval before it ends, at 4"),
        ("a:continuous\n{0-9 {0-4} {4-8}}", r"line 2: the intervals below '0-9' run from 0 to 8"),
        ("a:continuous\n{0-9" + "9" * 400 + "}", r"line 2: an interval is low-high"),
        ("a:discrete\n{Any {x}}\nvid:\n{100 {a}}", r"line 4: expected braces in braces, not '100'"),
        ("a:discrete\n{Any {x}}\nvid:\n{{{0} {a}}}", r"line 4: the k of a vid is a whole number above 0, not '0'"),
        ("a:discrete\n{Any {x}}\nvid:\n{{{a} {a}}}", r"line 4: the k of a vid is a whole number above 0, not 'a'"),
        ("a:discrete\n{Any {x}}\nvid:\n{{{5}}}", r"line 4: a vid is \{\{k\} \{attribute\}"),
        ("age:discrete\n{Any {x}}\nvid:\n{{{5} {aeg}}}", r"line 4: the vid names 'aeg', .*; did you mean 'age'\?"),
        ("a:discrete\n{Any {x}}\nvid:\n{{{5} {a} {a}}}", r"line 4: the vid names 'a' twice"),
        ("a:discrete\n{Any {x}}\nvid:\n{{{5} {a}}}\nvid:\n{{{5} {a}}}", r"line 5: 'vid:' is said a second time"),
        ("a:discrete\n{Any {x}}\nsensitive:\n{{2 a:x}}", r"line 4: expected \{confidence attribute:value\} .*'2 a:x'"),
        ("a:discrete\n{Any {x}}\nsensitive:\n{{a:x}}", r"line 4: expected \{confidence attribute:value\}"),
        ("a:discrete\n{Any {x}}\nsensitive:\n{{0.5 a:y}}", r"line 4: 'a:y' is no attribute:value of the file"),
    ],
)
def test_refusals_say_what_where_and_what_was_found(text: str, message: str):
    with pytest.raises(HierarchyError, match=message):
        parsed(text)


@given(st.text(alphabet="{}|: \nax05-", max_size=40))
def test_no_text_ends_in_anything_but_a_file_or_a_refusal(text: str):
    for whole in (text, f"a:discrete\n{text}", f"a:continuous\n{text}", f"a:discrete\n{{Any {{x}}}}\nvid:\n{text}"):
        try:
            assert parsed(whole).attributes
        except HierarchyError:
            continue


labels = st.text(alphabet="abc-()&*/' .0123456789", min_size=1).map(str.strip).filter(bool)


@given(st.recursive(labels, lambda below: st.tuples(labels, st.lists(below, min_size=1, max_size=4)), max_leaves=12))
def test_braces_read_what_was_written(tree: object):
    def written(node: object) -> str:
        return f"{{{node}}}" if isinstance(node, str) else f"{{{node[0]} {' '.join(map(written, node[1]))}}}"

    def read(branch: object) -> object:
        return branch.label if not branch.children else (branch.label, [read(child) for child in branch.children])

    assert read(braces([(1, written(tree))], source="t")) == tree


def test_plans_name_a_file_and_an_attribute(tmp_path: Path):
    (tmp_path / "h.hchy").write_text(TEXT)
    (tmp_path / "h.csv").write_text("a;x\n")
    where = "columns.age.hierarchy"
    assert isinstance(builder({"file": "h.hchy", "attribute": "age"}, where, tmp_path), Intervals)
    assert isinstance(builder({"file": "h.hchy", "attribute": "debt"}, where, tmp_path), Grown)
    with pytest.raises(PlanError, match=r"hierarchy\.attribute is missing; h\.hchy has 'classes', 'age'"):
        builder({"file": "h.hchy"}, where, tmp_path)
    with pytest.raises(HierarchyError, match=r"h\.hchy has no attribute 'agee'; did you mean 'age'\?"):
        builder({"file": "h.hchy", "attribute": "agee"}, where, tmp_path)
    with pytest.raises(PlanError, match=r"attribute goes with a \.hchy file, not with 'h\.csv'"):
        builder({"file": "h.csv", "attribute": "age"}, where, tmp_path)
    with pytest.raises(PlanError, match=r"attribute goes with file"):
        builder({"tree": {"a": ["x"]}, "attribute": "age"}, where, tmp_path)
    with pytest.raises(PlanError, match=r"needs one of kind"):
        builder({"attribute": "age"}, where, tmp_path)
    with pytest.raises(HierarchyError, match=r"absent\.hchy does not exist"):
        builder({"file": "absent.hchy", "attribute": "age"}, where, tmp_path)


def test_a_plan_releases_with_it(tmp_path: Path):
    (tmp_path / "h.hchy").write_text(TEXT)
    quasi = {"role": "quasi", "hierarchy": {"file": "h.hchy", "attribute": "age"}}
    plan = sf.Plan.parse({"columns": {"years": quasi}, "privacy": {"k_anonymity": 2}}, folder=tmp_path)
    shown_as = sf.release(plan, pl.DataFrame({"years": [20, 30, 40, 50, 60, 95]})).frame["years"]
    assert sorted(shown_as) == ["[15-35)"] * 2 + ["[35-55)"] * 2 + ["[55-95]"] * 2


REAL = [
    ("adult/hierarchies/fung/adultRU0.hchy", 15, 100, 5),
    ("adult/hierarchies/fung/diffgen_adult.hchy", 15, 20, 14),
    ("adult/hierarchies/fung/diffmulti_adult.hchy", 15, 20, 14),
    ("adult/hierarchies/fung/pais_adult.hchy", 15, 100, 13),
    ("fung_tds/crx.hchy", 16, 100, 9),
    ("fung_tds/german.hchy", 21, 100, 5),
    ("fung_tds/mimic.hchy", 9, None, 0),
]


@pytest.mark.parametrize(("name", "attributes", "k", "columns"), REAL)
def test_the_files_that_there_are(name: str, attributes: int, k: int | None, columns: int):
    found = read_hchy(shared(*name.split("/")))
    assert len(found.attributes) == attributes
    assert [vid.k for vid in found.vids] == ([] if k is None else [k])
    assert sum(len(vid.columns) for vid in found.vids) == columns
    for one in found.attributes:
        assert isinstance(one.hierarchy, Paths) == (one.kind != "continuous")
        if isinstance(one.hierarchy, Paths):
            assert one.hierarchy.build(domain(list(one.hierarchy.paths))).tree().labels[0] == "*"


def test_adult_in_the_form_of_the_authors():
    found = read_hchy(shared("adult", "hierarchies", "fung", "pais_adult.hchy"))
    assert [(one.column, one.value, one.confidence) for one in found.sensitive] == [
        ("martial-status", "Divorced", 0.5),
        ("martial-status", "Separated", 0.5),
    ]
    weights = found.attribute("fnlwgt").hierarchy
    assert isinstance(weights, Intervals)
    assert [len(cuts) for cuts in weights.cuts] == [10, 5]
    country = found.attribute("native-country").hierarchy
    assert country.paths["Outlying-US(Guam-USVI-etc)"] == ("USA", "North-America")
    assert country.paths["Trinadad&Tobago"] == ("Caribbean", "South-America")
