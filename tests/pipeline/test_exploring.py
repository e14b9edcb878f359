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
from sfumato.core.errors import Infeasible, PlanError
from sfumato.pipeline.exploration import (
    Explored,
    as_file,
    kind_asked,
    leaf_table,
    levels_shown,
    nested_tree,
    spread_of,
    with_noise,
)
from sfumato.tables.schema import ObservedDomain
from sfumato.tables.table import Table
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
    with pytest.raises(PlanError, match=r"algorithm\.levels\.age must be a whole number"):
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
    beside = {one["model"]: one["reached"] for one in counted.offered()}
    assert beside["distinct-l-diversity"] == 1
    assert "k-map" not in beside


def test_every_algorithm_says_why_it_does_not_fit():
    frame = framed([(20 + n, "clerk", "11", "flu") for n in range(30)])
    found = Explored(Table(frame=frame.cast({"age": pl.String}))).under(plan()).fitting()
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


def paths_plan(**privacy: Any) -> sf.Plan:
    columns = {"path": {"role": "quasi", "type": "trajectory"}, "status": {"role": "sensitive"}}
    return sf.Plan.parse({"columns": columns, "privacy": privacy or {"km": {"k": 3, "m": 1}}})


def test_of_paths_the_raw_records_reach_what_the_model_says_and_algorithms_say_whether_they_fit():
    frame = pl.DataFrame({"path": ["a@1|b@2", "a@1", "a@1|b@2", "c@1"], "status": ["x", "y", "x", "y"]})
    counted = Explored(Table(frame=frame)).under(paths_plan())
    assert [(one["model"], one["reached"]) for one in counted.reached()] == [("km-anonymity", 1.0)]
    assert [one["model"] for one in counted.offered()] == ["lkc-privacy"]
    fits = {one["name"]: one["why_not"] for one in counted.fitting()["algorithms"]}
    assert counted.fitting()["auto"] == "trajectory"
    assert fits["trajectory"] == ""
    assert "paths" in fits["local-sets"]
    with pytest.raises(PlanError, match="no lattice"):
        counted.around({})


def test_of_paths_the_levels_are_over_places_and_over_times():
    frame = pl.DataFrame({"path": ["a@1|b@2", "a@1", "c@5"], "status": ["x", "y", "x"]})
    explored, asked = Explored(Table(frame=frame)), paths_plan()
    places = explored.levels(asked, "path", {"kind": "flat"})
    assert dict(places[0]["labels"]) == {"a": 2, "b": 1, "c": 1}
    times = {"kind": "intervals", "widths": [4], "low": 0, "high": 8}
    found = explored.levels(asked, "path", times, "time_hierarchy")
    assert sum(many for _, many in found[1]["labels"]) == 4
    assert found[1]["different"] == 2


NUMBERS = {"columns": {"age": {"role": "quasi", "type": "integer"}}, "privacy": {"epsilon": 1}}


def test_with_noise_what_has_no_domain_is_said_before_anything_is_paid():
    frame = pl.DataFrame({"age": ["20", "30", "200"]})
    refused = sf.Plan.parse(NUMBERS)
    assert "declared domain" in str(Explored(Table(frame=frame)).under(refused).unreachable())
    column = {**NUMBERS["columns"]["age"], "hierarchy": {"kind": "grown", "low": 0, "high": 100}}  # type: ignore[index]
    declared = sf.Plan.parse({**NUMBERS, "columns": {"age": column}})
    explored = Explored(Table(frame=frame))
    assert explored.under(declared).unreachable() is None
    assert explored.under(declared).fitting()["auto"] == "marginals"
    told = explored.declared(declared, "age", column)
    assert told["words"] == "numbers from 0 to 100, on a grid of 1"
    assert "1 cell" in " ".join(told["notes"])
    with pytest.raises(PlanError, match="no such column"):
        explored.declared(declared, "agee", column)


DRAFTED: dict[str, dict[str, Any]] = {
    "name": {"role": "identifier"},
    "age": {"role": "quasi", "hierarchy": TREES["age"], "domain_from": "profile", "base": 1},
    "weight": {"role": "keep", "type": "real"},
    "job": {"role": ["quasi", "sensitive"], "hierarchy": TREES["job"]},
    "zip": {"role": "quasi", "hierarchy": TREES["zip"]},
    "born": {"role": "quasi", "type": "date", "hierarchy": {"kind": "dates", "levels": ["year"]}},
    "ill": {"role": "sensitive"},
    "answer": {"role": "target"},
}


def switched(columns: dict[str, dict[str, Any]]) -> tuple[dict[str, Any], list[str]]:
    tree = {"columns": columns, "privacy": {"k_anonymity": 5}, "algorithm": {"max_suppressed": 0.1}}
    made = {key: {inner: dict(value) if isinstance(value, dict) else value for inner, value in table.items()}
            for key, table in tree.items()}  # fmt: skip
    changes, left_out = with_noise(tree, {"age": "integer"}, Path())
    for path, value in changes:
        *above, last = path
        table: Any = made
        for part in above:
            table = table[part]
        if value is None:
            table.pop(last, None)
        else:
            table[last] = value
    return made, left_out


def test_from_groups_to_noise_every_column_has_a_domain_or_is_left_out():
    made, left_out = switched(DRAFTED)
    assert left_out == ["born"]
    assert made["privacy"] == {"epsilon": 1.0, "delta": 1e-6}
    assert "algorithm" not in made
    assert made["columns"] == {
        "name": {"role": "identifier"},
        "age": {"role": "quasi", "hierarchy": {"kind": "grown"}, "domain_from": "discover"},
        "weight": {"role": "quasi", "type": "real", "hierarchy": {"kind": "grown"}, "domain_from": "discover"},
        "job": {"role": "quasi", "hierarchy": TREES["job"]},
        "zip": {"role": "quasi", "domain_from": "discover"},
        "born": {"role": "drop"},
        "ill": {"role": "quasi", "domain_from": "discover"},
        "answer": {"role": "target", "domain_from": "discover"},
    }
    sf.Plan.parse(made)


def test_declared_domains_need_no_delta_and_sets_leave_texts_out():
    declared = {"job": DRAFTED["job"]}
    assert switched(declared)[0]["privacy"] == {"epsilon": 1.0}
    items = {"goods": {"role": "quasi", "type": "set", "hierarchy": {"tree": {"*": ["milk", "bread"]}}}}
    made, left_out = switched({**declared, **items, "ill": {"role": "sensitive"}})
    assert left_out == ["ill"]
    assert made["privacy"] == {"epsilon": 1.0}
    sf.Plan.parse(made)


@pytest.mark.parametrize(
    ("tree", "kind"),
    [
        ({"columns": {"a": {"role": "quasi", "hierarchy": {"kind": "flat"}}}, "privacy": {"k_anonymity": 2}}, "table"),
        ({"columns": {"a": {"role": "nobody"}}, "privacy": {"rho": 1}}, "private"),
        ({"columns": {"a": {"role": "quasi", "type": "set"}}, "privacy": {"k_anonymity": 2}}, "items"),
        ({"columns": {"a": {"role": "quasi", "type": "real"}}, "privacy": {"indistinguishable_groups": 3}},
         "condensed"),
        ({"columns": "no table", "privacy": 3}, "table"),
    ],
)  # fmt: skip
def test_the_kind_of_a_plan_is_known_also_where_the_plan_is_refused(tree, kind):
    assert kind_asked(tree, Path()) == kind
