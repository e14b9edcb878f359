"""The first ten minutes, as the page shows them: every command runs, and every line that is shown comes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sfumato.cli.main import app
from tests.docs.test_docs import DOCS

PAGE = (DOCS / "start.md").read_text(encoding="utf-8")


def told(*command: str) -> str:
    """What a command prints."""
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    return done.output


def words(line: str) -> str:
    return " ".join(re.sub("[─━]+", " ", line).split())


def shows(output: str, shown: list[str]) -> None:
    """Every shown line is printed, in this order."""
    lines = iter([words(line) for line in output.splitlines()])
    for line in shown:
        if words(line) not in ("", "..."):
            assert any(words(line) == one for one in lines), f"{line!r} is not printed, or not here:\n{output}"


@pytest.mark.slow
def test_the_page_shows_what_its_commands_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told("demo", "-o", "sfumato-demo")
    monkeypatch.chdir(tmp_path / "sfumato-demo")
    blocks = re.findall(r"```text\n(.*?)```", PAGE.partition("## Your own data")[0], re.S)
    ran = 0
    for block in blocks:
        parts = re.split(r"^\$ (.*)$", block, flags=re.M)[1:]
        for command, shown in zip(parts[::2], parts[1::2], strict=True):
            if command.startswith("sfumato "):
                shows(told(*shlex.split(command)[1:]), shown.splitlines())
                ran += 1
    assert ran >= 4


def test_your_own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    own = PAGE.partition("## Your own data")[2]
    table, *rest = re.findall(r"```text\n(.*?)```", own, re.S)
    Path("members.csv").write_text(table)
    told("profile", "members.csv", "-o", "plan.toml")
    plan = re.findall(r"```toml\n(.*?)```", own, re.S)[0]
    Path("plan.toml").write_text(plan)
    _, command, shown = re.split(r"^\$ (sfumato .*)$", rest[0], flags=re.M)
    shows(told(*shlex.split(command)[1:]), shown.partition("$ head")[0].splitlines())
    assert Path("release/data.csv").read_text().splitlines()[0] == "birth_date,zip,debt"
