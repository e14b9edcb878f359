"""The guide to engines runs as it is written, and its release is that of the rows in memory."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato.cli.main import main

GUIDE = (Path(__file__).parents[2] / "docs" / "guide" / "engines.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", GUIDE, re.M | re.S)


def test_the_guide_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "visits").mkdir()
    first, relation = blocks("python")
    (tmp_path / "first.py").write_text(first)
    runpy.run_path("first.py")
    (tmp_path / "plan.toml").write_text(blocks("toml")[0])
    for line in blocks("text")[0].splitlines():
        monkeypatch.setattr("sys.argv", line.split())
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 0
    (tmp_path / "relation.py").write_text(f"import sfumato as sf\n{relation}")
    made = runpy.run_path("relation.py")["made"]
    whole = pl.read_parquet("visits/*.parquet")
    local = sf.release(sf.Plan.load("plan.toml"), whole).rows
    for rows in (made.rows, pl.read_parquet("release/data.parquet")):
        assert sorted(rows.rows()) == sorted(local.rows())
