"""Inputs that would fill the memory go to DuckDB by themselves, and the steward is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.core.run_context import Work
from sfumato.pipeline import inputs
from sfumato.pipeline.inputs import too_large
from tests.tables.engines.test_released_parts import TREE, people, rows_of


def plan(folder: Path, path: str, **more: Any) -> sf.Plan:
    return sf.Plan.parse({**TREE, "input": {"path": path, "missing": ["?"]}, **more}, folder=folder)


def test_a_file_of_more_than_a_share_of_the_memory_stays_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    people().write_parquet(tmp_path / "t.parquet")
    small = sf.release(plan(tmp_path, "t.parquet"))
    size = (tmp_path / "t.parquet").stat().st_size
    assert too_large(plan(tmp_path, "t.parquet"), memory=size * 10) is None
    assert too_large(plan(tmp_path, "t.parquet"), memory=size * 10 - 1) is not None
    monkeypatch.setattr(inputs, "_memory", lambda: size)
    heard: list[str] = []
    work = Work()
    work.notice = heard.append  # type: ignore[method-assign]
    large = sf.release(plan(tmp_path, "t.parquet"), work=work)
    assert any("more than 10% of the memory: DuckDB counts them where they are" in one for one in heard)
    assert rows_of(large.rows) == rows_of(small.rows)


def test_many_files_go_to_duckdb(tmp_path: Path):
    (tmp_path / "rows").mkdir()
    people()[:300].write_parquet(tmp_path / "rows" / "a.parquet")
    people()[300:].write_parquet(tmp_path / "rows" / "b.parquet")
    people().write_parquet(tmp_path / "t.parquet")
    whole = sf.release(plan(tmp_path, "t.parquet", output={"format": "parquet"}))
    for path in ("rows", "rows/*.parquet"):
        made = sf.release(plan(tmp_path, path, output={"format": "parquet"}))
        assert rows_of(made.rows) == rows_of(whole.rows)


def test_what_needs_rows_is_read_into_memory(tmp_path: Path):
    people().write_parquet(tmp_path / "t.parquet")
    assert too_large(plan(tmp_path, "t.parquet", algorithm={"name": "mondrian"}), memory=1) is None
    assert too_large(plan(tmp_path, "none.parquet"), memory=1) is None
