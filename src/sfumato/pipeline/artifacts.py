"""What is published: rows, item rows, model documents or the result of a session, with their files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import polars as pl


class Publishable(Protocol):
    """What an artifact reads of a release."""

    @property
    def plan(self) -> Any:
        """The plan it was made by."""

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Its tables by the stem of their file; the data come first."""

    @property
    def missing(self) -> Sequence[str]:
        """What a missing value is written as."""

    @property
    def described(self) -> dict[str, Any]:
        """What its manifest states of the data beside their file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A form of what is published; methods of the same artifact share its files and the section about them."""

    name: str
    """As documents call it."""
    extension: str | None = None
    """How its data file ends where it is a document a line; None: as the plan's format."""

    def extension_of(self, release: Publishable) -> str:
        """How the names of the data files of a release end."""
        return self.extension or str(release.plan.output_format)

    def files(self, release: Publishable) -> dict[str, pl.DataFrame]:
        """The tables of a release as its files have them."""
        extension = self.extension_of(release)
        return {stem: as_written(rows, extension, release.missing) for stem, rows in release.tables.items()}

    def data(self, release: Publishable, files: Mapping[str, str]) -> dict[str, Any]:
        """What a manifest states of the data; ``files`` are the digests by name."""
        (name, digest), *apart = files.items()
        section = {"file": name, "sha256": digest, **release.described}
        if apart:
            section["apart"] = {**section["apart"], "file": apart[0][0], "sha256": apart[0][1]}
        return section


ROWS = Artifact(name="rows")
ITEM_ROWS = Artifact(name="item rows")
MODEL_DOCUMENT = Artifact(name="model document", extension="json")
SESSION_RESULT = Artifact(name="session result", extension="json")


def as_written(rows: pl.DataFrame, format_: str, missing: Sequence[str]) -> pl.DataFrame:
    """The rows as their file has them: a text file has no nulls, so the missing marker is written."""
    holes = [name for name in rows.columns if rows[name].null_count()]
    if format_ != "csv" or not holes:
        return rows
    return rows.with_columns(pl.col(holes).cast(pl.String).fill_null(missing[0]))
