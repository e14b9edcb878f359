"""Channels of trees and rules: small numbers that several documents tell together, and the commands."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import DataError, ParameterError
from sfumato.mining.attributes import Attribute
from sfumato.mining.channels.documents import box_meeting, box_rest, told_groups
from sfumato.mining.document_json import write_tree
from sfumato.mining.rule_document import RuleDocument, write_rules
from sfumato.mining.tree_document import TreeDocument
from sfumato.pipeline.rules import channels
from sfumato.tables.schema import Categories, Numbers
from tests.weights import examples

SEX = Attribute(name="sex", domain=Categories(values=("f", "m")))
AGE = Attribute(name="age", domain=Numbers(low=0, high=100))
BOTH = (SEX, AGE)


def by(place: int, labels: tuple, counts: list[list[int]]) -> TreeDocument:
    """A tree that asks one question."""
    told = np.array([[0, 0], *counts])
    says = np.array([-1, *told[1:].argmax(axis=1)])
    hit = np.array([0, *told[1:].max(axis=1)])
    return TreeDocument(
        attributes=BOTH,
        target="ill",
        classes=("no", "yes"),
        parent=np.array([-1, *[0] * len(counts)]),
        split=np.array([place, *[-1] * len(counts)]),
        labels=((), *labels),
        says=says,
        hit=hit,
        miss=told.sum(axis=1) - hit,
        counts=told,
    )


def ruled(*rules: tuple[dict, int]) -> RuleDocument:
    many = np.array([one for _, one in rules])
    return RuleDocument(
        attributes=BOTH,
        target="ill",
        classes=("no", "yes"),
        conditions=tuple(one for one, _ in rules),
        says=np.zeros(len(rules), np.int64),
        hit=many,
        miss=np.zeros(len(rules), np.int64),
    )


YOUNG, OLD = ((0.0, 40.0),), ((40.0, 100.0),)


def test_one_tree_tells_its_leaves():
    tree = by(1, (YOUNG, OLD), [[3, 0], [40, 2]])
    assert [(one.group, one.people) for one in told_groups([tree], 5)] == [("age in [0-40)", 3)]
    found = told_groups([tree.without_counts()], 5, classes=True)
    assert [one.people for one in found] == [3, 3, 2]
    assert [one.group for one in told_groups([tree], 5, classes=True)][-1] == "age in [40-100], ill = yes"


def test_two_trees_tell_a_meeting():
    """All 30 old people are women: 32 women less these are two who are young."""
    young = by(1, (YOUNG, OLD), [[20, 0], [30, 0]])
    women = by(0, ((0,), (1,)), [[32, 0], [18, 0]])
    assert told_groups([young, women], 5) == []  # the meetings can be anything
    nearly = by(0, ((0,), (1,)), [[50, 0], [0, 0]])
    assert told_groups([young, nearly], 25)[0].people == 20
    ill = by(1, (YOUNG, OLD), [[20, 0], [25, 5]])
    one_ill = by(0, ((0,), (1,)), [[32, 5], [13, 0]])
    assert [(one.group, one.people) for one in told_groups([ill, one_ill], 6, classes=True)] == [
        ("everybody, ill = yes", 5),
        ("age in [40-100], ill = yes", 5),
        ("sex = f, ill = yes", 5),
        ("age in [40-100]; sex = f, ill = yes", 5),
    ]


def test_rules_that_overlap_are_subtracted():
    apart = ruled(({0: (0,)}, 30), ({0: (1,)}, 4))
    assert [one.people for one in told_groups([apart], 5)] == [4]
    around = ruled(({0: (0,)}, 30), ({0: (0,), 1: YOUNG}, 28))
    assert [(one.group, one.people) for one in told_groups([around], 5)] == [
        ("sex = f; not (sex = f and age in [0-40))", 2)
    ]
    crossing = ruled(({0: (0,)}, 30), ({1: YOUNG}, 28))
    assert told_groups([crossing], 5) == []


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=5),
    st.integers(2, 5),
    st.booleans(),
)
@examples(60, deadline=None)
def test_meetings_of_trees_are_those_of_the_definition(people, k, counted):
    """Two trees against every table of counts by sex, age group and class that agrees with their leaves."""
    cells = np.zeros((2, 3, 2), int)
    for one in people:
        cells[one] += 1
    cuts = (((0.0, 20.0),), ((20.0, 60.0),), ((60.0, 100.0),))
    trees = [by(0, ((0,), (1,)), cells.sum(axis=1).tolist()), by(1, cuts, cells.sum(axis=0).tolist())]
    if not counted:
        trees = [one.without_counts() for one in trees]
    agree = [one for one in _tables(len(people)) if _tells(one, trees) == _tells(cells, trees)]
    expected = {}
    for rows, columns in product([(0,), (1,), (0, 1)], [(0,), (1,), (2,), (0, 1, 2)]):
        sizes = {int(one[np.ix_(rows, columns)].sum()) for one in agree}
        if len(sizes) == 1 and 0 < min(sizes) < k:
            key = tuple(sorted(product(rows, columns)))
            expected[key] = min(sizes)
    assert sorted(one.people for one in told_groups(trees, k)) == sorted(expected.values())


def _tables(many: int) -> list[np.ndarray]:
    if many == 0:
        return [np.zeros((2, 3, 2), int)]
    found = {}
    for table in _tables(many - 1):
        for cell in product(range(2), range(3), range(2)):
            one = table.copy()
            one[cell] += 1
            found[one.tobytes()] = one
    return list(found.values())


def _tells(cells: np.ndarray, trees: list[TreeDocument]) -> list:
    """What the leaves of the two trees say of a table."""
    told = []
    for tree, counts in zip(trees, (cells.sum(axis=1), cells.sum(axis=0)), strict=True):
        if tree.counts is not None:
            told.append(counts.tolist())
        else:
            told += [(one[tree.says[leaf + 1]], one.sum()) for leaf, one in enumerate(counts)]
    return told


def test_boxes_are_cut_apart():
    known = {"sex": SEX, "age": Attribute(name="age", domain=Numbers(low=0, high=10, grid=1))}
    box, other = {"age": ((0.0, 5.0),)}, {"sex": (0,), "age": ((1.0, 2.0),)}
    assert box_meeting(box, other, known) == {"age": ((1.0, 2.0),), "sex": (0,)}
    assert box_rest(box, other, known) == [
        {"age": ((0.0, 5.0),), "sex": (1,)},
        {"sex": (0,), "age": ((0.0, 1.0), (2.0, 5.0))},
    ]
    assert box_meeting(box, {"age": ((4.2, 4.8),)}, known) is None  # no mark of the grid lies there
    assert box_rest(box, {"age": ((6.0, 7.0),)}, known) == [box]


def test_documents_that_do_not_fit_together_are_refused(tmp_path: Path):
    with pytest.raises(DataError, match="no records agree with all published counts"):
        told_groups([by(1, (YOUNG, OLD), [[9, 0], [9, 0]]), by(0, ((0,), (1,)), [[9, 0], [8, 0]])], 3)
    other = RuleDocument(
        attributes=(Attribute(name="sex", domain=Categories(values=("f", "m", "x"))),),
        target="ill", classes=("no", "yes"), conditions=({0: (0,)},), says=np.zeros(1, np.int64),
        hit=np.array([5]), miss=np.array([0]),
    )  # fmt: skip
    with pytest.raises(DataError, match="'sex' different domains"):
        told_groups([ruled(({0: (0,)}, 9)), other], 3)
    place = tmp_path / "tree.json"
    place.write_text(write_tree(by(1, (YOUNG, OLD), [[3, 0], [40, 2]])), "utf-8")
    with pytest.raises(ParameterError, match="k is missing"):
        channels([place])
    with pytest.raises(ParameterError, match="no document was named"):
        channels([])


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"document": "x"}, "is no document of patterns, of a tree or of rules"),
        ({"schema": 2}, "schema 2"),
        ({"records": -1}, "records must be a whole number"),
        ({"sets": [{"items": ["b", "a"], "rows": 1}]}, "each once and in order"),
        ({"sets": [{"items": [], "rows": 1}]}, "must have items"),
        ({"sets": [{"items": ["a"], "rows": 10}]}, "more records than there are"),
        ({"sets": [{"items": ["a"], "rows": 4}, {"items": ["a", "b"], "rows": 5}]}, "no records can have"),
        ({"sets": [{"items": [str(n).zfill(2) for n in range(13)], "rows": 1}]}, "13 items"),
        ({"more": 1}, "unknown key 'more'"),
    ],
)
def test_documents_of_patterns_that_are_none_are_refused(tmp_path: Path, changed, said):
    whole = {"document": "sfumato-patterns", "schema": 1, "records": 9, "k": 2, "withheld": 0, "added": 0, "sets": []}
    (tmp_path / "p.json").write_text(json.dumps({**whole, **changed}), "utf-8")
    with pytest.raises(DataError) as error:
        channels([tmp_path / "p.json"])
    assert said in str(error.value)


def test_patterns_and_trees_are_not_put_together(tmp_path: Path):
    whole = {"document": "sfumato-patterns", "schema": 1, "records": 9, "k": 2, "withheld": 0, "added": 0, "sets": []}
    (tmp_path / "p.json").write_text(json.dumps(whole), "utf-8")
    (tmp_path / "r.json").write_text(write_rules(ruled(({0: (0,)}, 9))), "utf-8")
    with pytest.raises(DataError, match="not decided: look at each kind alone"):
        channels([tmp_path / "p.json", tmp_path / "r.json"])
    assert channels([tmp_path / "r.json"], 3).many == 0
