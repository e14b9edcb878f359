"""Groups that are fed and split: against a literal twin, and what holds whatever comes."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.algorithms.condensation import Moments
from sfumato.core.randomness import Chance
from sfumato.streaming.groups import GroupPool, WaitingWords, nearest_centres
from tests.brute.streaming import Group, RecordByRecord, group_of, halves
from tests.weights import examples


def points(seed: int, rows: int, width: int) -> np.ndarray:
    draw = Chance(seed=seed).generator()
    return draw.normal(size=(rows, width)) * np.arange(1, width + 1) + draw.normal(size=width)


def as_group(moments: Moments) -> Group:
    return Group(r=int(moments.count), sums=moments.sums.tolist(), products=moments.products.tolist())


def same_groups(one: list[Group], other: list[Group]) -> None:
    """The same groups in any order."""
    first, second = (sorted(groups, key=lambda each: each.sums) for groups in (one, other))
    assert [each.r for each in first] == [each.r for each in second]
    for mine, theirs in zip(first, second, strict=True):
        assert mine.sums == pytest.approx(theirs.sums, abs=1e-6)
        assert np.array(mine.products) == pytest.approx(np.array(theirs.products), abs=1e-6)


@examples(80)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 12), width=st.integers(1, 5))
def test_a_split_is_that_of_the_equations(seed: int, k: int, width: int):
    rows = points(seed, 2 * k, width)
    same_groups([as_group(one) for one in Moments.of(rows).split()], list(halves(group_of(rows.tolist()))))


def test_many_groups_are_split_like_each_of_them():
    parts = [Moments.of(points(seed, 9 + seed, 3)) for seed in range(5)]
    many = Moments(**{name: np.stack([getattr(one, name) for one in parts]) for name in ("count", "sums", "products")})
    for side, halved in enumerate(many.split()):
        for place, one in enumerate(parts):
            alone = one.split()[side]
            assert int(halved.count[place]) == int(alone.count)
            assert halved.sums[place] == pytest.approx(alone.sums)
            assert halved.products[place] == pytest.approx(alone.products)


@examples(40)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 6), width=st.integers(1, 3))
def test_a_pool_that_is_fed_one_by_one_is_the_paper_s(seed: int, k: int, width: int):
    rows = points(seed, 60, width)
    pool = GroupPool.empty(k, width)
    pool.begin(rows[: 2 * k], np.repeat([0, 1], k), 2, 0)
    literal = RecordByRecord([group_of(rows[:k].tolist()), group_of(rows[k : 2 * k].tolist())], k)
    for row in rows[2 * k :]:
        pool.feed(row[None, :], 1)
        pool.split()
        literal.take(row.tolist())
    same_groups([as_group(pool.moments[place]) for place in range(len(pool.fed))], literal.groups)


@examples(60)
@given(
    seed=st.integers(0, 10**6),
    k=st.integers(2, 9),
    cuts=st.lists(st.integers(1, 200), min_size=1, max_size=8),
    most=st.integers(1, 30),
)
def test_nothing_is_lost_and_groups_have_k_to_2k(seed: int, k: int, cuts: list[int], most: int):
    """Whatever comes in which blocks, with batches between them: moments add up, sizes and words fit."""
    draw, rows = Chance(seed=seed).generator(), points(seed, sum(cuts), 3)
    pool, words = GroupPool.empty(k, 3), WaitingWords.empty("w")
    told = pl.Series("w", [f"{draw.integers(4)}" for _ in rows])
    taken, shown, start = [], [], 0

    def divide(*parts: np.ndarray) -> None:
        words.divide(*parts, draw)

    for block, many in enumerate(cuts):
        words.add(pool.feed(rows[start : start + many], block), told[start : start + many])
        pool.split(divide)
        assert (pool.moments.count < 2 * k).all()
        start += many
        if block % 2:
            groups, out = pool.take_out()
            assert ((out.count >= k) & (out.count < 2 * k)).all()
            found = words.take_out(groups, 1, draw)
            assert len(found) == out.count.sum()
            shown.append(found)
            taken.append(out)
            words.renumber(pool.retire(most))
            assert len(pool.fed) <= max(most, int((pool.moments.count > 0).sum()))
        assert np.bincount(words.owners, minlength=len(pool.fed)).tolist() == pool.moments.count.tolist()
        if block % 3 == 0:
            words.settle()
    whole = Moments.of(rows)
    parts = [*taken, pool.moments]
    assert sum(int(one.count.sum()) for one in parts) == len(rows)
    assert sum(one.sums.sum(axis=0) for one in parts) == pytest.approx(whole.sums, abs=1e-6)
    assert sum(one.products.sum(axis=0) for one in parts) == pytest.approx(whole.products, abs=1e-5)
    every = pl.concat([words.words, *shown]).value_counts().sort("w")
    assert every.equals(told.value_counts().sort("w"))


@examples(40)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 9), rows=st.integers(1, 60))
def test_at_the_end_groups_are_joined_until_each_has_k(seed: int, k: int, rows: int):
    found = points(seed, rows, 2)
    pool = GroupPool.empty(k, 2)
    many = max(rows // max(k // 2, 1), 1)
    pool.begin(found, np.arange(rows) % many, many, 0)
    moved = []
    pool.join_small(lambda *parts: None, lambda least, into: moved.append((least, into)))
    count = pool.moments.count[pool.moments.count > 0]
    assert ((count >= k) & (count < 2 * k)).all() if rows >= k else count.tolist() == [rows]
    assert all(least != into for least, into in moved)
    assert pool.moments.sums.sum(axis=0) == pytest.approx(found.sum(axis=0), abs=1e-8)


def test_a_split_divides_words_at_random():
    """Of 500 words that stay of 1,000, about 250 are of either sort; 150 or 350 are twelve deviations away."""
    words = WaitingWords(owners=np.zeros(1000, np.int64), words=pl.Series("w", ["a"] * 500 + ["b"] * 500))
    words.divide(np.array([0]), np.array([500]), np.array([7]), Chance(seed=3).generator())
    assert np.bincount(words.owners).tolist() == [500, 0, 0, 0, 0, 0, 0, 500]
    stayed = words.words.filter(pl.Series(words.owners == 0))
    assert 150 < int((stayed == "a").sum()) < 350
    out = words.take_out(np.array([7, 0]), 2, Chance(seed=4).generator())
    assert len(out) == 2000
    assert 0 < int((out[:10] == "a").sum()) < 10
    assert len(words.words) == 0


def test_the_least_recently_fed_of_the_empty_groups_retire():
    pool = GroupPool.empty(2, 1)
    pool.begin(np.array([[0.0], [0], [10], [10], [20], [20]]), np.repeat([0, 1, 2], 2), 3, 0)
    pool.take_out()
    pool.feed(np.array([[20.0]]), 1)
    pool.feed(np.array([[0.0], [0.1]]), 2)
    pool.take_out()
    assert pool.retire(2).tolist() == [0, 2]
    assert pool.retire(0).tolist() == [1]  # the group of 20 holds a record that nobody has seen


@examples(60)
@given(seed=st.integers(0, 10**6), rows=st.integers(1, 300), many=st.integers(1, 40), far=st.sampled_from([0.0, 1e5]))
def test_the_nearest_centre_is_the_nearest(seed: int, rows: int, many: int, far: float):
    x, c = points(seed, rows, 4) + far, points(seed + 1, many, 4) + far
    apart = ((x[:, None, :] - c[None, :, :]) ** 2).sum(axis=2)
    chosen = apart[np.arange(rows), nearest_centres(x, c)]
    assert chosen == pytest.approx(apart.min(axis=1), abs=1e-6)
