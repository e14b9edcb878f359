"""Whatever option a message or a page names is one that some command has."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from typer.main import get_command

from sfumato.cli.main import app

ROOT = Path(__file__).parents[2]
_OPTION = re.compile(r"(?<![\w(-])--[a-z][a-z-]*[a-z](?![\w-]|\s*:)")
OTHERS = {"--help", "--version", "--require-hashes", "--upgrade", "--no-deps", "--hypothesis-profile", "--headless"}
"""Options of other programs that are named."""


def options(command: object) -> set[str]:
    own = {name for one in getattr(command, "params", ()) for name in (*one.opts, *one.secondary_opts)}
    return own.union(*(options(one) for one in getattr(command, "commands", {}).values()))


KNOWN = options(get_command(app)) | OTHERS


def texts(path: Path) -> list[str]:
    """Every text of a module, docstrings too."""
    return [
        node.value
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


@pytest.mark.parametrize("room", ["cli", "pipeline", "tables", "bundles", "reports", "core", "dp", "queries"])
def test_messages_name_options_that_exist(room: str):
    for path in (ROOT / "src" / "sfumato" / room).rglob("*.py"):
        named = {option for text in texts(path) for option in _OPTION.findall(text)}
        assert not named - KNOWN, path


def test_the_docs_name_options_that_exist():
    for path in (ROOT / "README.md", *(ROOT / "docs" / "guide").glob("*.md"), ROOT / "docs" / "start.md"):
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if "sfumato " in line]
        named = {option for line in lines for option in _OPTION.findall(line)}
        assert not named - KNOWN, path
