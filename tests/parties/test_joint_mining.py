"""Rules, naive Bayes, trees and clusters of several parties equal those of one table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import DataError, ParameterError
from sfumato.counts.frequent_itemsets import frequent_itemsets, least_rows, next_sets
from sfumato.counts.transactions import Transactions
from sfumato.mining.association_rules import association_rules
from sfumato.mining.attributes import Attribute
from sfumato.mining.naive_bayes import CountedBayes, bayes_counts
from sfumato.mining.node_rows import CountedRows, record_cuts
from sfumato.mining.records import Records
from sfumato.mining.tree_learning import TreeLearner
from sfumato.parties.mining.classifiers import joint_bayes, joint_counts, joint_tree
from sfumato.parties.mining.clusters import UNIT, joint_means, units
from sfumato.parties.mining.rules import joint_rules
from sfumato.parties.simulation import in_threads
from sfumato.parties.summed_counts import SummedNumbers, SummedSource
from sfumato.tables.schema import Categories, Numbers
from sfumato.testing.sources import Domains, check_cut_counts, check_same_counts
from tests.weights import examples

ATTRIBUTES = (
    Attribute(name="ward", domain=Categories(values=("a", "b", "c", "never"))),
    Attribute(name="age", domain=Numbers(low=0, high=9, grid=1)),
    Attribute(name="stay", domain=Numbers(low=0, high=2, grid=0.5)),
)


def records(rng, many):
    """People whose class depends on ward and age."""
    ward, age, stay = rng.integers(0, 3, many), rng.integers(0, 10, many), rng.integers(0, 5, many) / 2
    kind = ((ward == 1) ^ (age > 5) ^ (rng.random(many) < 0.1)).astype(np.int32)
    return Records(
        attributes=ATTRIBUTES,
        columns=(ward.astype(np.int32), age.astype(float), stay),
        target="ill",
        classes=("no", "yes"),
        codes=kind,
    )


def shared_out(whole, rng, parties):
    """The records at random among parties, of which some may have none."""
    owner = rng.integers(0, parties, whole.count)
    return [whole.take(np.flatnonzero(owner == one)) for one in range(parties)]


def with_sums(parts, program, each=1):
    """What the program gives at every party."""
    return in_threads([lambda talk, own=own: program(SummedNumbers(talk, each=each), own) for own in parts])


def same_tree(one, other):
    return (
        np.array_equal(one.parent, other.parent)
        and np.array_equal(one.split, other.split)
        and np.array_equal(one.counts, other.counts)
        and one.labels == other.labels
    )


@examples(40)
@given(
    seed=st.integers(0, 2**32 - 1),
    parties=st.sampled_from([3, 4]),
    many=st.sampled_from([1, 7, 60, 200]),
    categories=st.sampled_from(["each", "one"]),
)
def test_a_joint_tree_equals_the_tree_of_one_table(seed, parties, many, categories):
    rng = np.random.default_rng(seed)
    whole = records(rng, many)
    learner = TreeLearner(categories=categories, confidence=None if seed % 2 else 0.25)
    shape = {"attributes": whole.attributes, "target": whole.target, "classes": whole.classes}
    alone = learner.over(CountedRows(record_cuts(whole), **shape))
    found = with_sums(shared_out(whole, rng, parties), lambda sums, own: joint_tree(sums, own, learner))
    assert all(same_tree(one, alone) for one in found)
    central = learner(whole)
    assert np.array_equal(alone.counts, central.counts)
    assert np.array_equal(alone.parent, central.parent)


def test_counted_rows_split_as_rows_do_where_no_cut_lies_at_the_end_of_a_domain():
    whole = records(np.random.default_rng(3), 400)
    wider = (ATTRIBUTES[0], Attribute(name="age", domain=Numbers(low=0, high=20, grid=1)),
             Attribute(name="stay", domain=Numbers(low=0, high=4, grid=0.5)))  # fmt: skip
    whole = Records(attributes=wider, columns=whole.columns, target="ill", classes=whole.classes, codes=whole.codes)
    shape = {"attributes": wider, "target": "ill", "classes": whole.classes}
    assert same_tree(TreeLearner().over(CountedRows(record_cuts(whole), **shape)), TreeLearner()(whole))


@examples(40)
@given(seed=st.integers(0, 2**32 - 1), parties=st.sampled_from([3, 5]), many=st.sampled_from([1, 30]))
def test_joint_naive_bayes_equals_that_of_one_table(seed, parties, many):
    rng = np.random.default_rng(seed)
    whole = records(rng, many)
    parts = shared_out(whole, rng, parties)
    for one in with_sums(parts, joint_counts):
        assert all(np.array_equal(*pair) for pair in zip(one, bayes_counts(whole), strict=True))
    central = CountedBayes.learnt(whole)
    for one in with_sums(parts, joint_bayes):
        assert all(np.array_equal(*pair) for pair in zip(one.tables, central.tables, strict=True))


@examples(24)
@given(seed=st.integers(0, 2**32 - 1), parties=st.sampled_from([3, 4]), clusters=st.integers(1, 4))
def test_joint_clusters_equal_those_of_one_table(seed, parties, clusters):
    rng = np.random.default_rng(seed)
    domains = (Numbers(low=-5, high=5), Numbers(low=0, high=1000))
    columns = (rng.uniform(-5, 5, 40), rng.uniform(0, 1000, 40))
    points = units(columns, domains)
    asked = {"clusters": clusters, "starts": 2, "seed": seed}
    alone = joint_means(lambda own: own, points, domains, **asked)
    owner = rng.integers(0, parties, 40)
    parts = [points[owner == one] for one in range(parties)]
    for one in with_sums(parts, lambda sums, own: joint_means(sums, own, domains, **asked), each=UNIT * len(domains)):
        assert np.array_equal(one.centres, alone.centres)
        assert np.array_equal(one.sizes, alone.sizes)
        assert one.apart == alone.apart
    assert alone.sizes.sum() == 40


def test_clusters_are_found_where_they_lie():
    rng = np.random.default_rng(5)
    middles = np.array([[2.0, 2.0], [8.0, 3.0], [5.0, 9.0]])
    points = np.concatenate([rng.normal(one, 0.2, (50, 2)) for one in middles])
    domains = (Numbers(low=0, high=10), Numbers(low=0, high=10))
    found = joint_means(lambda own: own, units(tuple(points.T), domains), domains, clusters=3)
    assert sorted(found.sizes.tolist()) == [50, 50, 50]
    for one in middles:
        assert np.abs(found.centres - one).sum(axis=1).min() < 0.3
    from sklearn.cluster import KMeans

    peer = KMeans(3, n_init=5, random_state=0).fit(points / 10)
    assert found.apart == pytest.approx(peer.inertia_, rel=1e-3)


def test_clusters_that_cannot_be_are_refused():
    domains = (Numbers(low=0, high=1),)
    with pytest.raises(DataError, match="outside the declared domain"):
        units((np.array([2.0]),), domains)
    with pytest.raises(ParameterError, match="at most 1"):
        joint_means(lambda own: own, units((np.array([0.5]),), domains), domains, clusters=2)


def told(rules):
    return {(frozenset(a), frozenset(b), rows) for a, b, rows, *_ in rules.frame().rows()}


@examples(40)
@given(
    seed=st.integers(0, 2**32 - 1),
    parties=st.sampled_from([3, 4]),
    least=st.sampled_from([0.05, 0.2, 0.5]),
    longest=st.integers(1, 4),
)
def test_joint_rules_equal_those_of_one_table(seed, parties, least, longest):
    rng = np.random.default_rng(seed)
    lines = [[f"item {n}" for n in range(6) if rng.random() < 0.5] for _ in range(30)]
    owner = rng.integers(0, parties, 30)
    whole = Transactions.of(lines)
    central = association_rules(frequent_itemsets(whole, least_rows(least, 30), longest=longest), 0.6)
    dealt = [[line for line, who in zip(lines, owner, strict=True) if who == one] for one in range(parties)]
    parts = [Transactions.of(one) for one in dealt]

    def mine(sums, own):
        return joint_rules(sums, own, min_support=least, min_confidence=0.6, longest=longest)

    for one in with_sums(parts, mine):
        assert told(one) == told(central)
        assert one.itemsets.count == central.itemsets.count
        assert sorted(one.itemsets.named(items) for items, _ in one.itemsets.each()) == sorted(
            central.itemsets.named(items) for items, _ in central.itemsets.each()
        )


def test_rules_of_nobody_are_refused():
    nobody = [Transactions.of([])] * 3
    with pytest.raises(DataError, match="no party has a transaction"):
        with_sums(nobody, lambda sums, own: joint_rules(sums, own, min_support=0.1, min_confidence=0.5, longest=2))


def test_candidates_have_only_frequent_parts():
    assert next_sets([]) == []
    assert next_sets([(0,), (1,), (4,)]) == [(0, 1), (0, 4), (1, 4)]


@pytest.mark.parametrize("seed", range(4))
def test_summed_counts_are_those_of_all_records(seed):
    """The kit of the seam: histograms, refinements and totals of parties are those of the union."""
    rng = np.random.default_rng(seed)
    whole = records(rng, 60)
    domains = Domains(sizes=(4, 10, 5), figures=[("ill", (0,)), ("ill", (1,))])

    def mine(sums, own):
        check_cut_counts(SummedSource(sums, record_cuts(own)), domains, seed=seed)
        check_same_counts(SummedSource(sums, record_cuts(own)), record_cuts(whole), domains, seed=seed)

    with_sums(shared_out(whole, rng, 3), mine)
