"""The experiments of document 004: what every point must be, on few records."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.core.errors import DataError, ParameterError
from sfumato.core.run_context import Work
from sfumato.mining.diversity_experiment import Diversity, diversity_study
from sfumato.mining.experiment import Experiment, experiment, uci_set
from sfumato.mining.leaf_privacy import TreeRecursiveDiversity, TreeSimpleDiversity
from sfumato.mining.naive_bayes import CountedBayes, conjunctive_rule, said_by_rules
from sfumato.mining.prediction import share_right
from sfumato.mining.records import Records, read_records
from sfumato.mining.sharing_experiment import Trials, dealt, sharing_study
from sfumato.tables.datasets.synthetic_census import census
from tests.shared_data import shared

FEW = Trials(folds=3, tested=2, passes=2, sources=(1, 3))


def people(rows: int = 900) -> Records:
    return read_records(census(rows, seed=2), target="income", columns=["age", "education", "marital-status", "sex"])


def test_every_record_is_tested_once_and_dealt_once():
    records = people(101)
    runs = list(Trials(folds=10, passes=1).runs(records))
    assert len(runs) == 10
    assert all(train.count + test.count == 101 for _, train, test in runs)
    assert sum(test.count for _, _, test in runs) == 101
    parts = dealt(records, 4, seed=1)
    assert sorted(part.count for part in parts) == [25, 25, 25, 26]
    ages = np.sort(np.concatenate([part.columns[0] for part in parts]))
    assert (ages == np.sort(records.columns[0])).all()
    with pytest.raises(ParameterError, match="folds must be at least 2"):
        Trials(folds=1)


def test_points_of_sharing():
    """BASIS matches itself; with one source every tree is the basis; points are averages of all runs and repeat."""
    records = people()
    points = sharing_study("census", records, FEW, learners=("tree", "bayes", "rule"), work=Work())
    assert {(p.sources, p.method, p.learner) for p in points} == {
        (n, method, learner)
        for n in (1, 3)
        for learner in ("tree", "bayes", "rule")
        for method in ("BASIS", "PGEN", "BASEGEN", "BAGGING")
        if method != "BAGGING" or learner == "tree"
    }
    for p in points:
        assert p.runs == 4
        assert 0 <= p.accuracy <= 1
        if p.method == "BASIS" or (p.sources == 1 and p.learner == "tree"):
            assert p.class_match == 1
        assert (p.path_match is None) == (p.learner != "tree" or p.method == "BAGGING")
    assert points == sharing_study("census", records, FEW, learners=("tree", "bayes", "rule"))


def test_points_of_diversity():
    records = people(400)
    few = Trials(folds=4, tested=1, passes=1, sources=(1, 2))
    asked = [Diversity(l=1), Diversity(c=20, l=2), Diversity(c=2, l=3)]
    points = diversity_study("census", records, asked, few, seconds=0.05)
    assert len(points) == 2 * 3 * 4
    for p in points:
        assert (p.accuracy is None) == (p.published == 0)
        if p.requirement == Diversity(l=1):
            assert p.published == 1
            assert p.accuracy is not None
        if p.requirement == Diversity(c=2, l=3):
            assert p.published == 0, "there are two classes"
    assert Diversity(l=2).of_trees == TreeSimpleDiversity(l=2)
    assert Diversity(c=5, l=2).of_trees == TreeRecursiveDiversity(c=5, l=2, basis="counts")


def test_naive_bayes_is_scikit_learns():
    """On categories alone, with one record added to every count."""
    bayes = pytest.importorskip("sklearn.naive_bayes")
    records = people().keep(["education", "marital-status", "sex"])
    widths = [len(one.domain.values) for one in records.attributes]
    matrix = records.matrix(one_hot=False)
    theirs = bayes.CategoricalNB(min_categories=widths).fit(matrix, records.codes).predict_joint_log_proba(matrix)
    model = CountedBayes.learnt(records)
    mine = model.prior + sum(table[column] for table, column in zip(model.tables, records.columns, strict=True))
    assert (mine - mine.max(axis=1, keepdims=True))[:, 0] == pytest.approx(
        (theirs - theirs.max(axis=1, keepdims=True))[:, 0], abs=0.02
    ), "they add no record to the classes themselves"
    with pytest.raises(DataError, match="known class"):
        CountedBayes.learnt(records.take(slice(0, 0)))


def test_a_value_that_is_not_known_tells_nothing():
    records = people()
    model = CountedBayes.learnt(records)
    blind = records.take(slice(0, 2))
    hidden = Records(
        attributes=blind.attributes,
        columns=(np.full(2, np.nan), *(np.full(2, -1, np.int32) for _ in range(3))),
        target=blind.target,
        classes=blind.classes,
        codes=blind.codes,
    )
    assert model.predicted(hidden).tolist() == [int(np.argmax(np.bincount(records.codes)))] * 2


def test_one_rule_and_a_default():
    records = people()
    rules = conjunctive_rule(records)
    assert rules.many == 2
    assert rules.conditions[1] == {}
    assert 1 <= len(rules.conditions[0]) <= 4
    assert int((rules.hit + rules.miss).sum()) == records.count
    majority = np.bincount(records.codes).max() / records.count
    assert share_right(said_by_rules(rules, records), records) >= majority
    alike = records.take(records.codes == 0)
    assert conjunctive_rule(alike).many == 1


def test_the_data_sets_of_table_1():
    shared("uci", "nursery.data")
    found = {name: uci_set(name) for name in ("adult", "nursery", "car", "cmc")}
    shape = {
        n: (r.count, sum(a.numeric for a in r.attributes), len(r.attributes), len(r.classes)) for n, r in found.items()
    }
    assert shape == {
        "adult": (45222, 6, 14, 14),
        "nursery": (12960, 0, 8, 5),
        "car": (1728, 0, 6, 4),
        "cmc": (1473, 2, 9, 3),
    }
    with pytest.raises(ParameterError, match="one of adult, nursery"):
        uci_set("train")


def test_a_set_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match=r"car\.data was not found"):
        uci_set("car", tmp_path)


def test_the_experiment_on_one_set():
    folder = shared("uci", "car.data").parent.parent
    found = experiment(sets=("car",), folder=folder)
    assert isinstance(found, Experiment)
    assert found.rows == (("car", 1728, 6, 0, 4),)
    assert {p.sources for p in found.sharing} == {1, 3, 10}
    assert not found.diversity, "figures 14 to 16 are about Adult and Nursery"
    best = {p.method: p.accuracy for p in found.sharing if p.sources == 10 and p.learner == "tree"}
    assert best["BASIS"] == max(best.values())
