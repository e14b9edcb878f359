"""Files for the steward alone: only their owner reads them; a command makes the folders that its output needs."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.collection.mechanisms import KeptCategory
from sfumato.collection.specification import Specification
from tests.fuzz.commands import run

PLAN = """
[input]
path = "people.csv"
[columns.age]
role = "quasi"
hierarchy = { kind = "intervals", widths = [10, 50], low = 0, high = 100 }
[columns.sex]
role = "quasi"
hierarchy = { kind = "flat" }
[columns.income]
role = "sensitive"
[privacy]
k_anonymity = 5
[attack]
trials = 50
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A table and its plan, under a umask that lets everybody read."""
    before = os.umask(0o022)
    sf.datasets.census(400, seed=1).select("age", "sex", "income").write_csv(tmp_path / "people.csv")
    (tmp_path / "plan.toml").write_text(PLAN)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_reports_for_the_steward_and_drafts(folder: Path) -> None:
    assert run("release", "plan.toml", "-o", "new/deep/out")[0] == 0
    assert run("release", "plan.toml", "-o", "other", "--inside", "pages/own.html")[0] == 0
    assert run("profile", "people.csv", "-o", "draft.toml")[0] == 0
    for name in ("new/deep/out.inside.html", "pages/own.html", "draft.toml"):
        assert mode(folder / name) == 0o600, name
    for path in (folder / "new/deep/out").iterdir():
        assert mode(path) == 0o644, "what is published can be read"


def test_what_people_have_shown(folder: Path) -> None:
    coin = KeptCategory.warner("smokes", ("yes", "no"), truth="3/4")
    (folder / "survey.json").write_text(Specification(questions=(coin,)).write())
    (folder / "true.csv").write_text("who,smokes\n" + "".join(f"{n},{'yes' if n % 3 else 'no'}\n" for n in range(20)))
    words = ["collect", "respond", "survey.json", "--input", "true.csv", "--person", "who", "--memory", "memory.json"]
    assert run(*words)[0] == 0
    assert mode(folder / "memory.json") == 0o600


def test_ledgers_and_mined_rules(folder: Path) -> None:
    assert run("budget", "grant", "ledger.db", "5")[0] == 0
    assert run("rules", "people.csv", "-o", "rules.csv", "--picture", "rules.svg")[0] == 0
    assert run("frontier", "plan.toml", "-o", "points", "--jobs", "1", "--seconds", "20")[0] == 0
    for path in (folder / "ledger.db", folder / "rules.csv", folder / "rules.svg", *(folder / "points").rglob("*.*")):
        assert mode(path) == 0o600, path


def test_records_that_break_the_claims_are_not_written(folder: Path) -> None:
    assert run("release", "plan.toml", "-o", "out")[0] == 0
    (folder / "few.csv").write_text("age,sex,income\n33,Male,<=50K\n71,Female,>50K\n")
    code, _, message = run("apply", "out", "few.csv", "-o", "applied.csv")
    assert code == 1
    assert "do not meet k-anonymity" in message
    assert not (folder / "applied.csv").exists()
    assert run("apply", "out", "few.csv", "-o", "applied.csv", "--force")[0] == 0
    assert (folder / "applied.csv").exists()


def test_long_values_are_cut_in_messages(folder: Path) -> None:
    (folder / "plan.toml").write_text(PLAN.replace("k_anonymity = 5", f'k_anonymity = "{"x" * 50_000}"'))
    code, _, message = run("release", "plan.toml", "-o", "out")
    assert code == 2
    assert len(message) < 5_000
    (folder / "plan.toml").write_text(PLAN + f"[{'y' * 100_000}]\n")
    assert len(run("release", "plan.toml", "-o", "out")[2]) < 5_000
