"""What an engine must be able to do: answer one question, borrow a small table, and write rows into files."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import polars as pl
from sqlglot import exp


class Engine(Protocol):
    """A program that holds tables and answers SQL; one adapter for each kind of program."""

    @property
    def name(self) -> str:
        """As a plan names it."""

    def ask(self, statement: exp.Query) -> pl.DataFrame:
        """The rows that a statement gives; it is written in the engine's own dialect, and is one SELECT."""

    def lend(self, name: str, frame: pl.DataFrame) -> None:
        """Statements may name this table from now on; one of the same name is replaced."""

    def write(self, statement: exp.Query, folder: Path) -> None:
        """The rows that a statement gives as Parquet files in an empty folder, in any division and any order."""
