"""Our C4.5: its splits against literal ones, its counts against the records, its accuracy against scikit-learn."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import DataError, Infeasible, ParameterError
from sfumato.core.randomness import Chance
from sfumato.mining.leaf_privacy import Leaves, TreeKAnonymity, TreeRecursiveDiversity, TreeSimpleDiversity
from sfumato.mining.prediction import leaves_of, predicted, share_right
from sfumato.mining.records import read_like, read_records
from sfumato.mining.rule_document import rules_of
from sfumato.mining.sklearn_trees import tree_from_sklearn
from sfumato.mining.tree_learning import (
    Level,
    TreeLearner,
    category_gains,
    learnt_tree,
    number_gains,
    pessimistic_errors,
    value_gains,
)
from sfumato.mining.tree_pruning import propagated
from sfumato.tables.schema import Categories, Numbers
from tests.brute.published_trees import best_threshold, gain
from tests.mining.small_trees import tables
from tests.shared_data import shared
from tests.weights import examples


def bits(rows):
    n = np.arange(rows + 1.0)
    return np.concatenate([[0.0], n[1:] * np.log2(n[1:])])


@given(tables(most=40), st.integers(1, 3), st.integers(1, 4))
@examples(200)
def test_gains_of_a_level_are_the_gains_of_its_nodes(records, least, many):
    """Rows are dealt to some nodes; each node's gains are those of the definition."""
    node = np.sort(np.arange(records.count) % many)
    many = int(node.max()) + 1
    kind = records.codes.astype(np.int64)
    counts = np.zeros((many, 3), np.int64)
    np.add.at(counts, (node, kind), 1)
    level = Level(counts=counts, bits=bits(records.count), least=least)
    y, z = records.columns[1].astype(np.int64), records.columns[2].astype(np.int64)
    words = category_gains(level, node, y, kind, 4)
    singles = value_gains(level, node, y, kind, 4)
    order = np.lexsort((z, node))
    numbers = number_gains(level, node[order], z[order], kind[order], penalty=False)
    for n in range(many):
        mine = node == n
        parts = [kind[mine & (y == v)].tolist() for v in range(4)]
        if sum(len(part) >= least for part in parts) >= 2:
            assert (words.gain[n], words.parted[n]) == pytest.approx(gain(parts), abs=1e-9)
        else:
            assert words.gain[n] == -np.inf
        pairs = [[kind[mine & (y == v)].tolist(), kind[mine & (y != v)].tolist()] for v in range(4)]
        wide = [gain(pair)[0] for pair in pairs if min(map(len, pair)) >= least]
        assert singles.gain[n] == pytest.approx(max(wide), abs=1e-9) if wide else singles.gain[n] == -np.inf
        if wide:
            assert gain(pairs[singles.cut[n]]) == pytest.approx((singles.gain[n], singles.parted[n]), abs=1e-9)
        best = best_threshold(z[mine].tolist(), kind[mine].tolist(), least)
        if best is None:
            assert numbers.gain[n] == -np.inf
        else:
            assert numbers.gain[n] == pytest.approx(best[0], abs=1e-9)
            halves = [kind[mine & (z <= numbers.cut[n])].tolist(), kind[mine & (z > numbers.cut[n])].tolist()]
            assert gain(halves)[0] == pytest.approx(best[0], abs=1e-9)
            assert numbers.above[n] == z[mine & (z > numbers.cut[n])].min()


@given(
    tables(), st.sampled_from(["gain-ratio", "gain"]), st.sampled_from(["each", "one"]), st.sampled_from([None, 0.25])
)
@examples(160)
def test_counts_are_those_of_the_records(records, criterion, categories, confidence):
    tree = TreeLearner(criterion=criterion, categories=categories, confidence=confidence)(records)
    counts = np.zeros((tree.nodes, 3), np.int64)
    np.add.at(counts, (leaves_of(tree, records), records.codes), 1)
    assert (counts == tree.counts).all()
    assert ((tree.hit + tree.miss)[tree.leaves] > 0).all(), "no leaf says that nobody is there"


@given(
    tables(),
    st.one_of(
        st.builds(TreeKAnonymity, k=st.integers(1, 20)),
        st.builds(
            TreeRecursiveDiversity,
            c=st.sampled_from([1.5, 3]),
            l=st.integers(1, 3),
            basis=st.sampled_from(["hits", "any", "counts"]),
        ),
        st.builds(TreeSimpleDiversity, l=st.sampled_from([1, 1.5, 2])),
    ),
    st.sampled_from(["each", "one"]),
)
@examples(160)
def test_every_node_of_a_diverse_tree_meets_the_requirement(records, requirement, categories):
    """LDM: leaves and the nodes above them; where the root fails there is no tree."""
    learner = TreeLearner(criterion="gain", categories=categories, within=requirement)
    root = TreeLearner(max_depth=0)(records)
    if not requirement.check(root.leaf_figures()).holds:
        with pytest.raises(Infeasible, match="no tree can"):
            learner(records)
        return
    tree = learner(records)
    assert requirement.check(tree.leaf_figures()).holds
    told = propagated(tree)
    assert requirement.passes(Leaves(hit=told.hit, miss=told.miss, counts=told.counts)).all()


def test_pessimistic_errors_are_quinlans():
    """The example of Quinlan's book: 6, 9 and 1 records without error, at 25 %."""
    found = pessimistic_errors(np.array([6.0, 9.0, 1.0]), np.zeros(3), 0.25)
    assert found == pytest.approx([6 * 0.206, 9 * 0.143, 0.75], abs=0.01)
    assert pessimistic_errors(np.array([16.0]), np.array([1.0]), 0.25)[0] == pytest.approx(16 * 0.157, abs=0.12)
    many = pessimistic_errors(np.full(5, 100.0), np.array([0, 0.5, 1, 50, 100]), 0.25)
    assert (np.diff(many) > 0).all()


def test_thresholds_lie_on_a_declared_grid():
    """Without a grid they are round numbers between two values."""
    frame = pl.DataFrame({"x": [1.31, 1.32, 7.77, 7.78] * 5, "s": ["a", "a", "b", "b"] * 5})
    assert rules_of(learnt_tree(read_records(frame, target="s"))).conditions[0] == {0: ((1.31, 5.0),)}
    coarse = read_records(frame, target="s", domains={"x": Numbers(low=0, high=10, grid=2.5)})
    tree = learnt_tree(coarse)
    assert tree.attributes[0].declared
    assert rules_of(tree).conditions[0] == {0: ((0.0, 5.0),)}


@pytest.mark.parametrize("grid", [None, 0.5, 1, 2.5, 3, 20])
@pytest.mark.parametrize("categories", ["each", "one"])
def test_numbers_between_the_marks_of_a_grid(grid, categories):
    """Records follow the path that counts them, also near the upper end of the domain, and in trees of scikit-learn."""
    dice = Chance(seed=3).generator()
    x = np.append(dice.integers(0, 33, 300) * 0.25, [8.0] * 30)
    kind = np.where(x >= 8, "top", np.where(dice.random(330) < x / 10, "high", "low"))
    domains = {"x": Numbers(low=0, high=8, grid=grid)}
    records = read_records(pl.DataFrame({"x": x, "s": kind}), target="s", domains=domains)
    found = [TreeLearner(categories=categories, confidence=None)(records)]
    sklearn = pytest.importorskip("sklearn.tree")
    peer = sklearn.DecisionTreeClassifier(random_state=0).fit(records.matrix(), records.codes)
    found.append(tree_from_sklearn(peer, records))
    for tree in found:
        counts = np.zeros((tree.nodes, 3), np.int64)
        np.add.at(counts, (leaves_of(tree, records), records.codes), 1)
        assert (counts == tree.counts).all()
        ends = {end for rule in rules_of(tree).conditions for span in rule.get(0, ()) for end in span} - {0.0, 8.0}
        if grid is not None:
            assert all(end % grid == 0 or end > 7.5 for end in ends), "cuts are public marks, but at the upper end"


def test_the_last_mark_of_a_domain_can_be_cut_off():
    frame = pl.DataFrame({"x": [1, 2, 3] * 6, "s": ["a", "a", "b"] * 6})
    tree = learnt_tree(read_records(frame, target="s"))
    assert predicted(tree, read_records(frame, target="s")).tolist() == [0, 0, 1] * 6


def test_records_from_frames():
    frame = pl.DataFrame({"n": ["3", "10", "4"], "w": ["u", "v", "u"], "s": ["a", "b", "a"]})
    records = read_records(frame, target="s")
    assert [one.numeric for one in records.attributes] == [True, False]
    assert records.columns[0].tolist() == [3, 10, 4]
    assert records.frame().to_dict(as_series=False) == {"n": [3, 10, 4], "w": ["u", "v", "u"], "s": ["a", "b", "a"]}
    assert records.matrix().tolist() == [[3, 1, 0], [10, 0, 1], [4, 1, 0]]
    assert records.matrix(one_hot=False).tolist() == [[3, 0], [10, 1], [4, 0]]
    assert [one.name for one in records.keep(["w"]).attributes] == ["w"]
    later = read_like(
        pl.DataFrame({"n": ["x", "5"], "w": ["z", "v"]}), attributes=records.attributes, target="s", classes=("a", "b")
    )
    assert np.isnan(later.columns[0][0])
    assert later.columns[1].tolist() == [-1, 1]
    assert later.codes.tolist() == [-1, -1]


def test_refusals_of_records():
    frame = pl.DataFrame({"n": [1, None, 3], "w": ["u", "v", "u"], "s": ["a", "b", "a"]})
    with pytest.raises(DataError, match="column 'n': 1 of 3 rows have no value"):
        read_records(frame, target="s")
    whole = frame.drop_nulls()
    for given_, fault, message in (
        ({"columns": ["w", "s"]}, ParameterError, "not the target 's'"),
        ({"domains": {"q": Numbers(low=0, high=1)}}, ParameterError, "not 'q'"),
        ({"domains": {"s": Numbers(low=0, high=1)}}, ParameterError, "must be Categories"),
        ({"domains": {"n": Numbers(low=0, high=2)}}, DataError, "1 rows lie outside the domain, 0 to 2"),
        ({"domains": {"w": Categories(values=("v",))}}, DataError, "outside the domain: 'u'"),
        ({"columns": ["x"]}, DataError, "no column 'x'"),
    ):
        with pytest.raises(fault, match=message):
            read_records(whole, target="s", **given_)
    with pytest.raises(DataError, match="no rows"):
        read_records(whole.clear(), target="s")
    dates = read_records(pl.DataFrame({"d": ["2020-01-01", "2021-01-01"], "s": ["a", "b"]}), target="s")
    assert dates.attributes[0].date
    assert dates.frame()["d"].to_list() == ["2020-01-01", "2021-01-01"]
    with pytest.raises(ParameterError, match="criterion must be one of"):
        TreeLearner(criterion="gini")
    with pytest.raises(DataError, match="max_depth must be at most 256"):
        TreeLearner(max_depth=300)
    records = read_records(whole, target="s")
    with pytest.raises(DataError, match="records with a known class"):
        TreeLearner()(read_like(whole.drop("s"), attributes=records.attributes, target="s", classes=("a", "b")))


@pytest.mark.parametrize("name", ["car", "cmc"])
def test_accuracy_is_within_a_point_of_scikit_learn(name):
    """Three folds of a UCI set; both split a category into one value and the others, for that is what theirs can do."""
    tree = pytest.importorskip("sklearn.tree")
    frame = pl.read_csv(shared("uci", f"{name}.data"), has_header=False, infer_schema_length=None)
    records = read_records(frame, target=frame.columns[-1])
    order = Chance(seed=1).generator().permutation(records.count)
    ours, theirs = [], []
    for fold in range(3):
        tested = np.isin(np.arange(records.count), order[fold::3])
        train, test = records.take(~tested), records.take(tested)
        mine = TreeLearner(categories="one", criterion="gain")(train)
        ours.append(share_right(predicted(mine, test), test))
        peer = tree.DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, ccp_alpha=1e-3, random_state=0)
        theirs.append(share_right(peer.fit(train.matrix(), train.codes).predict(test.matrix()), test))
    assert np.mean(ours) > np.mean(theirs) - 0.01, (np.mean(ours), np.mean(theirs))
