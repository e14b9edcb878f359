"""The whole way in a real browser: from an upload to a bundle that verifies, and the same by the command line."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from tests.studio.conftest import Running, Seen, needs_browser, patient, people, until

pytestmark = [needs_browser, patient, pytest.mark.slow, pytest.mark.xdist_group("studio")]
PAGES = ("columns", "hierarchies", "requirement", "search", "result", "compare", "export")
TOOLS = ("", "verify", "attack", "ask", "joint", "theory/k-anonymity", "theory/glossary")


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
    page.get_by_text("Next: compare").click()
    page.get_by_role("button", name="Picked: export").click()
    page.wait_for_url("**/export/1")
    with page.expect_download() as taken:
        page.get_by_text("Download the bundle").click()
    place = tmp_path_factory.mktemp("export") / "bundle.zip"
    taken.value.save_as(place)
    page.close()
    return name, place


def test_the_exported_bundle_verifies_and_holds_nothing_from_inside(released, tmp_path):
    _, packed = released
    zipfile.ZipFile(packed).extractall(tmp_path)
    assert sf.verify(tmp_path / "release").holds
    command = [sys.executable, "-m", "sfumato", "verify", str(tmp_path / "release")]
    subprocess.run(command, check=True, capture_output=True)
    assert {one.split("/")[0] for one in zipfile.ZipFile(packed).namelist()} == {"release"}
    assert not [one for one in tmp_path.rglob("*") if one.name in ("inside.html", "pictures.json", "result.json")]


def test_the_command_line_makes_the_same_release(released, studio: Running, tmp_path):
    name, packed = released
    zipfile.ZipFile(packed).extractall(tmp_path)
    plan = studio.folder / "sfumato-studio" / name / "plan.toml"
    command = [sys.executable, "-m", "sfumato", "release", str(plan), "-o", str(tmp_path / "again")]
    subprocess.run(command, check=True, capture_output=True)
    one, other = (pl.read_csv(tmp_path / folder / "data.csv", infer_schema=False) for folder in ("release", "again"))
    assert one.sort(one.columns).equals(other.sort(other.columns))


def test_verify_attack_and_joint_pages_answer(released, seen: Seen, studio: Running):
    page = seen.page
    page.goto(f"{studio.address}/verify")
    page.click("text=Verify >> nth=-1")
    page.wait_for_selector("text=The files are unchanged", timeout=60_000)
    assert page.locator(".checks .problem").count() == 0
    page.goto(f"{studio.address}/attack")
    page.select_option("#original", "people.csv")
    page.select_option("#project", released[0])
    page.click("form button")
    page.wait_for_selector(".attack .chip", timeout=60_000)
    assert seen.faults == []


@pytest.mark.parametrize("page", [*(f"p/{{name}}/{one}" for one in PAGES), *TOOLS])
def test_every_page_is_quiet_and_accessible(released, seen: Seen, studio: Running, page: str):
    from axe_playwright_python.sync_playwright import Axe

    for scheme, width in (("light", 1400), ("dark", 1400), ("light", 360), ("light", 3840)):
        seen.page.emulate_media(color_scheme=scheme)
        seen.page.set_viewport_size({"width": width, "height": 900})
        seen.page.goto(f"{studio.address}/{page.format(name=released[0])}")
        seen.page.wait_for_load_state("networkidle")
        wide = seen.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
        assert wide, f"{page} is wider than {width} pixels"
        if width == 3840:
            continue
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


def test_what_cannot_be_is_said_at_once(released, seen: Seen, studio: Running):
    page = seen.page
    page.goto(f"{studio.address}/p/{released[0]}/requirement")
    page.wait_for_selector("text=asked for: at least")
    before = page.input_value("#plan-text")
    value = page.locator("li[data-model=k-anonymity] .value")
    value.fill("100000")
    value.press("Tab")
    page.wait_for_selector("#reached-problem:has-text('600 rows')")
    page.locator("li[data-model=e-m-anonymity] input[type=checkbox]").check()
    page.wait_for_selector("#plan-problem:not(:empty), #reached-problem:not(:empty)")
    page.fill("#plan-text", before)
    page.click("#plan-save")
    until(lambda: value.input_value() == "4" or value.input_value() == "5")


def test_a_node_can_be_chosen_and_released(released, seen: Seen, studio: Running):
    page = seen.page
    page.goto(f"{studio.address}/p/{released[0]}/result/1")
    page.click(".node.coarser.fits >> nth=0")
    page.wait_for_selector("#take-node:not([disabled])")
    page.click("#take-node")
    page.wait_for_url("**/search")
    until(lambda: 'name = "levels"' in page.input_value("#plan-text"))
    page.click("#go")
    page.wait_for_url("**/result/2", timeout=60_000)
    page.goto(f"{studio.address}/p/{released[0]}/compare")
    assert page.locator("figure.chart svg").count() == 1
    page.get_by_role("button", name="Pick this one (result 2)").click()
    page.wait_for_url("**/export/2")
    assert page.locator("#old-plan").count() == 0
    page.goto(f"{studio.address}/p/{released[0]}/export/1")
    page.click("#old-plan")
    until(lambda: 'name = "levels"' not in page.input_value("#plan-text"))


def test_the_keyboard_alone_suffices(released, seen: Seen, studio: Running):
    """From the columns to a result: Tab, arrows, Space and Enter, and never the mouse."""
    page = seen.page
    page.goto(f"{studio.address}/p/{released[0]}/columns")
    page.wait_for_selector("#columns select")
    _reach(page, "() => document.activeElement.getAttribute('aria-label') === 'role of age'")
    page.keyboard.press("End")
    _reach(page, "() => document.activeElement.textContent.startsWith('Next: hierarchies')", most=90)
    page.keyboard.press("Enter")
    page.wait_for_url("**/hierarchies")
    page.goto(f"{studio.address}/p/{released[0]}/columns")
    page.wait_for_selector("#columns select")
    page.get_by_label("role of age", exact=True).focus()
    page.keyboard.type("quasi")
    until(lambda: page.get_by_label("role of age", exact=True).input_value() == "quasi")
    page.goto(f"{studio.address}/p/{released[0]}/search")
    _reach(page, "() => document.activeElement.id === 'go'")
    page.keyboard.press("Enter")
    page.wait_for_url("**/result/*", timeout=60_000)
    _reach(page, "() => document.activeElement.classList.contains('term')")
    page.keyboard.press("Enter")
    assert page.locator(".meaning:popover-open").count() == 1
    page.keyboard.press("Escape")
    assert page.locator(".meaning:popover-open").count() == 0
    page.wait_for_selector(".node.here")
    _reach(page, "() => document.activeElement.classList.contains('node')", most=90)


def _reach(page, what: str, most: int = 60) -> None:
    """Press Tab until something has the focus, and see that it shows it."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate(what):
            assert page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle") != "none"
            return
    raise AssertionError(f"nothing that {what} was reached by Tab")


def test_a_search_can_be_cancelled_within_a_second(seen: Seen, studio: Running):
    page = seen.page
    page.click("text=Patients")
    page.wait_for_url("**/columns")
    name = page.url.split("/")[-2]
    page.wait_for_selector("#hint")
    page.click("text=Got it")
    page.goto(f"{studio.address}/p/{name}/columns")
    assert page.locator("#hint").count() == 0
    page.goto(f"{studio.address}/p/{name}/search")
    page.click("#go")
    page.wait_for_selector("#cancel:not([disabled])")
    page.click("#cancel")
    page.wait_for_selector("text=nothing was written", timeout=3_000)
    runs = studio.folder / "sfumato-studio" / name / "runs"
    until(lambda: not runs.exists() or not list(runs.iterdir()))
    page.click("text=End the tour")
    page.goto(f"{studio.address}/p/{name}/requirement")
    assert page.locator("#hint").count() == 0
