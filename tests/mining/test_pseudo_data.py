"""PGEN and BASEGEN: every path gets its records, values follow labels, and a tree learnt from them agrees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import DataError, ParameterError
from sfumato.core.randomness import Chance
from sfumato.mining.document_json import tree_of
from sfumato.mining.experiment import uci_set
from sfumato.mining.federation import PathGenerator, pseudo_data, random_data
from sfumato.mining.leaf_privacy import TreeKAnonymity
from sfumato.mining.prediction import class_match, leaves_of, predicted
from sfumato.mining.records import read_records
from sfumato.mining.rule_document import rule_of, rules_of
from sfumato.mining.tree_learning import TreeLearner
from sfumato.mining.tree_pruning import anonymized
from sfumato.tables.datasets.synthetic_census import census
from sfumato.tables.schema import Numbers
from tests.mining.small_trees import figure_five, trees
from tests.shared_data import shared
from tests.weights import examples


@given(st.one_of(trees(), trees(counts=True)), st.integers(0, 99), st.sampled_from(["uniform", "midpoint"]))
@examples(160)
def test_every_path_gets_hit_and_miss_records(tree, seed, within):
    """Proposition 18; exact classes where counts are known, else hits exactly and misses spread within one of even."""
    found = pseudo_data(tree, chance=Chance(seed=seed), within=within)
    reached = leaves_of(tree, found)
    classes = len(tree.classes)
    counts = np.zeros((tree.nodes, classes), np.int64)
    np.add.at(counts, (reached, found.codes), 1)
    assert (counts.sum(axis=1) == tree.hit + tree.miss).all()
    if tree.counts is not None:
        assert (counts == tree.counts).all()
        return
    for leaf in tree.leaves.tolist():
        assert counts[leaf, tree.says[leaf]] == tree.hit[leaf]
        others = np.delete(counts[leaf], tree.says[leaf])
        assert np.abs(others - tree.miss[leaf] / (classes - 1)).max() < 1


@given(trees(), st.integers(1, 500), st.integers(0, 99))
@examples(120)
def test_a_requested_size_is_parted_in_proportion(tree, size, seed):
    found = pseudo_data(tree, chance=Chance(seed=seed), size=size)
    assert found.count == size
    paths = np.bincount(rule_of(rules_of(tree), found), minlength=len(tree.leaves))
    expected = (tree.hit + tree.miss)[tree.leaves] * size / tree.records
    assert np.abs(paths - expected).max() < 1


def test_values_are_drawn_evenly():
    """200,000 records; each count of a value lies within 5 standard deviations: false alarms below 1 in 10,000."""
    tree = tree_of(figure_five())
    found = pseudo_data(tree, chance=Chance(seed=1), size=200_000)
    a, b, c, d = found.columns
    far = found.take((a == 0) & (b == 3))
    for column, values in ((far.columns[2], 3), (far.columns[3].astype(np.int64) - 1, 10)):
        counts = np.bincount(column, minlength=values)
        assert np.abs(counts - far.count / values).max() < 5 * np.sqrt(far.count / values)
    low = d[(a == 0) & (b == 4) & (d < 5)]
    assert set(low.tolist()) == {1, 2, 3, 4}
    assert set(np.unique(d).tolist()) == set(range(1, 11)), "the upper end of the domain belongs to it"
    assert len(c) == 200_000


def test_intervals():
    tree = tree_of(figure_five())
    middle = pseudo_data(tree, chance=Chance(seed=1), within="midpoint")
    mine = (middle.columns[0] == 0) & (middle.columns[1] == 4)
    assert set(middle.columns[3][mine].tolist()) == {2, 7}
    document = figure_five()
    del document["attributes"][3]["grid"]
    real = pseudo_data(tree_of(document), chance=Chance(seed=1), size=5000)
    d = real.columns[3][(real.columns[0] == 0) & (real.columns[1] == 4)]
    assert len(np.unique(d)) == len(d)
    assert d.min() >= 1
    assert d.max() < 10
    exact = pseudo_data(tree_of(document), chance=Chance(seed=1), within="midpoint")
    assert set(exact.columns[3][(exact.columns[0] == 0) & (exact.columns[1] == 4)].tolist()) == {3.0, 7.5}
    document["attributes"][3]["grid"] = 100
    off = pseudo_data(tree_of(document), chance=Chance(seed=1)).columns[3]
    assert set(off[mine].tolist()) == {1.0, 7.5}, "an interval without a mark of the grid gives its middle"


def test_records_of_merged_labels():
    """An interval of a set is drawn first, then a number within it."""
    document = figure_five()
    document["nodes"] = [
        {"split": "D"},
        {"parent": 0, "edge": [[1, 2], [8, 10]], "class": "S1", "hit": 5, "miss": 0},
        {"parent": 0, "edge": [[2, 8]], "class": "S2", "hit": 5, "miss": 0},
    ]
    found = pseudo_data(tree_of(document), chance=Chance(seed=1), size=4000)
    mine = found.columns[3][found.codes == 0]
    assert set(mine.tolist()) == {1, 8, 9, 10}
    assert abs((mine == 1).mean() - 0.5) < 0.06, "2,000 coins; 5 standard deviations"


def test_random_data_covers_the_space():
    tree = tree_of(figure_five())
    found = random_data(tree, 4000, chance=Chance(seed=1))
    assert (predicted(tree, found) == found.codes).all()
    counts = np.bincount(found.columns[1], minlength=5)
    assert np.abs(counts - 800).max() < 5 * np.sqrt(800)


def test_a_seed_repeats_and_the_system_does_not():
    tree = tree_of(figure_five())
    one, two = (pseudo_data(tree, chance=Chance(seed=7)).frame() for _ in range(2))
    assert one.equals(two)
    assert not one.equals(pseudo_data(tree, chance=Chance()).frame())


def test_a_tree_learnt_from_pseudo_data_agrees_with_the_tree():
    """At least 95 % of a test set; the tree is not pruned."""
    records = read_records(census(6000, seed=3), target="income", columns=["age", "education", "marital-status", "sex"])
    train, test = records.take(slice(0, 5000)), records.take(slice(5000, None))
    tree = TreeLearner(min_leaf=25)(train)
    assert len(tree.leaves) > 10
    again = TreeLearner(min_leaf=2)(pseudo_data(tree, chance=Chance(seed=1), size=50_000))
    assert class_match(predicted(tree, test), predicted(again, test)) >= 0.95


@pytest.mark.parametrize("name", ["nursery", "car"])
def test_they_agree_on_data_of_the_paper(name):
    """Trees that are not pruned at all, and as many records as they were learnt from."""
    records = uci_set(name, shared("uci", f"{name}.data").parent)
    order = Chance(seed=1).generator().permutation(records.count)
    train, test = records.take(order[records.count // 5 :]), records.take(order[: records.count // 5])
    tree = TreeLearner(confidence=None)(train)
    again = TreeLearner(confidence=None)(pseudo_data(tree, chance=Chance(seed=1)))
    assert class_match(predicted(tree, test), predicted(again, test)) >= 0.95


def test_refusals():
    with pytest.raises(ParameterError, match="size must be at least 1"):
        PathGenerator(size=0)
    with pytest.raises(ParameterError, match="within must be one of"):
        PathGenerator(within="end")
    tree = tree_of(figure_five())
    with pytest.raises(DataError, match="too many to draw at once"):
        pseudo_data(tree, chance=Chance(seed=1), size=10**12)
    empty = anonymized(tree, TreeKAnonymity(k=1000)).tree
    assert pseudo_data(empty, chance=Chance(seed=1)).count == 0
    with pytest.raises(DataError, match="hold no records"):
        pseudo_data(empty, chance=Chance(seed=1), size=5)
    with pytest.raises(DataError, match="the tree is empty"):
        random_data(empty, 5, chance=Chance(seed=1))
    assert isinstance(tree.attributes[3].domain, Numbers)
