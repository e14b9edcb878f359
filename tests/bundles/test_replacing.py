"""--force replaces bundles of ours and nothing else; no command writes over what it reads, or into a bundle."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from sfumato.bundles import staging
from sfumato.bundles.files import refuse_existing, refuse_file, refuse_page
from sfumato.bundles.staging import exchange, staged
from sfumato.core.errors import BundleError
from sfumato.core.run_context import Work
from sfumato.pipeline.demo import tour
from sfumato.pipeline.frontier.points import check_folder
from tests.crash.stage_jobs import fill


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    folder = tmp_path / "b"
    folder.mkdir()
    fill(folder, "old")
    return folder


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_bundle_and_an_empty_folder_are_replaced(bundle: Path, tmp_path: Path):
    (tmp_path / "empty").mkdir()
    for folder in (bundle, tmp_path / "empty", tmp_path / "none"):
        with staged(folder, force=True) as inner:
            fill(inner, "new")
        assert (folder / "data.csv").read_text() == "new"
        assert folder.stat().st_mode & 0o777 == 0o755
    assert {path.name for path in tmp_path.iterdir()} == {"b", "empty", "none"}


def _web_project(folder: Path) -> None:
    shutil.rmtree(folder)
    (folder / "icons").mkdir(parents=True)
    (folder / "manifest.json").write_text('{"name": "my app", "icons": []}')
    (folder / "index.html").write_text("years of work")


def _changed(folder: Path) -> None:
    told = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**told, "says": "changed"}))


FOREIGN = {
    "a web project": (_web_project, "is no bundle of sfumato (the seal of its manifest.json does not hold)"),
    "no manifest": (lambda folder: (folder / "manifest.json").unlink(), "is no bundle (it has no manifest.json)"),
    "no JSON": (lambda folder: (folder / "manifest.json").write_text("{"), "is no bundle of sfumato"),
    "a list": (lambda folder: (folder / "manifest.json").write_text("[]"), "is no bundle of sfumato"),
    "no text": (lambda folder: (folder / "manifest.json").write_bytes(b"\xff\xfe"), "is no bundle of sfumato"),
    "a key twice": (lambda folder: (folder / "manifest.json").write_text('{"a": 1, "a": 2}'), "stands twice"),
    "a changed manifest": (_changed, "the seal of its manifest.json does not hold"),
    "a strange file": (lambda folder: (folder / "thesis.txt").write_text("x"), "'thesis.txt' is no file of it"),
    "a hidden file": (lambda folder: (folder / ".git").mkdir(), "'.git' is no file of it"),
    "a folder for a file": (
        lambda folder: ((folder / "data.csv").unlink(), (folder / "data.csv").mkdir()),
        "'data.csv' is no file of it",
    ),
    "a link for a file": (
        lambda folder: ((folder / "data.csv").unlink(), (folder / "data.csv").symlink_to("/etc/passwd")),
        "'data.csv' is no file of it",
    ),
    "a file": (lambda folder: (shutil.rmtree(folder), folder.write_text("x")), "it is no folder"),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_nothing_else_is_replaced(bundle: Path, what: str):
    change, words = FOREIGN[what]
    change(bundle)
    before = everything(bundle.parent)
    with pytest.raises(BundleError) as refusal, staged(bundle, force=True) as inner:
        fill(inner, "new")
    assert words in str(refusal.value)
    assert everything(bundle.parent) == before


def test_a_file_that_comes_at_the_last_moment_is_not_lost(bundle: Path, monkeypatch: pytest.MonkeyPatch):
    """Between the look and the swap; the swap is undone."""

    def late(one: Path, other: Path) -> bool:
        if not (one / "thesis.txt").exists():
            (other / "thesis.txt").write_text("x")
        return exchange(one, other)

    if not exchange(bundle, bundle):
        pytest.skip("this file system cannot exchange two names")
    monkeypatch.setattr(staging, "exchange", late)
    with pytest.raises(BundleError, match=r"thesis\.txt"), staged(bundle, force=True) as inner:
        fill(inner, "new")
    assert (bundle / "thesis.txt").exists()
    assert (bundle / "data.csv").read_text() == "old"


def test_without_force_and_through_links_nothing_is_replaced(bundle: Path, tmp_path: Path):
    with pytest.raises(BundleError, match="exists already"):
        refuse_existing(bundle, force=False)
    (tmp_path / "link").symlink_to(bundle)
    with pytest.raises(BundleError, match="symbolic link"):
        refuse_existing(tmp_path / "link", force=True)


def test_an_inside_report_replaces_a_page_only(tmp_path: Path):
    data = tmp_path / "data.csv"
    data.write_text("name,age\n")
    with pytest.raises(BundleError, match="is no page of sfumato"):
        refuse_page(data, force=True)
    data.write_text('<meta name="generator" content="sfumato 0.1">')
    refuse_page(data, force=True)
    with pytest.raises(BundleError, match="exists already"):
        refuse_page(data, force=False)
    refuse_page(tmp_path / "none.html", force=False)
    (tmp_path / "folder").mkdir()
    with pytest.raises(BundleError, match="is no page of sfumato"):
        refuse_page(tmp_path / "folder", force=True)


def test_files_are_not_written_over_what_is_read_nor_into_bundles(bundle: Path, tmp_path: Path):
    data, other = tmp_path / "data.csv", tmp_path / "other.csv"
    data.write_text("x")
    other.symlink_to(data)
    refuse_file(tmp_path / "new.csv", force=False, sources=(data,))
    refuse_file(data, force=True)
    for path, words in (
        (data, "is read by this command"),
        (other, "no plain file"),
        (bundle, "no plain file"),
        (bundle / "data.csv", "inside the bundle"),
        (bundle / "applied.csv", "inside the bundle"),
    ):
        with pytest.raises(BundleError, match=words):
            refuse_file(path, force=True, sources=(data,))
    with pytest.raises(BundleError, match="exists already"):
        refuse_file(data, force=False)


def test_a_folder_of_points_that_is_no_frontier_is_refused(tmp_path: Path):
    folder = tmp_path / "map"
    (folder / "points").mkdir(parents=True)
    check_folder(folder)
    (folder / "points.csv").write_text("lat,lon\n")
    with pytest.raises(BundleError, match=r"'points\.csv' is no file of one"):
        check_folder(folder)
    record = folder / "points" / f"point-{'0' * 24}.json"
    record.write_text("{}")
    check_folder(folder)
    (folder / "points" / "berlin.json").write_text("{}")
    with pytest.raises(BundleError, match=r"'points/berlin\.json' is no file of one"):
        check_folder(folder)


@pytest.mark.parametrize("name", ["plan.toml", "patients.csv", "inside.html"])
def test_the_tour_does_not_write_over_other_files(tmp_path: Path, name: str):
    (tmp_path / name).write_text("mine")
    with pytest.raises(BundleError, match=f"{name} exists and is n"):
        tour(tmp_path, Work(), rows=100)
    assert everything(tmp_path) == {name: b"mine"}
