"""Frequent sets and rules: the library against the definitions, figures of others, and the command."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.counts.frequent_itemsets import frequent_itemsets, least_rows
from sfumato.counts.transactions import Transactions
from sfumato.mining import association_rules as mined
from sfumato.mining.association_rules import association_rules
from tests.brute import rules as brute
from tests.itemized import baskets
from tests.shared_data import shared
from tests.weights import examples

SHARES = (0.01, 0.1, 0.25, 0.3, 0.5, 0.6, 0.75, 1.0)


@examples(200)
@given(baskets(most=8), st.sampled_from(SHARES), st.sampled_from((0.0, *SHARES)))
def test_sets_and_rules_are_those_of_the_definition(made, support, confidence):
    records, _ = made
    least = Fraction(str(support)) * len(records)
    found = frequent_itemsets(Transactions.of(records), least_rows(support, len(records)))
    assert {frozenset(found.named(one)): many for one, many in found.each()} == brute.frequent(records, least)
    rules = association_rules(found, confidence).frame()
    assert rules["confidence"].is_sorted(descending=True)
    told = {
        (frozenset(x), frozenset(y)): (rows, round(sure, 12), round(lift, 12))
        for x, y, rows, _, sure, lift in rules.iter_rows()
    }
    assert len(told) == rules.height
    expected = brute.rules(records, least, Fraction(str(confidence)))
    assert told == {rule: (n, round(float(c), 12), round(float(lift), 12)) for rule, (n, c, lift) in expected.items()}


def test_a_set_that_is_not_frequent_has_no_support():
    found = frequent_itemsets(Transactions.of([["a", "b"], ["a", "c"], ["a", "b"]]), 2)
    assert found.supports(np.array([[0, 1], [0, 2], [1, 2]], np.int32)).tolist() == [2, -1, -1]
    assert found.supports(np.array([[0, 1, 2]], np.int32)).tolist() == [-1]
    assert found.supports(np.empty((1, 0), np.int32)).tolist() == [3]


def test_no_item_is_frequent():
    found = frequent_itemsets(Transactions.of([["a"], ["b"]]), 2)
    assert found.count == 0
    assert association_rules(found, 0.0).frame().height == 0


def test_too_many_rules_are_refused(monkeypatch):
    found = frequent_itemsets(Transactions.of([list("abcdefgh")] * 2), 2)
    monkeypatch.setattr(mined, "MOST_RULES", 100)
    with pytest.raises(sf.ParameterError, match=r"255 frequent sets make 6.05e\+03 rules, and at most 100"):
        association_rules(found, 0.5)


@pytest.mark.parametrize(("support", "confidence", "rules"), [(0.01, 0.4, 62), (0.01, 0.5, 15), (0.006, 0.25, 463)])
def test_groceries_as_arules_counts_them(support, confidence, rules):
    """Rules with one item on the right, as arules mines them: figures that its users print for this file."""
    data = shared("sets", "groceries.csv")
    found = sf.rules(data, lines=True, separator=",", min_support=support, min_confidence=confidence)
    assert found.frame().filter(pl.col("consequent").list.len() == 1).height == rules


def mlxtend_mined(records, support: float, confidence: float):
    """Sets and rules of another program, whose warnings about its own future are not ours."""
    mined_by = pytest.importorskip("mlxtend.frequent_patterns")
    labels = sorted({item for one in records for item in one})
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame([[label in one for label in labels] for one in records], columns=labels, dtype=bool)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sets = mined_by.fpgrowth(table, min_support=support, use_colnames=True)
        if not len(sets):
            return {}, {}
        rules = mined_by.association_rules(sets, metric="confidence", min_threshold=confidence)
    told = zip(
        rules["antecedents"], rules["consequents"], rules["support"], rules["confidence"], rules["lift"], strict=True
    )
    return (
        dict(zip(sets["itemsets"], sets["support"], strict=True)),
        {(x, y): tuple(round(float(n), 9) for n in figures) for x, y, *figures in told},
    )


def ours(found):
    sets = found.itemsets
    return (
        {frozenset(sets.named(one)): many / sets.rows for one, many in sets.each()},
        {
            (frozenset(x), frozenset(y)): (round(s, 9), round(c, 9), round(lift, 9))
            for x, y, _, s, c, lift in found.frame().iter_rows()
        },
    )


@examples(40, deadline=None)
@given(
    st.lists(st.sets(st.sampled_from("abcdef"), max_size=5), min_size=1, max_size=25),
    st.sampled_from((0.13, 0.31, 0.47)),
    st.sampled_from((0.23, 0.57, 0.83)),
)
def test_mlxtend_agrees(records, support, confidence):
    """At thresholds that no share of so few records equals: mlxtend compares rounded numbers."""
    shares = {n / many for many in range(1, 26) for n in range(many + 1)}
    assert not {support, confidence} & shares
    found = frequent_itemsets(Transactions.of(records), least_rows(support, len(records)))
    assert ours(association_rules(found, confidence)) == mlxtend_mined(records, support, confidence)


def test_mlxtend_agrees_on_groceries():
    data = shared("sets", "groceries.csv")
    records = [{item.strip() for item in line.split(",")} for line in data.read_text("utf-8").splitlines()]
    found = sf.rules(data, lines=True, separator=",", min_support=0.01003, min_confidence=0.3003)
    mine, theirs = ours(found), mlxtend_mined(records, 0.01003, 0.3003)
    assert mine[1] == theirs[1]
    assert mine[0].keys() == theirs[0].keys()
    assert len(mine[1]) > 100


def test_ordinary_columns_and_sets_together():
    frame = pl.DataFrame({"sex": ["f", "f", "m", None], "buys": ["tea|milk", "milk", "beer", "beer"]})
    found = sf.rules(frame, sets=["buys"], columns=["sex"], min_support=0.5, min_confidence=1.0)
    assert (
        found.frame().rows()
        == [(["sex=f"], ["buys=milk"], 2, 0.5, 1.0, 2.0), (["buys=milk"], ["sex=f"], 2, 0.5, 1.0, 2.0)][::-1]
    )
    lists = frame.with_columns(pl.col("buys").str.split("|"))
    assert sf.rules(lists, min_support=0.5, min_confidence=1.0).each() == found.each()
    with pytest.raises(sf.ParameterError, match="'sex' is named among the sets and among the ordinary columns"):
        sf.rules(frame, sets=["sex"], columns=["sex"])
    with pytest.raises(sf.DataError, match="the table has no column 'by'"):
        sf.rules(frame, sets=["by"])
