"""A search that its time limit cuts short says so: on the terminal, in the manifest and in the report, always alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.bundles.checks.consistency import CUT_SHORT
from sfumato.core.run_context import BY_TIME

COLUMNS = """
[columns.age]
role = "quasi"
hierarchy = { kind = "intervals", widths = [10, 20, 40], low = 0, high = 100 }

[columns.sex]
role = "quasi"
hierarchy = { kind = "flat" }
"""
PLAN = """
[input]
path = "people.csv"

[privacy]
k_anonymity = 5
"""
SETS = """
[input]
path = "bags.csv"

[columns.bag]
role = "quasi"
type = "set"
hierarchy = { kind = "flat" }

[privacy]
km = { k = 60, m = 2 }
"""
SEARCHES = ["local", "greedy", "k-optimize", "mondrian", "top-down", "cell-suppression", "local-sets"]
"""All that heed a time limit and can give what they have; bottom-up refuses where it has nothing yet."""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    people = sf.datasets.census(300, seed=6)
    people.select("age", "sex").write_csv(tmp_path / "people.csv")
    bags = ["bag", *(f"{'a' if n % 2 else 'b'}|{'c' if n % 3 else 'd'}|{n % 7}" for n in range(1000))]
    (tmp_path / "bags.csv").write_text("\n".join(bags))
    return tmp_path


def planned(place: Path, name: str, seconds: float | None) -> Path:
    limit = "" if seconds is None else f"seconds = {seconds}"
    head = SETS if name == "local-sets" else PLAN + COLUMNS
    (place / "plan.toml").write_text(f'{head}\n[algorithm]\nname = "{name}"\n{limit}\n')
    return place / "plan.toml"


def stated(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return found


@pytest.mark.parametrize("name", SEARCHES)
def test_a_cut_search_says_so_everywhere(run, place: Path, name: str):
    plan = planned(place, name, 1e-9)
    told = run("release", plan, "-o", place / "out")
    assert told.code == 0, told.err
    assert CUT_SHORT.lower() in told.out.lower()
    assert CUT_SHORT in stated(place / "out")["marks"]
    for page in (place / "out/report.html", place / "out.inside.html"):
        assert CUT_SHORT.lower() in page.read_text().lower()
    assert run("verify", place / "out").code == 0
    figures = run("release", plan, "-o", place / "out", "--force", "--json").json
    assert figures["search"]["stopped"] == BY_TIME


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_that_came_to_its_end_does_not(run, place: Path, name: str):
    sf.datasets.census(40, seed=6).select("age", "sex").write_csv(place / "people.csv")
    told = run("release", planned(place, name, None), "-o", place / "out")
    assert told.code == 0, told.err
    assert CUT_SHORT.lower() not in told.out.lower()
    assert CUT_SHORT not in stated(place / "out")["marks"]


def test_a_cut_search_of_local_recoding_loses_no_more_than_mondrian(run, place: Path):
    def loss(name: str, seconds: float | None) -> float:
        done = run("release", planned(place, name, seconds), "-o", place / "out", "--force", "--json")
        return float(done.json["utility"]["loss"])

    assert loss("local", None) <= loss("local", 1e-9) <= loss("mondrian", None) < 1.0
