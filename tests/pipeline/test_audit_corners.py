"""Audits in the corners: several sensitive columns, means, boxes with commas, dropped rows, warnings that must stay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.attacks.labels import coverage_of
from sfumato.bundles.manifest.document import dump, seal
from sfumato.pipeline.attack import attack as audit

QUASI = {"role": "quasi", "hierarchy": {"kind": "flat"}}


def parsed(columns: dict[str, Any], **more: Any) -> sf.Plan:
    return sf.Plan.parse({"columns": columns, "privacy": {"k_anonymity": 5}, **more})


def test_every_sensitive_column_is_attacked():
    rows = 200
    frame = pl.DataFrame(
        {
            "job": ["a" if n % 2 else "b" for n in range(rows)],
            "pay": [str(n * 7 % 5) for n in range(rows)],
            "ill": ["hiv" if n % 2 else "flu" for n in range(rows)],
        }
    )
    columns = {"job": QUASI, "pay": {"role": "sensitive"}, "ill": {"role": "sensitive"}}
    with pytest.raises(sf.ClaimRefuted, match="homogeneity of ill"):
        sf.release(parsed(columns, attack={"attacks": ["homogeneity"], "max_risk": 0.5}), frame)
    quiet = sf.release(parsed(columns, attack={"attacks": ["homogeneity"]}), frame).audit
    assert [one.attack for one in quiet.findings] == ["homogeneity of pay", "homogeneity of ill"]
    assert quiet.findings[1].rate.value == 1.0


def test_means_are_not_read_as_labels():
    frame = pl.DataFrame({"x": [str(n) for n in range(60)], "y": [str(n * 13 % 60) for n in range(60)]})
    column = {
        "role": "quasi",
        "type": "integer",
        "hierarchy": {"kind": "intervals", "widths": [10], "low": 0, "high": 60},
    }
    plan = parsed({"x": column, "y": column}, algorithm={"name": "mondrian", "output": "means"})
    found = sf.release(plan, frame).audit
    assert "linkage" in found.skipped
    assert "means" in found.skipped["linkage"]


def test_sets_of_values_with_commas_are_read():
    read = coverage_of(["{cook, nurse, RN}", "{a, x, b, x}"], ["cook", "nurse, RN", "a, x", "b, x"])
    assert read.covers.tolist() == [[True, True, False, False], [False, False, True, True]]


def test_rows_that_were_dropped_are_not_attacked(tmp_path: Path):
    frame = pl.DataFrame({"sex": ["m", "f"] * 40 + ["?"] * 20, "ill": ["flu", "hiv"] * 50})
    frame.write_csv(tmp_path / "in.csv")
    tree = {
        "input": {"path": "in.csv", "missing": ["?"], "on_missing": "drop"},
        "columns": {"sex": QUASI, "ill": {"role": "sensitive"}},
        "privacy": {"k_anonymity": 5},
    }
    plan = sf.Plan.parse(tree, folder=tmp_path)
    made = sf.release(plan)
    made.write(tmp_path / "out")
    found = audit(tmp_path / "out", tmp_path / "in.csv", plan=plan, attacks=("homogeneity",), seed=1)
    assert found.findings[0].rate.trials == 80


def test_attacks_and_warnings_cannot_be_taken_out_of_a_manifest(tmp_path: Path):
    frame = pl.DataFrame({"items": ["a|b"] * 6 + ["a|c", "b|c"] + ["c"] * 5})
    tree = {
        "columns": {"items": {"role": "quasi", "type": "set"}},
        "privacy": {"km": {"k": 3, "m": 2}},
        "algorithm": {"scope": "local", "support": 3},
    }
    sf.release(sf.Plan.parse(tree), frame).write(tmp_path / "out")
    content = json.loads((tmp_path / "out" / "manifest.json").read_text())
    for key, what in (("attacks", "attackers who know items"), ("marks", "warnings")):
        (tmp_path / "out" / "manifest.json").write_text(dump(seal({**content, key: []})))
        assert what in [check.what for check in sf.verify(tmp_path / "out").checks if not check.holds]
