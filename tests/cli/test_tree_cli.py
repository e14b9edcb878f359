"""``sfumato tree``: from tables of two sources to a model of both."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf

PLAN = """
[input]
path = "people.csv"
[columns]
age = { role = "quasi", hierarchy = { kind = "grown", low = 0, high = 120, grid = 5 } }
sex = { role = "quasi" }
income = { role = "target" }
[privacy]
k_anonymity = 5
[attack]
trials = 50
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for n in range(2):
        sf.datasets.census(300, seed=n).write_csv(f"people{n}.csv")
    Path("plan.toml").write_text(f"{PLAN}[tree]\n")
    Path("rows.toml").write_text(PLAN)
    return tmp_path


def test_publish_verify_attack_learn_predict(folder: Path, run: Callable[..., Any]):
    for n in range(2):
        done = run("tree", "publish", "plan.toml", "--input", f"people{n}.csv", "-o", f"s{n}", "--json")
        assert done.code == 0, done.err + done.out
        assert done.json["verified"]
        assert Path(f"s{n}.inside.html").exists()
    assert run("verify", "s0").code == 0
    told = run("channels", "s0", "--k", 5)
    assert (told.code, "No group of 1 to 4 people can be told from 1 document." in told.out) == (0, True)
    assert run("channels", "s0", "--k", 301, "--classes", "--json").json["many"] > 0
    same = run("release", "plan.toml", "--input", "people0.csv", "-o", "s2", "--no-inside")
    assert same.code == 0
    assert Path("s2/data.json").read_bytes() == Path("s0/data.json").read_bytes()
    done = run("attack", "s0", "--original", "people0.csv", "--control", "people1.csv", "--json")
    assert [one["attack"] for one in done.json["attacks"]] == ["tree-inference", "tree-membership"]
    assert run("attack", "s0").code == 2
    done = run("tree", "learn", "s0", "s1", "-o", "model", "--pseudo", "pseudo.csv", "--option", "max_depth=4")
    assert done.code == 0, done.err
    assert "600 pseudo-records of 2 bundles, kept as json" in done.out
    assert len(Path("pseudo.csv").read_text().splitlines()) == 601
    done = run("tree", "predict", "model", "--input", "people1.csv", "--json")
    assert done.json["rows"] == 300
    assert done.json["accuracy"] > 0.6
    assert "predicted income" in Path("predicted.csv").read_text().splitlines()[0]


def test_refusals(folder: Path, run: Callable[..., Any]):
    assert "has no [tree]" in run("tree", "publish", "rows.toml").err
    assert run("tree", "publish", "rows.toml").code == 2
    assert "no bundle" in run("tree", "learn", "nowhere").err or run("tree", "learn", "nowhere").code == 2
    assert run("tree", "learn", "x", "--option", "depth").code == 2
    assert run("tree", "learn", "x", "--size", "0").code == 2
    assert run("tree", "learn", "x", "--pseudo", "x.txt").code == 2
    assert run("tree", "predict", "model", "--input", "people0.csv").code == 2
    assert run("tree", "experiment", "--data", "nowhere").code == 2
    sf.release(sf.Plan.load("rows.toml", ["input.path='people0.csv'", "columns.sex.hierarchy={kind='flat'}"])).write(
        "rows"
    )
    told = run("tree", "learn", "rows", "--json")
    assert told.code == 2
    assert "holds no tree" in json.loads(told.out)["error"]
