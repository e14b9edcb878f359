"""rho-uncertainty by generalization in a bundle: what is released holds, and twins of it that are broken are caught."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.algorithms.items.guarded_cut import GuardedCut, Rules
from sfumato.attacks.sparse_sets import ItemSubject, SparseSets
from sfumato.core.randomness import Chance
from tests.bundles.forging import failing, forge, manifest_of

TREE = {"food": {"bread": ["rye", "spelt"], "dairy": ["milk", "whey"]}, "drinks": ["beer", "tea"], "care": ["test"]}
PLAN: dict[str, Any] = {
    "columns": {"basket": {"role": "quasi", "type": "set", "hierarchy": {"tree": TREE}}},
    "privacy": {"rho_uncertainty": {"rho": 0.25, "sensitive": ["test"], "l": 2}},
    "algorithm": {"name": "top-down-sets"},
}


def baskets(rows: int = 900) -> pl.DataFrame:
    """One in three with rye buys the test, one in fifty of the others."""
    draw = np.random.default_rng(5)
    cells = []
    for _ in range(rows):
        bread = draw.choice(["rye", "spelt", "spelt"])
        own = [bread, *draw.choice(["milk", "whey", "beer", "tea"], draw.integers(0, 2), replace=False)]
        share = 1 / 3 if bread == "rye" else 1 / 50
        cells.append("|".join([*own, "test"] if draw.random() < share else own))
    return pl.DataFrame({"basket": cells})


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "bundle"
    made = sf.release(sf.Plan.parse(PLAN), baskets())
    assert made.recoded[0].coarser
    assert made.write(folder).holds
    return folder


@pytest.fixture
def copy(bundle: Path, tmp_path: Path) -> Path:
    shutil.copytree(bundle, tmp_path / "copy")
    return tmp_path / "copy"


def test_the_test_stays_and_its_limit_is_held_against_attacks(copy: Path):
    content = manifest_of(copy)
    cells = pl.read_csv(copy / "data.csv")["basket"].str.split("|")
    assert (cells.list.contains("test").sum()) == baskets()["basket"].str.contains("test").sum()
    found = {one["attack"]: one for one in content["attacks"]}
    for size in (1, 2):
        told = found[f"sparse, {size} known, sensitive items"]
        assert told["limit"]["value"] == 0.25
        assert told["worst"] <= 0.25
        assert told["outcome"] != "refuted"
    assert found["sparse, 3 known, sensitive items"]["limit"] is None
    forge(copy)
    assert failing(copy) == []


def test_the_attack_refutes_a_release_of_the_raw_baskets():
    people = baskets()["basket"].str.split("|")
    subject = ItemSubject(released=people, people=people, covers={}, sensitive=("test", "gone"))
    found = SparseSets(m=2, trials=400).run(subject, Chance(seed=1))
    assert found.figures["inferred_worst"] > 0.3
    nothing = SparseSets(m=2, trials=400).run(subject.without_release(), Chance(seed=1))
    assert "inferred" not in nothing.figures


def changed(folder: Path, change) -> None:
    path = folder / "data.csv"
    head, *lines = path.read_text().splitlines()
    path.write_text("\n".join([head, *change(lines)]) + "\n")


def test_an_item_in_place_of_what_covers_it_is_noticed(copy: Path):
    """Rye again, in the records with the test that show something coarser."""
    wide = manifest_of(copy)["recoding"]["columns"]["basket"]["coarser"][0]

    def finer(lines: list[str]) -> list[str]:
        return [line.replace(wide, "rye") if "test" in line else line for line in lines]

    changed(copy, finer)
    forge(copy)
    assert "claim rho-uncertainty" in failing(copy)


def test_a_sensitive_item_put_into_more_records_is_noticed(copy: Path):
    changed(copy, lambda lines: [line if "test" in line else f"{line}|test" for line in lines[:400]] + lines[400:])
    forge(copy)
    assert "claim rho-uncertainty" in failing(copy)


def test_a_search_that_overlooks_rules_is_refused(monkeypatch: pytest.MonkeyPatch):
    """A broken twin of the search: nothing is written."""
    none = Rules(starts=np.zeros(1, np.int64), items=np.empty(0, np.int32))
    monkeypatch.setattr(GuardedCut, "inferred", lambda *_: none)
    with pytest.raises(sf.SfumatoError, match="top-down-sets gave records that do not meet rho-uncertainty"):
        sf.release(sf.Plan.parse(PLAN), baskets())


def test_the_inside_report_tells_what_was_shown_finer():
    made = sf.release(sf.Plan.parse(PLAN), baskets())
    assert "shown finer" in made.report(inside=True)
