"""A blow at every single step of writing a bundle with its page, and of writing a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sfumato.core.scratch import clear
from tests.crash.stage_jobs import fill, page_text
from tests.crash.striking import BLOWS
from tests.crash.warm import Warm
from tests.crash.wholeness import found, leftovers, one_message

STAGE, FILE = "tests.crash.stage_jobs:stage", "tests.crash.stage_jobs:file"


class Place:
    """A folder with a bundle or none, and a page beside it or elsewhere."""

    def __init__(self, root: Path, *, existing: bool, page: str) -> None:
        self.root, self.bundle, self.page = root, root / "b", root / page
        self.page.parent.mkdir(parents=True)
        if existing:
            self.bundle.mkdir()
            fill(self.bundle, "old")
            self.page.write_text(page_text("old"))

    def bundle_says(self) -> str | None:
        return None if found(self.bundle) is None else (self.bundle / "data.csv").read_text()

    def page_says(self) -> str | None:
        return self.page.read_text().partition(">")[2] if self.page.exists() else None


def struck(place: Place, ran: dict[str, Any], blow: str, *, before: str | None, exchange: bool) -> None:
    """Whatever the blow: bundle and page are whole and belong together, and what was said is so.

    Only a kill between the two renames of a system that cannot exchange names leaves no bundle; the next run has it.
    """
    bundle, page = place.bundle_says(), place.page_says()
    assert bundle in (before, "new") or (blow == "kill" and not exchange and bundle is None), ran
    if blow == "kill":
        assert ran["code"] == -9
        assert page in (bundle, None), (bundle, page)
        return
    assert page == bundle, ran
    if blow in ("int", "term"):
        one_message(ran, 130, "interrupted; nothing was left half-written")
    elif ran["code"] == 0:
        assert bundle == "new"
    else:
        one_message(ran, 2, "cannot be written: ")
        assert bundle == before, ran
        assert ("is left over" in ran["err"]) == bool(leftovers(place.root)), ran


def afterwards(place: Place, *, beside: bool) -> None:
    """The next run puts right what a blow left: no scratch folder stays, and the page is there again."""
    clear(place.root)
    clear(place.page.parent)
    assert leftovers(place.root) == []
    if beside:
        assert place.page_says() == place.bundle_says()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("existing", "exchange", "page"),
    [
        (True, True, "b.inside.html"),
        (True, False, "b.inside.html"),
        (False, True, "b.inside.html"),
        (True, True, "elsewhere/b.html"),
        (False, False, "elsewhere/b.html"),
    ],
)
def test_a_blow_at_every_step_of_a_bundle(small: Warm, tmp_path: Path, existing: bool, exchange: bool, page: str):
    whole = Place(tmp_path / "whole", existing=existing, page=page)
    ran = small.run(STAGE, whole.root, "b", "new", whole.page, exchange=exchange)
    assert ran["code"] == 0, ran
    steps = int(ran["steps"])
    assert steps > 25
    before = "old" if existing else None
    for blow in BLOWS:
        for at in range(1, steps + 1):
            place = Place(tmp_path / f"{blow}{at}", existing=existing, page=page)
            ran = small.run(STAGE, place.root, "b", "new", place.page, exchange=exchange, at=at, blow=blow)
            struck(place, ran, blow, before=before, exchange=exchange)
            afterwards(place, beside="/" not in page)
            assert place.bundle_says() in (before, "new")
            if blow == "kill":
                ran = small.run(STAGE, place.root, "b", "newer", place.page)
                assert (ran["code"], place.bundle_says(), place.page_says()) == (0, "newer", "newer"), ran


@pytest.mark.parametrize("existing", [True, False])
@pytest.mark.parametrize("blow", BLOWS)
def test_a_blow_at_every_step_of_a_file(small: Warm, tmp_path: Path, blow: str, existing: bool):
    steps = int(small.run(FILE, tmp_path, "whole", "new")["steps"])
    assert steps > 5
    for at in range(1, steps + 1):
        path = tmp_path / f"{at}" / "f.csv"
        path.parent.mkdir()
        if existing:
            path.write_text("old")
        small.run(FILE, path.parent, "f.csv", "new" * 1000, at=at, blow=blow)
        assert (path.read_text() if path.exists() else None) in ("old" if existing else None, "new" * 1000)
        assert small.run(FILE, path.parent, "other", "")["code"] == 0
        assert leftovers(path.parent) == []


def test_a_careless_writer_is_caught(small: Warm, tmp_path: Path):
    caught = 0
    for at in range(1, 10):
        place = Place(tmp_path / str(at), existing=True, page="b.inside.html")
        small.run("tests.crash.stage_jobs:careless", place.root, "b", "new", place.page, at=at, blow="kill")
        try:
            assert place.bundle_says() in ("old", "new")
            assert place.page_says() in (place.bundle_says(), None)
        except (AssertionError, OSError):
            caught += 1
    assert caught >= 5


@pytest.mark.slow
def test_a_second_blow_while_the_next_run_puts_things_right(small: Warm, tmp_path: Path):
    """The run that clears up is killed at every step too, and the one after it finds everything."""
    for first in range(10, 35, 3):
        for second in range(1, 12):
            place = Place(tmp_path / f"{first}-{second}", existing=True, page="b.inside.html")
            small.run(STAGE, place.root, "b", "new", place.page, at=first, blow="kill", exchange=False)
            small.run(STAGE, place.root, "b", "newer", place.page, at=second, blow="kill", exchange=False)
            clear(place.root)
            assert place.bundle_says() in ("old", "new", "newer")
            assert place.page_says() == place.bundle_says()
            assert leftovers(place.root) == []
