"""Batches are verified one by one and together; a batch that was exchanged, left out or drawn again is caught."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.bundles.checks.condensed import STREAMED
from sfumato.bundles.manifest.document import dump, seal
from sfumato.bundles.provenance import leaves, origin_of
from sfumato.core.errors import BundleError
from sfumato.pipeline.attack import attack
from sfumato.pipeline.verification import verify_again
from tests.streaming.streams import HEADER, Pieces, lines, manifests, plan, run


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("chain")
    run(plan(), Pieces((HEADER + "".join(lines(330))).encode()), place)
    (place / "in.csv").write_text(HEADER + "".join(lines(330)))
    return place


@pytest.fixture
def out(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made / "out", tmp_path / "out")
    return tmp_path / "out"


def failing(folder: Path) -> list[str]:
    return [one.what for one in sf.verify(folder).checks if not one.holds]


def changed(batch: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """The manifest of a batch with something else in it, sealed again as a forger would."""
    body = json.loads((batch / "manifest.json").read_text())
    change(body)
    (batch / "manifest.json").write_text(dump(seal(body)))


def test_a_whole_stream_holds(out: Path):
    found = sf.verify(out)
    assert found.holds, failing(out)
    assert len(list(out.iterdir())) == 4
    assert any("the stream ended with it" in one.detail for one in found.remarks)
    for batch in out.iterdir():
        assert sf.verify(batch).holds
    first, *_, last = manifests(out)
    assert first["stream"]["before"] is None
    assert (first["stream"]["last"], last["stream"]["last"]) == (False, True)
    assert first["marks"][1] == STREAMED
    assert first["claims"][0]["model"] == "indistinguishable-groups"
    assert set(first["attacks_not_made"]) >= {"singling-out", "linkability", "membership"}
    page = (out / "batch-000001" / "report.html").read_text()
    assert "batch 1 of a stream" in page
    assert "sfumato attack BATCH --original DATA" in page


def test_every_value_about_the_stream_has_an_origin(out: Path):
    for path, value in leaves(manifests(out)[1]):
        assert value == [] or origin_of(path, "condensed").why != "this version does not know it", path


def other_stream(folder: Path) -> Path:
    run(plan(algorithm={"seed": 8}), Pieces((HEADER + "".join(lines(330))).encode()), folder)
    return folder / "out"


@pytest.mark.parametrize(
    ("change", "caught"),
    [
        (lambda m: m["stream"].update(before="0" * 64), "chain of the batches"),
        (lambda m: m["stream"].update(batch=7), "numbers of the batches"),
        (lambda m: m["stream"].update(id="0" * 32), "what differs between batches of one stream"),
        (lambda m: m["stream"].update(every=20), "what differs between batches of one stream"),
        (lambda m: m["stream"].update(read=90), "batches that show more records than had arrived"),
        (lambda m: m["stream"].update(read=199), "batches that were cut elsewhere than the plan says"),
        (lambda m: m["stream"].update(read=100), "records that had arrived, batch by batch"),
        (lambda m: m["stream"].update(last=True), "batches after the last one"),
        (lambda m: m["plan"]["algorithm"].update(block=500), "one plan for all batches"),
        (lambda m: m.pop("stream"), "bundles that are no batch of a stream"),
        (lambda m: m["marks"].remove(STREAMED), "batch-000002"),
        (lambda m: m["stream"].update(before=None), "batch-000002"),
        (lambda m: m["recoding"].update(output="distributions"), "batch-000002"),
    ],
)
def test_a_forged_batch_is_caught(out: Path, change: Any, caught: str):
    changed(out / "batch-000002", change)
    assert caught in failing(out)


def test_a_batch_that_is_exchanged_left_out_or_drawn_again_is_caught(out: Path, tmp_path: Path):
    other = other_stream(tmp_path / "other")
    assert sf.verify(other).holds
    kept = tmp_path / "kept"
    (out / "batch-000002").rename(kept)
    assert "numbers of the batches" in failing(out)  # left out
    shutil.copytree(other / "batch-000002", out / "batch-000002")
    assert sf.verify(out / "batch-000002").holds
    assert "chain of the batches" in failing(out)  # exchanged, and the same records drawn again
    shutil.rmtree(out / "batch-000002")
    (out / "batch-000003").rename(out / "batch-000002")
    kept.rename(out / "batch-000003")
    assert {"numbers of the batches", "names of the batches"} <= set(failing(out))  # in another order
    (out / "notes.txt").write_text("")
    assert "files that do not belong here" in failing(out)


def test_a_changed_row_is_caught(out: Path):
    path = out / "batch-000003" / "data.csv"
    path.write_text(path.read_text().replace("burg", "berg", 1))
    assert failing(out) == ["batch-000003"]


def test_the_newest_batches_cannot_be_missed(out: Path):
    """What ``verify`` says so itself: without the last batch, nothing tells that there was one."""
    shutil.rmtree(out / "batch-000004")
    found = sf.verify(out)
    assert found.holds
    assert any("cannot be seen from here" in one.detail for one in found.remarks)


def test_a_batch_is_attacked_beside_the_originals(made: Path):
    found = attack(made / "out" / "batch-000001", made / "in.csv", attacks=("all",), trials=50, seed=1)
    assert {one.attack for one in found.findings} >= {"singling-out", "linkability"}
    (made / "others.csv").write_text(HEADER + "".join(lines(200, seed=5)))
    found = attack(
        made / "out" / "batch-000001", made / "in.csv", control=made / "others.csv", attacks=("membership",), trials=50
    )
    assert [one.attack for one in found.findings] == ["membership"]


def test_a_batch_cannot_be_made_again(made: Path):
    with pytest.raises(BundleError, match="a batch of a stream"):
        verify_again(made / "out" / "batch-000001", plan=plan(input={"path": str(made / "in.csv")}))
