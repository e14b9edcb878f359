"""Local recoding in a bundle: what is released holds, and twins of it that are broken are caught."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.algorithms.items import local_sets
from sfumato.algorithms.items.problem import Cover
from sfumato.bundles.checks.items import RECODED
from tests.bundles.forging import failing, forge, manifest_of

TREE = {"drinks": {"alcohol": ["beer", "wine"], "soft": ["cola", "tea"]}, "food": {"dairy": ["milk", "whey"]}}
PLAN: dict[str, Any] = {
    "columns": {"basket": {"role": "quasi", "type": "set", "hierarchy": {"tree": TREE}}, "note": {"role": "keep"}},
    "privacy": {"km": {"k": 4, "m": 2}},
    "algorithm": {"name": "local-sets", "smallest": 10},
}


def baskets(rows: int = 240) -> pl.DataFrame:
    """Most have beer, cola or milk; the last twelfth has wine, tea and whey in all mixtures."""
    draw = np.random.default_rng(3)
    plain, rare = ["beer", "cola", "milk"], ["wine", "tea", "whey"]
    cells = []
    for row in range(rows):
        own = plain if row < rows * 11 // 12 else [*plain, *rare]
        cells.append("|".join(sorted(draw.choice(own, draw.integers(1, 3), replace=False))))
    return pl.DataFrame({"basket": cells, "note": ["x"] * rows})


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "bundle"
    made = sf.release(sf.Plan.parse(PLAN), baskets())
    one = sf.release(sf.Plan.parse({**PLAN, "algorithm": {"name": "sets", "by": "generalization"}}), baskets())
    assert made.outcome.effort["parts"] > 1
    assert made.utility["ncp"] < one.utility["ncp"]
    assert made.write(folder).holds
    return folder


@pytest.fixture
def copy(bundle: Path, tmp_path: Path) -> Path:
    shutil.copytree(bundle, tmp_path / "copy")
    return tmp_path / "copy"


def test_the_bundle_says_what_lies_within_what(copy: Path):
    content = manifest_of(copy)
    stated = content["recoding"]["columns"]["basket"]
    assert stated["within"]
    assert set(stated["within"].values()) <= set(stated["coarser"])
    assert RECODED in content["marks"]
    sizes = {one["attack"]: one["limit"] for one in content["attacks"]}
    assert sizes["sparse, 2 known"]["value"] == 0.25
    assert all(one["outcome"] != "refuted" for one in content["attacks"] if one["limit"] is not None)
    forge(copy)
    assert failing(copy) == []


def changed(folder: Path, old: str, new: str) -> None:
    """One record reads otherwise."""
    path = folder / "data.csv"
    lines = path.read_text().splitlines()
    place = next(n for n, line in enumerate(lines) if line.split(",")[0] == old)
    lines[place] = lines[place].replace(old, new, 1)
    path.write_text("\n".join(lines) + "\n")


def test_a_rare_item_in_place_of_what_covers_it_is_noticed(copy: Path):
    """A part that was not anonymized to the end: one record shows whey, which no other does."""
    changed(copy, "*", "whey")
    forge(copy)
    assert "claim km-anonymity" in failing(copy)


def test_an_item_beside_what_covers_it_is_noticed(copy: Path):
    """So many records that every claim holds, and every figure fits: only the check of labels sees it."""
    content = manifest_of(copy)
    fewest = int(content["claims"][0]["reached"])
    assert content["recoding"]["columns"]["basket"]["within"]["cola"] == "*"
    for _ in range(fewest):
        changed(copy, "cola", "*|cola")

    def more(stated: dict[str, Any]) -> None:
        stated["recoding"]["columns"]["basket"]["entries"] += fewest

    forge(copy, more)
    assert failing(copy) == ["labels within labels of basket"]


def ring(content: dict[str, Any]) -> None:
    stated = content["recoding"]["columns"]["basket"]
    narrow, wide = next(iter(stated["within"].items()))
    stated["within"][wide] = narrow
    stated["coarser"] = sorted({*stated["coarser"], narrow})


def unknown(content: dict[str, Any]) -> None:
    content["recoding"]["columns"]["basket"]["within"]["caviar"] = "food"


def itself(content: dict[str, Any]) -> None:
    stated = content["recoding"]["columns"]["basket"]
    stated["within"][stated["coarser"][0]] = stated["coarser"][0]


def unmarked(content: dict[str, Any]) -> None:
    content["marks"].remove(RECODED)


@pytest.mark.parametrize("change", [ring, unknown, itself, unmarked])
def test_a_changed_manifest_is_noticed_though_it_is_sealed_again(copy: Path, change):
    forge(copy, change)
    assert failing(copy)


def test_a_part_that_is_left_as_it_was_is_refused(monkeypatch: pytest.MonkeyPatch):
    """A broken twin of the search, which forgets to anonymize: nothing is written."""
    monkeypatch.setattr(local_sets, "mended", lambda problem, work: (Cover(problem.spaces), [], {}))
    with pytest.raises(sf.SfumatoError, match="local-sets gave records that do not meet km-anonymity"):
        sf.release(sf.Plan.parse(PLAN), baskets())
