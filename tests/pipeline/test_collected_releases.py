"""Collected answers from the plan to the bundle: what coins give is claimed, and all of it follows from the bytes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.bundles.checks.collected import AT_THE_SOURCE, STUDY
from sfumato.cli.main import main
from sfumato.collection.channels import shown_bits, shown_codes, shown_numbers
from sfumato.collection.mechanisms import KeptCategory, NoisyNumber, UnaryBits
from sfumato.collection.specification import Specification
from sfumato.core.randomness import Chance
from sfumato.pipeline.attack import attack as audit
from sfumato.pipeline.collection import specified
from sfumato.pipeline.verification import verify_again
from tests.bundles.forging import failing, forge, manifest_of

ROWS = 1_200
AGE = NoisyNumber.declared("age", "uniform", low=0, high=100, step=1, size=20)
PAY = NoisyNumber.declared("pay", "laplace", low=0, high=50, step="0.5", size=25)
SMOKES = KeptCategory.warner("smokes", ("yes", "no"), truth="3/4")
DRINKS = KeptCategory.within("drinks", ("never", "seldom", "often"), epsilon="1.5")
SITE = UnaryBits.within("site", ("north", "south", "east"), epsilon="1")
BASKET = UnaryBits.items("basket", ("bread", "milk", "beer"), epsilon="1")
SPEC = Specification(questions=(AGE, PAY, SMOKES, DRINKS, SITE, BASKET))


def people() -> dict[str, Any]:
    """True answers by code; from a fixed seed."""
    draw = np.random.default_rng(11)
    age = np.clip(draw.normal(50, 15, ROWS), 0, 100).round()
    pay = np.clip(age / 3 + draw.normal(0, 2, ROWS), 0, 50).round()
    smokes = (draw.random(ROWS) > 0.3).astype(np.int64)
    drinks = np.where(smokes == 0, 2, draw.integers(0, 2, ROWS))
    site = draw.choice(3, ROWS, p=[0.6, 0.3, 0.1])
    basket = draw.random((ROWS, 3)) < [0.7, 0.5, 0.1]
    return {"age": age, "pay": pay, "smokes": smokes, "drinks": drinks, "site": site, "basket": basket}


def texts(question: Any, codes: Any) -> list[str]:
    return [question.write(one) for one in np.asarray(codes).tolist()]


def frames() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Shown answers and true ones."""
    true = people()
    shown: dict[str, Any] = {}
    for seed, one in enumerate((AGE, PAY)):
        shown[one.name] = shown_numbers(one, true[one.name], Chance(seed=seed))
    for seed, each in enumerate((SMOKES, DRINKS)):
        shown[each.name] = texts(each, shown_codes(each, true[each.name], Chance(seed=10 + seed)))
    bits = np.eye(3, dtype=np.bool_)[true["site"]]
    shown["site"] = texts(SITE, shown_bits(SITE, bits, Chance(seed=20)))
    shown["basket"] = texts(BASKET, shown_bits(BASKET, true["basket"], Chance(seed=21)))
    told: dict[str, Any] = {"age": true["age"], "pay": true["pay"]}
    told["smokes"] = texts(SMOKES, true["smokes"])
    told["drinks"] = texts(DRINKS, true["drinks"])
    told["site"] = [SITE.values[one] for one in true["site"]]
    told["basket"] = [";".join(v for v, b in zip(BASKET.values, row, strict=True) if b) for row in true["basket"]]
    region = ["A" if n % 2 else "B" for n in range(ROWS)]
    return pl.DataFrame(shown).with_columns(region=pl.Series(region)), pl.DataFrame(told)


def tree(**more: Any) -> dict[str, Any]:
    return {"collection": {"spec": "survey.json"}, "columns": {"region": {"role": "keep"}}, **more}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("collected")
    shown, true = frames()
    shown.write_csv(folder / "shown.csv")
    true.write_csv(folder / "true.csv")
    (folder / "survey.json").write_text(SPEC.write())
    made = sf.release(sf.Plan.parse(tree(input={"path": "shown.csv"}), folder=folder))
    assert made.write(folder / "out", inside=folder / "out.inside.html").holds
    return folder


@pytest.fixture
def bundle(place: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(place / "out", tmp_path / "out"))


def test_the_bundle_claims_what_the_coins_give_and_no_k(bundle: Path):
    content = manifest_of(bundle)
    claims = {one["parameters"]["question"]: (one["model"], one["parameters"]) for one in content["claims"]}
    assert list(claims) == ["age", "pay", "smokes", "drinks", "site", "basket"]
    assert claims["smokes"] == ("local-privacy", {"question": "smokes", "epsilon": "ln 3"})
    assert claims["pay"][1]["epsilon"] == "2"
    assert claims["age"] == ("interval-privacy", {"question": "age", "confidence": 0.95, "width": 38.95})
    assert claims["basket"][1]["of"] == "each item"
    assert Specification.parse(json.dumps(content["specification"])) == SPEC
    assert content["marks"][0] == AT_THE_SOURCE
    assert any("region" in mark for mark in content["marks"])
    assert sf.verify(bundle).holds


def test_a_specification_that_has_an_epsilon_everywhere_claims_that_of_everything(tmp_path: Path):
    spec = Specification(questions=(SMOKES, BASKET), repeats="charge", most=2)
    (tmp_path / "survey.json").write_text(spec.write())
    made = sf.release(sf.Plan.parse({"collection": {"spec": "survey.json"}}, folder=tmp_path), frames()[0])
    assert made.claims[-1].parameters["epsilon"] == "6 ln 13591/5000 + 2 ln 3"
    assert made.claims[-1].limit == pytest.approx(2 * np.log(3) + 6 * np.log(2.7182))
    assert made.write(tmp_path / "out").holds


def test_rows_are_those_that_came_in_another_order(bundle: Path):
    rows, shown = pl.read_csv(bundle / "data.csv"), frames()[0]
    assert rows.columns == shown.columns
    assert not rows.equals(shown)
    texts_of = [frame.with_columns(pl.col("age", "pay").cast(pl.Float64)) for frame in (rows, shown)]
    assert texts_of[0].sort(pl.all()).equals(texts_of[1].sort(pl.all()))


def test_estimates_are_near_the_truth_and_pairs_too(bundle: Path):
    """Six sigma around fixed draws; intervals of 95 % are doubled."""
    found, true = manifest_of(bundle)["reconstruction"], people()
    shares = {one["question"]: one for one in found["questions"]}
    for name, values in (("smokes", 2), ("drinks", 3), ("site", 3)):
        counted = np.bincount(true[name], minlength=values) / ROWS
        one = shares[name]
        wide = np.array(one["high"]) - np.array(one["low"])
        assert (np.abs(np.array(one["share"]) - counted) <= wide).all()
    assert np.allclose(shares["basket"]["share"], true["basket"].mean(axis=0), atol=0.2)
    assert sum(shares["age"]["shown"]) + sum(shares["age"]["outside"]) == pytest.approx(1, abs=1e-5)
    pairs = {tuple(one["questions"]): one for one in found["pairs"]}
    assert set(pairs) == {("age", "pay"), ("smokes", "drinks")}
    numbers = pairs["age", "pay"]
    assert numbers["shown"] < 0.5 < numbers["estimate"] <= 1
    assert pairs["smokes", "drinks"]["shown"] < pairs["smokes", "drinks"]["estimate"]


def test_attacks_are_made_by_default_and_from_the_bytes_again(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    told = {one["attack"]: one for one in manifest_of(bundle)["attacks"]}
    assert set(told) == {"spectral", *(f"bayes-guess of {name}" for name in ("smokes", "drinks", "site", "basket"))}
    errors = told["spectral"]["figures"]
    assert errors["error of pay"] < errors["spread of pay"] < errors["noise of pay"]
    assert told["bayes-guess of smokes"]["limit"]["value"] > told["bayes-guess of smokes"]["target"]["rate"]
    monkeypatch.setattr("sys.argv", ["sfumato", "attack", str(bundle), "--json"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code
    again = {one["attack"]: one for one in json.loads(capsys.readouterr().out)["attacks"]}
    assert {name: one["target"]["rate"] for name, one in again.items()} == pytest.approx(
        {name: one["target"]["rate"] for name, one in told.items()}, rel=2e-3
    )
    with pytest.raises(sf.PlanError, match="random order"):
        audit(bundle, frames()[1])


def test_the_page_shows_received_beside_estimated(place: Path):
    page = " ".join((place / "out" / "report.html").read_text().split())
    for words in ("What was received, and what is estimated", "How close numbers can be guessed", "ln 3 ≈ 1.099",
                  "That people used these coins", "How answers go together"):  # fmt: skip
        assert words in page
    assert "the true share" not in page.replace("holds the true share", "")
    assert "Inside report" in (place / "out.inside.html").read_text()


def test_a_study_counts_guesses_for_the_steward_only(place: Path, tmp_path: Path):
    asked = tree(collection={"spec": "survey.json", "truth": "true.csv"}, input={"path": "shown.csv"})
    made = sf.release(sf.Plan.parse(asked, folder=place))
    assert made.write(tmp_path / "out").holds
    content = manifest_of(tmp_path / "out")
    assert STUDY in content["marks"]
    measured = {one.attack: one for one in made.audit.findings if one.exact}
    assert len(measured) == 5
    assert not any(one["attack"] in measured for one in content["attacks"])
    for name, one in measured.items():
        expected = next(each for each in made.audit.findings if f"{each.attack}, measured" == name)
        assert abs(one.rate.value - expected.rate.value) < 0.1, name
    assert "the upright mark is the true share" in made.report(inside=True)
    assert "upright mark" not in (tmp_path / "out" / "report.html").read_text()


def test_people_who_threw_no_coin_refute_the_claim_in_a_study(place: Path):
    """True answers instead of shown ones: the guess is right more often than the epsilon allows."""
    shown, true = frames()
    honest = shown.with_columns(true["smokes"])
    asked = tree(collection={"spec": "survey.json", "truth": "true.csv"})
    with pytest.raises(sf.ClaimRefuted, match="local epsilon of ln 3 for smokes"):
        sf.release(sf.Plan.parse(asked, folder=place), honest)


# What is wrong is caught


def changed(folder: Path, change: Any) -> None:
    rows = change(pl.read_csv(folder / "data.csv"))
    rows.write_csv(folder / "data.csv")
    forge(folder, lambda m: m["data"].update(rows=rows.height))


def first(frame: pl.DataFrame, **cell: Any) -> pl.DataFrame:
    ((name, value),) = cell.items()
    return frame.with_columns(pl.when(pl.int_range(pl.len()) == 0).then(value).otherwise(name).alias(name))


@pytest.mark.parametrize(
    ("change", "caught"),
    [
        (lambda f: first(f, age=121), "answers to age"),
        (lambda f: first(f, pay=0.25), "answers to pay"),
        (lambda f: f.with_columns(smokes=pl.lit("maybe")), "answers to smokes"),
        (lambda f: f.with_columns(site=pl.lit("b0101")), "answers to site"),
        (lambda f: pl.concat([f, f.head(30)]), "reconstruction of"),
        (lambda f: f.tail(-30), "reconstruction of"),
        (lambda f: f.with_columns(pl.col("pay").sort()), "pairs of questions"),
    ],
)
def test_other_rows_are_caught(bundle: Path, change: Any, caught: str):
    changed(bundle, change)
    assert any(caught in what for what in failing(bundle))


def smaller(content: dict[str, Any]) -> None:
    """An epsilon that the coin does not give, everywhere where it is stated."""
    content["specification"]["promises"]["epsilon"]["smokes"] = "ln 2"
    content["specification"]["promises"]["lasting"]["smokes"] = "ln 2"
    next(one for one in content["claims"] if one["parameters"]["question"] == "smokes")["parameters"]["epsilon"] = (
        "ln 2"
    )


def claim(content: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(c["parameters"] for c in content["claims"] if c["parameters"]["question"] == name)
    return found


@pytest.mark.parametrize(
    ("change", "caught"),
    [
        (smaller, "promises of the specification"),
        (lambda m: claim(m, "smokes").update(epsilon="ln 2"), "claims"),
        (lambda m: claim(m, "age").update(width=80.0), "claims"),
        (lambda m: m["claims"].pop(), "claims"),
        (lambda m: m["specification"]["questions"][2].update(truth="4/5", lie="1/5"), "promises of the specification"),
        (lambda m: m["reconstruction"]["questions"][2]["share"].reverse(), "reconstruction of smokes"),
        (lambda m: m["reconstruction"]["questions"][0]["low"].__setitem__(0, 0.5), "reconstruction of age"),
        (lambda m: m["reconstruction"]["questions"].pop(), "questions that are reconstructed"),
        (lambda m: m["reconstruction"]["pairs"][0].update(estimate=0.0), "pairs of questions"),
        (lambda m: m["reconstruction"]["pairs"].pop(), "pairs of questions"),
        (lambda m: m["marks"].remove(AT_THE_SOURCE), "warnings"),
        (lambda m: m["plan"]["collection"].update(study=True), "warnings"),
        (lambda m: m["plan"]["privacy"].update(k_anonymity=5), "models that the plan asks for"),
        (lambda m: m["attacks"][0]["figures"].update({"error of pay": 99.0}), "figures of the attacks"),
        (lambda m: m["attacks"].pop(), "figures of the attacks"),
        (lambda m: m["attacks"].pop(0), "attacks that are reported"),
        (lambda m: m["attacks"][0].update(attack="spectral, measured"), "figures of the attacks"),
        (lambda m: m["data"]["columns"][-1].update(role="quasi"), "roles of the other columns"),
    ],
)
def test_a_forged_manifest_is_caught(bundle: Path, change: Any, caught: str):
    forge(bundle, change)
    assert any(caught in what for what in failing(bundle))


def test_the_collector_can_make_the_bundle_again(place: Path, bundle: Path):
    plan = sf.Plan.parse(tree(input={"path": "shown.csv"}), folder=place)
    again = verify_again(bundle, plan=plan, original=None)
    assert again.holds, [one for one in again.checks if not one.holds]
    other = verify_again(bundle, plan=plan, original=frames()[0].head(-5))
    assert "rows of data" in [one.what for one in other.checks if not one.holds]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"privacy": {"k_anonymity": 5}}, "privacy.k_anonymity"),
        ({"algorithm": {"name": "mondrian"}}, "does not take randomized answers"),
        ({"algorithm": {"cells": 1}}, "algorithm.cells"),
        ({"algorithm": {"max_suppressed": 0.1}}, "leaves no row out"),
        ({"columns": {"region": {"role": "quasi"}}}, "columns.region.role"),
        ({"columns": {"smokes": {"role": "keep"}}}, "columns.smokes: it is a question"),
        ({"columns": {"home": {"role": "keep"}}}, "columns.home"),
        ({"collection": {"spec": "nowhere.json"}}, "collection.spec"),
        ({"collection": {"spec": "survey.json", "key": 1}}, "collection.key: unknown key"),
        ({"collection": {}}, "collection.spec is missing"),
        ({"input": {"unit": "region"}}, "does not support a unit"),
        ({"attack": {"attacks": ["linkage"]}}, "attack.attacks"),
        ({"attack": {"max_risk": 0.01}}, "max_risk"),
        ({"collection": {"spec": "survey.json", "truth": "few.csv"}}, "collection.truth has 3 rows"),
    ],
)
def test_what_cannot_be_done_is_refused(place: Path, asked: dict[str, Any], told: str):
    frames()[1].head(3).write_csv(place / "few.csv")
    with pytest.raises((sf.PlanError, sf.ClaimRefuted, sf.DataError), match=told):
        sf.release(sf.Plan.parse(tree(**asked), folder=place), frames()[0])


def test_missing_answers_are_refused_or_left_out(place: Path, tmp_path: Path):
    holes = frames()[0].with_columns(smokes=pl.when(pl.int_range(pl.len()) < 7).then(None).otherwise("smokes"))
    with pytest.raises(sf.DataError, match=r"row 1: there is no answer.*on_missing"):
        sf.release(sf.Plan.parse(tree(), folder=place), holes)
    made = sf.release(sf.Plan.parse(tree(input={"on_missing": "drop"}), folder=place), holes)
    assert made.write(tmp_path / "out").holds
    assert manifest_of(tmp_path / "out")["recoding"]["left_out"] == 7
    assert manifest_of(tmp_path / "out")["data"]["rows"] == ROWS - 7


def test_an_answer_that_no_coin_shows_is_refused(place: Path):
    odd = frames()[0].with_columns(age=pl.lit(400))
    with pytest.raises(sf.DataError, match="'age': '400' was not shown by it"):
        sf.release(sf.Plan.parse(tree(), folder=place), odd)


def test_parquet_holds_the_same(place: Path, tmp_path: Path):
    made = sf.release(sf.Plan.parse(tree(output={"format": "parquet"}), folder=place), frames()[0])
    assert made.write(tmp_path / "out").holds
    assert pl.read_parquet(tmp_path / "out" / "data.parquet")["age"].dtype == pl.Int64


def test_records_frontiers_and_originals_are_refused(place: Path, bundle: Path):
    with pytest.raises(sf.SfumatoError):
        sf.apply(bundle, frames()[0])
    with pytest.raises(sf.PlanError, match="a frontier compares"):
        sf.frontier(sf.Plan.parse(tree(), folder=place), frames()[0], folder=place / "frontier")


def test_a_bundle_serves_as_a_specification(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    asked = [
        "collect",
        "reconstruct",
        str(bundle),
        "--input",
        str(bundle / "data.csv"),
        "--question",
        "smokes",
        "--json",
    ]
    monkeypatch.setattr("sys.argv", ["sfumato", *asked])
    with pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code
    cells = json.loads(capsys.readouterr().out)["cells"]
    stated = manifest_of(bundle)["reconstruction"]["questions"][2]
    assert [one["share"] for one in cells] == pytest.approx(stated["share"], abs=1e-3)


def test_other_bundles_are_attacked_beside_their_original(tmp_path: Path):
    people_table = sf.datasets.census(60, seed=1)
    made = sf.release(people_table, quasi=["sex"], models=[sf.models.KAnonymity(k=2)])
    made.write(tmp_path / "out")
    with pytest.raises(sf.PlanError, match="--original is missing"):
        audit(tmp_path / "out")
    with pytest.raises(sf.PlanError, match="no bundle of collected answers"):
        specified(tmp_path / "out")
