"""Every package is under the import contracts."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import sfumato

SOURCE = Path(sfumato.__file__).parent
ROOT = Path(__file__).parents[2]


def packages() -> set[str]:
    return {path.name for path in SOURCE.iterdir() if path.is_dir() and (path / "__init__.py").exists()}


def test_every_package_is_under_the_import_contract():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    named = {name.strip().removeprefix("sfumato.") for layer in layers for name in layer.split("|")}
    assert named == packages() | {"sklearn"}


def test_no_package_has_the_name_of_a_verb():
    verbs = {name for name in sfumato.__all__ if name.islower()} - {"datasets", "models", "__version__"}
    assert not verbs & packages()
    for name in verbs:
        assert callable(getattr(sfumato, name))


def test_nobody_outside_methods_asks_which_kind_a_release_is():
    """No isinstance on releases, no look at what a kind is recognized by."""
    for path in SOURCE.rglob("*.py"):
        if "methods" in path.relative_to(SOURCE).parts or path.name == "built_in.py":  # says which plans ask for which
            continue
        text = path.read_text()
        assert not re.search(r'"epsilon" (not )?in|manifest\.get\("kind"\)|\.kind\.name|kind\.stated ==', text), path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
                assert not re.search(r"(Table|Item|Private)Release|\bMethod\b", ast.unparse(node.args[1])), path
