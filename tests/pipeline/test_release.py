"""What a release does with rows, columns, missing values, identifiers, suppressed rows and populations."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf

ROWS = 800
BASE: dict[str, Any] = {
    "columns": {
        "sex": {"role": "quasi", "hierarchy": {"bundled": "census/sex"}},
        "race": {"role": "quasi", "hierarchy": {"bundled": "census/race"}},
        "education": {"role": "quasi", "hierarchy": {"bundled": "census/education"}},
        "occupation": {"role": "sensitive"},
        "income": {"role": "target"},
        "fnlwgt": {"role": "keep"},
    },
    "privacy": {"k_anonymity": 4},
    "algorithm": {"max_suppressed": 0.1},
}


def plan(**changes: Any) -> sf.Plan:
    tree = copy.deepcopy(BASE)
    for key, value in changes.items():
        tree.setdefault(key, {}).update(value)
    return sf.Plan.parse(tree)


@pytest.fixture(scope="module")
def census() -> pl.DataFrame:
    return (
        sf.datasets.census(ROWS, seed=5)
        .with_row_index("row")
        .with_columns(fnlwgt=pl.col("row").cast(pl.Int64))
        .drop("row")
    )


def test_other_columns_pass_through_unchanged_and_rows_are_shuffled(census):
    made = sf.release(plan(), census)
    rows = made.rows
    assert rows.columns == ["fnlwgt", "education", "occupation", "race", "sex", "income"]
    original = census.select("fnlwgt", "occupation", "income")
    released = rows.select("fnlwgt", "occupation", "income")
    assert released.join(original, on=released.columns).height == rows.height == ROWS - made.suppressed_rows
    assert rows["fnlwgt"].to_list() != sorted(rows["fnlwgt"].to_list())
    again = sf.release(plan(), census).rows
    assert again["fnlwgt"].to_list() != rows["fnlwgt"].to_list()


def test_a_seed_repeats_the_bytes_and_marks_the_release(census, tmp_path: Path):
    seeded = plan(algorithm={"seed": 7})
    one, two = sf.release(seeded, census), sf.release(seeded, census)
    assert one.rows.equals(two.rows)
    one.write(tmp_path / "b")
    manifest = json.loads((tmp_path / "b/manifest.json").read_text())
    assert manifest["marks"][0] == "made with a fixed seed: for studies only, not for publication"
    assert [mark.split(":")[0] for mark in manifest["marks"][1:]] == ["fnlwgt (keep) is near-unique"]
    assert "seed" not in manifest["plan"]["algorithm"]
    assert "Made with a fixed seed" in (tmp_path / "b/report.html").read_text()


@pytest.mark.parametrize("kind", ["pandas", "polars", "lazy", "pyarrow", "duckdb"])
def test_the_same_kind_of_frame_comes_out(census, kind):
    table = census.select("sex", "race", "education", "occupation", "income", "fnlwgt")
    frames = {
        "pandas": table.to_pandas,
        "polars": lambda: table,
        "lazy": table.lazy,
        "pyarrow": table.to_arrow,
        "duckdb": lambda: duckdb.from_arrow(table.to_arrow()),
    }
    types = {
        "pandas": pd.DataFrame,
        "polars": pl.DataFrame,
        "lazy": pl.LazyFrame,
        "pyarrow": pa.Table,
        "duckdb": duckdb.DuckDBPyRelation,
    }
    assert isinstance(sf.release(plan(), frames[kind]()).frame, types[kind])


@pytest.mark.parametrize("format_", ["csv", "parquet"])
def test_bundles_in_both_formats(census, tmp_path: Path, format_):
    made = sf.release(plan(output={"format": format_}), census)
    assert made.write(tmp_path / "b").holds
    assert sorted(path.name for path in (tmp_path / "b").iterdir()) == [
        f"data.{format_}",
        "manifest.json",
        "report.html",
    ]


def test_suppressed_rows_removed_or_starred(census):
    removed = sf.release(plan(), census)
    assert 0 < removed.suppressed_rows <= ROWS * 0.1
    assert removed.rows.height == ROWS - removed.suppressed_rows
    starred = sf.release(plan(algorithm={"max_suppressed": 0.1, "suppressed": "star"}), census)
    assert starred.rows.height == ROWS
    stars = starred.rows.filter((pl.col("sex") == "*") & (pl.col("race") == "*") & (pl.col("education") == "*")).height
    assert stars == starred.suppressed_rows
    assert stars == 0 or stars >= 4


def test_the_group_of_stars_is_not_exempt_unless_the_plan_says_so(tmp_path: Path):
    frame = pl.DataFrame({"q": ["a"] * 6 + ["b"] * 2, "s": list("12345612")})
    tree: dict[str, Any] = {
        "columns": {"q": {"role": "quasi", "hierarchy": {"kind": "flat"}}, "s": {"role": "sensitive"}},
        "privacy": {"k_anonymity": 4},
        "algorithm": {"max_suppressed": 0.5, "suppressed": "star"},
    }
    strict = sf.release(sf.Plan.parse(tree), frame)
    assert strict.rows["q"].unique().to_list() == ["*"]
    tree["algorithm"]["exempt_suppressed"] = True
    exempt = sf.release(sf.Plan.parse(tree), frame)
    assert sorted(exempt.rows["q"].to_list()) == ["*"] * 2 + ["a"] * 6
    assert exempt.smallest_class["value"] == 6
    assert exempt.write(tmp_path / "b").holds
    assert "exempted" in (tmp_path / "b/report.html").read_text()


def test_missing_cells_are_read_both_ways(tmp_path: Path):
    frame = pl.DataFrame({"q": ["a"] * 4 + ["b"] * 4 + ["?"] * 3, "s": list("12341234123")})
    tree: dict[str, Any] = {
        "input": {"missing": ["?"]},
        "columns": {"q": {"role": "quasi", "hierarchy": {"kind": "flat"}}, "s": {"role": "sensitive"}},
        "privacy": {"k_anonymity": 3},
    }
    made = sf.release(sf.Plan.parse(tree), frame)
    assert made.smallest_class == {"value": 3, "wildcard": 7}
    tree["privacy"] = {"k_anonymity": 4}
    assert sf.release(sf.Plan.parse(tree), frame).rows["q"].unique().to_list() == ["*"]
    tree["privacy"] = {"k_anonymity": 4, "reading": "wildcard"}
    loose = sf.release(sf.Plan.parse(tree), frame)
    assert loose.rows["q"].n_unique() == 3
    assert loose.smallest_class == {"value": 3, "wildcard": 7}
    assert loose.claims[0].reading == "wildcard"
    assert loose.write(tmp_path / "b").holds


def test_missing_sensitive_values_count_as_the_worst_they_could_be():
    frame = pl.DataFrame({"q": ["a"] * 4 + ["b"] * 4, "s": ["1", "1", "1", "?", "1", "2", "3", "4"]})
    tree: dict[str, Any] = {
        "input": {"missing": ["?"]},
        "columns": {"q": {"role": "quasi", "hierarchy": {"kind": "flat"}}, "s": {"role": "sensitive"}},
        "privacy": {"l_diversity": {"kind": "distinct", "l": 2}},
    }
    strict = sf.release(sf.Plan.parse(tree), frame)
    assert strict.rows["q"].unique().to_list() == ["*"]
    tree["privacy"]["reading"] = "value"
    assert sorted(sf.release(sf.Plan.parse(tree), frame).rows["q"].unique()) == ["a", "b"]


def test_rows_with_missing_values_can_be_dropped(census):
    holes = census.with_columns(race=pl.when(pl.int_range(pl.len()) < 50).then(pl.lit("?")).otherwise("race"))
    made = sf.release(plan(input={"missing": ["?"], "on_missing": "drop"}), holes)
    assert made.prepared.dropped_rows == 50
    assert made.rows.height + made.suppressed_rows == ROWS - 50


def test_nulls_survive_the_way_through_a_csv_bundle(census, tmp_path: Path):
    holes = census.with_columns(occupation=pl.when(pl.int_range(pl.len()) < 9).then(None).otherwise("occupation"))
    made = sf.release(plan(output={"format": "csv"}), holes)
    assert made.write(tmp_path / "b").holds


def test_identifiers_are_dropped_or_pseudonymized(tmp_path: Path):
    people = sf.datasets.patients(400, seed=2)
    (tmp_path / "key").write_bytes(b"0123456789abcdef0123456789abcdef")
    tree: dict[str, Any] = {
        "columns": {
            "name": {"role": "identifier"},
            "sex": {"role": "quasi", "hierarchy": {"kind": "flat"}},
            "diagnosis": {"role": "sensitive"},
        },
        "privacy": {"k_anonymity": 5},
    }
    assert "name" not in sf.release(sf.Plan.parse(tree), people).rows.columns
    tree["columns"]["name"]["pseudonym"] = {"key_file": "key"}
    keyed = sf.Plan.parse(tree, folder=tmp_path)
    made = sf.release(keyed, people)
    assert made.rows["name"].str.len_chars().unique().to_list() == [32]
    assert made.rows["name"].n_unique() == people["name"].n_unique()
    assert not set(made.rows["name"]) & set(people["name"])
    assert made.write(tmp_path / "b").holds
    everything = b"".join(path.read_bytes() for path in (tmp_path / "b").iterdir())
    assert b"0123456789abcdef" not in everything
    with pytest.raises(sf.PlanError, match="must not lie inside the bundle"):
        made.write(tmp_path)
    for refused in ("hash", "sha256", {"kind": "hash"}):
        tree["columns"]["name"]["pseudonym"] = refused
        with pytest.raises(sf.PlanError, match="anybody can hash a list of names"):
            sf.Plan.parse(tree)
    tree["columns"]["name"]["pseudonym"] = {"key_file": "none"}
    with pytest.raises(sf.PlanError, match="cannot be read"):
        sf.release(sf.Plan.parse(tree, folder=tmp_path), people)
    (tmp_path / "short").write_bytes(b"abc")
    tree["columns"]["name"]["pseudonym"] = {"key_file": "short"}
    with pytest.raises(sf.PlanError, match="has 3 bytes; at least 16"):
        sf.release(sf.Plan.parse(tree, folder=tmp_path), people)


def test_population_models(census, tmp_path: Path):
    sample = census.head(200)
    tree = {"privacy": {"k_anonymity": 1, "k_map": 6, "delta_presence": {"high": 0.6}}}
    made = sf.release(plan(**tree), sample, population=census)
    assert {claim.model for claim in made.claims} == {"k-anonymity", "k-map", "delta-presence"}
    assert made.write(tmp_path / "b").holds
    assert made.risk["population_known"]
    with pytest.raises(sf.PlanError, match=r"input\.population"):
        sf.release(plan(**tree), sample)


def test_every_privacy_key_makes_a_verified_release(census, tmp_path: Path):
    jobs = {"hierarchy": {"bundled": "census/occupation"}}
    (tmp_path / "costs.csv").write_text("v,<=50K,>50K\n<=50K,0,1\n>50K,1,0\n")
    tree = copy.deepcopy(BASE)
    tree["columns"]["occupation"] |= jobs
    tree["columns"]["income"]["role"] = "sensitive"
    tree["columns"]["hours-per-week"] = {"role": "sensitive", "type": "integer"}
    tree["privacy"] = {
        "k_anonymity": 3,
        "l_diversity": [
            {"kind": "entropy", "l": 1.2, "column": "occupation"},
            {"kind": "recursive", "c": 50, "l": 2, "column": "occupation"},
            {"kind": "simple", "l": 1.1, "column": "occupation"},
        ],
        "t_closeness": [
            {"t": 0.7, "distance": "emd-hierarchical", "column": "occupation"},
            {"t": 0.7, "distance": "emd-ordered", "column": "hours-per-week"},
            {"t": 0.7, "distance": "emd-matrix", "column": "income", "file": "costs.csv"},
            {"t": 3.0, "distance": "kl", "column": "income"},
            {"t": 0.9, "distance": "variational", "column": "occupation"},
        ],
        "alpha_k": {"alpha": 0.95, "k": 3, "column": "occupation"},
        "confidence": [{"quasi": ["sex"], "column": "occupation", "value": "Sales", "limit": 0.6}],
        "lkc": {"l": 2, "k": 3, "c": 0.9, "column": "occupation"},
        "e_m": {"e": 1, "m": 1.02, "column": "hours-per-week"},
        "personalized": {"p": 0.95, "column": "occupation", "guards": {"Sales": "Sales"}},
    }
    tree["algorithm"] = {"max_suppressed": 0.3}
    made = sf.release(sf.Plan.parse(tree, folder=tmp_path), census)
    assert len(made.claims) == 14
    assert made.write(tmp_path / "b").holds
    assert "costs.csv" not in (tmp_path / "b/manifest.json").read_text()


def test_a_bundle_tells_no_more_than_its_rows(census, tmp_path: Path):
    """No path, no value of a dropped column, no raw value of a generalized column."""
    source = tmp_path / "secret-place" / "census.csv"
    source.parent.mkdir()
    census.with_columns(ssn=pl.int_range(pl.len()).cast(pl.String) + "-ssn").write_csv(source)
    tree = copy.deepcopy(BASE)
    tree["input"] = {"path": str(source)}
    tree["columns"]["ssn"] = {"role": "identifier"}
    tree["columns"]["education"]["hierarchy"] = {"kind": "mask"}
    made = sf.release(sf.Plan.parse(tree), None)
    assert made.levels["education"] > 0
    made.write(tmp_path / "b")
    text = "".join(path.read_text() for path in (tmp_path / "b").iterdir())
    for hidden in ("secret-place", "-ssn", "Bachelors", "HS-grad", "Masters", "United-States"):
        assert hidden not in text


def test_plan_overrides_and_relative_paths(census, tmp_path: Path):
    census.write_parquet(tmp_path / "c.parquet")
    lines = ['[input]\npath = "c.parquet"\n[privacy]\nk_anonymity = 2\n']
    lines += [f'[columns.{n}]\nrole = "quasi"\nhierarchy = {{ bundled = "census/{n}" }}\n' for n in ("sex", "race")]
    (tmp_path / "p.toml").write_text("\n".join(lines))
    made = sf.release(sf.Plan.load(tmp_path / "p.toml", ["privacy.k_anonymity=9", "utility.metric=ncp"]))
    assert made.smallest_class["value"] >= 9
    assert made.plan.metric == "ncp"
    assert made.plan.output_format == "parquet"
    with pytest.raises(sf.PlanError, match="must look like"):
        sf.Plan.load(tmp_path / "p.toml", ["privacy"])
