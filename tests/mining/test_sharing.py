"""Several sources and several trees: pooling, committees, forests, scikit-learn, tables instead of trees, measures."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import DataError, Infeasible, ParameterError
from sfumato.core.randomness import Chance
from sfumato.mining.attributes import Attribute
from sfumato.mining.diversity_experiment import diverse_data, optimal_data
from sfumato.mining.document_json import tree_of
from sfumato.mining.federation import Committee, learnt_from, pooled, pooled_pseudo_data
from sfumato.mining.leaf_privacy import TreeKAnonymity, TreeRecursiveDiversity
from sfumato.mining.prediction import (
    asked_for,
    class_match,
    classification_metric,
    leaves_of,
    path_match,
    predict,
    predicted,
    share_right,
)
from sfumato.mining.records import Records, read_records
from sfumato.mining.sklearn_trees import forest_from_sklearn, tree_from_sklearn
from sfumato.mining.tree_document import empty_tree
from sfumato.mining.tree_learning import TreeLearner
from sfumato.mining.tree_pruning import anonymized
from sfumato.mining.tree_publishing import judged_together, kept_together, meeting_leaves
from sfumato.models import RecursiveLDiversity, SimpleLDiversity
from sfumato.tables.datasets.synthetic_census import census
from sfumato.tables.schema import Categories, Numbers
from tests.mining.small_trees import figure_five, tables
from tests.weights import examples


def people(rows: int = 1500, seed: int = 1) -> Records:
    names = ["age", "education", "marital-status", "sex"]
    return read_records(census(rows, seed=seed), target="occupation", columns=names)


@given(tables(), tables())
@examples(60)
def test_pooling_keeps_every_record(one, two):
    found = pooled([one, two])
    assert found.frame().rows() == one.frame().rows() + two.frame().rows()


def test_pooled_domains_are_joined():
    one = read_records(pl.DataFrame({"w": ["a", "b"], "n": [1, 5], "s": ["x", "y"]}), target="s")
    two = read_records(pl.DataFrame({"n": [3, 9], "w": ["c", "a"], "s": ["z", "x"]}), target="s")
    found = pooled([one, two])
    assert found.attributes[0].domain == Categories(values=("a", "b", "c"))
    assert found.attributes[1].domain == Numbers(low=1, high=9, grid=1)
    assert found.classes == ("x", "y", "z")
    assert found.frame()["w"].to_list() == ["a", "b", "c", "a"]
    assert found.frame()["s"].to_list() == ["x", "y", "z", "x"]
    words = read_records(pl.DataFrame({"w": ["a", "b"], "n": ["u", "v"], "s": ["x", "y"]}), target="s")
    for parts, message in (
        ([one, words], "is a number at one source"),
        ([one, one.keep(["w"])], "no 'n'"),
        ([], "nothing to pool"),
    ):
        with pytest.raises(DataError, match=message):
            pooled(parts)


def test_a_federation_learns_from_the_trees_of_its_sources():
    """Trees pruned to (5, 2)-diversity; any classifier takes their pseudo-data; an empty tree brings nothing."""
    records = people(4000)
    train, test = records.take(slice(0, 3000)), records.take(slice(3000, None))
    sources = [train.take(slice(n, None, 3)) for n in range(3)]
    requirement = TreeRecursiveDiversity(c=5, l=2, basis="counts")
    published = [anonymized(TreeLearner()(source), requirement).tree for source in sources]
    assert all(requirement.check(tree.leaf_figures()).holds for tree in published)
    nothing = empty_tree(records.attributes, records.target, records.classes)
    data = pooled_pseudo_data([*published, nothing], chance=Chance(seed=1))
    assert data.count == sum(tree.records for tree in published) == 3000
    majority = np.bincount(test.codes).max() / test.count
    assert share_right(predicted(TreeLearner()(data), test), test) > majority
    votes = Committee(trees=(*published, nothing))
    assert share_right(votes.predicted(test), test) > majority
    bayes = pytest.importorskip("sklearn.naive_bayes").BernoulliNB()
    assert share_right(learnt_from(data, bayes).predict(test.matrix()), test) > majority
    with pytest.raises(DataError, match="at least one tree that is not empty"):
        Committee(trees=(nothing,))
    with pytest.raises(DataError, match="nothing to pool"):
        pooled_pseudo_data([nothing], chance=Chance(seed=1))


def test_a_committee_counts_votes():
    """Two of three trees say S2 where the third says S1; a tie goes to the tree with more records."""

    def says_document(first, second, hit):
        nodes = [{"split": "A"}] + [
            {"parent": 0, "edge": [v], "class": c, "hit": hit, "miss": 0} for v, c in (("a1", first), ("a2", second))
        ]
        return {**figure_five(), "nodes": nodes}

    def says(first, second, hit):
        return tree_of(says_document(first, second, hit))

    rows = pl.DataFrame({"A": ["a1", "a2"], "B": ["b1"] * 2, "C": ["c1"] * 2, "D": [1, 1]})
    three = Committee(trees=(says("S1", "S1", 900), says("S2", "S1", 3), says("S2", "S4", 3)))
    assert three.predicted(rows).tolist() == [1, 0]
    assert Committee(trees=(says("S1", "S1", 3), says("S2", "S4", 9))).predicted(rows).tolist() == [1, 3]
    names = {"name": "S", "values": ["S6", "S4", "S3", "S2", "S1"]}
    other = tree_of({**says_document("S6", "S4", 9), "target": names})
    mixed = Committee(trees=(says("S2", "S1", 3), other, other))
    assert mixed.classes == ("S1", "S2", "S3", "S4", "S5", "S6")
    assert mixed.predict(rows).tolist() == ["S6", "S4"], "classes go by their names"


@given(tables(), st.integers(1, 12))
@examples(60)
def test_trees_together_are_judged_by_the_meetings_of_their_leaves(records, k):
    """Groups of records with equal leaves, one by one; the known-bad judge looks at each tree alone."""
    one = TreeLearner(confidence=None)(records.keep(["x", "z"]))
    two = TreeLearner(confidence=None)(records.keep(["y"]))
    pairs = list(zip(leaves_of(one, records).tolist(), leaves_of(two, records).tolist(), strict=True))
    sizes = sorted(pairs.count(pair) for pair in set(pairs))
    leaves = meeting_leaves([one, two], records)
    assert sorted((leaves.hit + leaves.miss).tolist()) == sizes
    verdict = judged_together([one, two], records, TreeKAnonymity(k=k))
    assert verdict.holds == (sizes[0] >= k)
    kept = kept_together([one, two], records, TreeKAnonymity(k=k))
    assert not kept or judged_together(kept, records, TreeKAnonymity(k=k)).holds


def test_two_trees_that_are_anonymous_alone_and_not_together():
    frame = pl.DataFrame({"u": ["a", "a", "b", "b"] * 2, "v": ["c", "d", "c", "d"] * 2, "s": ["x", "y", "y", "x"] * 2})
    records = read_records(frame, target="s")
    trees = [_stump(records, place) for place in (0, 1)]
    k4 = TreeKAnonymity(k=4)
    assert all(k4.check(tree.leaf_figures()).holds for tree in trees)
    assert not judged_together(trees, records, k4).holds
    assert len(kept_together(trees, records, k4)) == 1
    with pytest.raises(ParameterError, match="at least one"):
        meeting_leaves([], records)


def _stump(records, place):
    one = records.attributes[place]
    nodes = [{"split": one.name}] + [
        {"parent": 0, "edge": [value], "class": "x", "counts": [2, 2]} for value in one.domain.values
    ]
    heads = [{"name": a.name, "values": list(a.domain.values)} for a in records.attributes]
    target = {"name": "s", "values": ["x", "y"]}
    return tree_of({"document": "sfumato-tree", "schema": 1, "target": target, "attributes": heads, "nodes": nodes})


@pytest.mark.parametrize("one_hot", [True, False])
def test_trees_of_scikit_learn(one_hot):
    """Every record and every new one goes where the estimator sends it; counts are those of the records."""
    tree = pytest.importorskip("sklearn.tree")
    records = people(1200)
    train, test = records.take(slice(0, 900)), records.take(slice(900, None))
    peer = tree.DecisionTreeClassifier(min_samples_leaf=8, random_state=0)
    peer.fit(train.matrix(one_hot=one_hot), train.codes)
    found = tree_from_sklearn(peer, train, one_hot=one_hot)
    names = np.array(records.classes)
    for some in (train, test):
        assert predict(found, some).tolist() == names[peer.predict(some.matrix(one_hot=one_hot))].tolist()
    counts = np.zeros((found.nodes, len(records.classes)), np.int64)
    np.add.at(counts, (leaves_of(found, train), train.codes), 1)
    assert (counts == found.counts).all()
    assert len(found.leaves) == peer.get_n_leaves()
    with pytest.raises(ParameterError, match="fitted DecisionTreeClassifier"):
        tree_from_sklearn(tree.DecisionTreeClassifier(), train)
    with pytest.raises(ParameterError, match="features, the records give"):
        tree_from_sklearn(peer, train, one_hot=not one_hot)


def test_forests_of_scikit_learn():
    """Counts are those of all records, although every tree saw a bootstrap sample."""
    ensemble = pytest.importorskip("sklearn.ensemble")
    records = people(800)
    forest = ensemble.RandomForestClassifier(3, max_depth=3, random_state=0).fit(records.matrix(), records.codes)
    trees = forest_from_sklearn(forest, records)
    assert [tree.records for tree in trees] == [800] * 3
    verdict = judged_together(trees, records, TreeKAnonymity(k=2))
    assert verdict.reached <= min(int((t.hit + t.miss)[t.leaves].min()) for t in trees)
    with pytest.raises(ParameterError, match="fitted ensemble"):
        forest_from_sklearn(ensemble.RandomForestClassifier(), records)


def test_numbers_without_a_grid_keep_their_thresholds():
    tree = pytest.importorskip("sklearn.tree")
    dice = np.random.Generator(np.random.PCG64(1))
    x = dice.random(300).astype(np.float32).astype(np.float64)
    frame = pl.DataFrame({"x": x, "s": np.where((x > 0.3) & (x < 0.7), "in", "out")})
    records = read_records(frame, target="s")
    peer = tree.DecisionTreeClassifier(random_state=0).fit(records.matrix(), records.codes)
    assert (predicted(tree_from_sklearn(peer, records), records) == records.codes).all()
    step = 2.0**-20
    near = pl.DataFrame({"x": [8 + step, 8 + 1.5 * step, 9] * 4, "s": ["a", "b", "b"] * 4})
    close = read_records(near, target="s")
    peer = tree.DecisionTreeClassifier(random_state=0).fit(close.matrix(), close.codes)
    with pytest.raises(DataError, match="4 records lie so near to a threshold"):
        tree_from_sklearn(peer, close)


@pytest.mark.parametrize(
    "publish",
    [
        lambda records, l: diverse_data(
            records, RecursiveLDiversity(c=5, l=l, column="occupation"), chance=Chance(seed=1)
        ),
        lambda records, l: diverse_data(records, SimpleLDiversity(l=l, column="occupation"), chance=Chance(seed=1)),
        lambda records, l: optimal_data(
            records, SimpleLDiversity(l=l, column="occupation"), chance=Chance(seed=1), seconds=0.5, max_suppressed=0.5
        ),
    ],
    ids=["LDD by Incognito", "LDD by one dimension", "OPTI"],
)
def test_tables_instead_of_trees(publish):
    """Published rows stay in the domains, keep their classes, and a tree can be learnt from them."""
    records = people(600)
    found = publish(records, 3)
    assert found.records.count + found.suppressed == 600
    assert found.records.attributes == records.attributes
    assert 0 <= found.metric <= 1
    assert found.verdict.holds
    if not found.suppressed:
        assert (found.records.codes == records.codes).all()
        pairs = zip(found.records.columns, records.columns, strict=True)
        assert any((one != other).any() for one, other in pairs)
    assert TreeLearner()(found.records).records == found.records.count
    with pytest.raises(Infeasible):
        publish(records.take(records.codes == records.codes[0]), 3)


def test_measures():
    tree = tree_of(figure_five())
    pruned = anonymized(tree, TreeRecursiveDiversity(c=3, l=3)).tree
    assert path_match(tree, tree) == 1
    assert path_match(tree, pruned) == 3 / (10 + 6 - 3)
    nothing = empty_tree(tree.attributes, tree.target, tree.classes)
    assert (path_match(nothing, nothing), path_match(tree, nothing)) == (1, 0)
    assert asked_for(pruned) == ("A", "B", "C")
    assert class_match(np.array([1, 2, 3, 4]), np.array([1, 2, 0, 4])) == 0.75
    records = read_records(pl.DataFrame({"w": list("aaabb"), "s": list("xxyyy")}), target="s")
    assert classification_metric(records) == pytest.approx(1 / 5)
    assert classification_metric(records, suppressed=5) == pytest.approx(6 / 10)
    assert share_right(np.array([0, 0, 0, 0, 0]), records) == 0.4
    with pytest.raises(ParameterError, match="no records"):
        share_right(np.zeros(0), records.take(slice(0, 0)))


def test_paths_match_whatever_the_order_of_values():
    document = figure_five()
    other = {
        **document,
        "attributes": [
            {**one, "values": one["values"][::-1]} if "values" in one else one for one in document["attributes"]
        ],
    }
    assert path_match(tree_of(document), tree_of(other)) == 1


def test_records_of_another_domain_are_refused():
    tree = tree_of(figure_five())
    strange = Attribute(name="A", domain=Categories(values=("a1",)))
    records = Records(
        attributes=(strange,),
        columns=(np.zeros(1, np.int32),),
        target="S",
        classes=("S1",),
        codes=np.zeros(1, np.int32),
    )
    with pytest.raises(ParameterError, match="no attribute 'A' with the domain of the tree"):
        predicted(tree, records)
