"""A trail and the rules of a release are recomputed: forged ones are noticed, though the seal is mended."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from tests.bundles.forging import failing
from tests.bundles.forging import forge as careful

COLUMNS = {
    "sex": {"role": "quasi", "hierarchy": {"bundled": "census/sex"}},
    "education": {"role": "quasi", "hierarchy": {"bundled": "census/education"}},
    "age": {"role": "quasi", "hierarchy": {"kind": "grown", "low": 17, "high": 90}},
    "income": {"role": "target"},
}


def plan(**algorithm: Any) -> sf.Plan:
    chosen = {"name": "top-down", **algorithm}
    return sf.Plan.parse({"columns": COLUMNS, "privacy": {"k_anonymity": 10}, "algorithm": chosen})


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "bundle"
    assert sf.release(plan(), sf.datasets.census(1500, seed=3)).write(folder).holds
    return folder


@pytest.fixture
def copy(bundle: Path, tmp_path: Path) -> Path:
    shutil.copytree(bundle, tmp_path / "copy")
    return tmp_path / "copy"


def forge(folder: Path, change: Callable[[dict[str, Any]], Any]) -> list[str]:
    """Change the manifest, mend it, and tell which checks fail."""
    careful(folder, change)
    return failing(folder)


def last(m: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = m["trail"]["steps"][-1]
    return found


def first_repeated(m: dict[str, Any], **change: Any) -> None:
    """Put a step that does nothing before the first one."""
    same = {"column": "sex", "coarse": "*", "fine": ["*"], "score": 0.0}
    m["trail"]["steps"].insert(0, {**same, "anonymity": m["trail"]["anonymity"], "loss": m["trail"]["loss"]} | change)


TRAILS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "another score": lambda m: last(m).update(score=last(m)["score"] + 1e-6),
    "another kind of score": lambda m: m["trail"].update(score="discernibility"),
    "an unknown kind of score": lambda m: m["trail"].update(score="worth"),
    "another last loss": lambda m: last(m).update(loss=last(m)["loss"] + 1e-6),
    "another smallest class": lambda m: last(m).update(anonymity=last(m)["anonymity"] + 1),
    "enough": lambda m: m["trail"].update(enough=1),
    "upwards": lambda m: m["trail"].update(direction="up"),
    "a step that does nothing": first_repeated,
    "a step without labels": lambda m: first_repeated(m, fine=[]),
    "a label that never occurs": lambda m: last(m)["fine"].append("Nobody"),
    "a label twice": lambda m: last(m)["fine"].append(last(m)["fine"][0]),
    "a step less": lambda m: m["trail"]["steps"].pop(),
    "no trail": lambda m: m.update(trail=None),
    "suppressed rows": lambda m: m["suppression"].update(rows=3),
}


@pytest.mark.parametrize("name", TRAILS)
def test_a_forged_trail(copy: Path, name: str) -> None:
    assert "trail" in forge(copy, TRAILS[name])


@pytest.mark.parametrize("options", [{"score": "discernibility"}, {"splits": "valid"}, {"steps": 3}, {"steps": 1}])
def test_an_honest_trail_holds(tmp_path: Path, options: dict[str, Any]) -> None:
    frame = sf.datasets.census(700, seed=5)
    assert sf.release(plan(**options), frame).write(tmp_path / "whole").holds
    few = frame.with_columns(age=pl.when(pl.int_range(pl.len()) % 7 == 0).then(None).otherwise("age"))
    assert sf.release(plan(**options), few).write(tmp_path / "few").holds


def test_a_forged_score_of_squares(tmp_path: Path) -> None:
    sf.release(plan(score="discernibility"), sf.datasets.census(700, seed=5)).write(tmp_path / "b")
    assert forge(tmp_path / "b", lambda m: last(m).update(score=1.0)) == ["trail"]


def rule(m: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = m["recoding"]["columns"]["education"]["rule"]
    return found


RULES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "an unknown type": lambda m: rule(m).update(type="colour"),
    "a label that is a number": lambda m: rule(m)["values"].update(dict.fromkeys(list(rule(m)["values"])[:1], 7)),
    "a label that no value reaches": lambda m: rule(m).update(values=dict.fromkeys(rule(m)["values"], "Nobody")),
    "a value less than its size": lambda m: rule(m)["values"].popitem(),
    "a value more than its size": lambda m: rule(m)["values"].update(X=next(iter(rule(m)["values"].values()))),
    "no values": lambda m: rule(m).update(values={}),
}


@pytest.mark.parametrize("name", RULES)
def test_a_forged_rule(copy: Path, name: str) -> None:
    assert {"recoding of education", "form of the manifest"} & set(forge(copy, RULES[name]))


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m["recoding"]["columns"]["education"].update(of=10**400),
        lambda m: m["recoding"]["columns"]["education"].update(total=0.0),
        lambda m: m["suppression"].update(limit=1e400),
        lambda m: m["trail"].update(steps=[{"column": "nobody"}]),
        lambda m: m["data"].update(file="x" * 5000),
        lambda m: m["suppression"].update(of=0),
    ],
)
def test_whatever_is_malformed_fails_without_a_traceback(copy: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    try:
        noticed = bool(forge(copy, change))
    except sf.BundleError:
        noticed = True
    assert noticed


def test_a_trail_states_no_loss_that_is_measured_against_the_original(tmp_path: Path):
    """Where the range of ages is not declared, the loss would tell how many different ages there are."""
    columns = {**COLUMNS, "age": {"role": "quasi", "hierarchy": {"kind": "grown"}}}
    tree = {"columns": columns, "privacy": {"k_anonymity": 10}, "algorithm": {"name": "top-down"}}
    assert sf.release(sf.Plan.parse(tree), sf.datasets.census(1500, seed=3)).write(tmp_path / "b").holds
    manifest = json.loads((tmp_path / "b" / "manifest.json").read_text())
    assert "loss" not in manifest["utility"]
    assert {step["loss"] for step in manifest["trail"]["steps"]} == {None}
    assert "trail" in forge(tmp_path / "b", lambda m: last(m).update(loss=0.25))
