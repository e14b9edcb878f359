"""Two parties with different columns about the same people: their rules and counts are those of the joined table."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import DataError, ParameterError, SessionError
from sfumato.counts.frequent_itemsets import frequent_itemsets, least_rows
from sfumato.mining.association_rules import association_rules, transactions_of
from sfumato.mining.naive_bayes import bayes_counts
from sfumato.mining.records import read_like
from sfumato.parties.common_people import exchange_json
from sfumato.parties.garbled_circuits import ready_to_compute
from sfumato.parties.oblivious_transfer import Sending
from sfumato.parties.scalar_product import products_of_bits, products_of_numbers, put_together, reaching
from sfumato.parties.simulation import in_threads, seats, together
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.tables.frames import from_frame
from tests.weights import examples

WARDS, DRUGS = ["A", "B", "C"], ["x", "y"]
COLUMNS = {
    "ward": WARDS,
    "drug": DRUGS,
    "age": {"low": 0, "high": 100, "grid": 1},
    "died": ["no", "yes"],
}
BAYES = {"identifier": "pid", "holds": {"a": ["ward", "died"], "b": ["drug", "age"]}, "columns": COLUMNS}
RULES = {"identifier": "pid", "holds": {"a": ["ward", "died"], "b": ["drug"]}, "min_support": 0.1}


def hospitals(seed, people):
    """The tables of two parties that have some people in common, in orders of their own."""
    rng = np.random.default_rng(seed)
    whole = pl.DataFrame(
        {
            "pid": [f"p{n:03}" for n in range(people)],
            "ward": [WARDS[n] for n in rng.integers(0, 3, people)],
            "drug": [DRUGS[n] for n in rng.integers(0, 2, people)],
            "age": rng.integers(0, 101, people),
            "died": [["no", "yes"][n] for n in rng.integers(0, 2, people)],
        }
    )
    ours, theirs = (whole.filter(pl.Series(rng.random(people) < 0.8)) for _ in range(2))
    one = ours.select("pid", "ward", "died").sample(fraction=1, shuffle=True, seed=seed)
    other = theirs.select("pid", "drug", "age").sample(fraction=1, shuffle=True, seed=seed + 1)
    return one, other, one.join(other, on="pid")


def run(name, asked, tables):
    protocol = catalog().protocol(name)
    parameters = protocol.read(asked, ("a", "b"))
    own = [protocol.prepare(parameters, from_frame(one)) for one in tables]
    assert all(protocol.given(parameters, one) for one in own)
    return in_threads([lambda talk, one=one: protocol.run(talk, parameters, one) for one in own])


@examples(8)
@given(seed=st.integers(0, 2**16), people=st.sampled_from([6, 30, 90]), target=st.sampled_from(["died", "drug"]))
def test_vertical_bayes_counts_are_those_of_the_joined_table(seed, people, target):
    one, other, joined = hospitals(seed, people)
    if not joined.height:
        return
    found = run("vertical-naive-bayes", {**BAYES, "target": target}, [one, other])
    assert found[0].document == found[1].document
    protocol = catalog().protocol("vertical-naive-bayes")
    asked = protocol.read({**BAYES, "target": target}, ("a", "b"))
    records = read_like(joined, attributes=asked.attributes, target=target, classes=asked.classes, strict=True)
    classes, *tables = bayes_counts(records)
    document = found[0].document
    assert document["records"] == classes.tolist()
    for attribute, table in zip(records.attributes, tables, strict=True):
        assert list(document["columns"][attribute.name].values()) == table.tolist()


@examples(8)
@given(seed=st.integers(0, 2**16), people=st.sampled_from([8, 60]), longest=st.integers(1, 3))
def test_vertical_rules_are_those_of_the_joined_table(seed, people, longest):
    one, other, joined = hospitals(seed, people)
    if not joined.height:
        return
    found = run("vertical-rules", {**RULES, "longest": longest}, [one, other.drop("age")])
    assert found[0].document == found[1].document
    items = transactions_of(from_frame(joined), sets=[], columns=["ward", "died", "drug"])
    sets = frequent_itemsets(items, least_rows(0.1, joined.height), longest=longest)
    due = association_rules(sets, 0.5)
    document = found[0].document
    assert {(frozenset(s["items"]), s["rows"]) for s in document["sets"]} == {
        (frozenset(sets.named(items)), rows) for items, rows in sets.each()
    }
    rules = {(frozenset(r["antecedent"]), frozenset(r["consequent"]), r["rows"]) for r in document["rules"]}
    assert rules == {(frozenset(a), frozenset(b), rows) for a, b, rows, *_ in due.frame().rows()}


def test_products_that_reach_a_number_are_told_and_no_others():
    rng = np.random.default_rng(4)
    numbers, bits = rng.integers(0, 2, (40, 25)), rng.integers(0, 2, (40, 25))
    due = (numbers * bits).sum(axis=1)

    def side(seat):
        ready = yield from ready_to_compute(seat, 1 - seat.me)
        if isinstance(ready, Sending):
            shares = yield from products_of_numbers(ready, numbers.astype(np.uint64))
        else:
            shares = yield from products_of_bits(ready, bits.astype(np.uint8))
        reached = yield from reaching(ready, shares, 7)
        opened = yield from put_together(1 - seat.me, shares[reached])
        return reached, opened, shares

    for reached, opened, shares in together([side(one) for one in seats(2)]):
        assert np.array_equal(reached, due >= 7)
        assert np.array_equal(opened, due[due >= 7])
        assert not np.array_equal(shares, due)


def test_nobody_in_common_ends_the_session():
    one, other, _ = hospitals(1, 20)
    strangers = other.with_columns(pid=pl.lit("z") + pl.col("pid"))
    with pytest.raises(SessionError, match="nobody in common"):
        run("vertical-naive-bayes", {**BAYES, "target": "died"}, [one, strangers])


def test_tables_that_do_not_fit_are_refused():
    one, other, _ = hospitals(1, 20)
    asked = {**BAYES, "target": "died"}
    protocol = catalog().protocol("vertical-naive-bayes")
    parameters = protocol.read(asked, ("a", "b"))
    with pytest.raises(DataError, match="stands there twice"):
        protocol.prepare(parameters, from_frame(pl.concat([one, one[:1]])))
    with pytest.raises(DataError, match="neither party's columns"):
        protocol.prepare(parameters, from_frame(one.drop("ward")))
    with pytest.raises(DataError, match="outside the domain"):
        protocol.prepare(parameters, from_frame(other.with_columns(age=pl.lit(200))))
    with pytest.raises(DataError, match="no identifier"):
        protocol.prepare(parameters, from_frame(one.with_columns(pid=pl.lit(None, pl.String))))
    with pytest.raises(SessionError, match="to the other party"):
        run("vertical-naive-bayes", asked, [other, one])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"identifier": ""}, "parameters.identifier"),
        ({"holds": {"a": ["ward"]}}, "parameters.holds must list"),
        ({"holds": {"a": ["ward"], "b": []}}, "parameters.holds.b"),
        ({"holds": {"a": ["ward"], "b": ["ward"]}}, "every column once"),
        ({"holds": {"a": ["ward"], "b": ["drug"]}}, "parameters.columns must declare"),
        ({"target": "age"}, "parameters.target"),
        ({"target": None}, "parameters.target"),
        ({"sorts": 1}, "parameters.sorts is not known"),
    ],
)
def test_parameters_that_cannot_be_are_refused(change, said):
    with pytest.raises(ParameterError, match=said):
        catalog().protocol("vertical-naive-bayes").read({**BAYES, "target": "died", **change}, ("a", "b"))


@pytest.mark.parametrize(
    ("change", "said"),
    [({"sets": ["nothing"]}, "parameters.sets"), ({"min_support": 0}, "parameters.min_support"),
     ({"separator": 1}, "parameters.separator"), ({"longest": 0}, "parameters.longest")],
)  # fmt: skip
def test_rules_that_cannot_be_are_refused(change, said):
    with pytest.raises(ParameterError, match=said):
        catalog().protocol("vertical-rules").read({**RULES, **change}, ("a", "b"))


def test_a_message_that_is_no_json_ends_the_session():
    talk = exchange_json(1, [1])
    next(talk)
    talk.send({1: (2).to_bytes(8, "big")})
    with pytest.raises(SessionError, match="no JSON"):
        talk.send({1: b"{]"})
    talk = exchange_json(1, [1])
    next(talk)
    with pytest.raises(SessionError, match="at most"):
        talk.send({1: (2**40).to_bytes(8, "big")})
