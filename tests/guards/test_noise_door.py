"""Noise has one door: nobody else knows OpenDP, and nobody near a budget draws from another generator."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import sfumato

SOURCE = Path(sfumato.__file__).parent
PRIVATE = ("dp", "queries", "algorithms/diffgen", "algorithms/marginals")
"""Where every draw is paid for. Marginals may sample rows from released counts through Chance: that costs nothing."""
OTHER_DICE = re.compile(
    r"np\.random(?!\.Generator\b)|numpy\.random|default_rng|\bimport random\b|from random\b|secrets\b|os\.urandom"
)


def files(*rooms: str) -> list[Path]:
    found = [path for room in rooms for path in (*(SOURCE / room).rglob("*.py"), *SOURCE.glob(f"{room}.py"))]
    return sorted(found)


def imported(path: Path) -> set[str]:
    """The packages that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def test_only_noise_imports_opendp():
    users = {
        path.relative_to(SOURCE).parts[0]
        for path in SOURCE.rglob("*.py")
        if any(name.split(".")[0] == "opendp" for name in imported(path))
        or re.search(r"(import_module|extra)\(f?[\"']opendp", path.read_text(encoding="utf-8"))
    }
    assert users == {"dp"}


@pytest.mark.parametrize("path", files(*PRIVATE), ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_nobody_near_a_budget_has_other_dice(path: Path):
    assert not OTHER_DICE.search(path.read_text(encoding="utf-8"))
    if "marginals" not in path.as_posix():
        assert "from sfumato.core.randomness import fresh_key\n" in (text := path.read_text(encoding="utf-8")) or (
            "core.randomness" not in text
        )
        assert "np.random" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text", ["np.random.laplace()", "import random", "rng = default_rng(1)", "from random import x"]
)
def test_other_dice_would_be_noticed(text: str):
    assert OTHER_DICE.search(text)


def test_the_attacker_does_not_know_the_mechanisms():
    """An audit is handed the mechanism; it must not share its code."""
    for path in files("attacks"):
        assert not any(name.startswith("sfumato.dp") for name in imported(path)), path
