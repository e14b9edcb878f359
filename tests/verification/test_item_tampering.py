"""Whatever is changed in a bundle of paths or sets, verification notices; also when the forger mends the digests."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.bundle.manifest import dump, seal
from sfumato.bundle.staging import sha256

PLAN = {
    "columns": {
        "id": {"role": "identifier"},
        "path": {
            "role": "quasi",
            "type": "trajectory",
            "time_hierarchy": {"kind": "intervals", "widths": [3, 6], "low": 0, "high": 24},
        },
        "diagnosis": {"role": "sensitive"},
    },
    "privacy": {"lkc": {"l": 2, "k": 5, "c": 0.6, "values": ["HIV"]}, "km": {"k": 6, "m": 1}},
    "algorithm": {"support": 0.02},
}


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "bundle"
    made = sf.release(sf.Plan.parse(PLAN), sf.datasets.city(2000, blocks=6, hours=24, seed=3))
    assert made.recoded[0].shown < made.recoded[0].items
    assert made.write(folder).holds
    return folder


@pytest.fixture
def copy(bundle: Path, tmp_path: Path) -> Path:
    shutil.copytree(bundle, tmp_path / "copy")
    return tmp_path / "copy"


def reseal(folder: Path, change: Callable[[dict[str, Any]], None] = lambda content: None) -> None:
    """Change the manifest and mend every digest, as a careful forger would."""
    content = json.loads((folder / "manifest.json").read_text())
    change(content)
    content["data"]["sha256"] = sha256(folder / "data.csv")
    (folder / "manifest.json").write_text(dump(seal(content)))


def caught(folder: Path) -> list[str]:
    return [check.what for check in sf.verify(folder).checks if not check.holds]


def test_the_bundle_itself_holds(copy: Path):
    reseal(copy)
    assert caught(copy) == []


def test_changed_bytes_are_noticed(copy: Path):
    path = copy / "data.csv"
    path.write_text(path.read_text().replace("HIV", "Flu", 1))
    assert "bytes of the data file" in caught(copy)


def test_a_rare_reading_that_is_put_back_is_noticed(copy: Path):
    path = copy / "data.csv"
    head, first, *rest = path.read_text().splitlines()
    cell, _, value = first.rpartition(",")
    path.write_text("\n".join([head, f"zz@1|{cell},{value}" if cell else f"zz@1,{value}", *rest]) + "\n")
    reseal(copy)
    found = caught(copy)
    assert "claim lkc-privacy" in found
    assert "claim km-anonymity" in found
    assert "items of path" in found


def test_a_row_that_is_taken_out_is_noticed(copy: Path):
    path = copy / "data.csv"
    path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")
    reseal(copy)
    assert "rows" in caught(copy)


def weaker(content: dict[str, Any]) -> None:
    content["claims"][0]["parameters"]["k"] = 2


def both_weaker(content: dict[str, Any]) -> None:
    content["claims"][0]["parameters"]["k"] = 2
    content["plan"]["privacy"]["lkc"]["k"] = 3


def dropped(content: dict[str, Any]) -> None:
    del content["claims"][0]


def boasting(content: dict[str, Any]) -> None:
    content["claims"][0]["reached"] = 0.01


def another_column(content: dict[str, Any]) -> None:
    content["claims"][0]["parameters"]["column"] = "path"


def another_separator(content: dict[str, Any]) -> None:
    content["data"]["columns"][0]["separator"] = ";"


def another_type(content: dict[str, Any]) -> None:
    content["data"]["columns"][0]["type"] = "text"


def another_role(content: dict[str, Any]) -> None:
    content["data"]["columns"][0]["role"] = "keep"


def open_identifier(content: dict[str, Any]) -> None:
    content["data"]["columns"][1]["role"] = "identifier"


def fewer_entries(content: dict[str, Any]) -> None:
    content["recoding"]["columns"]["path"]["entries"] -= 1


def invented_item(content: dict[str, Any]) -> None:
    content["recoding"]["columns"]["path"]["coarser"].append("q@9")


def invented_attack(content: dict[str, Any]) -> None:
    content["attacks"] = [{"attack": "none", "outcome": "not refuted"}]


def unknown_model(content: dict[str, Any]) -> None:
    content["claims"][0]["model"] = "k-anonymity"


def no_columns(content: dict[str, Any]) -> None:
    del content["recoding"]["columns"]["path"]


def no_kind(content: dict[str, Any]) -> None:
    del content["kind"]


@pytest.mark.parametrize(
    "change",
    [
        weaker,
        both_weaker,
        dropped,
        boasting,
        another_column,
        another_separator,
        another_type,
        another_role,
        open_identifier,
        fewer_entries,
        invented_item,
        invented_attack,
        unknown_model,
        no_columns,
    ],
)
def test_a_changed_manifest_is_noticed_though_it_is_sealed_again(copy: Path, change):
    reseal(copy, change)
    assert caught(copy)


def test_a_manifest_of_another_kind_is_refused(copy: Path):
    reseal(copy, no_kind)
    with pytest.raises(sf.BundleError, match="trajectory"):
        sf.verify(copy)


def test_a_stranger_in_the_folder_is_noticed(copy: Path):
    (copy / "notes.txt").write_text("raw")
    assert "files that do not belong here" in caught(copy)


def test_a_loss_that_nobody_can_compute_again_is_named(copy: Path):
    """What was lost is measured against the original; a forger who states it all the same is not believed."""
    reseal(copy, lambda content: content.update(utility={"lost_frequent_sets": 0.0}))
    told = {one.path: one.why for one in sf.verify(copy).stated}
    assert told["utility/lost_frequent_sets"] == "it is measured against the original"
