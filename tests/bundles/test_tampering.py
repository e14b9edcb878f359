"""Whatever is changed in a bundle, verification notices; also when the forger mends the digests."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.bundles.files import sha256
from tests.bundles.forging import failing, forge

PLAN = {
    "columns": {
        "sex": {"role": "quasi", "hierarchy": {"bundled": "census/sex"}},
        "race": {"role": "quasi", "hierarchy": {"bundled": "census/race"}},
        "education": {"role": "quasi", "hierarchy": {"bundled": "census/education"}},
        "age": {"role": "quasi", "hierarchy": {"bundled": "census/age"}},
        "occupation": {"role": "sensitive"},
        "income": {"role": "target"},
    },
    "privacy": {"k_anonymity": 5, "l_diversity": {"kind": "entropy", "l": 2}, "t_closeness": {"t": 0.4}},
    "algorithm": {"max_suppressed": 0.05},
}


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "bundle"
    made = sf.release(sf.Plan.parse(PLAN), sf.datasets.census(1500, seed=3))
    assert made.suppressed_rows > 0
    assert made.write(folder).holds
    return folder


@pytest.fixture
def copy(bundle: Path, tmp_path: Path) -> Path:
    shutil.copytree(bundle, tmp_path / "copy")
    return tmp_path / "copy"


def forge_data(folder: Path, change: Callable[[pl.DataFrame], pl.DataFrame], *, sealed: bool = True) -> None:
    """Change the released rows, and mend digests and row count."""
    path = folder / "data.csv"
    frame = change(pl.read_csv(path, infer_schema=False))
    frame.write_csv(path)

    def mend(content: dict[str, Any]) -> None:
        content["data"]["sha256"] = sha256(path)
        content["data"]["rows"] = frame.height

    forge(folder, mend, sealed=sealed)


def test_the_untouched_bundle_holds(bundle: Path):
    assert failing(bundle) == []


@pytest.mark.parametrize("place", [0.0, 0.3, 0.7, 0.999])
def test_one_byte_of_the_data(copy: Path, place: float):
    path = copy / "data.csv"
    content = bytearray(path.read_bytes())
    at = int(place * (len(content) - 1))
    content[at] = ord("7") if content[at] != ord("7") else ord("8")
    path.write_bytes(content)
    assert "bytes of the data file" in failing(copy)


def test_one_byte_of_the_manifest(copy: Path):
    path = copy / "manifest.json"
    path.write_text(path.read_text().replace('"versions"', '"versionz"'))
    assert failing(copy)[0] == "form of the manifest"


def test_one_digit_of_the_manifest(copy: Path):
    path = copy / "manifest.json"
    path.write_text(path.read_text().replace('"marketer": 0.', '"marketer": 0.1', 1))
    assert "seal of the manifest" in failing(copy)


def test_one_byte_of_the_report(copy: Path):
    with (copy / "report.html").open("a") as file:
        file.write(" ")
    assert failing(copy) == ["report"]


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "a stricter k than reached": (lambda m: m["claims"][0]["parameters"].update(k=500), "claim k-anonymity"),
    "a weaker k than planned": (lambda m: m["claims"][0]["parameters"].update(k=2), "claim k-anonymity"),
    "another reached value": (lambda m: m["claims"][0].update(reached=99.0), "claim k-anonymity"),
    "another value reading": (lambda m: m["claims"][1]["readings"].update(value=9.9), "claim entropy-l-diversity"),
    "another limit": (lambda m: m["claims"][2].update(limit=0.39), "claim t-closeness"),
    "another sense": (lambda m: m["claims"][0].update(sense="at most"), "claim k-anonymity"),
    "a claim left out": (lambda m: m["claims"].pop(), "claims are what the plan asks for"),
    "a claim that was not planned": (
        lambda m: m["claims"].append({**m["claims"][0], "parameters": {"k": 3}}),
        "claims are what the plan asks for",
    ),
    "another plan": (lambda m: m["plan"]["privacy"].update(k_anonymity=4), "claims are what the plan asks for"),
    "another reading": (lambda m: m["plan"]["privacy"].update(reading="value"), "claim k-anonymity"),
    "another k": (lambda m: m["smallest_class"].update(value=50), "smallest class under both readings"),
    "another number of suppressed rows": (lambda m: m["suppression"].update(rows=0), "suppressed rows"),
    "a smaller original": (lambda m: m["suppression"].update(of=m["data"]["rows"], rows=0), "utility: loss"),
    "a lower limit of suppression": (lambda m: m["suppression"].update(limit=0.0), "suppressed rows"),
    "another loss": (lambda m: m["utility"].update(loss=0.001), "utility: loss"),
    "another discernibility": (lambda m: m["utility"].update(discernibility=1.0), "utility: discernibility"),
    "a metric left out": (lambda m: m["utility"].pop("loss"), "metrics that are not stated"),
    "an attack that nobody ran": (lambda m: m["attacks"].append({"name": "linkage"}), "form of the manifest"),
    "another risk": (lambda m: m["risk"].update(prosecutor=0.0001), "risk"),
    "another level": (lambda m: m["recoding"]["columns"]["age"].update(level=9), "recoding of age"),
    "labels taken away": (lambda m: m["recoding"]["columns"]["sex"].update(labels={"x": 0.0}), "recoding of sex"),
    "a quasi-identifier called harmless": (
        lambda m: m["data"]["columns"][0].update(role="keep"),
        "roles of the columns",
    ),
    "a column that is not there": (lambda m: m["data"]["columns"].pop(), "columns"),
    "another number of rows": (lambda m: m["data"].update(rows=7), "rows"),
    "a missing marker more": (lambda m: m["data"].update(missing=["Male"]), "missing markers"),
    "an impossible parameter": (
        lambda m: m["claims"][0]["parameters"].update(k=-1),
        "what the manifest describes",
    ),
    "an unknown model": (lambda m: m["claims"][0].update(model="k-anonymitty"), "what the manifest describes"),
    "an unknown parameter": (lambda m: m["claims"][0]["parameters"].update(q=1), "what the manifest describes"),
    "no claims at all": (lambda m: m.pop("claims"), "form of the manifest"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_forged_manifest_with_a_mended_seal(copy: Path, name: str):
    change, noticed = CHANGES[name]
    forge(copy, change, sealed=True)
    assert noticed in failing(copy)


@pytest.mark.parametrize("name", CHANGES)
def test_a_forged_manifest_with_its_old_seal(copy: Path, name: str):
    forge(copy, CHANGES[name][0], sealed=False)
    assert {"seal of the manifest", "form of the manifest"} & set(failing(copy))


def test_rows_forged_with_all_digests_mended(copy: Path, bundle: Path):
    forge_data(copy, lambda frame: frame.head(frame.height - 1))
    assert "suppressed rows" in failing(copy)
    shutil.copytree(bundle, copy, dirs_exist_ok=True)
    forge_data(
        copy,
        lambda frame: frame.with_columns(age=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("17")).otherwise("age")),
    )
    assert {"claim k-anonymity", "recoding of age"} <= set(failing(copy))
    shutil.copytree(bundle, copy, dirs_exist_ok=True)
    forge_data(copy, lambda frame: frame.with_columns(occupation=pl.lit("Sales")))
    assert "claim entropy-l-diversity" in failing(copy)
    shutil.copytree(bundle, copy, dirs_exist_ok=True)
    forge_data(copy, lambda frame: frame.rename({"age": "Age"}))
    assert "columns" in failing(copy)


def test_broken_bundles_are_refused_with_a_reason(copy: Path, tmp_path: Path):
    with pytest.raises(sf.BundleError, match=r"it has no manifest\.json"):
        sf.verify(tmp_path / "nowhere")
    forge(copy, lambda m: m.update(schema=99), sealed=True)
    with pytest.raises(sf.BundleError, match="schema version 99 is not known"):
        sf.verify(copy)
    (copy / "manifest.json").write_text("{")
    with pytest.raises(sf.BundleError, match="not valid JSON"):
        sf.verify(copy)


def test_a_missing_data_file(copy: Path):
    (copy / "data.csv").unlink()
    with pytest.raises(sf.BundleError, match=r"data file 'data\.csv' is missing"):
        sf.verify(copy)


def test_a_data_file_outside_the_bundle_is_not_read(copy: Path):
    forge(copy, lambda m: m["data"].update(file="../copy/data.csv"), sealed=True)
    with pytest.raises(sf.BundleError, match="data/file must be a text of the form"):
        sf.verify(copy)


def test_an_exemption_that_the_plan_does_not_know(copy: Path):
    """A row of nothing but * added, called exempt, with every digest and count mended."""
    stars = pl.DataFrame(
        {"age": ["*"], "education": ["*"], "occupation": ["Sales"], "race": ["*"], "sex": ["*"], "income": ["<=50K"]}
    )
    forge_data(copy, lambda frame: pl.concat([frame, stars.select(frame.columns)]))
    forge(
        copy,
        lambda m: (m["data"].update(exempt_suppressed=True), m["suppression"].update(of=m["suppression"]["of"] + 1)),
        sealed=True,
    )
    assert "exemption of suppressed rows" in failing(copy)


@pytest.mark.parametrize(
    ("change", "noticed"),
    [
        (lambda m: m["suppression"].update(limit=1.0), "limit of suppression"),
        (lambda m: m["suppression"].update(how="star", rows=0, of=m["data"]["rows"]), "way of suppression"),
        (lambda m: m["suppression"].update(rows=-5, of=m["data"]["rows"] - 5), "form of the manifest"),
        (lambda m: m["recoding"]["columns"]["age"].update(of=99), "recoding of age"),
        (lambda m: m["recoding"]["columns"]["race"]["sizes"].update({"White": 0.0}), "recoding of race"),
    ],
)
def test_figures_that_the_plan_or_the_rows_contradict(copy: Path, change, noticed):
    forge(copy, change, sealed=True)
    assert noticed in failing(copy)


def test_files_that_do_not_belong(copy: Path):
    (copy / "raw.csv").write_text("name\nMary\n")
    assert failing(copy) == ["files that do not belong here"]


def test_the_original_distribution_of_removed_rows_is_never_asked_for():
    """Published beside the released rows it would tell the sensitive values of those that were removed."""
    closeness = {"t": 0.9, "distance": "emd-equal", "reference": "original"}
    tree = {
        "columns": {"q": {"role": "quasi", "hierarchy": {"kind": "flat"}}, "s": {"role": "sensitive"}},
        "privacy": {"t_closeness": closeness},
        "algorithm": {"max_suppressed": 0.1},
    }
    frame = pl.DataFrame({"q": ["a"] * 90 + ["b"] * 10, "s": ["flu"] * 90 + ["hiv"] * 10})
    with pytest.raises(sf.SfumatoError, match="would tell the sensitive values of the rows that are removed"):
        sf.release(sf.Plan.parse(tree), frame)
    tree["algorithm"]["suppressed"] = "star"
    assert sf.release(sf.Plan.parse(tree), frame).claims[0].holds


@pytest.mark.parametrize("line", [["zzz", 0], ["a", 1]])
def test_invented_population(tmp_path: Path, line):
    frame = pl.DataFrame({"q": ["a"] * 90 + ["b"] * 10})
    people = pl.DataFrame({"q": ["a"] * 200 + ["b"] * 20 + ["c"] * 50})
    tree = {
        "columns": {"q": {"role": "quasi", "hierarchy": {"kind": "flat"}}},
        "privacy": {"delta_presence": {"high": 0.6}},
    }
    sf.release(sf.Plan.parse(tree), frame, population=people).write(tmp_path / "b")
    assert failing(tmp_path / "b") == []
    forge(tmp_path / "b", lambda m: m["data"]["population"].append(line), sealed=True)
    assert "population counts" in failing(tmp_path / "b")
