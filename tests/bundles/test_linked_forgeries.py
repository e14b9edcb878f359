"""Linked tables: the manifest above the tables is signed and read strictly, so no table can be exchanged."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.bundles.manifest.document import dump, seal
from sfumato.bundles.manifest.linked import LinkedManifest
from sfumato.bundles.signatures import Card, Signer, sign
from sfumato.pipeline.linked.plan import LinkedPlan
from sfumato.pipeline.linked.release import release_linked
from tests.bundles.every_bundle import copied
from tests.bundles.forging import failing
from tests.pipeline.linked_tables import laid_out

RAW = [["Alice", "1970-01-01", "HIV"]]


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Signer]:
    """A release and another one of the same tables, both signed."""
    folder, signer = tmp_path_factory.mktemp("linked"), Signer.new("Registry")
    plan = laid_out(folder)
    release_linked(LinkedPlan.load(plan)).write(folder / "out", signer=signer)
    with (plan.parent / "patients.csv").open("a") as file:
        file.writelines(f"{who},{age},m\n" for who, age in enumerate([20, 21, 22, 23], start=900))
    release_linked(LinkedPlan.load(plan)).write(folder / "later", signer=signer)
    return folder, signer


def resealed(folder: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    path = folder / "manifest.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(dump(seal(content)))
    return folder


def test_every_signature_is_reported(signed: tuple[Path, Signer]) -> None:
    verified = sf.verify(signed[0] / "out", signer=signed[1].card)
    assert verified.holds
    assert verified.signature.vouched
    assert all(f"{name}: signed by Registry" in verified.signature.told for name in ("patients", "visits", "drugs"))


CHANGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "fewer people removed": lambda m: m.update(suppressed=0),
    "a weaker attacker": lambda m: m.update(known="values"),
    "raw rows under an unknown key": lambda m: m.update(rows=RAW),
    "raw rows next to a file": lambda m: m["files"][0].update(rows=RAW),
    "raw rows as a link": lambda m: m["links"].append(RAW[0]),
    "a table left out": lambda m: m["tables"].remove("drugs"),
    "a table named twice": lambda m: m["tables"].append("drugs"),
    "people as text": lambda m: m.update(people=str(m["people"])),
}


def test_a_link_by_a_column_that_is_not_there_is_caught(tmp_path: Path) -> None:
    copy = resealed(copied("linked", tmp_path), lambda m: m["links"][0].__setitem__(1, "x"))
    assert "identifiers that are no keys of a link" in failing(copy)


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_manifest_is_caught_by_its_signature(name: str, signed: tuple[Path, Signer], tmp_path: Path) -> None:
    copy = resealed(shutil.copytree(signed[0] / "out", tmp_path / "copy"), CHANGES[name])
    assert {"signature", "form of the manifest"} & set(failing(copy, signer=signed[1].card))
    if "raw" in name:
        assert failing(copy), "without a signature too"


def exchanged(folder: Path, copy: Path) -> None:
    """The visits of another signed release take the place of these, and the digests are mended."""
    shutil.rmtree(copy / "patients")
    shutil.copytree(folder / "later" / "patients", copy / "patients")
    stated = LinkedManifest.of(json.loads((copy / "manifest.json").read_text()), copy)
    (copy / "manifest.json").unlink()
    signature = (copy / "signature.json").read_text()
    (copy / "signature.json").unlink()
    (copy / "manifest.json").write_text(dump(stated.sealed(copy)))
    (copy / "signature.json").write_text(signature)


def test_a_table_of_another_signed_release_is_caught(signed: tuple[Path, Signer], tmp_path: Path) -> None:
    copy = shutil.copytree(signed[0] / "out", tmp_path / "copy")
    exchanged(signed[0], copy)
    assert "signature" in failing(copy, signer=signed[1].card)
    assert "signature" in failing(copy)


def test_a_stranger_cannot_sign_other_peoples_tables(signed: tuple[Path, Signer], tmp_path: Path) -> None:
    """Tables that Registry signed under a manifest that a stranger signed: noticed even without a card."""
    copy = shutil.copytree(signed[0] / "out", tmp_path / "copy")
    sign(copy, Signer.new("Stranger"))
    assert failing(copy) == ["signature"]
    (copy / "signature.json").unlink()
    assert failing(copy) == ["signature"]


def test_an_unsigned_release_needs_no_card(tmp_path: Path) -> None:
    release_linked(LinkedPlan.load(laid_out(tmp_path))).write(tmp_path / "out")
    assert failing(tmp_path / "out") == []
    card = Card(name="Registry", key=bytes(32))
    assert "signature" in failing(tmp_path / "out", signer=card)


def test_a_link_or_a_folder_that_does_not_belong_is_caught(signed: tuple[Path, Signer], tmp_path: Path) -> None:
    copy = shutil.copytree(signed[0] / "out", tmp_path / "copy")
    (copy / "more").symlink_to(tmp_path)
    assert "files that do not belong here" in failing(copy)
