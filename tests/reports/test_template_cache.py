"""Compiled templates: kept, made anew when the source changes, and never needed."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import Environment, FileSystemLoader

from sfumato.reports.template_cache import TemplateCache


def shown(folder: Path) -> str:
    made = Environment(loader=FileSystemLoader(folder), bytecode_cache=TemplateCache(folder), autoescape=True)
    return made.get_template("t.j2").render(x="1")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    (tmp_path / "t.j2").write_text("<{{ x }}>")
    return tmp_path


def test_a_template_is_kept_and_made_anew_when_it_changes(folder: Path) -> None:
    assert shown(folder) == shown(folder) == "<1>"
    assert len(list((folder / "__pycache__").iterdir())) == 1
    (folder / "t.j2").write_text("[{{ x }}]")
    assert shown(folder) == "[1]"


def test_where_nothing_can_be_written_pages_are_made_all_the_same(folder: Path) -> None:
    (folder / "__pycache__").write_text("a file where the folder would be")
    assert shown(folder) == "<1>"


def test_nothing_is_kept_where_python_keeps_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    assert shown(folder) == "<1>"
    assert not (folder / "__pycache__").exists()
