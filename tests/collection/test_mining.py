"""Mining on distributions: scikit-learn where nothing was randomized, the originals where something was."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.naive_bayes import CategoricalNB
from sklearn.tree import DecisionTreeClassifier

from sfumato.collection.baskets import Baskets
from sfumato.collection.channels import evidence, number_channel, shown_bits, shown_codes, shown_numbers
from sfumato.collection.clusters import AggregateKMeans
from sfumato.collection.decision_tree import ReconstructedTree
from sfumato.collection.joint_distribution import reconstruct_joint
from sfumato.collection.mechanisms import KeptCategory, UnaryBits
from sfumato.collection.naive_bayes import ReconstructedNaiveBayes
from sfumato.collection.region_counts import split_of, true_cells, whole_counts
from sfumato.collection.specification import number_question
from sfumato.core.errors import DataError, ParameterError
from sfumato.core.randomness import Chance
from sfumato.tables.datasets.stand_ins import QUEST_RANGES, quest

NAMES = ("salary", "age", "loan")
STEPS = {"salary": 1000, "age": "0.5", "loan": 5000}
QUESTIONS = [
    number_question(name, "uniform", low=QUEST_RANGES[name][0], high=QUEST_RANGES[name][1], step=STEPS[name], privacy=1)
    for name in NAMES
]


def shown(frame: pl.DataFrame) -> pl.DataFrame:
    made = {
        one.name: shown_numbers(one, frame[one.name].to_numpy(), Chance(seed=10 + n)) for n, one in enumerate(QUESTIONS)
    }
    return pl.DataFrame(made)


def accuracy(model: Any, test: pl.DataFrame) -> float:
    return float((model.predict(test) == test["group"].to_numpy()).mean())


def test_the_five_functions_as_they_are_written():
    """Literal Python, row by row."""

    def equity(r: dict[str, Any]) -> float:
        return 0.1 * r["hvalue"] * max(r["hyears"] - 20, 0)

    def third(r: dict[str, Any]) -> bool:
        level, salary = r["elevel"], r["salary"]
        low, usual, high = 25e3 <= salary <= 75e3, 50e3 <= salary <= 100e3, 75e3 <= salary <= 125e3
        if r["age"] < 40:
            return (level in (0, 1) and low) or (level in (2, 3) and usual)
        if r["age"] < 60:
            return (level in (1, 2, 3) and usual) or (level == 4 and high)
        return (level in (2, 3, 4) and usual) or (level == 1 and low)

    bands = lambda r: (50e3, 100e3) if r["age"] < 40 else (75e3, 125e3) if r["age"] < 60 else (25e3, 75e3)  # noqa: E731
    functions = [
        lambda r: r["age"] < 40 or r["age"] >= 60,
        lambda r: bands(r)[0] <= r["salary"] <= bands(r)[1],
        third,
        lambda r: 0.67 * (r["salary"] + r["commission"]) - 0.2 * r["loan"] - 20e3 > 0,
        lambda r: 0.67 * (r["salary"] + r["commission"]) - 0.2 * r["loan"] + 0.2 * equity(r) - 10e3 > 0,
    ]
    for number, function in enumerate(functions, 1):
        rows = quest(400, function=number, seed=number).to_dicts()
        assert [row["group"] for row in rows] == ["A" if function(row) else "B" for row in rows]
        for name, (low, high) in QUEST_RANGES.items():
            assert all(low <= row[name] <= high for row in rows)
    with pytest.raises(ParameterError):
        quest(5, function=6, seed=1)


def test_reconstruction_is_worth_it():
    """Function 2 at 100 % privacy, 20,000 people and three of the attributes; seeds are fixed."""
    train, test = quest(20_000, function=2, seed=1), quest(2_000, function=2, seed=2)
    seen, y = shown(train), train["group"].to_numpy()
    grown = {mode: ReconstructedTree(QUESTIONS, reconstruction=mode).fit(seen, y) for mode in ("none", "global")}
    found = {name: accuracy(model, test) for name, model in grown.items()}
    for mode in ("by-class", "local", "joint"):
        found[mode] = accuracy(ReconstructedTree(QUESTIONS, reconstruction=mode).fit(seen, y), test)
    found["original"] = accuracy(ReconstructedTree(QUESTIONS, reconstruction="none").fit(train, y), test)
    assert found["original"] > 0.97
    assert found["joint"] > found["original"] - 0.15
    assert found["local"] > found["none"] + 0.1
    assert found["by-class"] > found["none"] + 0.05
    assert found["joint"] > found["local"] + 0.05


def test_by_class_and_local_are_near_the_original_where_one_column_decides():
    train, test = quest(10_000, function=1, seed=1), quest(2_000, function=1, seed=2)
    seen, y = shown(train), train["group"].to_numpy()
    for mode in ("by-class", "local", "joint"):
        assert accuracy(ReconstructedTree(QUESTIONS, reconstruction=mode).fit(seen, y), test) > 0.94
    assert accuracy(ReconstructedTree(QUESTIONS, reconstruction="global").fit(seen, y), test) < 0.8
    assert accuracy(ReconstructedNaiveBayes(QUESTIONS).fit(seen, y), test) > 0.94


def test_the_first_split_is_that_of_scikit_learn():
    train = quest(3_000, function=1, seed=3)
    mine = ReconstructedTree(QUESTIONS, reconstruction="none", max_depth=1, min_leaf=1, doubts=0).fit(
        train, train["group"].to_numpy()
    )
    cells = np.array(
        [true_cells(q, c, train[q.name].to_numpy()) for q, c in zip(QUESTIONS, mine.channels_, strict=True)]
    ).T
    theirs = DecisionTreeClassifier(max_depth=1).fit(cells, train["group"].to_numpy()).tree_
    assert mine.root_.split.column == theirs.feature[0]
    edges = mine.channels_[theirs.feature[0]].edges
    assert mine.root_.split.threshold == pytest.approx(edges[int(np.ceil(theirs.threshold[0]))])


def test_a_split_takes_real_counts():
    table = np.array([[0.5, 9.5], [1.5, 8.0], [7.5, 2.5]])
    assert split_of(table, 1) == split_of(2 * table, 2)
    assert split_of(table, 1)[0] == 2  # type: ignore[index]
    assert split_of(table[:1], 1) is None


def test_naive_bayes_is_that_of_scikit_learn_on_counts():
    train = quest(2_000, function=3, seed=4)
    channels = [number_channel(one, 8) for one in QUESTIONS]
    cells = np.array([true_cells(q, c, train[q.name].to_numpy()) for q, c in zip(QUESTIONS, channels, strict=True)])
    y = (train["group"] == "B").to_numpy().astype(int)
    tables = [np.array([np.bincount(one[y == c], minlength=8) for c in (0, 1)]) for one in cells]
    mine = ReconstructedNaiveBayes(QUESTIONS).fit_counts(tables, ["A", "B"], cells=8)
    theirs = CategoricalNB(min_categories=8).fit(cells.T, y)
    assert mine.predict_proba(train) == pytest.approx(theirs.predict_proba(cells.T))
    array = train.select(NAMES).to_numpy()
    assert (mine.predict(array) == mine.predict(train)).all()


def test_naive_bayes_of_categories():
    drug = KeptCategory.within("drug", ("a", "b", "c"), epsilon=1)
    rng = Chance(seed=1).generator()
    y = rng.integers(0, 2, 8000)
    true = np.where(rng.random(8000) < 0.8, y, 2)
    seen = pl.DataFrame({"drug": [drug.values[n] for n in shown_codes(drug, true, Chance(seed=2))]})
    model = ReconstructedNaiveBayes([drug], method="inversion").fit(seen, y)
    assert model.predict(pl.DataFrame({"drug": ["a", "b"]})).tolist() == [0, 1]
    assert np.exp(model.feature_log_prob_[0][0]) == pytest.approx([0.8, 0, 0.2], abs=0.06)


@pytest.mark.parametrize(
    "model", [ReconstructedTree(QUESTIONS), ReconstructedNaiveBayes(QUESTIONS), AggregateKMeans(3)]
)
def test_the_manners_of_scikit_learn(model: Any):
    assert clone(model).get_params().keys() == model.get_params().keys()
    assert type(model)().set_params(**model.get_params()).get_params() == model.get_params()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda x, y: ReconstructedTree(QUESTIONS).fit(x.drop("age"), y), "there is no column 'age'"),
        (lambda x, y: ReconstructedTree(QUESTIONS).fit(x.to_numpy()[:, :2], y), "must have 3 columns"),
        (lambda x, y: ReconstructedTree(QUESTIONS).fit(x, y[:5]), "a label for each"),
        (lambda x, y: ReconstructedTree(QUESTIONS).fit(x, ["A"] * len(y)), "at least two classes"),
        (lambda x, y: ReconstructedNaiveBayes(QUESTIONS).fit(x + 0.123, y), "was not shown"),
    ],
)
def test_bad_tables_are_refused(make: Any, words: str):
    train = quest(200, function=1, seed=1)
    with pytest.raises(DataError, match=words):
        make(shown(train), train["group"].to_numpy())
    with pytest.raises(ParameterError):
        ReconstructedTree(()).fit(train, train["group"].to_numpy())


def test_whole_counts_add_up():
    assert whole_counts(np.array([1.0, 1.0, 1.0]), 5).sum() == 5


def test_clusters_are_those_of_scikit_learn_with_weights():
    questions = [number_question(name, "uniform", low=0, high=99, privacy="0.25") for name in "xy"]
    rng = Chance(seed=1).generator()
    centres = np.array([[20.0, 20], [70, 30], [50, 80]])
    true = np.clip(np.rint(centres[rng.integers(0, 3, 6000)] + rng.normal(0, 6, (6000, 2))), 0, 99)
    columns = [shown_numbers(q, true[:, n], Chance(seed=n + 5)) for n, q in enumerate(questions)]
    joint = reconstruct_joint([evidence(q, c, cells=25) for q, c in zip(questions, columns, strict=True)])
    mine = AggregateKMeans(3).fit(joint)
    points, weights = mine._points(joint)
    theirs = KMeans(3, n_init=8, random_state=0).fit(points, sample_weight=weights)
    assert mine.inertia_ == pytest.approx(theirs.inertia_, rel=1e-3)
    order = mine.cluster_centers_[:, 0].argsort()
    assert mine.cluster_centers_[order] == pytest.approx(centres[[0, 2, 1]], abs=4)
    assert len(set(mine.predict(centres).tolist())) == 3
    with pytest.raises(DataError, match="must have 2 columns"):
        mine.predict(np.zeros((3, 3)))


def test_supports_have_no_bias():
    """The mean over everything that three bits can show, each with its probability, is the true support: exactly."""
    question = UnaryBits.declared("basket", ("a", "b", "c"), keep="4/5", flip="1/10", kind="items")
    keep, flip = 0.8, 0.1
    for true in product([False, True], repeat=3):
        for items in (("a",), ("a", "c"), ("a", "b", "c")):
            mean = 0.0
            for bits in product([False, True], repeat=3):
                each = [
                    (keep if t else flip) if b else 1 - (keep if t else flip) for t, b in zip(true, bits, strict=True)
                ]
                mean += float(np.prod(each)) * Baskets(question, np.array([bits])).support(items).share
            assert mean == pytest.approx(float(all(true["abc".index(one)] for one in items)))


def test_rules_from_randomized_baskets():
    values = tuple("abcdefgh")
    question = UnaryBits.items("basket", values, epsilon=3)
    rng = Chance(seed=1).generator()
    true = rng.random((20_000, 8)) < 0.2
    true[:, 0] |= rng.random(20_000) < 0.4
    true[:, 1] = np.where(true[:, 0], rng.random(20_000) < 0.9, true[:, 1])
    found = Baskets(question, shown_bits(question, true, Chance(seed=2)))
    pair = found.support(("a", "b"))
    truth = float(true[:, :2].all(axis=1).mean())
    assert abs(pair.share - truth) < 5 * pair.error
    assert pair.error < 0.01
    sets = {one.items for one in found.frequent(0.3)}
    told = {(v,) for n, v in enumerate(values) if true[:, n].mean() >= 0.3} | {("a", "b")}
    assert sets == told
    best = found.rules(0.3, 0.8)[0]
    assert (best.given, best.then) == (("a",), ("b",))
    assert best.confidence == pytest.approx(true[true[:, 0], 1].mean(), abs=0.05)
    with pytest.raises(ParameterError, match="must be about items"):
        Baskets(UnaryBits.within("q", values, epsilon=1), np.zeros((1, 8), bool))
    with pytest.raises(DataError, match="there are no answers"):
        Baskets(question, [])
