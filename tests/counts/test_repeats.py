"""Records counted once: the same supports and the same tallies of secrets, also where two hashes are the same."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from sfumato.counts import itemsets as module
from sfumato.counts.frequent_itemsets import maximal_frequent
from sfumato.counts.itemsets import Itemsets, Repeats, repeats, singly, violating
from sfumato.counts.transactions import Transactions
from tests.brute import itemsets as brute
from tests.itemized import ITEMS, LIMITS, VALUES, baskets
from tests.weights import examples

tables = baskets(most=14, items="abcd") | baskets()
seen = st.sampled_from([(), ("flu",), ("hiv", "cold"), ("none",)])


def told(made: Transactions, found: Itemsets) -> list[tuple[tuple[str, ...], int, int]]:
    return list(zip(found.labelled(made.labels), found.rows.tolist(), found.top.tolist(), strict=True))


def tallies(found: Repeats, values: tuple[str, ...]) -> list[dict[str, int]]:
    starts, codes, times = (part.tolist() for part in found.watched)
    pairs = list(zip(codes, times, strict=True))
    return [{values[c]: n for c, n in pairs[a:b]} for a, b in pairwise(starts)]


def expected(records, secrets, values) -> dict[frozenset[str], dict[str, int]]:
    found: dict[frozenset[str], Counter[str]] = {record: Counter() for record in records}
    for record, secret in zip(records, secrets or [], strict=False):
        if secret is not None and (not values or secret in values):
            found[record][secret] += 1
    return {record: dict(tally) for record, tally in found.items()}


def check(found: Repeats, records, secrets, values, made: Transactions) -> None:
    """Added up over the records that are alike, everything is as in the plain records."""
    kept = list(map(frozenset, found.records.records()))
    times: Counter[frozenset[str]] = Counter()
    for record, many in zip(kept, found.times.tolist(), strict=True):
        times[record] += many
    assert times == Counter(records)
    assert found.records.secret is None
    sums: dict[frozenset[str], Counter[str]] = {record: Counter() for record in records}
    for record, tally in zip(kept, tallies(found, made.secret.values if made.secret else ()), strict=True):
        sums[record].update(tally)
    assert sums == expected(records, secrets, values)


@examples(150)
@given(table=tables, values=seen)
def test_different_records_with_their_times_and_secrets(table, values):
    records, secrets = table
    made = Transactions.of(records, order=ITEMS, secret=secrets)
    found = repeats(made, values)
    kept = list(map(frozenset, found.records.records()))
    assert len(kept) == len(set(kept))
    check(found, records, secrets, values, made)
    for q in brute.known(records, 3):
        rows = sum(many for record, many in zip(kept, found.times.tolist(), strict=True) if q <= record)
        assert rows == brute.supported(records, q)


@examples(100)
@given(table=tables, values=seen)
def test_every_record_once(table, values):
    records, secrets = table
    made = Transactions.of(records, secret=secrets)
    found = singly(made, values)
    assert list(map(frozenset, found.records.records())) == records
    assert found.times.tolist() == [1] * len(records)
    check(found, records, secrets, values, made)


@examples(100)
@given(table=tables, values=seen, missing=st.sets(st.integers(0, 13)))
def test_records_without_a_secret(table, values, missing):
    records, _ = table
    secrets = [None if row in missing else VALUES[row % 3] for row in range(len(records))]
    made = Transactions.of(records).watching("ill", secrets)
    check(repeats(made, values), records, secrets, values, made)


@examples(100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    table=tables,
    values=seen,
    l=st.integers(1, 5),
    k=st.integers(1, 4),
    c=st.sampled_from(LIMITS),
    support=st.integers(1, 4),
)
def test_two_different_records_with_one_hash(monkeypatch, table, values, l, k, c, support):
    """With words of zero, all records of one length have one hash: then none is counted with another."""
    records, secrets = table
    made = Transactions.of(records, secret=secrets)
    plain = told(made, violating(made, l=l, k=k, c=float(c), values=values))
    frequent = told(made, maximal_frequent(made, support))
    with monkeypatch.context() as patch:
        patch.setattr(module, "_WORDS", np.uint64(0))
        found = repeats(made, values)
        check(found, records, secrets, values, made)
        lengths = {len(record): record for record in records}
        if any(lengths[len(record)] != record for record in records):
            assert found.times.tolist() == [1] * len(records)
        assert told(made, violating(made, l=l, k=k, c=float(c), values=values)) == plain
        assert sorted(told(made, maximal_frequent(made, support))) == sorted(frequent)


def test_no_record_at_all():
    made = Transactions.of([], order="ab")
    found = repeats(made)
    assert (found.records.rows, found.times.tolist()) == (0, [])
    assert violating(made, l=2, k=2, c=1.0).count == 0
