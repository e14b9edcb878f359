"""What an engine must be able to do: answer one question, and borrow a small table."""

from __future__ import annotations

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
