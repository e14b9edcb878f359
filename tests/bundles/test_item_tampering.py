"""Whatever is changed in a bundle of paths or sets, verification notices; also when the forger mends the digests."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from tests.bundles.forging import failing, forge

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


def test_the_bundle_itself_holds(copy: Path):
    forge(copy)
    assert failing(copy) == []


def test_changed_bytes_are_noticed(copy: Path):
    path = copy / "data.csv"
    path.write_text(path.read_text().replace("HIV", "Flu", 1))
    assert "bytes of the data file" in failing(copy)


def test_a_rare_reading_that_is_put_back_is_noticed(copy: Path):
    path = copy / "data.csv"
    head, first, *rest = path.read_text().splitlines()
    cell, _, value = first.rpartition(",")
    path.write_text("\n".join([head, f"zz@1|{cell},{value}" if cell else f"zz@1,{value}", *rest]) + "\n")
    forge(copy)
    found = failing(copy)
    assert "claim lkc-privacy" in found
    assert "claim km-anonymity" in found
    assert "items of path" in found


def test_a_row_that_is_taken_out_is_noticed(copy: Path):
    path = copy / "data.csv"
    path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")
    forge(copy)
    assert "rows" in failing(copy)


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
    forge(copy, change)
    assert failing(copy)


def test_a_manifest_of_another_kind_is_refused(copy: Path):
    forge(copy, no_kind)
    with pytest.raises(sf.BundleError, match="the manifest has no 'kind'"):
        sf.verify(copy)


def test_a_stranger_in_the_folder_is_noticed(copy: Path):
    (copy / "notes.txt").write_text("raw")
    assert "files that do not belong here" in failing(copy)
