"""Condensation against its definition: moments by hand and exactly, groups of size, records inside their boxes."""

from __future__ import annotations

from collections import Counter
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.covariance import EmpiricalCovariance
from sklearn.decomposition import PCA

from sfumato.algorithms.condensation import (
    Condense,
    CondenseProblem,
    Moments,
    _enough,
    dealt,
    decimals_of,
    drawn_rows,
    nearest,
    sized_means,
    standardized_numbers,
    stepped,
)
from sfumato.core.errors import DataError, Infeasible, ParameterError
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from tests.brute import condensation as literal
from tests.weights import examples

NUMBERS = st.integers(-20, 20)


@st.composite
def tables(draw, most: int = 24, least: int = 1):
    """A few records of a few whole numbers, many of them alike."""
    width = draw(st.integers(1, 3))
    row = st.tuples(*[NUMBERS] * width)
    return np.array(draw(st.lists(row, min_size=least, max_size=most)), np.float64)


def problem(numbers: np.ndarray, classes: list[int] | None = None) -> CondenseProblem:
    found = np.zeros(len(numbers), np.int64) if classes is None else np.array(classes, np.int64)
    return CondenseProblem(numbers=numbers, classes=found, labels=tuple("abcdef"[: int(found.max(initial=0)) + 1]))


def condensed(numbers: np.ndarray, *, seed: int = 1, classes: list[int] | None = None, **options):
    work = Work()
    work.chance = Chance(seed=seed)
    return Condense(**options)(problem(numbers, classes), work)


# Moments


def test_moments_by_hand():
    """Four corners (0,0), (4,0), (0,2), (4,2): mean (2, 1), variances 4 and 1, no covariance; sums as they are."""
    one = Moments.of(np.array([[0.0, 0], [4, 0], [0, 2], [4, 2]]))
    assert one.sums.tolist() == [8, 4]
    assert one.products.tolist() == [[32, 8], [8, 8]]
    assert one.mean.tolist() == [2, 1]
    assert one.covariance.tolist() == [[4, 0], [0, 1]]
    values, vectors = one.axes()
    assert values.tolist() == [1, 4]
    assert np.abs(vectors).tolist() == [[0, 1], [1, 0]]


def test_a_split_by_hand():
    """Variance 4 along the first axis: R = sqrt(48), means R/4 = sqrt(3) to either side, a quarter of the variance."""
    one, other = Moments.of(np.array([[0.0, 0], [4, 0], [0, 2], [4, 2]])).split()
    assert int(one.count) == int(other.count) == 2
    apart = sorted([one.mean.tolist(), other.mean.tolist()])
    assert apart == [pytest.approx([2 - sqrt(3), 1]), pytest.approx([2 + sqrt(3), 1])]
    for half in (one, other):
        assert half.covariance == pytest.approx(np.array([[1, 0], [0, 1]]))
    with pytest.raises(ParameterError, match="between 1 and 3"):
        one.__add__(other).split(4)


@examples(150)
@given(rows=tables(), cut=st.integers(0, 24))
def test_moments_add_up_and_are_those_of_the_definition(rows, cut):
    mean, covariance = literal.moments([tuple(row) for row in rows.tolist()])
    whole = Moments.of(rows)
    assert whole.mean.tolist() == pytest.approx([float(one) for one in mean])
    assert whole.covariance == pytest.approx(np.array(covariance, np.float64), abs=1e-9)
    parts = Moments.of(rows[:cut]) + Moments.of(rows[cut:])
    assert parts.sums.tolist() == whole.sums.tolist()
    assert parts.products.tolist() == whole.products.tolist()
    assert int(parts.count) == len(rows)
    back = whole - Moments.of(rows[:cut])
    assert back.products.tolist() == Moments.of(rows[cut:]).products.tolist()


@examples(100)
@given(rows=tables(least=2), first=st.integers(1, 23))
def test_the_parts_of_a_split_add_up_to_the_group(rows, first):
    whole = Moments.of(rows)
    one, other = whole.split(min(first, len(rows) - 1))
    both = one + other
    assert int(both.count) == len(rows)
    assert both.mean == pytest.approx(whole.mean, abs=1e-9)
    assert both.covariance == pytest.approx(whole.covariance, abs=1e-7)


def test_too_many_records_cannot_be_taken_away():
    with pytest.raises(ParameterError, match="taken away"):
        Moments.of(np.zeros((1, 2))) - Moments.of(np.zeros((2, 2)))


@examples(60)
@given(rows=tables(), groups=st.lists(st.integers(0, 3), min_size=24, max_size=24))
def test_the_moments_of_groups_are_those_of_each(rows, groups):
    _, numbers = np.unique(groups[: len(rows)], return_inverse=True)
    count = int(numbers.max()) + 1
    found = Moments.by_group(rows, numbers.astype(np.int64), count)
    for group in range(count):
        alone = Moments.of(rows[numbers == group])
        assert found[group].sums.tolist() == alone.sums.tolist()
        assert found[group].products.tolist() == alone.products.tolist()
    with pytest.raises(ParameterError, match="none of them empty"):
        Moments.by_group(rows, numbers.astype(np.int64), count + 1)


def test_scikit_learn_finds_the_same_covariances_and_axes():
    rows = np.random.default_rng(4).normal(size=(60, 4)) @ np.random.default_rng(5).normal(size=(4, 4))
    one = Moments.of(rows)
    assert one.covariance == pytest.approx(EmpiricalCovariance().fit(rows).covariance_)
    values, vectors = one.axes()
    peer = PCA().fit(rows)
    assert values[::-1] == pytest.approx(peer.explained_variance_ * 59 / 60)
    assert np.abs((vectors.T[::-1] * peer.components_).sum(axis=1)) == pytest.approx(np.ones(4))


# Groups


@examples(120)
@given(rows=tables(most=40), k=st.integers(2, 6), way=st.sampled_from(["mdav", "k-means"]), block=st.just(100))
def test_every_group_has_k_to_2k_minus_1_records(rows, k, way, block):
    if len(rows) < k:
        with pytest.raises(Infeasible, match=f"the table has {len(rows)}"):
            condensed(rows, k=k, groups=way, block=block)
        return
    made = condensed(rows, k=k, groups=way, block=block)
    sizes = list(Counter(made.groups.tolist()).values())
    assert min(sizes) >= k
    assert max(sizes) < 2 * k
    assert sorted(sizes) == sorted(made.sizes.tolist())
    assert Counter(made.drawn_groups.tolist()) == Counter(made.groups.tolist()), "as many drawn as there were"


def test_large_tables_are_halved_first_and_nothing_is_drawn_to_find_groups():
    rows = np.random.default_rng(2).normal(size=(900, 3))
    for way in ("mdav", "k-means"):
        one, other = (condensed(rows, k=7, groups=way, block=150, seed=seed) for seed in (1, 2))
        assert one.groups.tolist() == other.groups.tolist(), "a steward finds the same groups again"
        assert (one.drawn != other.drawn).any()
        assert one.sizes.min() >= 7


@examples(80)
@given(rows=tables(most=20, least=2), seed=st.integers(0, 99), k=st.integers(2, 5))
def test_small_groups_are_given_up_as_the_definition_says(rows, seed, k):
    draw = np.random.default_rng(seed)
    centres = rows[draw.choice(len(rows), size=min(4, len(rows)), replace=False)]
    groups = nearest(rows, centres)
    found = _enough(rows, groups, centres, k)
    wanted = literal.given_up([tuple(row) for row in rows], groups.tolist(), [tuple(one) for one in centres], k)
    made = sorted(sorted(np.flatnonzero(found == group).tolist()) for group in set(found.tolist()))
    assert made == sorted(sorted(rows) for rows in wanted.values() if rows)


def test_groups_around_means_by_hand():
    """Two heaps of three: each is a group."""
    points = np.array([[0.0], [9.0], [1.0], [10.0], [0.5], [9.5]])
    groups, count = sized_means(points, 3)
    assert count == 2
    assert groups[[0, 2, 4]].tolist() == [groups[0]] * 3
    assert groups[[1, 3, 5]].tolist() == [groups[1]] * 3


@examples(60)
@given(rows=tables(most=30, least=8), k=st.integers(2, 4), data=st.data())
def test_classes_are_condensed_apart(rows, k, data):
    classes = data.draw(st.lists(st.integers(0, 1), min_size=len(rows), max_size=len(rows)))
    sizes = Counter(classes)
    if min(sizes.get(0, 0), sizes.get(1, 0)) < k:
        return
    made = condensed(rows, k=k, classes=classes)
    for group in set(made.groups.tolist()):
        assert len({classes[row] for row in np.flatnonzero(made.groups == group)}) == 1


def test_a_class_that_is_too_small_is_refused_by_name():
    with pytest.raises(Infeasible, match=r"class 'b' has 1 records.*per_class"):
        condensed(np.arange(10.0)[:, None], k=3, classes=[0] * 9 + [1])


# Drawn records


@examples(100)
@given(rows=tables(least=4), variance=st.sampled_from([0.0, 0.5, 1.0, 3.0]), seed=st.integers(0, 99))
def test_drawn_records_lie_in_the_box_of_their_group(rows, variance, seed):
    """Along every eigenvector within sqrt(3 variance eigenvalue) of the mean; without spread, at the mean."""
    moments = Moments.by_group(rows, np.zeros(len(rows), np.int64), 1)
    drawn = drawn_rows(moments, np.array([30]), variance, np.random.default_rng(seed))
    values, vectors = np.linalg.eigh(np.cov(rows.T, bias=True).reshape(rows.shape[1], -1))
    along = (drawn - rows.mean(axis=0)) @ vectors
    reach = np.sqrt(3 * variance * values.clip(min=0))
    assert (np.abs(along) <= reach + 1e-5).all()
    assert drawn.shape == (30, rows.shape[1])


def test_a_covariance_without_full_rank_is_drawn_along_what_there_is():
    """Records on a line stay on it; two equal records give themselves."""
    line = np.array([[1.0, 2], [2, 4], [3, 6], [5, 10]])
    made = condensed(line, k=4).drawn
    assert made[:, 1] == pytest.approx(2 * made[:, 0])
    assert np.ptp(made[:, 0]) > 0
    same = condensed(np.array([[7.0, 3.0]] * 5), k=5)
    assert same.drawn == pytest.approx(np.array([[7.0, 3.0]] * 5))
    assert same.spreads.tolist() == [[0.0, 0.0]]


def test_drawn_moments_converge_to_those_of_the_group():
    """200,000 records of one group: every mean and every covariance within 6 standard deviations.

    By the normal law nine comparisons fail by chance once in fifty million runs; the seed is fixed.
    """
    rows = np.random.default_rng(8).normal(size=(12, 3)) @ np.array([[2.0, 1, 0], [0, 1, 1], [0, 0, 0.2]])
    moments = Moments.by_group(rows, np.zeros(12, np.int64), 1)
    drawn = drawn_rows(moments, np.array([200_000]), 1.0, np.random.default_rng(9))
    c = moments.covariance[0]
    assert (np.abs(drawn.mean(axis=0) - moments.mean[0]) < 6 * np.sqrt(np.diag(c) / 200_000)).all()
    spread = np.sqrt((np.outer(np.diag(c), np.diag(c)) + c**2) / 200_000)
    assert (np.abs(np.cov(drawn.T) - c) < 6 * spread).all()


def test_the_factor_stretches_the_variance():
    """Variance 4 instead of 1 doubles every deviation; 0 gives the mean alone."""
    rows = np.random.default_rng(3).normal(size=(40, 2))
    one, four, none = (condensed(rows, k=40, variance=factor).drawn for factor in (1.0, 4.0, 0.0))
    middle = rows.mean(axis=0)
    assert four - middle == pytest.approx(2 * (one - middle))
    assert none == pytest.approx(np.tile(middle, (40, 1)))
    assert len(condensed(rows, k=10, copies=3).drawn) == 120


def test_units_do_not_matter():
    rows = np.random.default_rng(6).normal(size=(50, 2))
    one, other = condensed(rows, k=5), condensed(rows * [1000.0, 0.01] + [5.0, 7.0], k=5)
    assert one.groups.tolist() == other.groups.tolist()
    assert one.drawn * [1000.0, 0.01] + [5.0, 7.0] == pytest.approx(other.drawn)


# Cells


def test_numbers_are_written_up_or_down_and_right_on_average():
    """0.3 becomes 1 three times in ten: of 100,000 within 6 standard deviations (once in 500 million by chance)."""
    found = stepped(np.full(100_000, 0.3), 0, np.random.default_rng(1))
    assert set(found.tolist()) == {0.0, 1.0}
    assert abs(found.mean() - 0.3) < 6 * sqrt(0.21 / 100_000)
    assert set(stepped(np.full(100, -2.46), 1, np.random.default_rng(1)).tolist()) == {-2.5, -2.4}
    numbers = np.array([1 / 3, 2.0])
    assert stepped(numbers, None, np.random.default_rng(1)).tolist() == numbers.tolist()
    assert (decimals_of(np.array([0.25, 1e9])), decimals_of(np.zeros(0))) == (2, 0)


@examples(80)
@given(groups=st.lists(st.integers(0, 3), max_size=30), seed=st.integers(0, 99))
def test_words_stay_in_their_group(groups, seed):
    taken = dealt(np.array(groups, np.int64), np.random.default_rng(seed))
    assert sorted(taken.tolist()) == list(range(len(groups)))
    assert [groups[row] for row in taken] == groups


def test_every_deal_is_equally_likely():
    """Three records of one group: six orders, each 1/6 of the time (chi-square, 5 degrees, 37.6: once in a million)."""
    draw, runs = np.random.default_rng(7), 6000
    found = Counter(tuple(dealt(np.zeros(3, np.int64), draw).tolist()) for _ in range(runs))
    assert len(found) == 6
    assert sum((many - runs / 6) ** 2 / (runs / 6) for many in found.values()) < 37.6


# Refusals


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"k": 1}, "k must be at least 2"),
        ({"k": 2, "groups": "none"}, "groups must be one of"),
        ({"k": 2, "output": "means"}, "output must be one of"),
        ({"k": 2, "variance": -1}, "variance"),
        ({"k": 2, "copies": 0}, "copies"),
        ({"k": 2, "block": 5}, "block"),
        ({"k": 2, "per_class": "yes"}, "per_class"),
        ({"k": 2, "bounds": [1]}, "bounds must map"),
        ({"k": 2, "bounds": {"a": [1]}}, "two numbers"),
        ({"k": 2, "bounds": {"a": [3, 1]}}, "smaller and a larger"),
        ({"k": 2, "output": "distributions", "copies": 2}, "draws nothing"),
    ],
)
def test_nonsense_is_refused_by_name(options, told):
    with pytest.raises(ParameterError, match=told):
        Condense(**options)


def test_numbers_beyond_all_limits_are_refused():
    with pytest.raises(DataError, match="too large"):
        standardized_numbers(np.array([[1e300], [-1e300], [1e308]]))
