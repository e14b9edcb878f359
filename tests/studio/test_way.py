"""The whole way in a real browser: from an upload to a bundle that verifies, and the same by the command line."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from tests.studio.conftest import Running, Seen, needs_browser, people, until

pytestmark = [needs_browser, pytest.mark.slow]
PAGES = ("columns", "hierarchies", "requirement", "search", "result", "compare", "export")


@pytest.fixture(scope="module")
def released(chromium, studio: Running, tmp_path_factory) -> tuple[str, Path]:
    """A project that was taken from an upload to its export, by clicks alone."""
    page = chromium.new_page()
    page.goto(studio.link)
    page.set_input_files("#upload", people(tmp_path_factory.mktemp("upload")))
    page.wait_for_url("**/columns")
    name = page.url.split("/")[-2]
    page.get_by_label("role of age", exact=True).select_option("quasi")
    page.get_by_text("Next: hierarchies").click()
    page.wait_for_selector("#levels section")
    page.get_by_text("Next: requirement").click()
    page.wait_for_selector("text=asked for: at least")
    page.get_by_text("Next: search").click()
    page.click("#go")
    page.wait_for_url("**/result/1", timeout=60_000)
    page.wait_for_selector(".node.here")
    page.goto(f"{studio.address}/p/{name}/export")
    with page.expect_download() as taken:
        page.get_by_text("Download the bundle").click()
    place = tmp_path_factory.mktemp("export") / "bundle.zip"
    taken.value.save_as(place)
    page.close()
    return name, place


def test_the_exported_bundle_verifies(released, tmp_path):
    _, packed = released
    zipfile.ZipFile(packed).extractall(tmp_path)
    assert sf.verify(tmp_path / "release").holds


def test_the_command_line_makes_the_same_release(released, studio: Running, tmp_path):
    name, packed = released
    zipfile.ZipFile(packed).extractall(tmp_path)
    plan = studio.folder / "sfumato-studio" / name / "plan.toml"
    command = [sys.executable, "-m", "sfumato", "release", str(plan), "-o", str(tmp_path / "again")]
    subprocess.run(command, check=True, capture_output=True)
    one, other = (pl.read_csv(tmp_path / folder / "data.csv") for folder in ("release", "again"))
    assert one.sort(one.columns).equals(other.sort(other.columns))


@pytest.mark.parametrize("page", PAGES)
def test_every_page_is_quiet_and_accessible(released, seen: Seen, studio: Running, page: str):
    from axe_playwright_python.sync_playwright import Axe

    for scheme, width in (("light", 1400), ("dark", 1400), ("light", 360)):
        seen.page.emulate_media(color_scheme=scheme)
        seen.page.set_viewport_size({"width": width, "height": 900})
        seen.page.goto(f"{studio.address}/p/{released[0]}/{page}")
        seen.page.wait_for_load_state("networkidle")
        wide = seen.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
        assert wide, f"{page} is wider than {width} pixels"
        found = Axe().run(seen.page).response["violations"]
        serious = [one for one in found if one["impact"] in ("serious", "critical")]
        assert not serious, [(one["id"], [node["html"][:120] for node in one["nodes"][:3]]) for one in serious]
    assert seen.faults == []
    assert seen.elsewhere == []


def test_an_edit_in_the_form_appears_in_the_text_and_the_other_way_round(released, seen: Seen, studio: Running):
    page = seen.page
    page.goto(f"{studio.address}/p/{released[0]}/requirement")
    page.wait_for_selector("text=asked for: at least")
    value = page.locator("li[data-model=k-anonymity] .value")
    value.fill("6")
    value.press("Tab")
    until(lambda: "k_anonymity = 6" in page.input_value("#plan-text"))
    text = page.input_value("#plan-text").replace("k_anonymity = 6", "k_anonymity = 4")
    page.fill("#plan-text", text)
    page.click("#plan-save")
    until(lambda: value.input_value() == "4")
    assert "k_anonymity = 4" in (studio.folder / "sfumato-studio" / released[0] / "plan.toml").read_text()


def test_the_keyboard_alone_suffices(released, seen: Seen, studio: Running):
    page = seen.page
    page.goto(f"{studio.address}/p/{released[0]}/search")
    focused = []
    for _ in range(60):
        page.keyboard.press("Tab")
        focused.append(page.evaluate("() => document.activeElement.id || document.activeElement.textContent.trim()"))
        if focused[-1] == "go":
            break
    assert focused[-1] == "go"
    page.keyboard.press("Enter")
    page.wait_for_url("**/result/*", timeout=60_000)


def test_a_search_can_be_cancelled_within_a_second(seen: Seen, studio: Running):
    page = seen.page
    page.click("text=Patients")
    page.wait_for_url("**/columns")
    name = page.url.split("/")[-2]
    page.goto(f"{studio.address}/p/{name}/search")
    page.click("#go")
    page.wait_for_selector("#cancel:not([disabled])")
    page.click("#cancel")
    page.wait_for_selector("text=nothing was written", timeout=3_000)
    runs = studio.folder / "sfumato-studio" / name / "runs"
    until(lambda: not runs.exists() or not list(runs.iterdir()))
