"""What pages ask of a table before it is released: the figures of single nodes are those of a release."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.table import Table
from sfumato.describe.domains import ObservedDomain
from sfumato.ground.errors import Infeasible, PlanError
from sfumato.workflow.exploring.explored import Explored
from sfumato.workflow.exploring.hierarchy_levels import as_file, leaf_table, levels_shown, nested_tree
from sfumato.workflow.exploring.number_spread import spread_of
from tests.weights import examples

TREES: dict[str, dict[str, Any]] = {
    "age": {"kind": "intervals", "widths": [10, 20], "low": 0, "high": 100},
    "job": {"tree": {"*": {"Office": ["clerk", "boss"], "Field": ["driver"]}}},
    "zip": {"kind": "mask", "from": "right"},
}


def plan(k: int = 2, suppressed: float = 0.2, **algorithm: Any) -> sf.Plan:
    columns = {name: {"role": "quasi", "hierarchy": tree} for name, tree in TREES.items()}
    columns |= {"age": {**columns["age"], "type": "integer"}, "zip": {**columns["zip"], "type": "text"}}
    return sf.Plan.parse(
        {
            "columns": {**columns, "ill": {"role": "sensitive"}},
            "privacy": {"k_anonymity": k},
            "algorithm": {"max_suppressed": suppressed, **algorithm},
        }
    )


rows = st.lists(
    st.tuples(
        st.integers(0, 99),
        st.sampled_from(["clerk", "boss", "driver"]),
        st.sampled_from(["11", "12", "21", "99"]),
        st.sampled_from(["flu", "cold"]),
    ),
    min_size=4,
    max_size=30,
)
nodes = st.fixed_dictionaries({"age": st.integers(0, 3), "job": st.integers(0, 2), "zip": st.integers(0, 2)})


def framed(found: list[tuple[Any, ...]]) -> pl.DataFrame:
    return pl.DataFrame(found, schema=["age", "job", "zip", "ill"], orient="row")


@given(rows, nodes)
@examples(60)
def test_a_node_shows_what_a_release_at_these_levels_gives(found, levels):
    frame = framed(found)
    named = plan(name="levels", levels=levels)
    shown = Explored(Table(frame=frame.cast({"age": pl.String}))).under(named).node(levels)
    assert dict(shown.levels) == levels
    if not shown.feasible:
        with pytest.raises(Infeasible):
            sf.release(named, frame)
        return
    made: Any = sf.release(named, frame)
    assert made.levels == levels
    assert made.suppressed_rows == shown.suppressed
    assert made.utility["loss"] == pytest.approx(shown.value)
    if made.height:
        sizes = made.rows.group_by("age", "job", "zip").len()["len"]
        assert (sizes.min(), len(sizes)) == (shown.smallest, shown.classes)


def test_the_neighbours_of_a_node_are_one_step_away():
    frame = framed([(20 + n, "clerk", "11", "flu") for n in range(20)])
    found = Explored(Table(frame=frame.cast({"age": pl.String}))).under(plan()).around({"age": 1, "job": 0, "zip": 0})
    steps = {(one["column"], one["step"]) for one in found["near"]}
    assert steps == {("age", -1), ("age", 1), ("job", 1), ("zip", 1)}


def test_levels_that_cannot_be_are_refused_by_name():
    frame = framed([(20, "clerk", "11", "flu")] * 5)
    with pytest.raises(PlanError, match="agee"):
        sf.release(plan(name="levels", levels={"agee": 1}), frame)
    with pytest.raises(PlanError, match="from 0 to 3"):
        sf.release(plan(name="levels", levels={"age": 9}), frame)
    with pytest.raises(PlanError, match="from 0 to"):
        sf.release(plan(name="levels", levels={"age": True}), frame)


@given(st.lists(st.sampled_from(["a", "b,c", 'd"e', "f;g", "é", "x y"]), min_size=1, max_size=12))
@examples(40)
def test_a_hierarchy_comes_back_from_its_file_and_from_its_tree(tmp_path_factory, values):
    assume(len({value in ("a", "b,c") for value in values}) == 2)  # a group that holds everything reads like the root
    folder: Path = tmp_path_factory.mktemp("tree")
    tree = {"tree": {"*": {"One": ["a", "b,c"], "Two": ['d"e', "f;g", "é", "x y"]}}}
    domain = ObservedDomain.of(Table(frame=pl.DataFrame({"v": values})).column("v"))
    shown = levels_shown(tree, domain, folder=folder)
    lines = leaf_table(tree, domain, folder=folder)
    (folder / "v.csv").write_text(as_file(lines), encoding="utf-8")
    assert levels_shown({"file": "v.csv"}, domain, folder=folder) == shown
    again = levels_shown(nested_tree(lines), domain, folder=folder)
    assert [{*one.labels} for one in again] == [{*one.labels} for one in shown]


def test_what_the_raw_table_reaches_is_told_for_every_model_that_can_be_judged():
    frame = framed([(20 + n % 2, "clerk", "11", ("flu", "cold")[n % 2]) for n in range(8)])
    asked = replace(plan(), privacy={"k_anonymity": 2, "l_diversity": {"kind": "entropy", "l": 1}})
    counted = Explored(Table(frame=frame.cast({"age": pl.String}))).under(asked)
    assert [one["reached"] for one in counted.reached() if one["model"] == "k-anonymity"] == [4]
    beside = {one["model"]: one["reached"] for one in counted.offered(asked)}
    assert beside["distinct-l-diversity"] == 1
    assert "k-map" not in beside


def test_every_algorithm_says_why_it_does_not_fit():
    frame = framed([(20 + n, "clerk", "11", "flu") for n in range(30)])
    found = Explored(Table(frame=frame.cast({"age": pl.String}))).under(plan()).fitting(plan())
    why = {one["name"]: one["why_not"] for one in found["algorithms"]}
    assert found["auto"] == "optimal"
    assert "l-diversity" in why["anatomy"]
    assert why["optimal"] == why["mondrian"] == why["levels"] == ""


def test_the_unreachable_is_told_without_a_search():
    frame = framed([(20 + n, "clerk", "11", "flu") for n in range(30)])
    counted = Explored(Table(frame=frame.cast({"age": pl.String}))).under(plan(k=100))
    assert "30 rows" in str(counted.unreachable())
    assert Explored(Table(frame=frame.cast({"age": pl.String}))).under(plan(k=2)).unreachable() is None


def test_a_spread_counts_every_row_and_words_have_none():
    import numpy as np

    found = spread_of(["1", "5", "9"], np.array([3, 4, 5]))
    assert found is not None
    assert (found["low"], found["high"], sum(found["counts"])) == (1.0, 9.0, 12)
    assert spread_of(["a", "1"], np.array([1, 1])) is None
