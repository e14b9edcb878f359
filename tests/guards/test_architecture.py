"""The packages are those that docs/architecture.md and the import contracts list."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

import sfumato

SOURCE = Path(sfumato.__file__).parent
ROOT = Path(__file__).parents[2]


def rooms() -> set[str]:
    return {path.name for path in SOURCE.iterdir() if path.is_dir() and (path / "__init__.py").exists()}


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_the_tables_of_rooms_are_complete(page: str):
    text = (
        (ROOT / page)
        .read_text(encoding="utf-8")
        .split("# The rooms" if "arch" in page else "## Rooms")[1]
        .split("\n## ")[0]
    )
    told = {name for line in re.findall(r"^\| .*", text, re.M) for name in re.findall(r"`(\w+)`", line.split("|")[-3])}
    assert told >= rooms() - {"testing"}, rooms() - told
    assert told <= rooms() | {"sklearn"}, told - rooms()


def test_every_room_is_under_the_import_contract():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    named = {name.strip().removeprefix("sfumato.") for layer in layers for name in layer.split("|")}
    assert named == rooms() | {"sklearn"}


def test_no_room_has_the_name_of_a_verb():
    verbs = {name for name in sfumato.__all__ if name.islower()} - {"datasets", "models", "__version__"}
    assert not verbs & rooms()
    for name in verbs:
        assert callable(getattr(sfumato, name))


def test_nobody_outside_kinds_asks_which_kind_a_release_is():
    """No isinstance on releases, no look at what a kind is recognized by."""
    for path in SOURCE.rglob("*.py"):
        if "kinds" in path.relative_to(SOURCE).parts:
            continue
        text = path.read_text()
        assert not re.search(r'"epsilon" (not )?in|manifest\.get\("kind"\)|\.kind\.name|kind\.stated ==', text), path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
                assert not re.search(r"(Table|Item|Private)Release|\bKind\b", ast.unparse(node.args[1])), path
