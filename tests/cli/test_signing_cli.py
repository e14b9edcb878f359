"""Keys, signed releases, and what the steward checks, as people type it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf

PLAN = """
[input]
path = "people.csv"
[columns.sex]
role = "quasi"
hierarchy = { bundled = "census/sex" }
[columns.age]
role = "quasi"
hierarchy = { bundled = "census/age" }
[columns.occupation]
role = "sensitive"
[privacy]
k_anonymity = 5
[algorithm]
max_suppressed = 0.05
[attack]
trials = 100
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    sf.datasets.census(400, seed=9).select("sex", "age", "occupation").write_csv("people.csv")
    Path("plan.toml").write_text(PLAN)
    return tmp_path


def test_from_a_key_to_a_signed_bundle_that_others_know(run: Callable[..., Any], place: Path):
    made = run("key", "new", "Registry", "-o", "registry.key", "--json").json
    assert run("key", "card", made["card"]).out == f"Registry: {made['fingerprint']}\n"
    assert run("release", "plan.toml", "-o", "out", "--sign", "registry.key").code == 0
    known = run("verify", "out", "--signer", "registry.card", "--json")
    assert known.code == 0
    assert known.json["signature"]["vouched"]
    assert known.json["signature"]["key"] == made["fingerprint"]
    run("key", "new", "Stranger", "-o", "stranger.key")
    other = run("verify", "out", "--signer", "stranger.card")
    assert other.code == 1
    assert "not with that of Stranger" in other.out.replace("\n", " ")
    assert run("release", "plan.toml", "-o", "out", "--force").code == 0, "a signed bundle is one of ours"
    alone = run("verify", "out")
    assert alone.code == 0
    assert "sealed, not signed: consistent, but anyone could have made it" in alone.out
    assert run("verify", "out", "--signer", "registry.card").code == 1


def test_the_steward_makes_it_again(run: Callable[..., Any], place: Path):
    assert run("release", "plan.toml", "-o", "out", "--set", "privacy.k_anonymity=6").code == 0
    same = run("verify", "out", "--plan", "plan.toml", "--set", "privacy.k_anonymity=6", "--original", "people.csv")
    assert same.code == 0
    assert "The plan and the original give the same release again" in same.out
    weaker = run("verify", "out", "--plan", "plan.toml", "--json")
    assert weaker.code == 1
    wrong = {one["what"] for one in weaker.json["checks"] if not one["holds"]}
    assert "plan of the steward" in wrong
    sf.datasets.census(400, seed=10).select("sex", "age", "occupation").write_csv("people.csv")
    changed = run("verify", "out", "--plan", "plan.toml", "--set", "privacy.k_anonymity=6", "--json")
    assert "rows of data" in {one["what"] for one in changed.json["checks"] if not one["holds"]}


def test_what_does_not_fit_together_is_refused(run: Callable[..., Any], place: Path):
    assert run("release", "plan.toml", "-o", "out").code == 0
    for arguments, told in (
        (("verify", "out", "--original", "people.csv"), "go with --plan"),
        (("verify", "out", "--signer", "plan.toml"), "not valid JSON"),
        (("verify", "out", "--plan", "nowhere.toml"), "does not exist"),
        (("release", "plan.toml", "-o", "two", "--sign", "plan.toml"), "no private key"),
        (("key", "new", ""), "printable characters"),
        (("key", "card", "people.csv"), "at most 4,096 are read"),
    ):
        done = run(*arguments)
        assert done.code == 2, arguments
        assert told in done.err, arguments
        assert not Path("two").exists()
