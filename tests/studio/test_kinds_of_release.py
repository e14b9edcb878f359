"""Noise, paths and sets in the browser: by forms alone, to a bundle that verifies."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from tests.studio.conftest import Running, Seen, needs_browser, plan_in, until

pytestmark = [needs_browser, pytest.mark.slow, pytest.mark.xdist_group("studio")]


def tree(page: Any) -> dict[str, Any]:
    return tomllib.loads(plan_in(page))


def released(studio: Running, project: str, number: int = 1) -> Path:
    return studio.plan(project).parent / "runs" / f"{number:04d}" / "release"


def test_from_groups_to_noise_and_back(seen: Seen, studio: Running, project: str):
    page = seen.go(f"p/{project}/requirement")
    groups = plan_in(page)
    page.check("[name=promise][value=noise]")
    page.wait_for_selector("#epsilon")
    seen.still()
    assert tree(page)["columns"]["age"]["domain_from"] == "discover"
    page.fill("#epsilon", "2")
    page.press("#epsilon", "Tab")
    page.wait_for_selector("text=7.389 times as likely")
    page = seen.go(f"p/{project}/hierarchies?column=income")
    page.select_option("#kind", "values")
    page.fill("#values", "<=50K")
    page.wait_for_selector("#domain-notes li")
    page.fill("#values", "<=50K\n>50K")
    until(lambda: page.locator("#domain-notes li").count() == 0)
    page.click("#take")
    until(lambda: tree(page)["columns"]["income"].get("values") == ["<=50K", ">50K"])
    page = seen.go(f"p/{project}/hierarchies?column=age")
    page.select_option("#kind", "numbers")
    page.fill("#low", "0")
    page.fill("#high", "120")
    page.fill("#grid", "10")
    page.select_option("#known-by", "public")
    page.wait_for_selector("text=numbers from 0 to 120")
    page.click("#take")
    until(lambda: tree(page)["columns"]["age"].get("domain_from") == "public")
    assert tree(page)["columns"]["age"]["hierarchy"] == {"kind": "grown", "low": 0, "high": 120, "grid": 10}
    page = seen.search(project)
    assert "Differential privacy with epsilon = 2" in page.inner_text("main")
    assert sf.verify(released(studio, project)).holds
    page = seen.go(f"p/{project}/requirement")
    page.check("[name=promise][value=groups]")
    page.wait_for_selector("#metric")
    assert plan_in(page) == groups
    page.check("[name=promise][value=noise]")
    page.wait_for_selector("#epsilon")
    seen.still()
    assert tree(page)["columns"]["age"]["domain_from"] == "public"
    assert (seen.faults, seen.elsewhere) == ([], [])


def test_paths_with_hierarchies_of_places_and_times(seen: Seen, studio: Running):
    metro = sf.datasets.metro(300, stations=6, minutes=8, seed=7)
    project = studio.begin(metro.write_csv().encode(), "metro.csv")
    page = seen.go(f"p/{project}/hierarchies?column=path&key=time_hierarchy")
    page.select_option("#kind", "intervals")
    page.fill("#field-widths", "4")
    page.fill("#field-low", "0")
    page.fill("#field-high", "8")
    page.wait_for_selector("text=Level 1: 2 labels")
    page.click("#take")
    until(lambda: tree(page)["columns"]["path"].get("time_hierarchy", {}).get("widths") == [4])
    page = seen.go(f"p/{project}/requirement")
    page.wait_for_selector("text=raw table: 1, asked for: at least 5")
    field = page.locator("li[data-model=km-anonymity] .value").first
    field.fill("3")
    field.press("Tab")
    until(lambda: tree(page)["privacy"]["km"] == {"k": 3, "m": 2})
    page = seen.search(project)
    assert page.locator("text=km-anonymity reached").count() == 1
    assert page.locator("#columns-title").count() == 1
    bundle = released(studio, project)
    assert sf.verify(bundle).holds
    again = sf.release(sf.Plan.load(studio.plan(project)))
    written = pl.read_csv(bundle / "data.csv", infer_schema=False)
    assert sorted(written["path"].fill_null("")) == sorted(again.rows["path"].fill_null(""))
    assert (seen.faults, seen.elsewhere) == ([], [])


def test_a_column_becomes_one_of_sets_with_its_own_separator(seen: Seen, studio: Running):
    goods = ["milk;bread", "milk;beer", "bread;milk", "beer;milk", "milk", "bread;milk;beer"]
    frame = pl.DataFrame({"basket": [goods[n % 6] for n in range(60)], "age": [str(20 + n % 3) for n in range(60)]})
    project = studio.begin(frame.write_csv().encode(), "baskets.csv")
    page = seen.go(f"p/{project}/columns")
    page.get_by_label("type of basket", exact=True).select_option("set")
    until(lambda: tree(page)["privacy"] == {"km": {"k": 5, "m": 2}})
    page.get_by_label("separator of basket").fill(";")
    page.get_by_label("separator of basket").press("Tab")
    until(lambda: tree(page)["columns"]["basket"].get("separator") == ";")
    page = seen.go(f"p/{project}/hierarchies?column=basket")
    page.wait_for_selector("text=Level 0: 3 labels")
    seen.search(project)
    assert sf.verify(released(studio, project)).holds
    page = seen.go(f"p/{project}/columns")
    page.get_by_label("type of basket", exact=True).select_option("text")
    until(lambda: tree(page)["privacy"] == {"k_anonymity": 5})
