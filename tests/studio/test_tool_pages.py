"""The pages beside the way: verify, attack, ask under a budget, joint results."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.studio.conftest import Running, Seen, needs_browser, until

pytestmark = [needs_browser, pytest.mark.slow, pytest.mark.xdist_group("studio")]


def test_a_bundle_is_verified_and_attacked_and_a_forged_one_is_found_out(seen: Seen, studio: Running, project: str):
    seen.search(project)
    bundle = f"sfumato-studio/{project}/runs/0001/release"
    page = seen.go("verify")
    page.select_option("#bundle", bundle)
    page.click("form button")
    page.wait_for_selector("text=The files are unchanged")
    assert page.locator(".checks .problem").count() == 0
    page = seen.go("attack")
    page.select_option("#bundle", bundle)
    assert page.input_value("#project") == project
    assert page.input_value("#original") == f"sfumato-studio/{project}/data/people.csv"
    page.click("form button")
    page.wait_for_selector(".attack .chip")
    assert page.locator(".attack .chip.fails").count() == 0
    assert seen.faults == []
    forged = studio.folder / "forged"
    shutil.copytree(studio.folder / bundle, forged)
    (forged / "data.csv").write_text((forged / "data.csv").read_text().replace("Male", "Mael"))
    page = seen.go("verify")
    page.select_option("#bundle", "forged")
    page.click("form button")
    page.wait_for_selector(".checks .problem")
    assert page.locator("#told .chip.fails").count() == 1


def test_a_budget_is_granted_and_spent_and_nobody_spends_more(seen: Seen, project: str):
    page = seen.go(f"ask?project={project}")
    assert page.locator("#by option").count() == 1
    while page.locator("#profiled button").count():
        count = page.locator("#profiled button").count()
        page.locator("#profiled button").first.click()
        until(lambda before=count: page.locator("#profiled button").count() < before)
    for limit, whom in (("1", ""), ("0.3", "ann")):
        page.fill("#limit", limit)
        page.fill("#whom", whom)
        page.click("#grant button")
        page.wait_for_selector(f"#accounts th:text-is('{whom or 'everybody together'}')")
    page.select_option("#by", "sex")
    assert page.input_value("#sql") == 'SELECT "sex", COUNT(*) GROUP BY "sex"'
    page.fill("#epsilon", "0.2")
    page.click("#ask button")
    page.wait_for_selector("#told tbody tr")
    assert page.locator("#told tbody tr").count() == 2
    cells = page.locator("#accounts tbody tr").last.locator("td").all_inner_texts()
    assert cells == ["0.3", "0.2", "0.1"]
    page.click("#ask button")
    page.wait_for_selector("#told .problem")
    assert page.locator("#accounts tbody tr").last.locator("td").all_inner_texts() == cells


def test_a_joint_result_is_shown(seen: Seen, studio: Running, tmp_path: Path):
    command = [sys.executable, "-m", "sfumato", "party", "demo", "-o", str(tmp_path / "three")]
    subprocess.run(command, check=True, capture_output=True)
    manifests = (tmp_path / "three").rglob("manifest.json")
    found = next(one for one in manifests if json.loads(one.read_text())["kind"] == "joint")
    shutil.copytree(found.parent, studio.folder / "together")
    page = seen.go("joint")
    page.get_by_role("link", name="together").click()
    page.wait_for_url("**/joint?bundle=together")
    shown = page.frame_locator("iframe.report")
    shown.locator("h1").wait_for()
    assert seen.elsewhere == []
    assert seen.faults == []
