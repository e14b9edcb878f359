"""Maximal frequent sets: the library against the definition, against sequences, and against another miner."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prefixspan import PrefixSpan

from sfumato.counts.frequent_itemsets import maximal_frequent
from sfumato.counts.transactions import Transactions
from tests.brute import itemsets as brute
from tests.brute import sequences
from tests.itemized import ITEMS, baskets, walks
from tests.weights import examples

Counted = dict[frozenset[str], int]


def found(made: Transactions, support: int) -> Counted:
    """Each set with its rows, every one once."""
    sets = maximal_frequent(made, support)
    named = list(map(frozenset, sets.labelled(made.labels)))
    assert len(named) == len(set(named)) == len(sets.rows)
    return dict(zip(named, sets.rows.tolist(), strict=True))


def expected(records: brute.Records, support: int) -> Counted:
    return {q: brute.supported(records, q) for q in brute.maximal_frequent(records, support)}


def largest(patterns: Iterable[tuple[int, list[str]]]) -> dict[tuple[str, ...], int]:
    """Of frequent patterns, those in no other one."""
    kept: dict[tuple[str, ...], int] = {}
    for rows, pattern in sorted(patterns, key=lambda pattern: -len(pattern[1])):
        if not any(set(pattern) <= set(other) for other in kept):
            kept[tuple(pattern)] = rows
    return kept


@examples(300)
@given(table=baskets(most=12), support=st.integers(1, 13))
def test_the_library_finds_what_the_definition_says(table, support):
    records, _ = table
    assert found(Transactions.of(records), support) == expected(records, support)


@examples(150)
@given(table=baskets(most=7, items="abcdefgh"), support=st.integers(1, 4))
def test_wide_records(table, support):
    records, _ = table
    assert found(Transactions.of(records), support) == expected(records, support)


@examples(150)
@given(table=baskets(), order=st.permutations(ITEMS), support=st.integers(1, 5))
def test_order_secrets_and_items_in_no_record_change_nothing(table, order, support):
    records, secrets = table
    made = Transactions.of(records, order=order, secret=secrets)
    assert found(made, support) == expected(records, support)


@examples(150)
@given(table=walks(most=10), support=st.integers(1, 5))
def test_trajectories_are_sets(table, support):
    """Maximal frequent sequences by the subsequence relation, in order of time."""
    paths, _ = table
    by_sequences = sequences.maximal_frequent(paths, support)
    views = list(map(sequences.as_set, paths))
    assert set(map(sequences.as_set, by_sequences)) == brute.maximal_frequent(views, support)
    made = Transactions.of(views, order=sequences.in_time(paths))
    named = maximal_frequent(made, support).labelled(made.labels)
    assert set(named) == {tuple(map(sequences.label, q)) for q in by_sequences}


@examples(150)
@given(table=walks(most=14, places="abc", times=7), support=st.integers(1, 5))
def test_prefixspan_agrees(table, support):
    paths, _ = table
    written = [list(map(sequences.label, path)) for path in paths]
    made = Transactions.of(written, order=sequences.in_time(paths))
    sets = maximal_frequent(made, support)
    named = dict(zip(sets.labelled(made.labels), sets.rows.tolist(), strict=True))
    assert named == largest(PrefixSpan(written).frequent(support))


@pytest.mark.parametrize(("rows", "support"), [(200, 4), (400, 6), (400, 40)])
def test_prefixspan_agrees_on_a_larger_table(rows, support):
    """Walks that like to stay where they are, so that long sequences are frequent."""
    chance = Random(rows + support)
    paths = []
    for _ in range(rows):
        place, path = chance.choice("abcd"), []
        for moment in range(10):
            place = place if chance.random() < 0.7 else chance.choice("abcd")
            if chance.random() < 0.8:
                path.append((place, moment))
        paths.append(tuple(path))
    written = [list(map(sequences.label, path)) for path in paths]
    made = Transactions.of(written, order=sequences.in_time(paths))
    sets = maximal_frequent(made, support)
    named = dict(zip(sets.labelled(made.labels), sets.rows.tolist(), strict=True))
    assert named == largest(PrefixSpan(written).frequent(support))
    assert max(map(len, named)) >= 3


@pytest.mark.parametrize("support", [1, 2])
def test_records_without_items(support):
    made = Transactions.of([frozenset(), frozenset()])
    assert found(made, support) == {}


@examples(150)
@given(table=baskets(), support=st.integers(1, 4), times=st.integers(2, 3))
def test_every_row_several_times(table, support, times):
    records, _ = table
    once, often = Transactions.of(records), Transactions.of(records * times)
    assert found(often, support * times) == {q: rows * times for q, rows in found(once, support).items()}
