"""Releases whose categories keep common values: rules for new records tell no more than the released level."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from tests.bundles.forging import failing, forge

VALUES = ["a"] * 60 + ["b"] * 30 + ["c"] * 12 + ["d"] * 3 + ["e"] * 2
KEEP = [["a", "b", "c"], ["a"]]


def released(folder: Path, k: int) -> tuple[sf.Release, dict[str, Any]]:
    frame = pl.DataFrame({"x": VALUES})
    column = {"role": "quasi", "hierarchy": {"kind": "common", "keep": KEEP}}
    plan = sf.Plan.parse({"columns": {"x": column}, "privacy": {"k_anonymity": k}, "attack": {"run": False}})
    made = sf.release(plan, frame)
    assert made.write(folder / "out").holds
    stated = json.loads((folder / "out" / "manifest.json").read_text())["recoding"]["columns"]["x"]
    return made, stated


@pytest.mark.parametrize(
    ("k", "labels", "told"),
    [
        (2, {"a", "b", "c", "d", "e"}, KEEP),
        (5, {"a", "b", "c", "other than 3 values"}, KEEP),
        (20, {"a", "other than 'a'"}, KEEP[1:]),
        (61, {"*"}, []),
    ],
)
def test_a_rule_keeps_the_values_of_the_released_level_only(
    k: int, labels: set[str], told: list[list[str]], tmp_path: Path
) -> None:
    made, stated = released(tmp_path, k)
    assert set(made.frame["x"]) == labels
    assert stated["rule"]["above"] == {"kind": "common", "keep": told}
    new = sf.apply(tmp_path / "out", pl.DataFrame({"x": ["a", "b"]})).rows["x"].to_list()
    assert set(new) <= labels
    if 2 < k < 61:
        strange = sf.apply(tmp_path / "out", pl.DataFrame({"x": ["never seen"]})).rows["x"].to_list()
        assert strange[0].startswith("other than")


def test_a_label_of_another_level_is_caught(tmp_path: Path) -> None:
    released(tmp_path, 20)
    forge(tmp_path / "out", lambda m: m["recoding"]["columns"]["x"]["rule"]["above"].update(keep=[["b"]]))
    assert failing(tmp_path / "out")
