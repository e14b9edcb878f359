"""Codes and aliases from the plan to the bundle: pseudonymized, nothing claimed, attacks told, all comes back."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.bundles.checks.unclaimed import PSEUDONYMIZED
from sfumato.core.errors import BundleError, DataError, ParameterError, PlanError, SfumatoError
from sfumato.pipeline.attack import attack as audit
from sfumato.pipeline.verification import verify_again
from sfumato.tables.graded_grouping import read_terms
from sfumato.tables.graded_secret import GradedSecret
from tests.bundles.forging import failing, forge, manifest_of
from tests.fuzz.commands import run

WEDDED = ["Never-married", "Married-civ-spouse", "Married-spouse-absent", "Married-AF-spouse", "Separated", "Divorced",
          "Widowed"]  # fmt: skip
TERMS = {
    "age": {"low": 15, "high": 95, "categories": 5},
    "hours-per-week": {"ranges": [[0, 20], [20, 45], [45, 100]], "gap": 3},
    "marital-status": WEDDED,
}
COLUMNS = {**{name: {"role": "sensitive"} for name in TERMS}, "sex": {"role": "keep"}, "income": {"role": "target"}}


def people(rows: int = 300) -> pl.DataFrame:
    return sf.datasets.census(rows, seed=5)


def plan(folder: Path, **more: Any) -> sf.Plan:
    tree = {"columns": COLUMNS, "algorithm": {"name": "graded", "secret": "sites.secret"}, **more}
    return sf.Plan.parse(tree, folder=folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    GradedSecret.new(read_terms(TERMS)).write(tmp_path / "sites.secret")
    return tmp_path


@pytest.fixture
def bundle(folder: Path) -> Path:
    made = sf.release(plan(folder), people())
    assert made.write(folder / "part").holds
    return folder / "part"


def test_the_bundle_says_pseudonymized_and_carries_the_attacks(bundle: Path):
    content = manifest_of(bundle)
    assert (content["kind"], content["claims"], content["marks"][0]) == ("graded", [], PSEUDONYMIZED)
    found = {one["attack"]: one for one in content["attacks"]}
    due = {"known-plaintext of age", "known-plaintext of hours-per-week", "frequency of marital-status"}
    assert found.keys() == due
    assert found["known-plaintext of age"]["target"]["rate"] > 0.95, "uniform ranges are one line"
    assert found["frequency of marital-status"]["target"]["low"] > found["frequency of marital-status"]["naive"]["high"]
    page = " ".join((bundle / "report.html").read_text().split())
    assert "Pseudonymized, nothing is claimed" in page
    assert page.count("anonymous") == page.count("not anonymous"), "never called anonymous"
    checked = sf.verify(bundle)
    assert checked.holds
    assert not checked.claimed


def test_nothing_of_the_secret_is_in_the_bundle(bundle: Path):
    secret = json.loads((bundle.parent / "sites.secret").read_text())
    assert stat.S_IMODE((bundle.parent / "sites.secret").stat().st_mode) == 0o600
    for path in bundle.iterdir():
        text = path.read_text()
        assert secret["key"] not in text
        assert "Never-married" not in text
        assert "sites.secret" not in text
    assert secret["agreement"] in (bundle / "manifest.json").read_text()


def test_the_steward_makes_it_again_and_reads_it_back(bundle: Path):
    folder = bundle.parent
    assert verify_again(bundle, plan=plan(folder), original=people()).holds
    other = people().with_columns(pl.lit("Widowed").alias("marital-status"))
    assert not verify_again(bundle, plan=plan(folder), original=other).holds
    secret, rows = GradedSecret.load(folder / "sites.secret"), pl.read_csv(bundle / "data.csv", infer_schema=False)
    back = [rows[name].map_elements(secret.columns[name].behind, return_dtype=pl.String) for name in TERMS]
    one = rows.with_columns(back).select(list(COLUMNS)).sort(pl.all())
    assert one.equals(people().select(list(COLUMNS)).cast(pl.String).sort(pl.all()))


def test_missing_values_stay_missing(folder: Path):
    holes = people(60).with_columns(
        pl.when(pl.int_range(60) % 7 == 0).then(None).otherwise(pl.col(name)).alias(name) for name in TERMS
    )
    made = sf.release(plan(folder), holes)
    assert made.write(folder / "part").holds
    rows = pl.read_csv(folder / "part" / "data.csv", infer_schema=False)
    assert {name: int((rows[name] == "").sum() + rows[name].null_count()) for name in TERMS} == dict.fromkeys(TERMS, 9)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"age": 96}, "numbers must lie between 15 and 95, not 96"),
        ({"age": 30.5}, "at most 0 digits after the point, not 30.5"),
        ({"marital-status": "Engaged"}, "'Engaged' is not declared"),
    ],
)
def test_rows_outside_the_terms_are_refused(folder: Path, change: dict[str, Any], said: str):
    rows = people(30).with_columns(pl.lit(value).alias(name) for name, value in change.items())
    with pytest.raises(DataError, match=said):
        sf.release(plan(folder), rows)
    with pytest.raises(DataError, match="no rows"):
        sf.release(plan(folder), people(30)[:0])


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"privacy": {"k_anonymity": 5}}, "graded grouping meets no privacy model"),
        ({"algorithm": {"name": "graded"}}, "algorithm.secret is missing"),
        ({"algorithm": {"name": "graded", "secret": "nowhere"}}, "cannot be read"),
        ({"algorithm": {"name": "graded", "secret": "sites.secret", "max_suppressed": 0.1}}, "leaves no row out"),
        ({"columns": {"age": {"role": "sensitive"}}}, "the sites agreed on this column"),
        ({"columns": {**COLUMNS, "zip": {"role": "keep"}}}, "no column 'zip'"),
        ({"input": {"on_missing": "drop"}}, "leaves no row out"),
        ({"attack": {"attacks": ["linkage"]}}, "'linkage' is not known"),
    ],
)
def test_what_it_cannot_do_is_refused(folder: Path, more: dict[str, Any], said: str):
    with pytest.raises(SfumatoError, match=said):
        sf.release(plan(folder, **more), people(30))


def test_other_verbs_say_why_not(bundle: Path):
    with pytest.raises(BundleError, match="whose row is whose"):
        audit(bundle, people())
    with pytest.raises(BundleError, match="need the secret"):
        sf.apply(bundle, people())
    with pytest.raises(PlanError, match="a frontier compares models"):
        sf.frontier(plan(bundle.parent), people())


FORGERIES = {
    "a cell that is no alias": lambda rows: rows.with_columns(pl.lit("Widowed").alias("marital-status")),
    "an alias beyond the last": lambda rows: rows.with_columns(pl.lit("marital-status_8").alias("marital-status")),
    "a code with other digits": lambda rows: rows.with_columns(pl.lit("3.5").alias("age")),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_rows_are_caught(bundle: Path, name: str):
    rows = pl.read_csv(bundle / "data.csv", infer_schema=False)
    FORGERIES[name](rows).write_csv(bundle / "data.csv")
    forge(bundle)
    assert any("pseudonyms" in what for what in failing(bundle))


def test_forged_words_are_caught(bundle: Path):
    forge(bundle, lambda m: m["marks"].clear())
    assert failing(bundle)
    forge(bundle, lambda m: m["attacks"].pop())
    assert "an attack for every column" in failing(bundle)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"key": "00" * 32}, "was changed after it was made"),
        ({"key": "00"}, "32 bytes"),
        ({"columns": {"age": {"low": 15, "high": 95, "categories": 4}}}, "was changed after it was made"),
        ({"columns": {}}, "must name columns"),
        ({"schema": 2}, "no secret of graded grouping that this version reads"),
    ],
)
def test_a_secret_that_was_changed_is_refused(folder: Path, change: dict[str, Any], said: str):
    path = folder / "sites.secret"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(BundleError, match=said):
        GradedSecret.load(path)


def test_a_secret_is_never_written_over(folder: Path):
    with pytest.raises(BundleError, match="exists already"):
        GradedSecret.new(read_terms(TERMS)).write(folder / "sites.secret")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"low": 0, "high": 9}, "categories must be a whole number"),
        ({"low": 9, "high": 0, "categories": 2}, "low must be below"),
        ({"low": 0, "high": 9, "categories": 2, "grid": 1}, "grid is not known"),
        ({"ranges": [[0, 20], [15, 50]]}, "begins at 15 overlaps the one before, which ends at 20"),
        ({"ranges": [[0, 20], [25, 50]]}, "leaves a gap"),
        ({"ranges": [[0, 20], [20, 20]]}, "is empty"),
        ({"ranges": [[0, 20, 30]]}, "must list pairs"),
        ({"ranges": []}, "must list 1 to"),
        ({"ranges": [[0, 20]], "low": 0}, "leave low out"),
        ({"ranges": [[0, "x"]]}, "is no decimal number"),
        ({"low": 0.5, "high": 9, "categories": 2}, "more than decimals = 0"),
        ({"low": True, "high": 9, "categories": 2}, "must be a number"),
        (["a", "a"], "names a value twice"),
        ([], "must list texts"),
        (["a", 3], "must list texts"),
    ],
)
def test_terms_that_cannot_be(said: Any, told: str):
    with pytest.raises(ParameterError, match=told):
        read_terms({"age": said})


def test_bad_input_ends_with_code_2(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(folder)
    Path("terms.toml").write_text("[columns]\nage = { ranges = [[0, 20], [15, 50]] }\n")
    assert run("graded", "new", "terms.toml")[0] == 2
    Path("empty.csv").write_text("")
    code, _, err = run("graded", "apply", "empty.csv", "--secret", "sites.secret")
    assert (code, "empty" in err) == (2, True)
    assert not Path("part").exists()
