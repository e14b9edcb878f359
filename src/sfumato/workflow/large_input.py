"""Which inputs go to DuckDB although the plan names no engine: those that would fill the memory, and many files."""

from __future__ import annotations

import glob
import os
from importlib.util import find_spec
from pathlib import Path

from sfumato.ground.packed import PACKED
from sfumato.workflow.plan.plan import Plan

SHARE = 0.1
"""A file of more bytes than this share of the machine's memory is not read into it: rows in memory are larger."""
_BY_CELLS = ("auto", "optimal", "greedy", "samarati", "incognito", "datafly", "k-optimize", "top-down", "bottom-up")
"""Algorithms that never ask for single rows."""
_READ = (".parquet", ".pq", ".csv", ".tsv")


def duckdb_reads(path: Path) -> bool:
    """Whether the name of a file says that DuckDB can read it: of compressed files only gzip."""
    return any(end.lower() in _READ for end in path.suffixes[-2:]) and path.suffix.lower() not in PACKED[1:]


def too_large(plan: Plan, memory: int | None = None) -> str | None:
    """Why the plan's input goes to DuckDB, for the steward; None where it is read into memory."""
    said = plan.input
    beside = (said.engine, said.unit, said.population, said.weight, said.query, said.table, said.sheet)
    if said.path is None or any(one is not None for one in beside):
        return None
    if any(column.format or column.shift for column in plan.columns.values()):
        return None
    if plan.algorithm.name not in _BY_CELLS or said.encoding.lower() not in ("utf-8", "utf8"):
        return None
    path = plan.folder / said.path
    if path.is_file():
        size, most = path.stat().st_size, (memory or _memory()) * SHARE
        if size <= most or not duckdb_reads(path) or find_spec("duckdb") is None:
            return None
        return _told(plan, f"{said.path} has {size / 1e6:,.0f} MB, more than {SHARE:.0%} of the memory")
    if path.is_dir() or any(Path(one).is_file() for one in glob.iglob(str(path), recursive=True)):
        return _told(plan, f"{said.path} stands for many files")
    return None


def _told(plan: Plan, why: str) -> str:
    more = "" if plan.output_format == "parts" else '; with [output] format = "parts" released rows stay in files too'
    return f'{why}: DuckDB counts them where they are, as [input] engine = "duckdb" would say{more}'


def _memory() -> int:
    """The machine's memory in bytes; so much that nothing is too large where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 2**62
