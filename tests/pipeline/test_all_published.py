"""All published columns are attacked and judged: exact incomes do not pass under a promise that holds."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.bundles.manifest.document import dump, seal
from sfumato.cli.main import main
from sfumato.core.run_context import Work
from sfumato.pipeline.attack import attack as audit
from sfumato.pipeline.profile.profile import profile
from tests.shared_data import shared

QUASI: dict[str, Any] = {
    "sex": {"role": "quasi", "hierarchy": {"kind": "flat"}},
    "age": {
        "role": "quasi",
        "type": "integer",
        "hierarchy": {"kind": "intervals", "widths": [10, 20, 40], "low": 0, "high": 120},
    },
}
WHOLE, PART = "linkage by all published columns", "singling-out by quasi-identifiers"
FLAG = "income ({}) is near-unique: "


def people(rows: int = 400, *, seed: int = 1) -> pl.DataFrame:
    """Sex, age and an income that nobody else has."""
    draw = np.random.default_rng(seed)
    income = draw.permutation(rows) * 137 + 20_011
    return pl.DataFrame({"sex": draw.choice(["f", "m"], rows), "age": draw.integers(20, 60, rows), "income": income})


def planned(role: str, **more: Any) -> dict[str, Any]:
    asked = {"attacks": ["linkage", "singling-out"], "trials": 200}
    columns = {**QUASI, "income": {"role": role}}
    return {"columns": columns, "privacy": {"k_anonymity": 3}, "algorithm": {"seed": 1}, "attack": asked, **more}


def told(made: sf.Release) -> dict[str, Any]:
    return {one.attack: one for one in made.audit.findings}


def watched(plan: sf.Plan, frame: object = None) -> tuple[Any, list[str]]:
    """A release, and what was said before the search began."""
    heard: list[str] = []

    class Stages:
        def advance(self, stage: str, done: int, total: int) -> None:
            heard.append(stage)

    made = sf.release(plan, frame, work=Work(progress=Stages(), notice=heard.append))
    return made, heard[: heard.index("search")]


@pytest.mark.parametrize("role", ["sensitive", "target", "keep"])
def test_exact_incomes_are_told_before_the_search_in_the_report_and_by_verify(role: str, tmp_path: Path):
    made, heard = watched(sf.Plan.parse(planned(role)), people())
    flag = FLAG.format(role) + "400 of 400 rows hold a value that fewer than 3 rows share"
    assert [note for note in heard if note.startswith(flag)]
    assert [mark for mark in made.marks if mark.startswith(flag)]
    checked = made.write(tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert flag in page.split('id="verdict"')[0], "above the verdict"
    assert "The promise holds on the released rows, and still income nearly singles people out." in page
    assert checked.holds
    assert [one.detail.startswith(flag) for one in checked.remarks] == [True]
    found = told(made)
    assert found["linkage"].rate.value < 1 / 3
    assert (found[WHOLE].rate.value, found[WHOLE].limit, str(found[WHOLE].outcome)) == (1.0, None, "refuted")
    assert (found["singling-out"].rate.value, found["singling-out"].limit) == (1.0, None)
    assert (str(found[PART].outcome), found[PART].limit.why) == ("not tried", "claim k-anonymity (k = 3)")
    assert "had nothing to try to say something about quasi-identifiers" in page
    assert made.audit.refuted == ()


def test_a_column_that_tells_nobody_apart_is_not_told(tmp_path: Path):
    frame = people().with_columns(income=pl.col("income") % 2)
    made, heard = watched(sf.Plan.parse(planned("sensitive")), frame)
    assert not [note for note in heard if "near-unique" in note]
    assert not [mark for mark in made.marks if "near-unique" in mark]
    assert made.write(tmp_path / "out").remarks == ()
    assert "The promise holds on the released rows.<" in made.report()


EXACT = """
[input]
path = {path}
[columns.sex]
role = "quasi"
hierarchy = {{ kind = "flat" }}
[columns.age]
role = "quasi"
hierarchy = {{ kind = "intervals", widths = [5, 10, 20], low = 0, high = 100 }}
[columns.income]
role = "target"
[privacy]
k_anonymity = 5
[algorithm]
max_suppressed = 0.05
"""
"""A plan that publishes incomes as they are; no draft does."""


def test_a_plan_for_sdcmicro_testdata_tells_of_exact_incomes(tmp_path: Path):
    """4,342 of 4,517 released rows are alone by sex, age and income."""
    table = shared("sdcmicro", "testdata.csv")
    assert all(str(one.suggestion.role) in ("quasi", "drop", "identifier") for one in profile(table).columns)
    (tmp_path / "plan.toml").write_text(EXACT.format(path=json.dumps(str(table))))
    asked = ['attack.attacks=["linkage", "singling-out"]', "attack.trials=500", "algorithm.seed=1"]
    made, heard = watched(sf.Plan.load(tmp_path / "plan.toml", asked))
    assert made.rows.columns == ["sex", "age", "income"]
    assert (made.rows.height, int(made.rows.is_unique().sum())) == (4517, 4342)
    assert [note for note in heard if note.startswith(FLAG.format("target"))]
    found = told(made)
    assert found["linkage"].rate.high < 1 / 5
    assert found[WHOLE].rate.low > 0.9
    assert found["singling-out"].rate.low > 0.9
    assert str(found[PART].outcome) == "not tried"
    checked = made.write(tmp_path / "out")
    assert checked.holds
    assert [one.what for one in checked.remarks] == ["near-unique column income"]
    assert "and still income nearly singles people out" in (tmp_path / "out" / "report.html").read_text()


def test_labels_of_quasi_identifiers_are_judged_as_they_are_released(tmp_path: Path):
    """Nothing but 2-diversity is asked for: ages stay as they are, and many of them are rare."""
    frame = people(60).select(age=pl.int_range(60) // 2, ill=pl.Series(["a", "b"] * 30))
    column = {"role": "quasi", "type": "integer", "hierarchy": {"kind": "flat"}}
    columns = {"age": column, "ill": {"role": "sensitive"}}
    plan = sf.Plan.parse({"columns": columns, "privacy": {"l_diversity": {"l": 2}}, "attack": {"run": False}})
    made, heard = watched(plan, frame)
    assert not [note for note in heard if "near-unique" in note]
    assert [mark for mark in made.marks if mark.startswith("age (quasi) is near-unique: 60 of 60 rows")]
    assert made.write(tmp_path / "out").remarks


def test_groups_and_pseudonyms_are_nobodys_values(tmp_path: Path):
    (tmp_path / "key").write_bytes(b"0123456789abcdef0123")
    frame = people(200).select("sex", ill=pl.int_range(200) % 9, name=pl.int_range(200).cast(pl.String))
    columns = {
        "sex": QUASI["sex"],
        "ill": {"role": "sensitive"},
        "name": {"role": "identifier", "pseudonym": {"key_file": "key"}},
    }
    asked = {"columns": columns, "privacy": {"l_diversity": {"kind": "simple", "l": 3}}}
    plan = sf.Plan.parse({**asked, "algorithm": {"name": "anatomy", "seed": 1}}, folder=tmp_path)
    made = sf.release(plan, frame)
    assert {"name", "group"} <= set(made.rows.columns)
    assert made.near_unique == ()
    assert made.write(tmp_path / "out").remarks == ()
    assert WHOLE not in told(made), "the sensitive column is published apart, and nothing else is beside"


def test_the_original_of_a_bundle_may_lack_a_kept_column(tmp_path: Path):
    frame = people()
    sf.release(sf.Plan.parse(planned("keep")), frame).write(tmp_path / "out")
    whole, *_ = audit(tmp_path / "out", frame, attacks=("linkage",), seed=1).findings[1:]
    assert (whole.attack, whole.rate.value) == (WHOLE, 1.0)
    found = audit(tmp_path / "out", frame.drop("income"), attacks=("linkage", "singling-out"), seed=1)
    assert [one.attack for one in found.findings] == ["linkage", "singling-out"]
    assert "'income': published, but not in the original" in found.findings[1].note
    control = people(300, seed=2).drop("income")
    both = audit(tmp_path / "out", frame, control=control, attacks=("linkage",), seed=1).findings
    assert both[0].control is not None
    assert both[1].control is None


def test_max_risk_is_about_what_others_may_know():
    """Whoever is given every published value finds everybody; a limit of the plan is not held against that."""
    frame = people().with_columns(income=pl.col("income") % 7)
    plan = planned("sensitive", attack={"attacks": ["linkage"], "max_risk": 0.2})
    made = sf.release(sf.Plan.parse(plan), frame)
    assert told(made)[WHOLE].beyond
    open_plan = planned("sensitive", attack={"attacks": ["singling-out"], "max_risk": 0.2})
    with pytest.raises(sf.ClaimRefuted, match="singling-out gains"):
        sf.release(sf.Plan.parse(open_plan), people())


# Bundles that say otherwise


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Kept incomes, and statements about quasi-identifiers that could not be made."""
    place = tmp_path_factory.mktemp("kept") / "bundle"
    sf.release(sf.Plan.parse(planned("keep")), people(200)).write(place)
    return place


def forged(folder: Path, change: Callable[[dict[str, Any]], None]) -> list[str]:
    """The checks that fail after a change of what is stated about an attack, with a seal that holds."""
    place = folder / "manifest.json"
    content = json.loads(place.read_text())
    change(next(one for one in content["attacks"] if one["attack"] == PART))
    place.write_text(dump(seal(content)))
    return [check.what for check in sf.verify(folder).checks if not check.holds]


@pytest.mark.parametrize(
    "change",
    [
        {"outcome": "inconclusive"},
        {"outcome": "not refuted"},
        {"target": {"rate": 0.0, "low": 0.0, "high": 0.0188452, "trials": 200, "failed": 200, "confidence": 0.95}},
        {"target": {"rate": None, "low": 0.0, "high": 1.0, "trials": 200, "failed": 199, "confidence": 0.95}},
        {"target": {"rate": None, "low": 0.0, "high": 0.5, "trials": 200, "failed": 200, "confidence": 0.95}},
        {"risk": {"value": 0.0, "low": 0.0, "high": 1.0}},
        {"beyond": True},
    ],
)
def test_what_was_not_tried_cannot_be_stated_as_a_figure(change: dict[str, Any], bundle: Path, tmp_path: Path):
    shutil.copytree(bundle, tmp_path / "out")
    assert forged(tmp_path / "out", lambda one: None) == []
    assert forged(tmp_path / "out", lambda one: one.update(change)) == ["attacks"]


# The command line


def test_a_steward_at_a_terminal_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def run(*arguments: object) -> tuple[str, str]:
        monkeypatch.setattr("sys.argv", ["sfumato", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        assert not stop.value.code
        captured = capsys.readouterr()
        return " ".join(captured.out.split()), " ".join(captured.err.split())

    table, plan, out = tmp_path / "in.csv", tmp_path / "plan.toml", tmp_path / "out"
    people().write_csv(table)
    told, _ = run("profile", table, "-o", plan)
    assert "near-unique" not in told
    assert "so it is made coarser" in plan.read_text()
    flag = FLAG.format("target")
    plan.write_text(EXACT.format(path=json.dumps(str(table))))
    told, warned = run("release", plan, "-o", out, "--set", "algorithm.seed=1")
    assert f"warning: {flag}" in warned
    assert f"! {flag}" in told
    told, _ = run("verify", out)
    assert f"Beware: {flag}" in told
    assert told.endswith("every claim holds; no claim covers the warning above")
    told, _ = run("verify", out, "--json")
    assert json.loads(told)["remarks"][0]["what"] == "near-unique column income"
    told, warned = run("release", plan, "-o", out, "--force", "--json")
    assert json.loads(told)["near_unique"][0]["column"] == "income"
    assert warned == ""
    told, _ = run("attack", out, "--original", table, "--plan", plan, "--seed", 1, "--attacks", "singling-out")
    assert f"{PART}: Somebody who knows the release and nothing else had nothing to try" in told
    assert "Note: no statement fits exactly one released row." in told
