"""Trees and rules as documents: what is written is read back, and what is no document is refused in one sentence."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import DataError, SfumatoError
from sfumato.mining.attributes import apart, meeting, union
from sfumato.mining.document_json import read_tree, tree_json, tree_of, write_tree
from sfumato.mining.leaf_privacy import TreeKAnonymity
from sfumato.mining.prediction import leaves_of, predict
from sfumato.mining.rule_document import overlapping, read_rules, rule_of, rules_of, write_rules
from sfumato.mining.tree_document import MOST_TREE_DEPTH, MOST_TREE_NODES, empty_tree
from sfumato.mining.tree_pruning import anonymized
from sfumato.reports.trees import tree_layout
from tests.mining.small_trees import figure_five, tables, trees
from tests.weights import examples


@given(st.one_of(trees(), trees(counts=True)))
@examples(120)
def test_what_is_written_is_read_back(tree):
    text = write_tree(tree)
    again = read_tree(text)
    assert write_tree(again) == text
    for name in ("parent", "split", "says", "hit", "miss"):
        assert getattr(again, name).tolist() == getattr(tree, name).tolist()
    assert again.labels == tree.labels
    assert again.attributes == tree.attributes
    rules = rules_of(tree)
    assert write_rules(read_rules(write_rules(rules))) == write_rules(rules)


def test_the_empty_tree_is_a_document_too():
    empty = anonymized(tree_of(figure_five()), TreeKAnonymity(k=1000)).tree
    again = read_tree(write_tree(empty))
    assert again.empty
    assert again.leaf_figures().hit.tolist() == []
    with pytest.raises(DataError, match="the tree is empty; it says nothing about any record"):
        leaves_of(again, pl.DataFrame({"A": ["a1"]}))


@given(trees(), tables())
@examples(120)
def test_every_record_follows_exactly_one_path(tree, records):
    """By the tree, and by the conditions of its paths one by one."""
    paths = rules_of(tree)
    reached = leaves_of(tree, records)
    assert (tree.split[reached] < 0).all()
    assert rule_of(paths, records).tolist() == np.searchsorted(tree.leaves, reached).tolist()
    assert overlapping(paths) is None


def test_unknown_values_go_where_most_records_went():
    tree = tree_of(figure_five())
    frame = pl.DataFrame(
        {"A": ["a1", "a2", "a9", "a1"], "B": ["b4", "b1", "b4", "b9"], "C": ["c1"] * 4, "D": [3, 3, 3, 99]}
    )
    assert predict(tree, frame).tolist() == ["S4", "S3", "S4", "S5"]
    beyond = pl.DataFrame({"A": ["a1"] * 3, "B": ["b5"] * 3, "C": ["c1"] * 3, "D": [-5.0, 10.0, 500.0]})
    assert predict(tree, beyond).tolist() == ["S1", "S2", "S2"]


def changed(change) -> dict[str, Any]:
    document = copy.deepcopy(figure_five())
    change(document)
    return document


def at(*path: Any, value: Any):
    """A change of one place; without a value the place goes."""

    def change(document: Any) -> None:
        for step in path[:-1]:
            document = document[step]
        if value is KeyError:
            del document[path[-1]]
        else:
            document[path[-1]] = value

    return change


BAD = {
    "another kind": (at("document", value="sfumato-rules"), "no document of the kind 'sfumato-tree'"),
    "another schema": (at("schema", value=2), "schema 2; this version reads schema 1"),
    "schema is true": (at("schema", value=True), "schema True"),
    "unknown key": (at("extra", value=1), "unknown key 'extra'"),
    "no nodes": (at("nodes", value=KeyError), "has no 'nodes'"),
    "nodes no list": (at("nodes", value={}), "nodes must be a list"),
    "node no object": (at("nodes", 3, value=7), "node 3 must be an object"),
    "unknown key of a node": (at("nodes", 3, "depth", value=7), "node 3 has the unknown key 'depth'"),
    "missing domain": (at("attributes", 1, "values", value=KeyError), "domain is missing or said twice"),
    "two domains": (at("attributes", 1, "low", value=0), "domain is missing or said twice"),
    "empty domain": (at("attributes", 1, "values", value=[]), "at least one"),
    "value twice": (at("attributes", 1, "values", 1, value="b1"), "values must be different texts"),
    "range upside down": (at("attributes", 3, "low", value=11), "high must be above low"),
    "range too large": (at("attributes", 3, "high", value=10**39 * 1.0 * 1e70), "within 1e\\+100"),
    "grid too fine": (at("attributes", 3, "grid", value=1e-30), "grid must leave at most"),
    "grid of nothing": (at("attributes", 3, "grid", value=0), "grid must be above 0"),
    "name is no text": (at("attributes", 1, "name", value=7), "must be texts"),
    "name too long": (at("attributes", 1, "name", value="x" * 1001), "must be texts of at most 1,000"),
    "attribute twice": (at("attributes", 1, "name", value="A"), "'A' stands twice"),
    "attribute is the target": (at("attributes", 1, "name", value="S"), "'S' stands twice"),
    "class twice": (at("target", "values", 1, value="S1"), "must have different values"),
    "declared is no truth": (at("attributes", 0, "declared", value=1), "declared must be true or false"),
    "root with a parent": (at("nodes", 0, "parent", value=0), "node 0 is the root"),
    "cycle": (at("nodes", 1, "parent", value=9), "node 1 names 9 as its parent; a node stands after its parent"),
    "own parent": (at("nodes", 4, "parent", value=4), "node 4 names 4 as its parent"),
    "parent is no number": (at("nodes", 4, "parent", value="1"), "node 4 names 1 as its parent"),
    "below a leaf": (at("nodes", 10, "parent", value=3), "node 10 lies below node 3, which is a leaf"),
    "no edge": (at("nodes", 4, "edge", value=KeyError), "node 4 has no 'edge'"),
    "unknown value": (at("nodes", 4, "edge", value=["b9"]), "'B' has no value 'b9'"),
    "empty edge": (at("nodes", 4, "edge", value=[]), "node 4: the label of 'B' is empty"),
    "value twice in an edge": (at("nodes", 4, "edge", value=["b2", "b2"]), "ascending, each once"),
    "overlap": (at("nodes", 4, "edge", value=["b1", "b2"]), "the edges below node 1 overlap"),
    "gap": (at("nodes", 11, "edge", value=["c2"]), "the edges below node 5 must cover"),
    "interval with three ends": (at("nodes", 12, "edge", value=[[1, 2, 5]]), "an interval has two ends, not 3"),
    "interval upside down": (at("nodes", 12, "edge", value=[[5, 1]]), "needs intervals between 1 and 10"),
    "interval beyond": (at("nodes", 12, "edge", value=[[0, 5]]), "needs intervals between 1 and 10"),
    "intervals overlap": (at("nodes", 12, "edge", value=[[1, 6]]), "the edges below node 7 overlap"),
    "intervals with a gap": (at("nodes", 12, "edge", value=[[1, 4]]), "the edges below node 7 must cover"),
    "interval of texts": (at("nodes", 12, "edge", value=[["1", "5"]]), "must be a number"),
    "interval too large": (at("nodes", 12, "edge", value=[[1, 10**400]]), "a number has 401 characters"),
    "unknown split": (at("nodes", 1, "split", value="E"), "node 1 splits by 'E', which is no attribute"),
    "split is a list": (at("nodes", 1, "split", value=[]), "which is no attribute"),
    "split and class": (at("nodes", 1, "class", value="S1"), "which has a split, has the unknown key 'class'"),
    "no class": (at("nodes", 3, "class", value=KeyError), "node 3 must name its class"),
    "unknown class": (at("nodes", 3, "class", value="S9"), "node 3 must name its class"),
    "class is a list": (at("nodes", 3, "class", value=["S1"]), "node 3 must name its class"),
    "no hit": (at("nodes", 3, "hit", value=KeyError), "node 3 has no 'hit'"),
    "negative hit": (at("nodes", 3, "hit", value=-1), "hit must be a whole number from 0"),
    "hit is no whole number": (at("nodes", 3, "hit", value=3.0), "hit must be a whole number"),
    "hit is true": (at("nodes", 3, "hit", value=True), "hit must be a whole number"),
    "huge hit": (at("nodes", 3, "hit", value=10**30), "hit must be a whole number from 0 to"),
    "huge sum": (lambda d: [at("nodes", n, "hit", value=2**53)(d) for n in (3, 4)], "counts more than"),
    "class cannot lead": (at("nodes", 3, "miss", value=13), "its class is not the most frequent one"),
    "some with counts": (
        lambda d: d["nodes"].__setitem__(3, {"parent": 1, "edge": ["b1"], "class": "S1", "counts": [3, 0, 0, 0, 0]}),
        "some leaves have counts",
    ),
    "counts and hit": (at("nodes", 3, "counts", value=[3, 0, 0, 0, 0]), "has counts and hit or miss"),
    "leaf in between": (
        at("nodes", 5, value={"parent": 1, "edge": ["b3"], "class": "S3", "hit": 5, "miss": 9}),
        "lies below node 5, which is a leaf",
    ),
    "nothing below a split": (lambda d: d["nodes"].pop() and d["nodes"].pop(), "node 9 has 0 nodes below"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_documents_are_refused(name):
    change, message = BAD[name]
    with pytest.raises(DataError, match=message):
        read_tree(json.dumps(changed(change)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not acceptable JSON"),
        ("[" * 100_000, "nested more than"),
        ('{"document": "sfumato-tree", "document": "x"}', "stands twice"),
        ('{"document": "sfumato-tree", "schema": ' + "1" * 5000 + "}", "characters"),
        ('{"document": "sfumato-tree", "schema": NaN}', "NaN is no number"),
        ("[]", "no document of the kind"),
        ("7", "no document of the kind"),
    ],
)
def test_texts_that_are_no_documents(text, message):
    for read in (read_tree, read_rules):
        with pytest.raises(DataError, match=message.replace("sfumato-tree", "sfumato")):
            read(text)


def test_counts_must_fit():
    good = [3, 0, 0, 0, 0]
    for counts, message in (
        ([3, 0], "2 counts for 5 classes"),
        ([1, 2, 0, 0, 0], "not hit 1"),
        ([2**53] * 5, "more than"),
    ):
        leaves = [{"parent": 0, "edge": [v], "class": "S1", "counts": c} for v, c in (("a1", good), ("a2", counts))]
        with pytest.raises(DataError, match=message):
            tree_of({**figure_five(), "nodes": [{"split": "A"}, *leaves]})


def test_large_documents_are_refused_before_anything_is_built():
    nodes = [{"split": "A"}] * (MOST_TREE_NODES + 1)
    with pytest.raises(DataError, match="at most 200,000 nodes"):
        tree_of({**figure_five(), "nodes": nodes})
    many = {"name": "S", "values": [str(n) for n in range(40_000)]}
    with pytest.raises(DataError, match=r"at most 200,000 nodes and 32,000,000 counts"):
        tree_of({**figure_five(), "target": many, "nodes": [{"split": "A"}] * 1_000})


def test_a_tree_may_not_be_a_long_chain():
    """Each node cuts off the lowest part of a number: more edges than are read."""
    deep = MOST_TREE_DEPTH + 2
    document = {**figure_five(), "attributes": [{"name": "D", "low": 0, "high": deep + 1}]}
    nodes: list[dict[str, Any]] = [{"split": "D"}]
    above = 0
    for low in range(deep):
        nodes.append({"parent": above, "edge": [[low, low + 1]], "class": "S1", "hit": 1, "miss": 0})
        nodes.append({"parent": above, "edge": [[low + 1, deep + 1]], "split": "D"})
        above = len(nodes) - 1
    nodes[-1] = {"parent": nodes[-1]["parent"], "edge": nodes[-1]["edge"], "class": "S1", "hit": 1, "miss": 0}
    with pytest.raises(DataError, match="edges deep; at most 256 are read"):
        tree_of({**document, "nodes": nodes})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["class", "hit", "low", "x"]), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(st.data())
@examples(400)
def test_any_change_gives_a_tree_or_one_refusal(data):
    """One place of a good document becomes any JSON: it is read as a tree, or refused with a sentence of ours."""
    document = figure_five()
    place: Any = document
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = data.draw(JSON)
    try:
        tree = read_tree(json.dumps(document))
    except SfumatoError:
        return
    assert read_tree(write_tree(tree)).nodes == tree.nodes


def rules(*some: dict[str, Any]) -> str:
    return json.dumps(
        {**{k: v for k, v in figure_five().items() if k != "nodes"}, "document": "sfumato-rules", "rules": list(some)}
    )


def test_rules_of_their_own():
    one = {"if": {"A": ["a1"], "D": [[1, 3], [5, 10]]}, "class": "S1", "hit": 3, "miss": 2}
    two = {"if": {"A": ["a2"]}, "class": "S2", "hit": 3, "miss": 2}
    found = read_rules(rules(one, two))
    assert found.texts() == ("A = a1 and D in [1-3) or [5-10]: S = S1 (3 of 5)", "A = a2: S = S2 (3 of 5)")
    assert found.leaf_figures().hit.tolist() == [3, 3]
    wide = read_rules(rules(one, {**two, "if": {}}))
    assert overlapping(wide) == (0, 1)
    with pytest.raises(DataError, match="rules 0 and 1 overlap"):
        wide.leaf_figures()
    for bad, message in (
        ({**one, "if": {"E": ["a1"]}}, "unknown key 'E'"),
        ({**one, "if": {"A": []}}, "is empty"),
        ({**one, "hit": -1}, "hit must be"),
        ({"if": {}}, "has no 'class'"),
    ):
        with pytest.raises(DataError, match=message):
            read_rules(rules(bad))


LABELS = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4)), max_size=4).map(
    lambda some: union([((float(low), float(low + width)),) for low, width in some])
)


@given(LABELS, LABELS)
@examples(200)
def test_labels_are_sets(one, other):
    def points(label):
        return {n / 2 for n in range(30) if any(low <= n / 2 < high for low, high in label)}

    assert points(union([one, other])) == points(one) | points(other)
    assert points(meeting(one, other)) == points(one) & points(other)
    assert apart([one, other]) == (not points(one) & points(other))


def test_a_tree_as_an_object():
    document = tree_json(tree_of(figure_five()))
    for one in document["attributes"]:
        assert one.pop("declared") is False
    assert document == figure_five()


@given(trees())
@examples(40)
def test_a_layout_has_no_crossing_edges(tree):
    """Leaves below a node stand together, the node over the middle of its children."""
    found = tree_layout(tree)
    assert sorted(found.across[tree.leaves].tolist()) == list(range(found.width))
    for node, below in enumerate(tree.children):
        if below:
            assert (np.diff(found.across[list(below)]) > 0).all()
            assert found.across[node] == (found.across[below[0]] + found.across[below[-1]]) / 2
    assert found.edges[0] == ""
    assert tree_layout(empty_tree(tree.attributes, tree.target, tree.classes)).width == 0
