"""Corners that random round trips found, each kept with the smallest table that shows it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import sfumato as sf
from tests.weights import examples

FLAT = {"kind": "flat"}


def made(frame: dict[str, list[Any]], tree: dict[str, Any]) -> sf.Release:
    return sf.release(sf.Plan.parse(tree), pl.DataFrame(frame))


def test_a_claim_names_no_value_that_only_removed_rows_had(tmp_path: Path):
    """The tree in a claim is the one that was declared, whatever the table has."""
    tree = {
        "columns": {
            "z": {"role": "quasi", "hierarchy": FLAT},
            "s": {"role": "sensitive", "hierarchy": {"kind": "mask"}},
        },
        "privacy": {"k_anonymity": 2, "t_closeness": {"t": 0.5, "distance": "emd-hierarchical"}},
        "algorithm": {"max_suppressed": 0.3},
    }
    frame = {"z": list("aaaab"), "s": ["p", "q", "p", "q", "secret"]}
    with pytest.raises(sf.PlanError, match="needs a declared tree"):
        made(frame, tree)
    tree["columns"]["s"]["hierarchy"] = {"tree": {"X": ["p", "q"], "Y": ["secret", "other"]}}
    done = made(frame, tree)
    assert done.suppressed_rows == 1
    done.write(tmp_path / "b")
    claim = json.loads((tmp_path / "b/manifest.json").read_text())["claims"][1]
    assert set(claim["parameters"]["paths"]) == {"p", "q", "secret", "other"}


def test_short_codes_under_a_mask_are_not_read_as_suppressed(tmp_path: Path):
    tree = {
        "columns": {
            "a": {"role": "quasi", "hierarchy": FLAT},
            "b": {"role": "quasi", "type": "text", "hierarchy": {"kind": "mask"}},
            "s": {"role": "sensitive"},
        },
        "privacy": {"k_anonymity": 2},
    }
    done = made({"a": ["x"] * 6, "b": ["1", "1", "12", "12", "345", "346"], "s": list("pqpqpq")}, tree)
    assert done.write(tmp_path / "b").holds
    assert sorted(set(done.rows["b"])) == ["**", "1*", "34*"]
    assert done.levels["a"] == 0


def test_the_wildcard_reading_with_suppression():
    """Removing the unknown rows, which fail, takes away what diluted the known ones: they must be judged again."""
    tree = {
        "input": {"missing": ["?"]},
        "columns": {
            "a": {"role": "quasi", "hierarchy": FLAT},
            "b": {"role": "quasi", "hierarchy": FLAT},
            "s": {"role": "sensitive"},
        },
        "privacy": {"l_diversity": {"kind": "simple", "l": 1.5}, "reading": "wildcard"},
        "algorithm": {"max_suppressed": 0.6},
    }
    frame = {"a": list("yyyy"), "b": ["?", "?", "2", "1"], "s": list("qppp")}
    with pytest.raises(sf.Infeasible, match="suppressing at most 2 of 4 rows"):
        made(frame, tree)


def test_a_missing_sensitive_value_only_in_a_removed_row(tmp_path: Path):
    tree = {
        "input": {"missing": ["?"]},
        "columns": {
            "z": {"role": "quasi", "hierarchy": FLAT},
            "s": {"role": "sensitive", "hierarchy": {"tree": {"X": ["p", "q"]}}},
        },
        "privacy": {
            "k_anonymity": 2,
            "t_closeness": {"t": 0.5, "distance": "emd-hierarchical"},
        },
        "algorithm": {"max_suppressed": 0.3},
    }
    assert made({"z": list("aaaab"), "s": ["p", "q", "p", "q", "?"]}, tree).write(tmp_path / "b").holds


def test_a_guarded_node_that_nobody_is_below(tmp_path: Path):
    tree = {
        "columns": {
            "z": {"role": "quasi", "hierarchy": FLAT},
            "s": {"role": "sensitive", "hierarchy": {"tree": {"Any": {"X": ["p", "q"], "Y": ["r"]}}}},
        },
        "privacy": {"personalized": {"p": 0.5, "guards": {"r": "Y"}}},
    }
    assert made({"z": list("aabb"), "s": list("pqpq")}, tree).write(tmp_path / "b").holds


def test_nothing_is_hidden_for_nothing():
    tree = {
        "columns": {"a": {"role": "quasi", "hierarchy": FLAT}, "b": {"role": "quasi", "hierarchy": FLAT}},
        "privacy": {"k_anonymity": 2},
    }
    assert made({"a": ["x"] * 4, "b": list("1122")}, tree).levels == {"a": 0, "b": 0}


def test_cells_that_look_suppressed_are_refused():
    tree = {"columns": {"a": {"role": "quasi", "hierarchy": FLAT}}, "privacy": {"k_anonymity": 1}}
    with pytest.raises(sf.DataError, match=r"column 'a': 2 cells are '\*'"):
        made({"a": ["x", "*", "*"]}, tree)
    tree["columns"]["a"]["hierarchy"] = {"tree": {"Any": {"A": {"*": ["x"]}, "B": ["y"]}}}
    with pytest.raises(sf.HierarchyError, match=r"'x' is '\*' at level 1 \(2 rows\), below the top"):
        made({"a": ["x", "x", "y"]}, tree)


def test_profile_does_not_take_unique_columns_for_twins():
    frame = pl.DataFrame(
        {"member": [f"M-{i}" for i in range(40)], "birth_date": [f"1980-01-{i % 28 + 1:02}" for i in range(40)]}
    )
    roles = {c.name: str(c.suggestion.role) for c in sf.profile(frame).columns}
    assert roles["birth_date"] == "quasi"
    twins = pl.DataFrame({"city": list("abcd") * 10, "region": list("wxyz") * 10})
    assert {c.name: str(c.suggestion.role) for c in sf.profile(twins).columns} == {"city": "quasi", "region": "drop"}


VALUES = st.sampled_from(["p", "q", "r", "?"])
PRIVACY = [
    {"k_anonymity": 2},
    {"k_anonymity": 2, "l_diversity": {"kind": "distinct", "l": 2}},
    {"l_diversity": {"kind": "entropy", "l": 1.5}},
    {"t_closeness": {"t": 0.4}},
    {"k_anonymity": 2, "t_closeness": {"t": 0.45}},
    {"t_closeness": {"t": 0.5, "distance": "emd-hierarchical"}},
    {"lkc": {"l": 1, "k": 2, "c": 0.8}},
    {"alpha_k": {"alpha": 0.7, "k": 2}},
    {"personalized": {"p": 0.7, "guards": {"p": "X"}}},
]


@examples(120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.tuples(st.sampled_from("ab?"), st.sampled_from(["1", "12", "22", "?"]), VALUES), min_size=2, max_size=14
    ),
    privacy=st.sampled_from(PRIVACY),
    reading=st.sampled_from(["strict", "strict", "value", "wildcard"]),
    share=st.sampled_from([0.0, 0.3, 0.6]),
    suppressed=st.sampled_from(["remove", "star"]),
    exempt=st.booleans(),
    format_=st.sampled_from(["csv", "parquet"]),
)
def test_whatever_is_made_verifies(rows, privacy, reading, share, suppressed, exempt, format_, tmp_path, monkeypatch):
    """Random tables and plans: a release verifies from its bytes, or is refused as infeasible; nothing else happens."""
    monkeypatch.setattr(sf.Release, "report", lambda self, **_: "<html></html>")
    tree = {
        "input": {"missing": ["?"]},
        "columns": {
            "a": {"role": "quasi", "hierarchy": FLAT},
            "b": {"role": "quasi", "type": "text", "hierarchy": {"kind": "mask"}},
            "s": {"role": "sensitive", "hierarchy": {"tree": {"Any": {"X": ["p", "q"], "Y": ["r", "t"]}}}},
        },
        "privacy": {**privacy, "reading": reading},
        "algorithm": {"max_suppressed": share, "suppressed": suppressed, "exempt_suppressed": exempt},
        "output": {"format": format_},
    }
    columns = {name: [row[i] for row in rows] for i, name in enumerate("abs")}
    try:
        done = made(columns, tree)
    except sf.Infeasible:
        return
    assert done.write(tmp_path / "b", force=True).holds


NULLS = {"q": ["a", "a", None, None], "s": list("xyxy")}


@pytest.mark.parametrize("format_", ["csv", "parquet"])
def test_nulls_are_missing_also_where_no_marker_is_declared(tmp_path: Path, format_):
    tree = {
        "columns": {"q": {"role": "quasi", "hierarchy": FLAT}, "s": {"role": "sensitive"}},
        "privacy": {"k_anonymity": 2},
        "output": {"format": format_},
    }
    done = made(NULLS, tree)
    assert done.smallest_class == {"value": 2, "wildcard": 4}
    assert done.write(tmp_path / "b").holds
    tree["privacy"] = {"k_anonymity": 3, "reading": "wildcard"}
    assert made({"q": ["a", "a", None], "s": list("xyz")}, tree).write(tmp_path / "c").holds
    tree["privacy"] = {"k_anonymity": 1}
    both = made({"q": ["", None, "b", "b"], "s": list("xyxy")}, tree)
    assert both.published.missing == ("?",)
    assert both.write(tmp_path / "d").holds
    tree["columns"]["n"] = {"role": "keep"}
    tree["privacy"] = {"k_anonymity": 2, "l_diversity": 2}
    mixed = made({"q": list("aabb"), "s": ["", "flu", "", "flu"], "n": [None, 1, 2, 3]}, tree)
    assert mixed.write(tmp_path / "e").holds
    assert mixed.published.missing == ("?",)


def test_limits_read_off_the_data_are_not_told(tmp_path: Path):
    frame = {"q": [*range(20, 60)] * 5 + [987654], "z": ["a"] * 200 + ["b"]}
    for hierarchy in ({"kind": "quantiles", "groups": [2]}, {"kind": "intervals", "widths": [20]}):
        tree = {
            "columns": {"q": {"role": "quasi", "hierarchy": hierarchy}, "z": {"role": "quasi", "hierarchy": FLAT}},
            "privacy": {"k_anonymity": 10},
            "utility": {"metric": "height"},
            "algorithm": {"max_suppressed": 0.05},
        }
        done = made(frame, tree)
        assert done.suppressed_rows == 1
        done.write(tmp_path / "b", force=True)
        assert "987654" not in "".join(path.read_text() for path in (tmp_path / "b").iterdir())


def test_categories_of_removed_rows_are_not_written(tmp_path: Path):
    kinds = pl.Enum(["u", "ZZENUM"])
    frame = pl.DataFrame({"q": list("aaaab"), "c": pl.Series(["u"] * 4 + ["ZZENUM"], dtype=kinds)})
    tree = {
        "columns": {"q": {"role": "quasi", "hierarchy": FLAT}, "c": {"role": "keep"}},
        "privacy": {"k_anonymity": 2},
        "algorithm": {"max_suppressed": 0.3},
        "output": {"format": "parquet"},
    }
    sf.release(sf.Plan.parse(tree), frame).write(tmp_path / "b")
    assert b"ZZENUM" not in (tmp_path / "b/data.parquet").read_bytes()


def test_populations_with_nulls_and_with_stars():
    people = {"q": [1, 1, None, None]}
    tree: dict[str, Any] = {"columns": {"q": {"role": "quasi", "hierarchy": FLAT}}, "privacy": {"k_map": 2}}
    everyone = pl.DataFrame(people)
    assert sf.release(sf.Plan.parse(tree), everyone, population=everyone).claims[0].holds
    tree["algorithm"] = {"suppressed": "star", "max_suppressed": 0.5}
    with pytest.raises(sf.PlanError, match="cannot be compared with a population"):
        sf.release(sf.Plan.parse(tree), everyone, population=everyone)


def test_zero_has_no_sign(tmp_path: Path):
    tree = {
        "columns": {"q": {"role": "quasi", "hierarchy": FLAT}, "s": {"role": "sensitive"}},
        "privacy": {"k_anonymity": 2},
    }
    done = made({"q": [-0.0, 0.0, 1.0, 1.0], "s": list("xyxy")}, tree)
    assert done.levels == {"q": 0}
    assert done.write(tmp_path / "b").holds


def test_two_cost_matrices_for_one_column(tmp_path: Path):
    for name, cost in (("m1", 1.0), ("m2", 0.1)):
        (tmp_path / f"{name}.csv").write_text(f"v,x,y\nx,0,{cost}\ny,{cost},0\n")
    asked = [{"distance": "emd-matrix", "file": f"{name}.csv", "t": t} for name, t in (("m1", 0.5), ("m2", 0.2))]
    tree = {
        "columns": {"q": {"role": "quasi", "hierarchy": FLAT}, "s": {"role": "sensitive"}},
        "privacy": {"t_closeness": asked},
    }
    frame = pl.DataFrame({"q": list("aabb"), "s": list("xyxy")})
    assert sf.release(sf.Plan.parse(tree, folder=tmp_path), frame).write(tmp_path / "b").holds


def test_places_that_cannot_be_written(tmp_path: Path):
    with pytest.raises(sf.PlanError, match=r"algorithm\.seed must be at least 0"):
        made(NULLS, {"columns": {"q": {"role": "quasi"}}, "privacy": {}, "algorithm": {"seed": -1}})
    tree = {"columns": {"q": {"role": "quasi", "hierarchy": FLAT}}, "privacy": {"k_anonymity": 2}}
    done = made(NULLS, tree)
    done.write(tmp_path / "b")
    (tmp_path / "link").symlink_to(tmp_path / "b")
    with pytest.raises(sf.BundleError, match="is a symbolic link"):
        done.write(tmp_path / "link", force=True)
