"""Graded grouping and mapping tables as an algorithm of the catalog: codes for numbers, aliases for categories."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from sfumato.core.arguments import text
from sfumato.core.errors import DataError
from sfumato.tables.graded_secret import GradedSecret, translated
from sfumato.tables.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedPseudonyms:
    """Numbers by graded grouping and categories by a secret mapping table; pseudonyms, and no privacy model is met.

    Claim: a site that has the secret reads every value back, to the last digit. Equal values stay equal and larger
        numbers larger, so whatever a miner finds in codes and aliases can be translated.
    Does not protect against: whoever knows some people's values, or how frequent values are. Order and frequencies
        stay; both attacks are made on every release, and their success is told.
    Source: document 002, section 3.2; errata 10 and 11.
    """

    secret: str
    """The file of the secret, from the folder of the plan."""

    def __post_init__(self) -> None:
        text("secret", self.secret)

    @staticmethod
    def columns(table: Table, secret: GradedSecret) -> dict[str, pl.Series]:
        """The agreed columns of a table with codes and aliases; missing cells are null."""
        if not table.rows:
            raise DataError(f"{table.source} has no rows")
        return {
            name: translated(table.require(name, where=table.source), column.shown, table.missing, table.source)
            for name, column in secret.columns.items()
        }
