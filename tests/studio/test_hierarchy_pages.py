"""Hierarchies by hand: edges that are dragged or typed, groups that values move between, files in and out."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from tests.studio.conftest import Running, Seen, needs_browser, plan_in, until

pytestmark = [needs_browser, pytest.mark.slow, pytest.mark.xdist_group("studio")]


@pytest.fixture
def editor(seen: Seen, project: str) -> Any:
    """The editor of a column of a fresh project."""
    return lambda column: seen.go(f"p/{project}/hierarchies?column={column}")


def hierarchy(page: Any, column: str) -> Any:
    return tomllib.loads(plan_in(page))["columns"][column]["hierarchy"]


def taken(page: Any, column: str, before: Any) -> Any:
    page.click("#take")
    until(lambda: hierarchy(page, column) != before)
    return hierarchy(page, column)


def test_edges_are_dragged_typed_and_moved_by_keys(editor):
    page = editor("age")
    before = hierarchy(page, "age")
    page.select_option("#kind", "edges")
    page.wait_for_selector(".edge")
    page.fill("#field-cuts", "30, 50, 60")
    page.press("#field-cuts", "Tab")
    until(lambda: page.locator(".edge").count() == 3)
    edge = page.locator(".edge").first
    box, line = edge.bounding_box(), page.locator(".line").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + line["width"] / 10, box["y"] + 40, steps=4)
    page.mouse.up()
    until(lambda: page.input_value("#field-cuts") != "30, 50, 60")
    page.locator(".edge").last.focus()
    page.keyboard.press("ArrowRight")
    until(lambda: page.input_value("#field-cuts").endswith("61"))
    page.click("text=Add a coarser level")
    page.wait_for_selector(".kept")
    found = taken(page, "age", before)
    assert found["kind"] == "intervals"
    assert found["cuts"][0][-1] == 61
    assert 30 < found["cuts"][0][0] < 50
    assert len(found["cuts"]) == 2
    assert page.locator("#hierarchy-problem").inner_text() == ""


def test_values_move_between_groups_of_several_levels(editor):
    page = editor("education")
    before = hierarchy(page, "education")
    page.select_option("#kind", "tree")
    page.wait_for_selector(".groups .member")
    member = page.locator(".member").first
    value = member.locator("span").inner_text()
    page.get_by_label("name of a new group").fill("Mine")
    page.click("text=Add a group")
    page.get_by_label(f"group of {value}", exact=True).select_option("Mine")
    until(lambda: "Mine" in page.locator(".levels").inner_text())
    found = taken(page, "education", before)
    (root,) = found["tree"].values()
    assert root["Mine"] == [value]
    page.set_viewport_size({"width": 1400, "height": 3000})
    moved = "fieldset[data-group=Mine] .member"
    page.drag_and_drop(
        moved,
        ".groups > fieldset:not([data-group=Mine]) >> nth=0",
        source_position={"x": 6, "y": 8},
        target_position={"x": 8, "y": 40},
    )
    until(lambda: page.locator(moved).count() == 0)


def test_a_hierarchy_goes_out_as_a_file_and_comes_in_again(editor, studio: Running, project: str, tmp_path):
    page = editor("education")
    before, shown = hierarchy(page, "education"), page.locator("#levels").inner_text()
    with page.expect_download() as got:
        page.click("text=Export as CSV")
    place = tmp_path / "education.csv"
    got.value.save_as(place)
    page.set_input_files("#import", place)
    until(lambda: page.input_value("#kind") == "file")
    found = taken(page, "education", before)
    assert found["file"].startswith("hierarchies/education")
    until(lambda: page.locator("#levels").inner_text() == shown)
    kept = {one.name: one.read_bytes() for one in (studio.plan(project).parent / "hierarchies").iterdir()}
    place.write_text("a;b\n")
    page.set_input_files("#import", place)
    page.wait_for_selector("#notice.bad:not(:empty)")
    assert {one.name: one.read_bytes() for one in (studio.plan(project).parent / "hierarchies").iterdir()} == kept
