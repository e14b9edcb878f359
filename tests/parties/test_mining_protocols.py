"""What a session file can ask to be mined: read, refused, and run from the parties' tables to the result."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from sfumato.core.errors import DataError, ParameterError, UnknownColumn
from sfumato.mining.document_json import tree_of
from sfumato.parties.simulation import in_threads
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.tables.frames import from_frame
from sfumato.tables.table import Table

WARDS = ["A", "B", "C"]
COLUMNS = {"ward": WARDS, "age": {"low": 0, "high": 100, "grid": 1}, "died": ["no", "yes"]}
ASKED = {
    "counts": {"columns": {"ward": WARDS, "died": ["no", "yes"]}},
    "rules": {"columns": ["ward", "died"], "min_support": 0.05, "min_confidence": 0.4},
    "naive-bayes": {"columns": COLUMNS, "target": "died"},
    "tree": {"columns": COLUMNS, "target": "died", "min_leaf": 5},
    "k-means": {"columns": {"age": COLUMNS["age"]}, "clusters": 2, "starts": 2},
}


def people(rows: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    ward, age = rng.integers(0, 3, rows), rng.integers(0, 101, rows)
    died = (age / 100 + 0.2 * ward > rng.random(rows)).astype(int)
    return pl.DataFrame({"ward": [WARDS[n] for n in ward], "age": age, "died": [["no", "yes"][n] for n in died]})


def run(name: str, tables: list[pl.DataFrame]) -> list:
    protocol = catalog().protocol(name)
    asked = protocol.read(ASKED[name], ("a", "b", "c"))
    own = [protocol.prepare(asked, from_frame(one)) for one in tables]
    for one in own:
        assert protocol.given(asked, one)
    assert protocol.leakage(asked, ("a", "b", "c")).lines()
    return in_threads([lambda talk, one=one: protocol.run(talk, asked, one) for one in own])


@pytest.mark.parametrize("name", sorted(set(catalog().protocols) & set(ASKED)))
def test_every_party_has_the_same_result_however_records_are_dealt(name):
    whole = people(300, 1)
    dealt = run(name, [whole[:10], whole[10:200], whole[200:]])
    moved = run(name, [whole[200:], whole[:1], whole[1:200]])
    texts = {json.dumps(one.document, sort_keys=True) for one in (*dealt, *moved)}
    assert len(texts) == 1
    for one in dealt:
        assert all(len(row) == len(one.columns) for row in one.rows)
        assert one.rows


def test_a_tree_comes_as_a_document_that_can_be_read():
    whole = people(300, 2)
    found = run("tree", [whole[:100], whole[100:200], whole[200:]])[0]
    tree = tree_of(json.loads(json.dumps(found.document)))
    assert tree.records == 300
    assert tree.nodes > 1


def test_naive_bayes_tells_counts_that_add_up():
    whole = people(120, 3)
    found = run("naive-bayes", [whole[:40], whole[40:80], whole[80:]])[0].document
    assert sum(found["records"]) == 120
    for table in found["columns"].values():
        assert np.sum(list(table.values()), axis=0).tolist() == found["records"]


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("rules", {"columns": [], "sets": []}, "must name columns"),
        ("rules", {"columns": "ward"}, "parameters.columns must be a list"),
        ("rules", {"min_support": 2}, "parameters.min_support"),
        ("rules", {"min_confidence": "half"}, "parameters.min_confidence"),
        ("rules", {"longest": 0}, "parameters.longest"),
        ("rules", {"separator": ""}, "parameters.separator"),
        ("rules", {"suport": 1}, "parameters.suport is not known"),
        ("tree", {"target": "age"}, "parameters.target must be one of"),
        ("tree", {"target": 3}, "parameters.target must name"),
        ("tree", {"columns": {"died": ["no", "yes"]}}, "at least one column beside the target"),
        (
            "tree",
            {"columns": {**COLUMNS, "age": {"low": 0, "high": 1}}},
            r"parameters.columns.age.grid must be a number",
        ),
        ("tree", {"columns": {**COLUMNS, "age": {"low": 0, "high": 9e9, "grid": 1}}}, "a wider grid would do"),
        ("tree", {"columns": {**COLUMNS, "age": {"low": 3, "high": 1, "grid": 1}}}, "high must be above low"),
        ("tree", {"columns": {**COLUMNS, "ward": ["A", "A"]}}, "names a value twice"),
        ("tree", {"columns": {**COLUMNS, "ward": []}}, "must be a list of texts"),
        ("tree", {"columns": {}}, "must name columns"),
        ("tree", {"min_leaf": 0}, "parameters.min_leaf must be at least 1"),
        ("tree", {"max_depth": 10**6}, "parameters.max_depth"),
        ("tree", {"criterion": "gini"}, "parameters.criterion"),
        ("k-means", {"clusters": 0}, "parameters.clusters"),
        ("k-means", {"clusters": None}, "parameters.clusters"),
        ("k-means", {"columns": {"ward": WARDS}}, "clusters are of numbers"),
        ("k-means", {"seed": -1}, "parameters.seed"),
    ],
)
def test_parameters_that_cannot_be_are_refused_with_their_key(name, change, said):
    with pytest.raises(ParameterError, match=said):
        catalog().protocol(name).read({**ASKED[name], **change}, ("a", "b", "c"))


@pytest.mark.parametrize("name", ["naive-bayes", "tree", "k-means"])
def test_a_table_that_does_not_fit_is_refused_before_anything_is_sent(name):
    protocol = catalog().protocol(name)
    asked = protocol.read(ASKED[name], ("a", "b", "c"))
    with pytest.raises(DataError, match="outside the d"):
        protocol.prepare(asked, from_frame(people(5, 1).with_columns(age=pl.lit(500))))
    with pytest.raises(UnknownColumn):
        protocol.prepare(asked, from_frame(people(5, 1).drop("age")))


def test_rules_need_rows():
    protocol = catalog().protocol("rules")
    asked = protocol.read(ASKED["rules"], ("a", "b", "c"))
    with pytest.raises(DataError, match="has no rows"):
        protocol.prepare(asked, Table(frame=people(5, 1)[:0]))
