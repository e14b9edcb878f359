"""The Python of the guide to trees runs, and its document is one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sfumato.mining.document_json import read_tree
from tests.docs.test_docs import blocks

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "trees.md"


def test_the_guide_runs(capsys, tmp_path, monkeypatch):
    pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {"__name__": "guide"}
    for place, block in enumerate(blocks(GUIDE, "python")):
        exec(compile(block, f"trees.md block {place}", "exec"), space)
    told = capsys.readouterr().out
    assert "are left" in told
    assert "tree-combination" in told
    assert (tmp_path / "model" / "provenance.json").exists()
    assert "learnt from pseudo-data: 0." in told


def test_its_document_is_one():
    (text,) = blocks(GUIDE, "json")
    tree = read_tree(text)
    assert (tree.nodes, tree.records) == (5, 37)
