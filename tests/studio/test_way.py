"""The whole way in a real browser: from an upload to a bundle that verifies, and the same by the command line."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from tests.studio.conftest import Running, Seen, needs_browser, plan_in, until

pytestmark = [needs_browser, pytest.mark.slow, pytest.mark.xdist_group("studio")]


def run(*command: str) -> None:
    subprocess.run([sys.executable, "-m", "sfumato", *command], check=True, capture_output=True)


def rows(folder: Path) -> pl.DataFrame:
    found = pl.read_csv(folder / "data.csv", infer_schema=False)
    return found.sort(found.columns)


def test_from_an_upload_to_a_bundle_by_clicks_alone(seen: Seen, studio: Running, table: bytes, tmp_path: Path):
    page = seen.page
    (tmp_path / "uploaded.csv").write_bytes(table)
    page.set_input_files("#upload", tmp_path / "uploaded.csv")
    page.wait_for_url("**/uploaded/columns")
    page.get_by_label("role of race", exact=True).select_option("quasi")
    until(lambda: "[columns.race]" in plan_in(page))
    seen.follow("Next: hierarchies", "**/hierarchies").wait_for_selector("#levels section")
    seen.follow("Next: requirement", "**/requirement").wait_for_selector("text=asked for: at least")
    seen.follow("Next: search", "**/search")
    seen.follow("Make the release", "**/result/1").wait_for_selector(".node.here")
    seen.follow("Next: compare", "**/compare")
    seen.follow("Picked: export", "**/export/1")
    with page.expect_download() as taken:
        page.get_by_text("Download the bundle").click()
    taken.value.save_as(tmp_path / "bundle.zip")
    assert (seen.faults, seen.elsewhere) == ([], [])
    packed = zipfile.ZipFile(tmp_path / "bundle.zip")
    assert {one.split("/")[0] for one in packed.namelist()} == {"release"}
    assert not [one for one in packed.namelist() if one.endswith(("inside.html", "pictures.json", "result.json"))]
    packed.extractall(tmp_path)
    run("verify", str(tmp_path / "release"))
    run("release", str(studio.plan("uploaded")), "-o", str(tmp_path / "again"))
    assert rows(tmp_path / "release").equals(rows(tmp_path / "again"))


def test_an_edit_in_the_form_appears_in_the_text_and_the_other_way_round(seen: Seen, studio: Running, project: str):
    page = seen.go(f"p/{project}/requirement")
    value = page.locator("li[data-model=k-anonymity] .value")
    value.fill("6")
    value.press("Tab")
    until(lambda: "k_anonymity = 6" in plan_in(page))
    page.fill("#plan-text", plan_in(page).replace("k_anonymity = 6", "k_anonymity = 4"))
    page.click("#plan-save")
    until(lambda: value.input_value() == "4")
    assert "k_anonymity = 4" in studio.plan(project).read_text()


def test_what_somebody_types_into_the_plan_is_kept_while_a_form_changes_it(seen: Seen, project: str):
    page = seen.go(f"p/{project}/requirement")
    page.route("**/edit", lambda route: (page.fill("#plan-text", "# mine"), route.continue_()))
    value = page.locator("li[data-model=k-anonymity] .value")
    value.fill("6")
    value.press("Tab")
    page.wait_for_selector("#notice.bad:not(:empty)")
    assert plan_in(page) == "# mine"
    assert page.is_enabled("#plan-save")
    page.click("#plan-undo")
    until(lambda: "k_anonymity = 6" in plan_in(page))


def test_what_cannot_be_is_said_at_once(seen: Seen, project: str):
    page = seen.go(f"p/{project}/requirement")
    value = page.locator("li[data-model=k-anonymity] .value")
    value.fill("100000")
    value.press("Tab")
    page.wait_for_selector("#reached-problem:has-text('600 rows')")
    page.locator("li[data-model=e-m-anonymity] input[type=checkbox]").check()
    page.wait_for_selector("#reached-problem:has-text('e-m-anonymity')")
    page.fill("#plan-text", plan_in(page).replace("[privacy]", "[privacy]\nnonsense = 1"))
    page.click("#plan-save")
    page.wait_for_selector("#plan-problem:has-text('nonsense')")
    page.click("text=Take nonsense out")
    until(lambda: page.locator("#plan-problem").inner_text() == "")


def test_a_node_is_chosen_and_released_results_are_compared_and_an_old_plan_comes_back(
    seen: Seen, studio: Running, project: str
):
    page = seen.search(project)
    page.click(".node.coarser.fits >> nth=0")
    page.wait_for_selector("#take-node:not([disabled])")
    seen.follow("Release this node instead", "**/search")
    assert 'name = "levels"' in plan_in(page)
    seen.follow("Make the release", "**/result/2")
    page = seen.go(f"p/{project}/compare")
    assert page.locator("figure.chart svg").count() == 1
    seen.follow("Picked: export (result 2)", "**/export/2")
    assert page.locator("#old-plan").count() == 0
    page = seen.go(f"p/{project}/compare")
    seen.follow("Pick this one (result 1)", "**/export/1")
    page.click("#old-plan")
    until(lambda: 'name = "levels"' not in plan_in(page))
    assert sf.verify(studio.plan(project).parent / "runs" / "0002" / "release").holds


def test_a_search_can_be_cancelled_and_hints_can_be_read_away(seen: Seen, studio: Running):
    page = seen.page
    seen.still()
    seen.follow("A guided tour", "**/columns")
    name = page.url.split("/")[-2]
    page.click("text=Got it")
    page = seen.go(f"p/{name}/columns")
    assert page.locator("#hint").count() == 0
    page = seen.go(f"p/{name}/search")
    page.click("#go")
    page.click("#cancel:not([disabled])")
    page.wait_for_selector("text=nothing was written")
    runs = studio.plan(name).parent / "runs"
    until(lambda: not runs.exists() or not list(runs.iterdir()))
    page.click("text=End the tour")
    page.wait_for_selector("#hint", state="detached")
    seen.still()
    assert seen.go(f"p/{name}/requirement").locator("#hint").count() == 0
