"""Minimal violating sets: the library against the definitions, on sets and on sequences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.counts.itemsets import Itemsets, violating
from sfumato.counts.transactions import Secret, Transactions
from tests.brute import itemsets as brute
from tests.brute import sequences
from tests.itemized import ITEMS, LIMITS, VALUES, baskets, requests, walks
from tests.weights import examples

Found = dict[frozenset[str], tuple[int, int]]


def told(made: Transactions, found: Itemsets) -> Found:
    """Each set with its rows and its top, after a look at the form: every set once, codes ascending."""
    for start, end in zip(found.starts[:-1], found.starts[1:], strict=True):
        assert (np.diff(found.codes[start:end]) > 0).all()
    named = list(map(frozenset, found.labelled(made.labels)))
    assert len(named) == len(set(named)) == len(found.rows) == len(found.top)
    return dict(zip(named, zip(found.rows.tolist(), found.top.tolist(), strict=True), strict=True))


def expected(
    records: brute.Records, secrets: brute.Secrets, l: int, k: int, c: Fraction, values: tuple[str, ...]
) -> Found:
    def top(q: frozenset[str]) -> int:
        shares = (
            [brute.share(records, secrets, q, value) for value in brute.watched(secrets, values)] if secrets else []
        )
        return int(max(shares, default=Fraction(0)) * brute.supported(records, q))

    found = brute.minimal_violating(records, secrets, l, k, c, values)
    return {q: (brute.supported(records, q), top(q)) for q in found}


def mined(
    records: Sequence[frozenset[str]], secrets: Sequence[str] | None, order: Sequence[str] | None = None
) -> Transactions:
    return Transactions.of(records, order=order, secret=secrets)


@examples(300)
@given(data=st.data(), table=baskets())
def test_the_library_finds_what_the_definition_says(data, table):
    records, secrets = table
    l, k, c, values = data.draw(requests(secrets, max(map(len, records))))
    made = mined(records, secrets)
    assert told(made, violating(made, l=l, k=k, c=float(c), values=values)) == expected(
        records, secrets, l, k, c, values
    )


@examples(150)
@given(data=st.data(), table=baskets(most=12, items="abc"))
def test_few_items_and_many_rows(data, table):
    """Nearly all sets occur often here, so that the confidence decides."""
    records, secrets = table
    l, k, c, values = data.draw(requests(secrets, 3))
    made = mined(records, secrets)
    assert told(made, violating(made, l=l, k=k, c=float(c), values=values)) == expected(
        records, secrets, l, k, c, values
    )


@examples(150)
@given(table=baskets(), order=st.permutations(ITEMS), l=st.integers(1, 6), k=st.integers(1, 4))
def test_the_order_of_the_items_and_items_in_no_record_change_nothing(table, order, l, k):
    records, secrets = table
    plain, moved = mined(records, secrets), mined(records, secrets, order)
    assert list(moved.labels) == list(order)
    assert told(moved, violating(moved, l=l, k=k, c=0.5)) == told(plain, violating(plain, l=l, k=k, c=0.5))


@examples(150)
@given(table=baskets(most=12), k=st.integers(1, 5), c=st.sampled_from(LIMITS))
def test_a_shorter_knowledge_finds_the_shorter_ones(table, k, c):
    made = mined(*table)
    full = told(made, violating(made, l=len(ITEMS), k=k, c=float(c)))
    for l in range(1, len(ITEMS)):
        assert told(made, violating(made, l=l, k=k, c=float(c))) == {q: n for q, n in full.items() if len(q) <= l}


@examples(150)
@given(table=baskets(), l=st.integers(1, 4), k=st.integers(1, 3), times=st.integers(2, 4))
def test_every_row_several_times(table, l, k, times):
    records, secrets = table
    once, often = mined(records, secrets), mined(records * times, secrets and secrets * times)
    found = told(often, violating(often, l=l, k=k * times, c=0.5))
    few = told(once, violating(once, l=l, k=k, c=0.5))
    assert found == {q: (rows * times, top * times) for q, (rows, top) in few.items()}


@examples(150)
@given(data=st.data(), table=baskets())
def test_suppressing_one_item_of_each_violation_leaves_none(data, table):
    records, secrets = table
    l, k, c, values = data.draw(requests(secrets, max(map(len, records))))
    made = mined(records, secrets)
    gone = {min(q) for q in violating(made, l=l, k=k, c=float(c), values=values).labelled(made.labels)}
    left = mined([record - gone for record in records], secrets)
    assert violating(left, l=l, k=k, c=float(c), values=values).labelled(left.labels) == []


@examples(150)
@given(table=baskets(), k=st.integers(1, 4), missing=st.sets(st.integers(0, 8)))
def test_a_row_without_a_secret_is_counted_and_not_watched(table, k, missing):
    records, _ = table
    secrets = [None if row in missing else VALUES[row % 2] for row in range(len(records))]
    plain = mined(records, None)
    codes = np.array([-1 if value is None else VALUES.index(value) for value in secrets], dtype=np.int32)
    secret = Secret(name="disease", codes=codes, values=VALUES)
    made = Transactions(starts=plain.starts, codes=plain.codes, labels=plain.labels, secret=secret)
    found = told(made, violating(made, l=3, k=k, c=0.5))
    assert found == expected(records, secrets, 3, k, Fraction(1, 2), VALUES)


@pytest.mark.parametrize(("rows", "items", "k", "c"), [(300, 25, 4, 0.4), (400, 40, 6, 1.0), (500, 12, 30, 0.45)])
def test_a_larger_table(rows, items, k, c):
    """All sets of at most three items counted row by row."""
    chance = Random(rows)
    records = [frozenset(f"i{min(int(chance.expovariate(6 / items)), items)}" for _ in range(6)) for _ in range(rows)]
    secrets = [chance.choice(VALUES) for _ in range(rows)]
    counts: Counter[frozenset[str]] = Counter()
    tops: dict[frozenset[str], Counter[str]] = {}
    for record, secret in zip(records, secrets, strict=True):
        for q in brute.known([record], 3):
            counts[q] += 1
            tops.setdefault(q, Counter())[secret] += 1
    top = {q: max(found.values()) for q, found in tops.items()}
    bad = {q for q in counts if counts[q] < k or top[q] > c * counts[q] + 1e-9}
    small = {q for q in bad if not any(frozenset(p) in bad for n in range(1, len(q)) for p in combinations(q, n))}
    made = mined(records, secrets)
    assert told(made, violating(made, l=3, k=k, c=c)) == {q: (counts[q], top[q]) for q in small}
    assert {len(q) for q in small} >= {2}


@pytest.mark.parametrize("rows", [7, 30, 49, 100])
def test_a_share_of_exactly_c_is_allowed_and_one_row_more_is_not(rows):
    """29 of 100 is not more than 0.29, although 0.29 * 100 is less than 29 in floating point."""
    for many in range(1, rows):
        made = mined([frozenset("a")] * rows, ["hiv"] * many + ["flu"] * (rows - many))
        for c, violated in ((many / rows, False), ((many - 1) / rows, True)):
            found = violating(made, l=1, k=1, c=c, values=("hiv",))
            assert told(made, found) == ({frozenset("a"): (rows, many)} if violated else {})


@pytest.mark.parametrize("records", [[frozenset()], [frozenset(), frozenset()]])
def test_records_without_items(records):
    made = mined(records, None)
    assert violating(made, l=2, k=2, c=1.0).labelled(made.labels) == []


# The definitions among themselves.


@examples(150)
@given(data=st.data(), table=walks())
def test_trajectories_are_sets(data, table):
    """With strictly increasing times, subsequences are subsets: the same violations, and the search finds them all."""
    paths, secrets = table
    l, k, c, values = data.draw(requests(secrets, max(map(len, paths))))
    views = list(map(sequences.as_set, paths))
    minimal = sequences.minimal_violating(paths, secrets, l, k, c, values)
    assert set(map(sequences.as_set, minimal)) == brute.minimal_violating(views, secrets, l, k, c, values)
    levels = sequences.levels(paths, secrets, l, k, c, values)
    assert {q for _, bad, _ in levels for q in bad} == minimal
    made = mined(views, secrets, sequences.in_time(paths))
    found = violating(made, l=l, k=k, c=float(c), values=values).labelled(made.labels)
    assert set(found) == {tuple(map(sequences.label, q)) for q in minimal}


def test_without_increasing_times_sequences_are_not_sets():
    here, there = ("a", 1), ("b", 1)
    paths = [(here, there), (there, here)]
    assert len(sequences.minimal_violating(paths, None, 2, 2, 1)) == 2
    assert brute.minimal_violating(list(map(sequences.as_set, paths)), None, 2, 2, 1) == set()


def test_line_14_as_printed_lets_in_a_set_that_is_not_minimal():
    """c3 d4 is in one row; a1 b2 c3 d4 joins a1 b2 c3 and a1 b2 d4, and no set of three holds c3 d4 any more."""
    a, b, c, d = ("a", 1), ("b", 2), ("c", 3), ("d", 4)
    paths = [(a, b, c, d), (a, b, c), (a, b, d)]
    assert sequences.minimal_violating(paths, None, 4, 2, 1) == {(c, d)}
    assert [bad for _, bad, _ in sequences.levels(paths, None, 4, 2, 1)] == [set(), {(c, d)}, set()]
    printed = sequences.levels(paths, None, 4, 2, 1, as_printed=True)
    assert [bad for _, bad, _ in printed] == [set(), {(c, d)}, set(), {(a, b, c, d)}]
    made = mined(list(map(sequences.as_set, paths)), None)
    assert violating(made, l=4, k=2, c=1.0).labelled(made.labels) == [("c3", "d4")]


@examples(150)
@given(data=st.data(), table=baskets())
def test_no_minimal_violation_is_lkc_privacy(data, table):
    """Lemma 4.1."""
    records, secrets = table
    l, k, c, values = data.draw(requests(secrets, max(map(len, records))))
    minimal = brute.minimal_violating(records, secrets, l, k, c, values)
    assert brute.holds_lkc(records, secrets, l, k, c, values) == (not minimal)
    assert brute.holds_km(records, k, l) == brute.holds_lkc(records, None, l, k, 1)


@examples(150)
@given(data=st.data(), table=baskets(), support=st.integers(1, 4), score=st.sampled_from(["ratio", "gain", "loss"]))
def test_the_greedy_suppression_ends_private(data, table, support, score):
    """Theorem 4.3, and what was frequent keeps its support unless an item of it went."""
    records, secrets = table
    l, k, c, values = data.draw(requests(secrets, max(map(len, records))))
    gone, released = brute.anonymize(records, secrets, ITEMS, l, k, c, values, support, score)
    assert len(gone) == len(set(gone))
    assert brute.holds_lkc(released, secrets, l, k, c, values)
    before = brute.maximal_frequent(records, support)
    lost = [q for q in before if q & set(gone)]
    assert brute.lost_frequent(before, released, support) * len(before) == len(lost)


def test_km_anonymity_by_hand():
    """Any one item is in two records; a and b together are in one."""
    records = [frozenset("ab"), frozenset("ac"), frozenset("bc")]
    assert brute.holds_km(records, 2, 1)
    assert not brute.holds_km(records, 2, 2)
    assert brute.holds_km(records * 2, 2, 3)
    assert brute.holds_km([frozenset()], 5, 2)


def test_rho_uncertainty_by_hand():
    """S and T are sensitive. a: S in 1 of 2; b: S in 1 of 1; S itself tells T in 1 of 2."""
    records = [frozenset("abS"), frozenset("a"), frozenset("cST"), frozenset("c"), frozenset("c")]
    assert brute.rho_uncertain(records, "S", 1)
    assert not brute.rho_uncertain(records, "S", Fraction(1, 2))
    assert not brute.rho_uncertain(records, "S", Fraction(1, 2), 1)
    few = [frozenset("aS"), frozenset("a"), frozenset("S"), frozenset("T"), frozenset("aT"), frozenset("a")]
    assert brute.rho_uncertain(few, "ST", Fraction(1, 4))
    assert not brute.rho_uncertain(few, "ST", Fraction(1, 5))
    both = [frozenset("ST"), frozenset("S"), frozenset("T")]
    assert brute.rho_uncertain(both, "ST", Fraction(1, 2))
    assert not brute.rho_uncertain(both, "ST", Fraction(1, 3))
    deep = [frozenset("abS"), frozenset("a"), frozenset("b")]
    assert brute.rho_uncertain(deep, "S", Fraction(1, 2), 1)
    assert not brute.rho_uncertain(deep, "S", Fraction(1, 2), 2)
