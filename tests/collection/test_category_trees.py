"""Trees from randomized categories: splits against all subsets, association against Bayes' rule, and what is learnt."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from sfumato.collection.channels import evidence, shown_bits, shown_codes, shown_numbers
from sfumato.collection.decision_tree import RECONSTRUCTIONS, ReconstructedTree
from sfumato.collection.mechanisms import KeptCategory, UnaryBits
from sfumato.collection.naive_bayes import ReconstructedNaiveBayes
from sfumato.collection.reconstruction import reconstruct
from sfumato.collection.region_counts import JointCounts, associated, by_class, split_on, subset_of
from sfumato.collection.specification import number_question
from sfumato.core.errors import DataError, ParameterError
from sfumato.core.randomness import Chance
from tests.weights import examples

SMOKES = KeptCategory.warner("smokes", ("yes", "no"), truth="4/5")
JOB = KeptCategory.within("job", ("cook", "clerk", "nurse", "smith"), epsilon="2")
SITE = UnaryBits.within("site", ("north", "south", "east"), epsilon="3")
AGE = number_question("age", "uniform", low=0, high=99, privacy="0.5")
ASKED = [SMOKES, JOB, SITE, AGE]


def people(rows: int, seed: int) -> tuple[pl.DataFrame, Any]:
    """True answers and classes: cooks and smiths of the north are ill, and nurses of the east."""
    draw = Chance(seed=seed).generator()
    job, site = draw.integers(0, 4, rows), draw.choice(3, rows, p=[0.5, 0.3, 0.2])
    y = np.where((np.isin(job, [0, 3]) & (site == 0)) | ((job == 2) & (site == 2)), "ill", "well")
    frame = {
        "smokes": np.array(SMOKES.values)[draw.integers(0, 2, rows)],
        "job": np.array(JOB.values)[job],
        "site": np.array(SITE.values)[site],
        "age": draw.integers(0, 100, rows).astype(float),
    }
    return pl.DataFrame(frame), y


def shown(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    places = {q.name: np.array([q.values.index(one) for one in frame[q.name]]) for q in (SMOKES, JOB, SITE)}
    made: dict[str, Any] = {"age": shown_numbers(AGE, frame["age"].to_numpy(), Chance(seed=seed))}
    for n, q in enumerate((SMOKES, JOB)):
        made[q.name] = [q.values[one] for one in shown_codes(q, places[q.name], Chance(seed=seed + n + 1))]
    bits = shown_bits(SITE, np.eye(3, dtype=np.bool_)[places["site"]], Chance(seed=seed + 9))
    made["site"] = [SITE.write(tuple(row)) for row in bits.tolist()]
    return pl.DataFrame(made)


def gini_gain(table: Any, chosen: Any) -> float:
    """By how much the gini index falls, straight from its definition."""

    def impure(counts: Any) -> float:
        return 1 - sum((one / counts.sum()) ** 2 for one in counts) if counts.sum() else 0.0

    first, total = table[list(chosen)].sum(axis=0), table.sum(axis=0)
    parts = [(first.sum() / total.sum(), first), (1 - first.sum() / total.sum(), total - first)]
    return float(impure(total) - sum(share * impure(counts) for share, counts in parts))


TABLES = st.integers(2, 6).flatmap(
    lambda n: st.lists(st.tuples(*[st.integers(0, 9)] * 2), min_size=n, max_size=n).map(lambda t: np.array(t, float))
)


def divided(table: Any, parts: Any, least: int) -> dict[tuple[int, ...], float]:
    """What each part gains that has enough rows, and whose rest has."""
    left = {chosen: table[list(chosen)].sum() for chosen in parts}
    return {one: gini_gain(table, one) for one, rows in left.items() if min(rows, table.sum() - rows) >= least}


@examples(200)
@given(TABLES)
def test_no_division_of_categories_is_better(table: Any):
    """Against all subsets; two classes, and one row is enough in a part."""
    every = [chosen for size in range(1, len(table)) for chosen in combinations(range(len(table)), size)]
    check_best(subset_of(table, 1), table, divided(table, every, 1))


@examples(200)
@given(TABLES, st.integers(1, 6))
def test_of_the_cuts_with_enough_rows_none_is_better(table: Any, least: int):
    there = [n for n in range(len(table)) if table[n].sum()]
    order = sorted(there, key=lambda n: table[n, 0] / table[n].sum())
    check_best(subset_of(table, least), table, divided(table, [(*order[:n],) for n in range(1, len(order))], least))


def check_best(found: Any, table: Any, gains: dict[tuple[int, ...], float]) -> None:
    best = max(gains.values(), default=0.0)
    if found is None:
        assert best <= 1e-9
    else:
        assert found[1] == pytest.approx(best)
        assert gini_gain(table, found[0]) == pytest.approx(best)


def test_a_division_that_is_no_cut_is_not_found():
    """The best cut leaves one row; that of the middle category would leave two, and is not tried."""
    table = np.array([[0.0, 1], [0, 2], [1, 0]])
    assert divided(table, [(1,), (0, 2)], 2) == {(1,): 0.125, (0, 2): 0.125}
    assert subset_of(table, 2) is None


def test_three_classes_are_divided_and_empty_categories_stay_behind():
    table = np.array([[9.0, 0, 0], [0, 8, 1], [0, 1, 8], [0, 0, 0]])
    chosen, gain = subset_of(table, 1)  # type: ignore[misc]
    assert gain == pytest.approx(max(gini_gain(table, one) for n in (1, 2, 3) for one in combinations(range(4), n)))
    assert 3 not in chosen
    split = split_on(0, table, None, 1)
    assert split is not None
    assert split.first(np.array([0, 1, 2, 3])).tolist() == [n in chosen for n in range(4)]


@pytest.mark.parametrize("question", [SMOKES, JOB, SITE], ids=lambda q: q.kind)
def test_records_are_put_into_cells_by_bayes_rule(question: Any):
    """Of those that show the same, each category has its posterior share, but for rounding; lots decide who."""
    draw = Chance(seed=3).generator()
    true = draw.choice(len(question.values), 5000, p=np.arange(1, len(question.values) + 1) / _sum(question))
    if question is SITE:
        seen = evidence(question, shown_bits(question, np.eye(3, dtype=np.bool_)[true], Chance(seed=4)))
    else:
        seen = evidence(question, [question.values[n] for n in shown_codes(question, true, Chance(seed=4))])
    lots = draw.permutation(5000)
    cells = associated(seen, None, None, lots)
    shares = reconstruct(seen).shares
    for outcome in range(len(seen.channel.matrix)):
        held = np.flatnonzero(seen.codes == outcome)
        wanted = seen.channel.matrix[outcome] * shares
        got = np.bincount(cells[held], minlength=len(shares))
        assert np.abs(got - len(held) * wanted / wanted.sum()).max() < 1
        assert (np.diff(cells[held[np.argsort(lots[held])]]) >= 0).all()
    assert np.abs(np.bincount(cells) - 5000 * shares).max() < len(seen.channel.matrix)
    classes = draw.integers(0, 2, 5000)
    again = by_class(seen, np.zeros(5000), classes, 2, None, lots)
    for one in (0, 1):
        held = np.flatnonzero(classes == one)
        assert again[held].tolist() == associated(seen.take(held), None, None, lots[held]).tolist()


def _sum(question: Any) -> float:
    return len(question.values) * (len(question.values) + 1) / 2


def test_the_order_of_rows_tells_nothing():
    """Rows that are sorted by another column: cells are dealt by lot, and so do not go with their place."""
    rows = 20_000
    seen = evidence(JOB, [JOB.values[n] for n in shown_codes(JOB, np.arange(rows) % 4, Chance(seed=5))])
    cells = associated(seen, None, None, Chance(seed=6).generator().permutation(rows))
    halves = [np.bincount(part, minlength=4) / (rows / 2) for part in (cells[: rows // 2], cells[rows // 2 :])]
    assert np.abs(halves[0] - halves[1]).max() < 0.03  # 5 standard deviations


def test_the_first_split_is_that_of_scikit_learn():
    """One column with two values: their tree asks whether it is the second."""
    frame, y = people(500, 7)
    chosen = frame.filter(frame["site"] != "east").select("site")
    y = y[(frame["site"] != "east").to_numpy()]
    mine = ReconstructedTree([SITE], reconstruction="none", max_depth=1, min_leaf=1, doubts=0).fit(chosen, y)
    theirs = DecisionTreeClassifier(max_depth=1).fit((chosen["site"] == "south").to_numpy()[:, None], y)
    assert mine.root_.split.gain == pytest.approx(
        theirs.tree_.impurity[0] - (theirs.tree_.weighted_n_node_samples @ theirs.tree_.impurity
        - theirs.tree_.weighted_n_node_samples[0] * theirs.tree_.impurity[0]) / len(y)
    )  # fmt: skip


def test_what_is_learnt_from_randomized_categories():
    """Two columns together decide; seeds are fixed."""
    (train, y), (test, told) = people(20_000, 1), people(2_000, 2)
    seen, found = shown(train, 10), {}
    for mode in RECONSTRUCTIONS:
        if mode != "none":
            model = ReconstructedTree(ASKED, reconstruction=mode).fit(seen, y)
            found[mode] = float((model.predict(test) == told).mean())
            assert (model.predict(test.select([q.name for q in ASKED]).to_pandas()) == model.predict(test)).all()
    truth = ReconstructedTree(ASKED, reconstruction="none").fit(train, y)
    assert float((truth.predict(test) == told).mean()) == 1
    assert found["joint"] == 1
    assert min(found["by-class"], found["local"]) > 0.9 > found["global"]
    assert (clone(truth).fit(train, y).predict(test) == truth.predict(test)).all()


def test_joint_counts_of_a_region_of_categories():
    """Of true answers with a coin that hardly lies, counts of a region are those of the rows in it."""
    jobs = KeptCategory.generalized("job", JOB.values, keep="999999/1000000")
    frame, y = people(3000, 4)
    counts = JointCounts([jobs], [frame["job"].to_list()], (y == "well").astype(int), 2)
    table, edges = counts.within({0: frozenset({1, 2})}, 0)
    assert edges is None
    literal = [[((frame["job"] == job).to_numpy() & (y == one)).sum() for one in ("ill", "well")] for job in JOB.values]
    assert table == pytest.approx(np.array(literal) * np.array([0, 1, 1, 0])[:, None], abs=0.1)


def test_naive_bayes_takes_unary_bits():
    draw = Chance(seed=1).generator()
    y = draw.integers(0, 2, 8000)
    true = np.where(draw.random(8000) < 0.8, y, 2)
    bits = shown_bits(SITE, np.eye(3, dtype=np.bool_)[true], Chance(seed=2))
    seen = pl.DataFrame({"site": [SITE.write(tuple(row)) for row in bits.tolist()]})
    for method in ("em", "inversion"):
        model = ReconstructedNaiveBayes([SITE], method=method).fit(seen, y)
        assert np.exp(model.feature_log_prob_[0][0]) == pytest.approx([0.8, 0, 0.2], abs=0.06)
        assert model.predict(pl.DataFrame({"site": ["north", "south"]})).tolist() == [0, 1]


def test_refusals():
    frame, y = people(200, 1)
    basket = UnaryBits.items("site", ("a", "b"), epsilon=1)
    with pytest.raises(ParameterError, match="numbers, kept categories or unary bits"):
        ReconstructedTree([basket]).fit(frame, y)
    with pytest.raises(DataError, match="was not shown by it"):
        ReconstructedTree([SITE]).fit(frame, y)
    with pytest.raises(DataError, match="is none of its answers"):
        ReconstructedTree(ASKED, reconstruction="none").fit(shown(frame, 1), y)
