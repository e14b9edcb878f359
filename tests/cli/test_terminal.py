"""Names and cells from files reach the terminal as signs that can be seen, never as commands to it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sfumato.core.errors import visible
from tests.fuzz.commands import run

NASTY = "\x1b]0;owned\x07\x1b[2J\u202e\x9b31m"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    cells = "".join(f"{NASTY}{i % 2},{20 + i}\n" for i in range(12))
    (tmp_path / "t.csv").write_text(f'"name {NASTY}",age\n{cells}', encoding="utf-8")
    return tmp_path / "t.csv"


def test_a_profile_shows_escape_codes_as_text(table: Path) -> None:
    code, out, err = run("profile", str(table))
    assert (code, err) == (0, "")
    assert "\\x1b" in "".join(out.split())


def test_json_spells_them(table: Path) -> None:
    code, out, _ = run("profile", str(table), "--json")
    assert code == 0
    assert any(NASTY in column["name"] for column in json.loads(out)["columns"])


@pytest.mark.parametrize("as_json", [False, True])
def test_a_refusal_shows_them_as_text(tmp_path: Path, as_json: bool) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text('[columns."\\u001b[2J"]\nrole = "none"\n', encoding="utf-8")
    code, out, err = run("release", str(plan), "-o", str(tmp_path / "b"), *(["--json"] if as_json else []))
    assert code == 2
    assert "\\u001b[2J" in out if as_json else "\\x1b[2J" in err


def test_lines_and_tabs_stay() -> None:
    assert visible("a\tb\nc\x7f\ud800") == "a\tb\nc\\x7f\\ud800"
