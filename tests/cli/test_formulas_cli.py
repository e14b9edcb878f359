"""``--escape-formulas`` from the release to its reader: the same classes, the same verdicts, other bytes."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.bundles.files import sha256
from sfumato.bundles.manifest.document import dump, seal

PLAN = """
[input]
missing = ["@none"]
[columns."=cmd|' /C calc'!A0"]
role = "quasi"
hierarchy = { kind = "flat" }
[columns.age]
role = "quasi"
hierarchy = { kind = "intervals", widths = [10, 20], low = 0, high = 100 }
[columns.note]
role = "sensitive"
[columns.debt]
role = "keep"
[privacy]
k_anonymity = 2
l_diversity = { kind = "distinct", l = 2 }
"""
NAME = "=cmd|' /C calc'!A0"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    rows = {
        NAME: ["=x", "=x", "'=x", "'=x", "@none", "@none", "@none"],
        "age": ["11", "12", "13", "14", "15", "16", "17"],
        "note": ["+SUM(A1)", "flu", "-1-1", "flu", "@none", "flu", "cough"],
        "debt": ["-5", "-1.5e3", "+7", "0", "1", "2", "3"],
    }
    pl.DataFrame(rows).write_csv(tmp_path / "data.csv")
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path


def cells(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def made(run: Any, place: Path, *options: str) -> tuple[Path, Any]:
    bundle = place / "b"
    ran = run("release", place / "plan.toml", "--input", place / "data.csv", "-o", bundle, "--no-inside", *options)
    assert ran.code == 0, ran.err
    return bundle, ran


def test_by_default_the_bytes_are_what_the_data_say(run: Any, place: Path) -> None:
    bundle, ran = made(run, place)
    assert NAME in cells(bundle / "data.csv")[0]
    assert "a spreadsheet would run cells of" in ran.err
    assert "'note' as formulas" in ran.err
    assert "'debt'" not in ran.err
    assert "--escape-formulas" in ran.err
    assert "output" not in json.loads((bundle / "manifest.json").read_text())["plan"]


def test_escaped_cells_are_read_as_what_they_mean(run: Any, place: Path) -> None:
    bundle, ran = made(run, place, "--escape-formulas")
    assert "spreadsheet" not in ran.err
    head, *rows = cells(bundle / "data.csv")
    assert head[0] == f"'{NAME}"
    assert {row[0] for row in rows} == {"'=x", "''=x", "'@none"}
    assert {row[2] for row in rows} == {"'+SUM(A1)", "flu", "'-1-1", "'@none", "cough"}
    assert {row[3] for row in rows} == {"-5", "-1.5e3", "+7", "0", "1", "2", "3"}
    manifest = json.loads((bundle / "manifest.json").read_text())
    assert manifest["plan"]["output"] == {"escape_formulas": True}
    assert manifest["data"]["columns"][0]["name"] == NAME
    assert manifest["smallest_class"] == {"value": 2, "wildcard": 5}
    found = sf.verify(bundle)
    assert found.holds
    assert "formulas" in {check.what for check in found.checks}


def test_a_cell_that_is_not_escaped_is_noticed(run: Any, place: Path) -> None:
    """Known-bad: it would read like its escaped twin, and run."""
    bundle, _ = made(run, place, "--escape-formulas")
    path = bundle / "data.csv"
    path.write_text(path.read_text().replace("\n'=x", "\n=x", 1))
    content = json.loads((bundle / "manifest.json").read_text())
    content["data"]["sha256"] = sha256(path)
    (bundle / "manifest.json").write_text(dump(seal(content)))
    assert [check.what for check in sf.verify(bundle).checks if not check.holds] == ["formulas"]
    del content["plan"]["output"]
    (bundle / "manifest.json").write_text(dump(seal(content)))
    assert "columns" in [check.what for check in sf.verify(bundle).checks if not check.holds]


@pytest.mark.parametrize("escaped", [True, False])
def test_apply_goes_on_as_the_bundle_does(run: Any, place: Path, escaped: bool) -> None:
    bundle, _ = made(run, place, *(["--escape-formulas"] if escaped else []))
    out = place / "new.csv"
    ran = run("apply", bundle, place / "data.csv", "-o", out)
    assert ran.code == 0, ran.err
    assert (cells(out)[0][0] == f"'{NAME}") == escaped
    assert ("a spreadsheet would run" in ran.err) != escaped
    ran = run("apply", bundle, place / "data.csv", "-o", out, "--force", "--escape-formulas")
    assert {row[0] for row in cells(out)[1:]} == {"'=x", "''=x", "'@none"}


def test_the_attacker_reads_an_escaped_bundle_too(run: Any, place: Path) -> None:
    bundle, _ = made(run, place, "--escape-formulas")
    data, plan = place / "data.csv", place / "plan.toml"
    ran = run("attack", bundle, "--original", data, "--plan", plan, "--json")
    assert ran.code in (0, 1), ran.err
    assert any(one["attack"].startswith("linkage") for one in ran.json["attacks"])


def test_parquet_has_no_formulas(run: Any, place: Path) -> None:
    ran = run("release", place / "plan.toml", "--input", place / "data.csv", "--set", "output.format=parquet",
              "--escape-formulas", "-o", place / "p")  # fmt: skip
    assert ran.code == 2
    assert "output.escape_formulas is for CSV" in ran.err
    bundle, _ = made(run, place)
    ran = run("apply", bundle, place / "data.csv", "-o", place / "new.parquet", "--escape-formulas")
    assert ran.code == 2
    assert "--escape-formulas is for CSV" in ran.err


@pytest.mark.parametrize("kind", ["sets", "private", "anatomy"])
def test_every_kind_of_release_can_be_escaped(tmp_path: Path, kind: str) -> None:
    words = ["=a|=b", "=a|=b|c", "=b|c"] * 4
    frame = pl.DataFrame({"@set": words, "ill": ["=hiv", "flu"] * 6, "q": ["+x", "+y"] * 6})
    trees: dict[str, Any] = {
        "sets": {
            "columns": {"@set": {"role": "quasi", "type": "set"}, "ill": {"role": "sensitive"}},
            "privacy": {"km": {"k": 2, "m": 1}},
        },
        "private": {
            "columns": {"q": {"role": "quasi", "hierarchy": {"kind": "groups", "groups": {"=g": ["+x", "+y"]}}}},
            "privacy": {"epsilon": 50},
            "algorithm": {"name": "diffgen"},
        },
        "anatomy": {
            "columns": {"q": {"role": "quasi", "hierarchy": {"kind": "flat"}}, "ill": {"role": "sensitive"}},
            "privacy": {"l_diversity": {"kind": "simple", "l": 2}},
            "algorithm": {"name": "anatomy"},
        },
    }
    tree = {**trees[kind], "output": {"escape_formulas": True}, "attack": {"run": False}}
    assert sf.release(sf.Plan.parse(tree), frame).write(tmp_path / "b").holds
    text = "".join(path.read_text() for path in (tmp_path / "b").glob("*.csv"))
    assert "'" in text
    assert not any(line.startswith(("=", "+", "@")) for line in text.splitlines())
