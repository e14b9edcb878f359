"""Forgeries by name: caught, or listed as undetectable without the original; with the signer's card every one is."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.bundles.files import sha256
from sfumato.bundles.manifest.document import dump, seal
from sfumato.bundles.signatures import Card, Signer
from tests.bundles.forged_bundles import MADE, plan_of, write_all
from tests.bundles.forgeries import AFTERWARDS, FILES, MANIFEST, ONLY_SIGNED, TEXT, UNDETECTABLE
from tests.bundles.forging import failing, forge, manifest_of


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Path], Card]:
    folder, signer = tmp_path_factory.mktemp("made"), Signer.new("Registry")
    made = write_all(folder, signer)
    for bundle in made.values():
        assert failing(bundle, signer=signer.card) == []
    return made, signer.card


def check(name: str, folder: Path, card: Card) -> None:
    """A forged bundle is caught, or known as one that nothing in it contradicts; its signature is broken."""
    assert {"signature", "form of the manifest"} & set(failing(folder, signer=card))
    (folder / "signature.json").unlink()
    missing = failing(folder, signer=card)
    assert {"signature", "form of the manifest"} & set(missing)
    found = [what for what in missing if what != "signature"]
    assert bool(found) != (name in UNDETECTABLE), found


@pytest.mark.parametrize("name", MANIFEST)
def test_a_forged_manifest(name: str, signed: tuple[dict[str, Path], Card], tmp_path: Path):
    bundle, change = MANIFEST[name]
    copy = shutil.copytree(signed[0][bundle], tmp_path / "copy")
    forge(copy, change)
    check(name, copy, signed[1])


@pytest.mark.parametrize("name", FILES)
def test_a_forged_file(name: str, signed: tuple[dict[str, Path], Card], tmp_path: Path):
    bundle, change = FILES[name]
    copy = shutil.copytree(signed[0][bundle], tmp_path / "copy")
    shutil.copy(signed[0]["people"] / "report.html", tmp_path / "report.html")
    change(copy)

    def mend(content: dict[str, Any]) -> None:
        content["data"]["rows"] = len((copy / "data.csv").read_text().splitlines()) - 1
        content["report"]["sha256"] = sha256(copy / "report.html")

    forge(copy, mend, report="report" not in name)
    if "file" in name or "folder" in name or "link" in name:
        assert failing(copy)
    else:
        check(name, copy, signed[1])


@pytest.mark.parametrize("name", TEXT)
def test_a_forged_text(name: str, signed: tuple[dict[str, Path], Card], tmp_path: Path):
    path = shutil.copytree(signed[0]["table"], tmp_path / "copy") / "manifest.json"
    before = path.read_text()
    path.write_text(TEXT[name](before))
    assert path.read_text() != before
    with pytest.raises(sf.BundleError, match=r"not valid JSON|must hold one JSON object"):
        sf.verify(path.parent)


@pytest.mark.parametrize("name", AFTERWARDS)
def test_a_last_change(name: str, signed: tuple[dict[str, Path], Card], tmp_path: Path):
    copy = shutil.copytree(signed[0]["table"], tmp_path / "copy")
    content = manifest_of(copy)
    AFTERWARDS[name](content)
    (copy / "manifest.json").write_text(dump(seal(content)) if name != "another seal" else dump(content))
    assert failing(copy)


def test_all_that_is_undetectable_is_a_forgery_that_is_tried():
    assert {*UNDETECTABLE} <= {*MANIFEST, *FILES}
    assert {*ONLY_SIGNED} <= {*UNDETECTABLE}


@pytest.mark.parametrize("name", UNDETECTABLE)
def test_the_steward_catches_it_with_the_original(name: str, signed: tuple[dict[str, Path], Card], tmp_path: Path):
    """What rows and manifest do not contradict, the original and the plan do; the rest only a signature shows."""
    bundle, change = {**MANIFEST, **FILES}[name]
    copy = shutil.copytree(signed[0][bundle], tmp_path / "copy")
    (copy / "signature.json").unlink()
    plan, frame = plan_of(bundle, tmp_path)
    if name in FILES:
        change(copy)  # type: ignore[arg-type]
    forge(copy, *([] if name in FILES else [change]))  # type: ignore[arg-type]
    found = sf.verify_again(copy, plan=plan, original=frame)
    assert found.holds == (name in ONLY_SIGNED), [one for one in found.checks if not one.holds]


@pytest.mark.parametrize("bundle", sorted(MADE))
def test_an_honest_bundle_is_made_again(bundle: str, signed: tuple[dict[str, Path], Card], tmp_path: Path):
    plan, frame = plan_of(bundle, tmp_path)
    found = sf.verify_again(signed[0][bundle], plan=plan, original=frame, signer=signed[1])
    assert found.holds, [one for one in found.checks if not one.holds]


OTHERS: dict[str, Callable[[Any], Any]] = {
    "a row more": lambda frame: frame.vstack(frame.head(1)),
    "another value": lambda frame: frame.with_columns(income=frame["income"].reverse()),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_original_is_noticed(name: str, signed: tuple[dict[str, Path], Card], tmp_path: Path):
    plan, frame = plan_of("table", tmp_path)
    assert not sf.verify_again(signed[0]["table"], plan=plan, original=OTHERS[name](frame)).holds
