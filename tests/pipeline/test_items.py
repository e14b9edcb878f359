"""Releases of paths, sets and mixed records, from plan to verified bundle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import sfumato as sf
from sfumato.pipeline.profile.draft import draft
from sfumato.tables.item_sets import set_column
from sfumato.tables.table import Table
from tests.brute.itemsets import holds_km, holds_lkc

G4 = {
    "id": [1, 2, 3, 4, 5, 6, 7, 8],
    "path": [
        "b@2|d@3|c@4|f@6|c@7",
        "f@6|c@7|e@8",
        "d@3|c@4|f@6|e@8",
        "b@2|c@5|c@7|e@8",
        "d@3|c@7|e@8",
        "c@5|f@6|e@8",
        "b@2|f@6|c@7|e@8",
        "b@2|c@5|f@6|c@7",
    ],
    "ill": ["AIDS", "Flu", "Fever", "Flu", "Fever", "Diabetes", "Diabetes", "AIDS"],
}
PATH = {"role": "quasi", "type": "trajectory", "repeats": "keep"}
LKC = {"lkc": {"l": 2, "k": 2, "c": 0.5, "values": ["AIDS"]}}


def plan(columns: dict[str, Any], privacy: dict[str, Any], **algorithm: Any) -> sf.Plan:
    return sf.Plan.parse({"columns": columns, "privacy": privacy, "algorithm": algorithm})


def g4(**algorithm: Any) -> sf.Plan:
    columns = {"id": {"role": "identifier"}, "path": PATH, "ill": {"role": "sensitive"}}
    return plan(columns, LKC, **{"score": "ratio", "support": 2, **algorithm})


def sets_of(rows: pl.DataFrame, name: str) -> list[frozenset[str]]:
    found = set_column(Table(frame=rows), name)
    return [
        frozenset(found.labels[code] for code in found.codes[a:b])
        for a, b in zip(found.starts[:-1], found.starts[1:], strict=True)
    ]


def read(folder: Path) -> pl.DataFrame:
    path = next(folder.glob("data.*"))
    if path.suffix == ".parquet":
        return pl.read_parquet(path)
    return pl.read_csv(path, infer_schema=False)


def test_table_4_2_of_the_thesis_comes_out_of_a_plan(tmp_path: Path):
    made = sf.release(g4(), pl.DataFrame(G4))
    assert made.write(tmp_path / "out").holds
    rows = read(tmp_path / "out")
    assert rows.columns == ["path", "ill"]
    wanted = ["d@3|f@6|c@7", "f@6|c@7|e@8", "d@3|f@6|e@8", "c@5|c@7|e@8", "d@3|c@7|e@8", "c@5|f@6|e@8", "f@6|c@7|e@8"]
    assert sorted(rows["path"]) == sorted([*wanted, "c@5|f@6|c@7"])
    assert [step.label for step in made.outcome.steps] == ["c@4", "b@2"]
    assert made.utility["lost_frequent_sets"] == pytest.approx(4 / 9)
    assert sf.verify(tmp_path / "out").holds


@pytest.mark.parametrize("how", ["csv", "parquet", "pandas"])
def test_texts_lists_and_frames_give_the_same_release(tmp_path: Path, how):
    frame = pl.DataFrame(G4)
    asked = g4(seed=1)
    if how == "parquet":
        frame.with_columns(pl.col("path").str.split("|")).write_parquet(tmp_path / "in.parquet")
        tree = {
            "input": {"path": "in.parquet"},
            "columns": {"path": PATH, "ill": {"role": "sensitive"}},
            "privacy": LKC,
        }
        tree["algorithm"] = {"score": "ratio", "support": 2, "seed": 1}
        made = sf.release(sf.Plan.parse(tree, folder=tmp_path))
    else:
        made = sf.release(asked, frame if how == "csv" else pd.DataFrame(G4))
    assert made.write(tmp_path / "out").holds
    assert isinstance(made.frame, pd.DataFrame) == (how == "pandas")
    rows = read(tmp_path / "out")
    assert (rows["path"].dtype == pl.List(pl.String)) == (how == "parquet")
    expected = sf.release(asked, frame).rows
    assert sorted(map(sorted, sets_of(rows, "path"))) == sorted(map(sorted, sets_of(expected, "path")))


def test_nothing_in_a_bundle_names_what_was_left_out(tmp_path: Path):
    made = sf.release(g4(), pl.DataFrame(G4))
    made.write(tmp_path / "out")
    made.write_inside(tmp_path / "inside.html")
    for name in ("manifest.json", "report.html", "data.csv"):
        text = (tmp_path / "out" / name).read_text()
        assert "c@4" not in text, name
        assert "b@2" not in text, name
    assert "c@4" in (tmp_path / "inside.html").read_text()


def test_records_without_any_item_stay_records(tmp_path: Path):
    frame = pl.DataFrame({"path": ["a@1", "a@1", "z@9", "", None]})
    made = sf.release(plan({"path": PATH}, {"km": {"k": 2, "m": 1}}, support=2), frame)
    assert made.write(tmp_path / "out").holds
    assert sorted(map(sorted, sets_of(read(tmp_path / "out"), "path"))) == [[], [], [], ["a@1"], ["a@1"]]
    nobody = sf.release(plan({"path": PATH}, {"km": {"k": 2, "m": 1}}), pl.DataFrame({"path": ["a@1", "b@2"]}))
    assert nobody.write(tmp_path / "none").holds
    assert sets_of(read(tmp_path / "none"), "path") == [frozenset(), frozenset()]


def test_a_long_input_is_gathered_by_id(tmp_path: Path):
    rows = [
        (i, place.split("@")[0], int(place.split("@")[1]), G4["ill"][i - 1])
        for i, path in zip(G4["id"], G4["path"], strict=True)
        for place in path.split("|")
    ]
    long = pl.DataFrame(rows, schema=["who", "where", "when", "ill"], orient="row").sample(
        fraction=1, shuffle=True, seed=3
    )
    columns = {
        "path": {**PATH, "long": {"id": "who", "place": "where", "time": "when"}},
        "ill": {"role": "sensitive"},
    }
    made = sf.release(plan(columns, LKC, score="ratio", support=2), long)
    assert made.write(tmp_path / "out").holds
    expected = sf.release(g4(), pl.DataFrame(G4)).rows
    assert sorted(map(sorted, sets_of(made.rows, "path"))) == sorted(map(sorted, sets_of(expected, "path")))
    assert sorted(made.rows.columns) == ["ill", "path"]


def test_items_of_a_file_are_joined_to_people(tmp_path: Path):
    pl.DataFrame({"who": ["x", "y", "y", "x"], "what": ["beer", "beer", "bread", "bread"]}).write_csv(
        tmp_path / "buys.csv"
    )
    pl.DataFrame({"who": ["x", "y", "z"], "sex": ["f", "f", "f"]}).write_csv(tmp_path / "people.csv")
    tree = {
        "input": {"path": "people.csv"},
        "columns": {
            "who": {"role": "identifier"},
            "sex": {"role": "quasi", "hierarchy": {"kind": "flat"}},
            "basket": {"role": "quasi", "type": "set", "long": {"file": "buys.csv", "id": "who", "item": "what"}},
        },
        "privacy": {"km": {"k": 2, "m": 3}},
    }
    made = sf.release(sf.Plan.parse(tree, folder=tmp_path))
    assert made.write(tmp_path / "out").holds
    assert sorted(made.rows["basket"]) == ["", "beer|bread", "beer|bread"]
    assert "buys.csv" not in (tmp_path / "out" / "manifest.json").read_text()
    assert made.rows.columns == ["sex", "basket"]


def test_points_fall_on_a_grid_and_a_clock(tmp_path: Path):
    points = pl.DataFrame(
        {
            "who": ["x"] * 3 + ["y"] * 3,
            "lon": [0.1, 1.2, 1.3, 0.2, 1.1, 1.9],
            "lat": [0.1, 0.2, 0.3, 0.4, 0.1, 0.2],
            "when": ["2020-01-01T08:00:00", "2020-01-01T09:10:00", "2020-01-01T09:50:00"] * 2,
        }
    )
    column = {
        **PATH,
        "long": {"id": "who", "x": "lon", "y": "lat", "time": "when"},
        "grid": {"low": [0, 0], "high": [2, 2], "step": 1},
        "clock": {"step": "1h", "split": "1d"},
    }
    made = sf.release(plan({"path": column}, {"km": {"k": 2, "m": 2}}, support=2), points)
    assert made.rows["path"].to_list() == ["r0c0@8|r0c1@9"] * 2
    assert any("window" in mark for mark in made.marks)
    assert made.write(tmp_path / "out").holds


def test_mixed_records_count_facts_of_any_kind(tmp_path: Path):
    frame = pl.DataFrame({**G4, "sex": list("mmmmffff"), "age": ["30", "31", "30", "31", "30", "31", "45", "46"]})
    columns = {
        "path": PATH,
        "ill": {"role": "sensitive"},
        "sex": {"role": "quasi", "hierarchy": {"kind": "flat"}},
        "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [5, 20], "low": 20, "high": 60}},
    }
    made = sf.release(plan(columns, {"lkc": {"l": 3, "k": 2, "c": 0.7}}, support=2), frame)
    assert made.write(tmp_path / "out").holds
    rows = read(tmp_path / "out")
    facts = [
        one | {f"sex={sex}", f"age={age}"}
        for one, sex, age in zip(sets_of(rows, "path"), rows["sex"], rows["age"], strict=True)
    ]
    assert holds_lkc(facts, rows["ill"].to_list(), 3, 2, 0.7, ())


def test_places_and_times_are_shown_coarser_where_that_keeps_more(tmp_path: Path):
    frame = pl.DataFrame({"path": ["a@1|x@5", "b@1|x@5", "a@2|x@5", "b@2|x@5"] * 3 + ["a@1|y@6"]})
    column = {
        **PATH,
        "hierarchy": {"tree": {"ab": ["a", "b"], "xy": ["x", "y"]}},
        "time_hierarchy": {"kind": "intervals", "widths": [4], "low": 0, "high": 8},
    }
    made = sf.release(plan({"path": column}, {"km": {"k": 4, "m": 2}}, support=3), frame)
    assert made.write(tmp_path / "out").holds
    assert holds_km(sets_of(read(tmp_path / "out"), "path"), 4, 2)
    assert made.recoded[0].coarser
    assert made.utility["coarser_frequent_sets"] > 0


def test_local_suppression_is_marked(tmp_path: Path):
    frame = pl.DataFrame({"items": ["a|b"] * 6 + ["a|c", "b|c"] + ["c"] * 5})
    columns = {"items": {"role": "quasi", "type": "set"}}
    made = sf.release(plan(columns, {"km": {"k": 3, "m": 2}}, scope="local", support=3), frame)
    assert made.write(tmp_path / "out").holds
    assert len(made.outcome.stripped)
    assert any(
        "single records" in mark for mark in json.loads((tmp_path / "out" / "manifest.json").read_text())["marks"]
    )
    assert "single records" in (tmp_path / "out" / "report.html").read_text()
    assert made.utility["ncp"] < 0.2


def test_sets_rise_in_their_tree(tmp_path: Path):
    frame = pl.DataFrame({"items": ["beer|milk", "wine|milk", "beer|milk", "wine|milk", "beer|tea", "milk"]})
    tree = {"alcohol": ["beer", "wine"], "other": ["milk", "tea"]}
    columns = {"items": {"role": "quasi", "type": "set", "hierarchy": {"tree": tree}}}
    made = sf.release(plan(columns, {"km": {"k": 3, "m": 2}}), frame)
    assert made.algorithm == "sets"
    assert made.write(tmp_path / "out").holds
    assert holds_km(sets_of(made.rows, "items"), 3, 2)
    assert made.recoded[0].entries <= made.recoded[0].entries_before


def test_rho_uncertainty_can_be_asked_for(tmp_path: Path):
    frame = pl.DataFrame({"items": ["tea|test"] * 3 + ["tea"] * 2 + ["nuts|test", "nuts"]})
    asked = plan(
        {"items": {"role": "quasi", "type": "set"}},
        {"rho_uncertainty": {"rho": 0.5, "sensitive": ["test"], "l": 1}},
        support=2,
    )
    made = sf.release(asked, frame)
    assert made.write(tmp_path / "out").holds
    assert made.claims[0].reached <= 0.5


REFUSED = [
    ({"path": {**PATH, "role": "keep"}}, LKC, {}, "columns.path.role"),
    ({"path": PATH}, LKC, {}, "privacy.lkc needs a sensitive column"),
    ({"path": PATH}, {"k_anonymity": 2}, {}, "privacy.k_anonymity: paths and sets are judged by what somebody knows"),
    ({"path": PATH}, {}, {}, "privacy: no requirement is named"),
    ({"path": PATH}, {"km": {"k": 2}}, {}, "privacy.km: m must be a whole number"),
    (
        {"path": PATH},
        {"km": {"k": 2, "m": 2}},
        {"name": "mondrian"},
        "algorithm.name: 'mondrian' does not take columns",
    ),
    ({"path": PATH}, {"km": {"k": 2, "m": 2}}, {"scores": "gain"}, "algorithm.scores: unknown key; did you mean"),
    ({"path": PATH}, {"km": {"k": 2, "m": 2}}, {"support": 0}, "algorithm.support must be"),
    ({"path": PATH}, {"km": {"k": 2, "m": 2}}, {"max_suppressed": 0.1}, "algorithm.max_suppressed"),
    ({"path": {**PATH, "mark": "1"}}, {"km": {"k": 2, "m": 2}}, {}, "columns.path: mark must contain"),
    (
        {"path": {**PATH, "separator": "||"}},
        {"km": {"k": 2, "m": 2}},
        {},
        "columns.path.separator must be one character",
    ),
    (
        {"path": {**PATH, "grid": {"low": [0, 0], "high": [1, 1], "step": 1}}},
        {"km": {"k": 2, "m": 2}},
        {},
        "columns.path.grid goes with long",
    ),
    ({"ill": {"role": "quasi", "time_hierarchy": {}}}, {"km": {"k": 2, "m": 2}}, {}, "only a column with type"),
    ({"way": PATH}, {"km": {"k": 2, "m": 2}}, {}, "way"),
    ({"path": PATH, "ill": {"role": "quasi"}}, {"km": {"k": 2, "m": 2}}, {}, "columns.ill.hierarchy is missing"),
    (
        {"path": {**PATH, "hierarchy": {"tree": {"p|q": ["b", "c"], "r": ["d", "e", "f"]}}}},
        {"km": {"k": 2, "m": 2}},
        {},
        "columns.path.separator: '|' stands in 'p|q'",
    ),
    ({"path": {**PATH, "long": {"id": "who"}}}, {"km": {"k": 2, "m": 2}}, {}, "needs place, time"),
    ({"path": {**PATH, "long": {"place": "who"}}}, {"km": {"k": 2, "m": 2}}, {}, "columns.path.long.id is missing"),
]


@pytest.mark.parametrize(("columns", "privacy", "algorithm", "said"), REFUSED)
def test_plans_that_cannot_be_done_are_refused_with_the_key(columns, privacy, algorithm, said):
    with pytest.raises(sf.SfumatoError) as caught:
        sf.release(plan(columns, privacy, **algorithm), pl.DataFrame(G4))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("b@2|a", "row 2"),
        ("b@3|a@2", "row 2"),
        ("b@2|a@2", "row 2"),
        ("@2", "row 2"),
        ("b@x", "row 2"),
        ("b@2||c@3", "row 2"),
    ],
)
def test_bad_points_are_refused_by_row(cell, said):
    with pytest.raises(sf.DataError, match=said):
        sf.release(plan({"path": PATH}, {"km": {"k": 1, "m": 1}}), pl.DataFrame({"path": ["a@1", cell]}))


def test_a_requirement_that_the_whole_table_misses_is_infeasible():
    columns = {"sex": {"role": "quasi", "hierarchy": {"kind": "flat"}}, "path": PATH, "ill": {"role": "sensitive"}}
    frame = pl.DataFrame({"sex": ["m", "f"], "path": ["a@1", "b@2"], "ill": ["AIDS", "AIDS"]})
    with pytest.raises(sf.Infeasible, match="larger c"):
        sf.release(plan(columns, {"lkc": {"l": 1, "k": 1, "c": 0.5}}), frame)


def test_frontier_and_apply_say_what_they_do_not_do(tmp_path: Path):
    with pytest.raises(sf.PlanError, match="a frontier compares tables"):
        sf.frontier(g4(), pl.DataFrame(G4), folder=tmp_path / "f")
    sf.release(g4(), pl.DataFrame(G4)).write(tmp_path / "out")
    with pytest.raises(sf.SfumatoError, match="trajectory"):
        sf.apply(tmp_path / "out", pl.DataFrame(G4))


def test_pseudonyms_and_other_columns_pass(tmp_path: Path):
    (tmp_path / "key").write_bytes(b"0123456789abcdef0123456789abcdef")
    columns = {
        "id": {"role": "identifier", "pseudonym": {"key_file": str(tmp_path / "key")}},
        "path": PATH,
        "ill": {"role": "keep"},
    }
    made = sf.release(plan(columns, {"km": {"k": 2, "m": 1}}), pl.DataFrame(G4))
    assert made.write(tmp_path / "out").holds
    assert made.rows.columns == ["id", "path", "ill"]
    assert not set(made.rows["id"]) & set(map(str, G4["id"]))


def test_a_profile_recognizes_paths_and_sets_and_drafts_a_plan_that_works(tmp_path: Path):
    frame = pl.DataFrame({**G4, "buys": ["a|b", "a", "b|c", "c|a", "a|b|c", "b", "a|c", "b|c"]})
    frame.write_csv(tmp_path / "in.csv")
    found = sf.profile(tmp_path / "in.csv")
    assert found.itemized == ("path", "buys")
    (tmp_path / "plan.toml").write_text(draft(found, path="in.csv"))
    assert sf.release(sf.Plan.load(tmp_path / "plan.toml")).write(tmp_path / "out").holds
    lists = frame.with_columns(pl.col("path").str.split("|"), pl.col("buys").str.split("|"))
    kinds = {column.name: column.kind for column in sf.profile(lists).columns}
    assert kinds["path"] == "trajectory"
    assert kinds["buys"] == "set"


def test_names_with_equal_signs_are_names(tmp_path: Path):
    columns = {"a=b": {"role": "quasi", "hierarchy": {"kind": "flat"}}, "path": PATH}
    frame = pl.DataFrame({"a=b": ["x=1", "x=1", "y"], "path": ["p@1", "p@1", "p@1"]})
    made = sf.release(plan(columns, {"km": {"k": 1, "m": 2}}), frame)
    assert made.write(tmp_path / "out").holds
    assert sorted(made.rows["a=b"]) == ["x=1", "x=1", "y"]


def test_a_set_that_tells_a_sensitive_value_is_found_out(tmp_path: Path):
    frame = pl.DataFrame({"items": ["x|z"] * 100 + ["y|z"] * 100, "ill": ["hiv"] * 100 + ["flu"] * 100})
    tree = {
        "columns": {"items": {"role": "quasi", "type": "set"}, "ill": {"role": "sensitive"}},
        "privacy": {"km": {"k": 5, "m": 2}},
        "attack": {"max_risk": 0.05},
    }
    with pytest.raises(sf.ClaimRefuted, match="max_risk"):
        sf.release(sf.Plan.parse(tree), frame).write(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    for key, value in (("attacks", ["linkage"]), ("control", "others.csv")):
        with pytest.raises(sf.PlanError, match=f"attack.{key}"):
            sf.release(sf.Plan.parse({**tree, "attack": {key: value}}), frame)
