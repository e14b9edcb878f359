"""The parts of noisy marginals: labels, groups, shrinking, raking, the model and the rows that are drawn from it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.algorithms.marginals import Marginals
from sfumato.algorithms.marginals.levels import binned, gathered, levels_of, nearest, raked, shrunk
from sfumato.algorithms.marginals.tree_model import ClassTable, Core, Edge, apportioned, fitted
from tests.algorithms.test_marginals import number_of, table_of, tree_of, without_noise
from tests.weights import examples


def test_labels_are_a_level_or_intervals_of_the_declared_domain():
    assert binned(0, tree_of("t"), 64).cut.labels == ("a1", "a2", "b1", "c1", "c2")
    assert binned(0, tree_of("t"), 4).cut.labels == ("A", "B", "C")
    assert binned(0, tree_of("t"), 2).cut.labels == ("AB", "CC")
    assert binned(0, tree_of("f", {"u": (), "v": (), "w": ()}), 2).size == 3
    assert binned(2, number_of("x"), 64).size == 41
    assert binned(2, number_of("x"), 8).cut.labels[:3] == ("[0-1)", "[1-3)", "[3-7)")
    assert binned(2, number_of("x"), 4).cut.of_code.tolist() == sorted(binned(2, number_of("x"), 4).cut.of_code)
    assert binned(0, tree_of("t", {"only": ()}), 9).size == 1
    assert binned(0, number_of("x", 3, 3, 1), 9).cut.labels == ("*",)


@examples(100)
@given(st.integers(1, 3000), st.sampled_from([2, 3, 8, 32, 64]))
def test_no_number_has_more_labels_than_asked(cells, most):
    cut = binned(0, number_of("x", 0, cells - 1 if cells > 1 else 0.5, 1), most).cut
    assert len(cut.labels) <= most
    assert len(np.unique(cut.of_code)) == len(cut.labels)
    assert (np.diff(cut.of_code) >= 0).all()


@examples(100)
@given(st.lists(st.floats(0, 100), min_size=5, max_size=5), st.floats(0, 300), st.sampled_from(["t", "x"]))
def test_groups_have_enough_rows_unless_all_together_have_too_few(counts, least, name):
    """Every group but one of what remains has the least; groups of numbers are intervals, groups of a tree siblings."""
    bins = binned(0, tree_of("t"), 64) if name == "t" else binned(0, number_of("x", 0, 4, 1), 64)
    group = gathered(bins, np.array(counts), least)
    sums = np.bincount(group, weights=counts)
    assert sorted(set(group.tolist())) == list(range(len(sums)))
    assert (sums < least - 1e-9).sum() <= 1
    assert name == "t" or (np.diff(group) >= 0).all()


def test_few_rows_are_gathered_with_their_siblings_first():
    bins = binned(0, tree_of("t"), 64)
    group = gathered(bins, np.array([3.0, 4.0, 50.0, 60.0, 2.0]), 5.0)
    assert group[0] == group[1]
    assert len({group[0], group[2], group[3]}) == 3


@settings(deadline=None)
@given(st.lists(st.floats(0, 500), min_size=41, max_size=41), st.floats(0, 50), st.floats(0, 500))
def test_coarse_groups_are_made_of_fine_ones(counts, fine, coarse):
    made = levels_of(binned(0, number_of("x"), 64), np.array(counts), 1.0, sum(counts), fine=fine, coarse=coarse)
    for group in range(made.fine.size):
        assert len(set(made.coarse.of_label[made.fine.of_label == group].tolist())) == 1
    assert made.coarse.summed(made.rows).sum() == pytest.approx(sum(counts))


@settings(deadline=None)
@given(st.integers(0, 10**6), st.floats(0.1, 100))
def test_shrinking_stays_between_the_plain_model_and_what_was_counted(seed, deviation):
    dice = np.random.default_rng(seed)
    plain = dice.uniform(1, 100, (4, 3))
    noisy = plain * dice.uniform(0, 3, (4, 3)) + dice.normal(0, deviation, (4, 3))
    made = shrunk(noisy, plain, deviation**2)
    low, high = np.minimum(plain, np.maximum(noisy, plain / 64)), np.maximum(plain, noisy)
    assert ((made >= low - 1e-9) & (made <= high + 1e-9)).all()


def test_shrinking_believes_what_noise_cannot_explain():
    """Without noise the counts stay; counts that are all noise become the plain model."""
    plain = np.full((4, 5), 100.0)
    true = plain * np.linspace(0.2, 3, 20).reshape(4, 5)
    assert shrunk(true, plain, 1e-9) == pytest.approx(true, rel=1e-6)
    assert shrunk(plain + np.array([1.0, -1, 1, -1, 0]), plain, 100.0) == pytest.approx(plain)


def test_raking_meets_its_margins():
    dice = np.random.default_rng(3)
    true = dice.uniform(1, 9, (3, 4, 2))
    margins = [((2,), true.sum(axis=2)), ((0,), true.sum(axis=0)), ((1,), true.sum(axis=1))]
    made = raked(np.ones((3, 4, 2)), margins)
    for over, margin in margins:
        assert made.sum(axis=over) == pytest.approx(margin, rel=0.01)


@settings(deadline=None)
@given(
    st.lists(st.lists(st.integers(-20, 20), min_size=2, max_size=2), min_size=1, max_size=6),
    st.lists(st.integers(0, 30), min_size=2, max_size=2),
)
def test_nearest_is_the_projection(values, totals):
    """It is not negative, adds up, and its residuals are equal where it is positive and no larger where it is 0."""
    table, sums = np.array(values, float), np.array(totals, float)
    made = nearest(table, sums)
    assert (made >= 0).all()
    assert made.sum(axis=0) == pytest.approx(sums)
    for c in range(2):
        away = table[:, c] - made[:, c]
        if sums[c]:
            level = away[made[:, c] > 0]
            assert level == pytest.approx(np.full(len(level), level[0]))
            assert (away[made[:, c] == 0] <= level[0] + 1e-9).all()


@examples(60)
@given(st.integers(0, 10**6), st.integers(1, 3), st.floats(0, 50), st.booleans(), st.booleans())
def test_the_model_agrees_with_itself(seed, kinds, scale, paired, joint):
    """Shares add up to 1, and the labels of an attribute add up to its own rows: drawn through parents or not."""
    dice = np.random.default_rng(seed)
    bins = [binned(0, tree_of("t"), 64), binned(1, number_of("x"), 8), binned(2, number_of("z"), 4)]
    totals = dice.uniform(200, 900, kinds)
    levels = [
        levels_of(
            one,
            nearest(dice.normal(50, scale, (one.size, 1)), totals.sum()[None])[:, 0],
            scale**2 + 1,
            float(totals.sum()),
            fine=9.0,
            coarse=60.0,
        )
        for one in bins
    ]
    tables = [ClassTable(place=1, counts=dice.normal(40, scale, (levels[1].fine.size, kinds)), variance=scale**2 + 1)]
    with_class = kinds if paired else 1
    edges = [
        Edge(
            places=pair,
            counts=dice.normal(9, scale, (*(levels[p].coarse.size for p in pair), with_class)),
            variance=scale**2 + 1,
        )
        for pair in ((0, 1), (0, 2))
    ]
    core = None
    if kinds > 1 and joint:
        sizes = (levels[1].fine.size, levels[2].fine.size)
        counts = dice.normal(9, scale, (sizes[0] * sizes[1], kinds))
        core, tables, edges = Core(places=(1, 2), sizes=sizes, counts=counts, variance=scale**2 + 1), [], edges[:1]
    model = fitted(levels, totals, tables if kinds > 1 else [], edges, core)
    assert sorted(model.order) == [0, 1, 2]
    assert model.cells.sum(axis=1) == pytest.approx(np.ones(kinds))
    assert all(model.parents[p] < 0 or model.order.index(model.parents[p]) < model.order.index(p) for p in range(3))
    for place, table in enumerate(model.shares):
        assert (table >= 0).all()
        assert table.sum(axis=2) == pytest.approx(np.ones(table.shape[:2]))
        above = model.parents[place]
        inner = levels[place].fine.size if place in model.core else 1
        assert table.shape[0] == (inner if above < 0 else model.groups[above].size)


@settings(deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 50), min_size=1, max_size=4))
def test_rows_are_apportioned_within_one(seed, sizes):
    dice = np.random.default_rng(seed)
    table = dice.dirichlet(np.ones(5), len(sizes))
    made = apportioned(table, np.array(sizes), dice.random(len(sizes)))
    assert made.sum(axis=1).tolist() == sizes
    assert (made >= 0).all()
    assert (np.abs(made - table * np.array(sizes)[:, None]) < 1 + 1e-9).all()


def test_drawn_rows_have_the_marginals_of_the_table():
    """Without noise: all attributes alone, each with the class, and the pairs of the tree."""
    rows = [(t, (t + f) % 3, 8 * t + f, y) for t in range(5) for f in range(3) for y in range(2) for _ in range(90 + t)]
    table = table_of(rows)
    made = without_noise(Marginals(epsilon=1000), table)
    assert made.counts.sum(axis=0).tolist() == [len(rows) / 2] * 2
    for c, one in enumerate(table.counts.columns):
        true = np.bincount(made.cut[c].of_code[one.codes], minlength=len(made.labels[c]))
        drawn = np.bincount(made.keys[c], weights=made.counts.sum(axis=1), minlength=len(made.labels[c]))
        assert np.abs(true - drawn).sum() <= 0.05 * len(rows)
