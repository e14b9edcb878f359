"""A ledger that binds, on the command line: pinned by the plan, bound to its table, witnessed and backed up."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import sfumato as sf

PLAN = """
[input]
path = "census.csv"
[columns.age]
role = "quasi"
hierarchy = { kind = "grown", low = 0, high = 100, grid = 25 }
[columns.sex]
role = "quasi"
values = ["Male", "Female"]
[privacy]
epsilon = 1
"""
PINNED = PLAN + 'ledger = "people.db"\nanalyst = "ann"\n'
ASK = "SELECT COUNT(*)"


@pytest.fixture
def place(run, tmp_path: Path) -> Path:
    sf.datasets.census(80, seed=5).select("age", "sex").write_csv(tmp_path / "census.csv")
    (tmp_path / "plan.toml").write_text(PINNED)
    for name in ("people.db", "mine.db"):
        assert run("budget", "grant", tmp_path / name, "1").code == 0
        assert run("budget", "grant", tmp_path / name, "1", "--analyst", "ann").code == 0
    return tmp_path


def test_the_plans_ledger_pays(run, place: Path):
    asked = ["query", place / "plan.toml", ASK, "--epsilon"]
    first = run(*asked, "1", "--json")
    assert (first.code, first.json["analyst"], first.json["left"]) == (0, "ann", "0")
    refused = run(*asked, "500", "--ledger", place / "mine.db", "--analyst", "ann")
    assert (refused.code, "from no other ledger" in refused.err) == (2, True)
    assert run(*asked, "500").code == 3
    assert run("budget", "history", place / "mine.db", "--json").json == {"charges": []}


def test_without_a_pinned_ledger_one_must_be_named(run, place: Path):
    (place / "plan.toml").write_text(PLAN)
    asked = ["query", place / "plan.toml", ASK, "--epsilon", "1/2"]
    nobody = run(*asked, "--analyst", "ann")
    assert (nobody.code, "--ledger" in nobody.err) == (2, True)
    unnamed = run(*asked, "--ledger", place / "mine.db")
    assert (unnamed.code, "--analyst" in unnamed.err) == (2, True)
    assert run(*asked, "--ledger", place / "mine.db", "--analyst", "ann").code == 0


def test_another_table_is_refused_until_the_steward_binds_it(run, place: Path):
    asked = ["query", place / "plan.toml", ASK, "--epsilon", "1/4"]
    assert run(*asked).code == 0
    (place / "grown.csv").write_text((place / "census.csv").read_text() + "33,Male\n")
    other = run(*asked, "--input", place / "grown.csv")
    assert (other.code, "budget bind" in other.err) == (3, True)
    assert run("budget", "show", place / "people.db", "--json").json["accounts"][0]["spent"] == "1/4"
    assert run("budget", "bind", place / "people.db").code == 2
    bound = run("budget", "bind", place / "people.db", "--input", place / "grown.csv", "--json")
    assert bound.json["rows"] == 81
    assert run(*asked, "--input", place / "grown.csv").code == 0
    assert run(*asked).code == 0, "what it was bound to before stays"
    assert "as it is now, 80 rows" in run("budget", "bind", place / "people.db", "--plan", place / "plan.toml").out


def test_a_witness_notices_an_old_copy(run, place: Path):
    book, seen = place / "watched.db", place / "seen.json"
    assert run("budget", "grant", book, "5", "--witness", seen).code == 0
    assert json.loads(seen.read_text())["event"] == 2
    assert run("budget", "grant", book, "5", "--witness", place / "new").code == 2
    run("budget", "backup", book, place / "backup.db")
    run("budget", "grant", book, "6")
    shutil.copy(place / "backup.db", book)
    refused = run("budget", "show", book)
    assert (refused.code, "rolled back or edited: its witness" in refused.err) == (2, True)
    run("budget", "grant", place / "mine.db", "2")
    told = run("budget", "witness", place / "mine.db", place / "mine.json")
    assert (told.code, "older copies are refused" in told.out) == (0, True)
    (place / "mine.json").unlink()
    lost = run("budget", "check", place / "mine.db")
    assert (lost.code, "sfumato budget witness" in lost.err) == (2, True)
    assert run("budget", "witness", place / "mine.db", place / "again.json", "--json").json["witness"] == str(
        (place / "again.json").resolve()
    )
    assert "again.json" in "".join(run("budget", "show", place / "mine.db").out.split())


def test_a_backup_is_one_command(run, place: Path):
    run("query", place / "plan.toml", ASK, "--epsilon", "1/2")
    assert "is a whole copy" in run("budget", "backup", place / "people.db", place / "copy.db").out
    assert run("budget", "backup", place / "people.db", place / "copy.db").code == 2
    again = run("budget", "backup", place / "people.db", place / "copy.db", "--force", "--json")
    assert (again.code, again.json["backup"]) == (0, str(place / "copy.db"))
    assert (
        run("budget", "history", place / "copy.db", "--json").json
        == run("budget", "history", place / "people.db", "--json").json
    )


def test_delta_is_granted_to_everybody(run, place: Path):
    assert run("budget", "grant", place / "d.db", "1", "--unit", "rho", "--delta", "1e-6").code == 0
    assert run("budget", "show", place / "d.db", "--json").json["delta"]["left"] == "1/1000000"
    assert "delta: 1/1000000 granted" in run("budget", "show", place / "d.db").out
    assert run("budget", "grant", place / "d.db", "1", "--analyst", "ann", "--delta", "1e-6").code == 2


@pytest.mark.parametrize("paid", [False, True])
def test_a_release_without_a_ledger_says_so(run, place: Path, paid: bool):
    """On the terminal, for programs, in the manifest and on the page."""
    (place / "plan.toml").write_text(PINNED if paid else PLAN)
    said = run("release", place / "plan.toml", "--output", place / "out")
    words = "No ledger paid for this release"
    assert (said.code, words in " ".join(said.out.split())) == (0, not paid)
    run("budget", "grant", place / "people.db", "9")
    run("budget", "grant", place / "people.db", "9", "--analyst", "ann")
    told = run("release", place / "plan.toml", "--output", place / "two", "--json").json
    manifest = json.loads((place / "out" / "manifest.json").read_text())
    assert ((told["paid"] is None), (manifest["paid"] is None)) == (not paid, not paid)
    assert (words in (place / "out" / "report.html").read_text()) == (not paid)
    assert run("verify", place / "out").code == 0
