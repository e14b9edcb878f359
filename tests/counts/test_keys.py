"""Numbers of combinations are their ranks, however large their space is."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.counts.keys import distinct
from sfumato.counts.tally import tally_rows
from tests.weights import examples


@examples(120)
@given(
    rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(0, 2)), max_size=30),
    wide=st.sampled_from([6, 2000, 2**31 - 1]),
)
def test_distinct_numbers_are_ranks(rows, wide):
    columns = (
        [np.array(column, np.int32) for column in zip(*rows, strict=True)] if rows else [np.zeros(0, np.int32)] * 3
    )
    ids, count = distinct(columns, (4, wide, 3), len(rows))
    ranks = {row: place for place, row in enumerate(sorted(set(rows)))}
    assert ids.tolist() == [ranks[row] for row in rows]
    assert count == len(ranks)


@examples(120)
@given(data=st.data(), values=st.sampled_from([3, 400]))
def test_joined_and_taken_histograms_are_recounts(data, values):
    rows = data.draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), max_size=40))
    owners = np.array([owner for owner, _ in rows], np.int64)
    codes = np.array([code for _, code in rows], np.int32)
    tally = tally_rows("s", tuple(map(str, range(values))), codes, owners, 6)
    goes = np.array(data.draw(st.lists(st.integers(-1, 3), min_size=6, max_size=6)))
    expected = np.zeros((4, values), np.int64)
    for owner, code in rows:
        if goes[owner] >= 0:
            expected[goes[owner], code] += 1
    joined = tally.merged(goes, 4)
    assert joined.dense().tolist() == expected.tolist()
    assert (np.diff(joined.owners * values + joined.codes) > 0).all()
    kept = goes >= 0
    assert tally.take(kept).dense().tolist() == tally.dense()[kept].tolist()
