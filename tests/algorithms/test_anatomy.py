"""Anatomy: groups of different values, two tables that verify, and forgeries that do not."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.algorithms.anatomy import Anatomy
from sfumato.bundles.files import sha256
from sfumato.bundles.manifest.document import dump, seal
from sfumato.core.run_context import Work
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.methods.table.problem import prepare
from sfumato.pipeline.methods.table.release import exact_facts
from sfumato.tables.frames import from_frame
from tests.weights import examples

PATIENTS = pl.DataFrame(
    {
        "job": ["Engineer", "Engineer", "Lawyer", "Writer", "Writer", "Dancer", "Dancer", "Dancer"],
        "sex": ["Male", "Male", "Male", "Female", "Female", "Male", "Female", "Female"],
        "age": [35, 38, 38, 30, 33, 30, 30, 31],
        "disease": ["Hepatitis", "Hepatitis", "HIV", "Flu", "HIV", "HIV", "Flu", "HIV"],
    }
)


def plan(diversity: dict | None = None, **algorithm: object) -> sf.Plan:
    flat = {"role": "quasi", "hierarchy": {"kind": "flat"}}
    return sf.Plan.parse(
        {
            "columns": {"job": flat, "sex": flat, "age": flat, "disease": {"role": "sensitive"}},
            "privacy": {"l_diversity": diversity or {"kind": "distinct", "l": 2}},
            "algorithm": {"name": "anatomy", **algorithm},
        }
    )


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    assert sf.release(plan(), PATIENTS).write(tmp_path / "out").holds
    return tmp_path / "out"


def test_two_tables_and_nothing_beside(bundle: Path):
    assert {path.name for path in bundle.iterdir()} == {"data.csv", "sensitive.csv", "manifest.json", "report.html"}
    rows, values = pl.read_csv(bundle / "data.csv"), pl.read_csv(bundle / "sensitive.csv")
    assert rows.columns == ["job", "sex", "age", "group"]
    assert values.columns == ["group", "disease", "count"]
    assert sorted(rows.drop("group").rows()) == sorted(PATIENTS.drop("disease").rows())
    assert Counter(rows["group"]) == dict(values.group_by("group").agg(pl.sum("count")).rows())
    whole = values.group_by("disease").agg(pl.sum("count")).rows()
    assert dict(whole) == Counter(PATIENTS["disease"])
    assert values.group_by("group").agg(pl.len())["len"].min() >= 2


def test_the_report_compares_with_the_original_as_it_was():
    frame = pl.concat([PATIENTS, PATIENTS])
    shown = exact_facts(sf.release(plan(), frame))
    assert shown.risk_before.prosecutor == 0.5
    assert shown.risk_after.prosecutor == 0.5


def test_identity_is_not_called_protected(bundle: Path):
    manifest = json.loads((bundle / "manifest.json").read_text())
    assert manifest["smallest_class"]["value"] == 1
    assert manifest["risk"]["prosecutor"] == 1.0
    assert [claim["model"] for claim in manifest["claims"]] == ["distinct-l-diversity"]
    assert "quasi-identifiers are published as they were" in (bundle / "report.html").read_text()


@examples(60)
@given(data=st.data(), kind=st.sampled_from(["distinct", "entropy", "simple", "recursive"]), l=st.integers(2, 3))
def test_every_group_is_diverse(data, kind, l):
    values = data.draw(st.lists(st.sampled_from("abcde"), min_size=1, max_size=30))
    frame = pl.DataFrame({"q": [str(i) for i in range(len(values))], "s": values})
    asked = {"kind": kind, "l": l, **({"c": 1.5} if kind == "recursive" else {})}
    tree = {
        "columns": {"q": {"role": "quasi", "hierarchy": {"kind": "flat"}}, "s": {"role": "sensitive"}},
        "privacy": {"l_diversity": asked},
        "algorithm": {"name": "anatomy"},
    }
    try:
        made = sf.release(sf.Plan.parse(tree), frame)
    except sf.Infeasible:
        assert max(Counter(values).values()) > len(values) // l or len(set(values)) < l
        return
    assert made.sensitive is not None
    assert kind == "distinct" or made.sensitive["count"].max() == 1
    assert made.sensitive.group_by("group").agg(pl.len())["len"].min() >= l


def test_which_row_is_drawn_is_random_unless_seeded():
    def groups(**seed):
        made = sf.release(plan(**seed), PATIENTS)
        return sorted(made.rows.rows())

    assert groups(seed=1) == groups(seed=1)
    assert len({str(groups()) for _ in range(12)}) > 1


def test_every_row_of_a_value_is_as_likely_in_every_group():
    # Of two rows with value x and two with y, x1 stands with y1 in half of the releases: binomial, n = 400,
    # outside 140..260 with probability below 1e-8.
    frame = pl.DataFrame({"q": ["x1", "x2", "y1", "y2"], "s": ["x", "x", "y", "y"]})
    tree = {
        "columns": {"q": {"role": "quasi", "hierarchy": {"kind": "flat"}}, "s": {"role": "sensitive"}},
        "privacy": {"l_diversity": {"kind": "distinct", "l": 2}},
        "algorithm": {"name": "anatomy"},
    }
    prepared = prepare(sf.Plan.parse(tree), from_frame(frame, missing=()), None, catalog()).at("rows")
    together = 0
    for _ in range(400):
        group = Anatomy()(prepared.problem, Work()).buckets
        together += group[0] == group[2]
    assert 140 <= together <= 260


def forge(bundle: Path, name: str, change) -> None:
    """Change a file and mend every digest."""
    path = bundle / name
    frame = change(pl.read_csv(path))
    frame.write_csv(path)
    manifest = json.loads((bundle / "manifest.json").read_text())
    place = manifest["data"] if name == "data.csv" else manifest["data"]["apart"]
    place["sha256"] = sha256(path)
    (bundle / "manifest.json").write_text(dump(seal(manifest)))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("sensitive.csv", lambda f: f.with_columns(disease=pl.lit("HIV"))),
        ("sensitive.csv", lambda f: f.with_columns(count=pl.col("count") + 1)),
        ("sensitive.csv", lambda f: f.slice(1)),
        ("sensitive.csv", lambda f: pl.concat([f, f.slice(0, 1)])),
        ("sensitive.csv", lambda f: f.with_columns(group=pl.lit(0))),
        ("sensitive.csv", lambda f: f.rename({"count": "rows"})),
        ("data.csv", lambda f: f.with_columns(group=pl.lit(0))),
        ("data.csv", lambda f: f.with_columns(group=pl.col("group") + 100)),
        ("data.csv", lambda f: f.with_columns(disease=pl.lit("HIV"))),
    ],
)
def test_forgeries_are_noticed(bundle: Path, name: str, change):
    forge(bundle, name, change)
    assert not sf.verify(bundle).holds


def test_a_missing_second_table(bundle: Path):
    (bundle / "sensitive.csv").unlink()
    with pytest.raises(sf.BundleError, match="sensitive file"):
        sf.verify(bundle)


def test_parquet_missing_values_and_a_taken_name(tmp_path: Path):
    frame = PATIENTS.rename({"job": "group"}).with_columns(disease=pl.Series(["a", "b", "c", "d", "e", "f", "g", None]))
    tree = plan().columns
    columns = {"group": tree["job"], **{n: c for n, c in tree.items() if n != "job"}}
    made = sf.release(
        sf.Plan(columns=columns, privacy=plan().privacy, algorithm=plan().algorithm, format="parquet"), frame
    )
    assert made.rows.columns == ["group", "sex", "age", "group_2"]
    assert made.write(tmp_path / "out").holds


def test_names_that_the_tables_use_themselves(tmp_path: Path):
    frame = PATIENTS.with_columns(group=pl.lit("x"))
    made = sf.release(plan(), frame)
    assert made.rows.columns == ["job", "sex", "age", "group_2"]
    assert made.write(tmp_path / "one").holds
    columns = {**plan().columns, "count": plan().columns["disease"]}
    del columns["disease"]
    asked = sf.Plan(columns=columns, privacy=plan().privacy, algorithm=plan().algorithm)
    made = sf.release(asked, PATIENTS.rename({"disease": "count"}))
    assert made.sensitive.columns == ["group", "count", "rows"]
    assert made.write(tmp_path / "two").holds


def test_refusals():
    with pytest.raises(sf.PlanError, match="meets l-diversity only"):
        sf.release(sf.Plan(columns=plan().columns, privacy={"k_anonymity": 2}, algorithm=plan().algorithm), PATIENTS)
    with pytest.raises(sf.Infeasible, match="'HIV' is in 4 of 8 rows"):
        sf.release(plan({"kind": "entropy", "l": 2.5}), PATIENTS)
    two = {**plan().columns, "sex": plan().columns["disease"]}
    asked = {"l_diversity": {"kind": "distinct", "l": 2, "column": "disease"}}
    with pytest.raises(sf.PlanError, match="other sensitive columns"):
        sf.release(sf.Plan(columns=two, privacy=asked, algorithm=plan().algorithm), PATIENTS)


def test_golden_g2_two_diverse_bucketization():
    """G2: HIV is in four of seven rows, so one group has it twice; three groups with two different values exist."""
    diseases = ["Hepatitis", "Hepatitis", "HIV", "Flu", "HIV", "HIV", "HIV"]
    frame = PATIENTS.slice(0, 7).with_columns(disease=pl.Series(diseases))
    made = sf.release(plan(), frame)
    assert made.outcome.effort["groups"] == 3
    assert made.claims[0].reached == 2
    with pytest.raises(sf.Infeasible, match=r"share 0\.571429"):
        sf.release(plan({"kind": "simple", "l": 2}), frame)
