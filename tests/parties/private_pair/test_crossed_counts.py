"""Counts of pairs of values: shares add up to them, each alone is random, and messages tell nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from sfumato.core.randomness import fresh_key
from sfumato.parties import scalar_product
from sfumato.parties.scalar_product import Crossed, count_choosing, count_crossed
from sfumato.parties.simulation import together
from tests.parties.ready import Repeatable, ready_pair
from tests.parties.views import differences, random_like, views
from tests.weights import examples


def crossed(sizes: tuple[int, int, int], kinds: list[int]) -> Crossed:
    return Crossed(chooser=sizes[0], counter=sizes[1], kinds=np.array(kinds, np.int64), many=sizes[2])


@given(st.integers(1, 9), st.integers(1, 6), st.integers(1, 3), st.data())
@examples(60)
def test_shares_add_up_to_the_counts(chooser: int, counter: int, many: int, data: st.DataObject):
    """Against counting pairs one by one."""
    cell = st.tuples(st.integers(0, chooser - 1), st.integers(0, counter - 1), st.integers(0, many - 1))
    rows = data.draw(st.lists(cell, min_size=1, max_size=30))
    mine, theirs, kinds = (np.array(one, np.int64) for one in zip(*rows, strict=True))
    sending, receiving = ready_pair()
    asked = crossed((chooser, counter, many), kinds.tolist())
    shares = together([count_crossed(sending, asked, theirs), count_choosing(receiving, asked, mine)])
    plain = [[[rows.count((a, b, k)) for k in range(many)] for b in range(counter)] for a in range(chooser)]
    assert (shares[0] + shares[1]).astype(np.int32).tolist() == plain


def test_rows_in_blocks_are_counted_alike(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(scalar_product, "_BLOCK", 64)
    test_shares_add_up_to_the_counts()


def test_example_7_4_2():
    """Golden G6: the professionals (first party) who are male (second party) are two."""
    first, second = [0, 0, 0, 0, 1, 1, 1, 0, 1, 1], [1, 1, 1, 0, 0, 0, 1, 0, 1, 0]
    sending, receiving = ready_pair()
    asked = crossed((2, 2, 1), [0] * 10)
    talks = [count_crossed(sending, asked, np.array(first)), count_choosing(receiving, asked, np.array(second))]
    assert int(sum(one[1, 1, 0] for one in together(talks))) % 2**32 == 2


ASKED = crossed((3, 2, 1), [0] * 4)


def talk(first: list[int], second: list[int]):
    sending, receiving = ready_pair()
    return [count_crossed(sending, ASKED, np.array(first)), count_choosing(receiving, ASKED, np.array(second))]


def test_views_are_random():
    """False alarms: below 1e-9."""
    for real in views(lambda: talk([0, 1, 1, 0], [2, 0, 1, 2]), 110):
        assert differences(real, [random_like(view, fresh_key) for view in real]) == []


def test_an_unmasked_sum_is_seen(monkeypatch: pytest.MonkeyPatch):
    """The known-bad twin: leaves that are stretched to nothing leave the counter's value bare."""
    monkeypatch.setattr(
        scalar_product.Seeds, "stretched", lambda self, leaves, words, first: np.zeros((*leaves.shape[:2], words), "u4")
    )
    real = views(lambda: talk([0, 1, 1, 0], [2, 0, 1, 2]), 110)[1]
    assert any("crossed/sums" in one for one in differences(real, [random_like(view, fresh_key) for view in real]))


def test_each_share_is_uniform():
    """Fixed random bytes; Kolmogorov and Smirnov's test, false alarms below 1e-6 each."""
    draw, found = Repeatable(b"uniform"), [[], []]
    for _ in range(40):
        sending, receiving = ready_pair(draw)
        asked = crossed((3, 2, 1), [0] * 4)
        talks = [
            count_crossed(sending, asked, np.array([0, 1, 1, 0]), draw=draw),
            count_choosing(receiving, asked, np.array([2, 0, 1, 2])),
        ]
        for side, share in enumerate(together(talks)):
            found[side] += (share.ravel() / 2**32 + 0.5).tolist()
    for side in found:
        assert kstest(side, "uniform").pvalue > 1e-6
