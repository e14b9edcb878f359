"""The manifest of linked tables: which bundles belong together, by which keys, and the digest of every file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from sfumato.bundles.files import sha256
from sfumato.bundles.manifest.document import SCHEMA, read_manifest, seal
from sfumato.core.errors import BundleError
from sfumato.core.records import Count, Digest, Name, Record, error_in, like
from sfumato.counts.linked_rows import Link
from sfumato.version import __version__

LINKED = "linked"
"""What the kind of such a manifest is."""
KNOWN = ("rows", "values")
"""What somebody may know of a person's rows in one table: all of them, or only which values there are."""
_TABLE_NAME = re.compile(r"[\w-]{1,100}")
TableName = Annotated[str, like(r"[\w-]+", most=100)]


class FileRecord(Record, frozen=True, kw_only=True):
    """A file and its digest."""

    file: Name
    sha256: Digest


class LinkedRecord(Record, frozen=True, kw_only=True):
    """The manifest as its file has it."""

    schema: Literal[2]
    sfumato: Annotated[str, like(r"[0-9A-Za-z.+-]+", most=40)]
    kind: Literal["linked"]
    tables: Annotated[list[TableName], Meta(max_length=1_000)]
    links: Annotated[list[tuple[TableName, Name, TableName, Name]], Meta(max_length=1_000)]
    known: Literal["rows", "values"]
    people: Count
    suppressed: Count
    files: Annotated[list[FileRecord], Meta(max_length=1_000_000)]
    sha256: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedManifest:
    """Bundles that are linked."""

    tables: tuple[str, ...]
    """The folders of the bundles, which are the tables' names."""
    links: tuple[Link, ...]
    """By which keys."""
    known: str
    """What somebody may know of a person's rows."""
    people: int
    """How many people there are in the release."""
    suppressed: int
    """How many people were left out of all tables."""
    files: tuple[tuple[str, str], ...] = ()
    """Every file below the folder, and its digest."""

    def sealed(self, folder: Path) -> dict[str, Any]:
        """As the file has it, with the digests of everything that is in the folder."""
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        return seal(
            {
                "schema": SCHEMA,
                "sfumato": __version__,
                "kind": LINKED,
                "tables": list(self.tables),
                "links": [[link.table, link.column, link.to_table, link.to_column] for link in self.links],
                "known": self.known,
                "people": self.people,
                "suppressed": self.suppressed,
                "files": [{"file": path.relative_to(folder).as_posix(), "sha256": sha256(path)} for path in files],
            }
        )

    @classmethod
    def of(cls, content: Mapping[str, Any], where: Path) -> LinkedManifest:
        """From what a file says, or a refusal."""
        error = error_in(content, LinkedRecord)
        if error is not None:
            raise BundleError(f"{where}: {error}")
        if len(set(content["tables"])) < len(content["tables"]) or not content["tables"]:
            raise BundleError(f"{where}: tables must name every table once")
        strange = {link[end] for link in content["links"] for end in (0, 2)} - {*content["tables"]}
        if strange:
            raise BundleError(f"{where}: links name {min(strange)!r}, which is not one of its tables")
        return cls(
            tables=tuple(content["tables"]),
            links=tuple(Link(table=a, column=b, to_table=c, to_column=d) for a, b, c, d in content["links"]),
            known=content["known"],
            people=content["people"],
            suppressed=content["suppressed"],
            files=tuple((entry["file"], entry["sha256"]) for entry in content["files"]),
        )


def is_table_name(text: str) -> bool:
    """Whether a text can name a table: a folder of this one, and no way out of it."""
    return _TABLE_NAME.fullmatch(text) is not None


def is_linked(path: Path) -> bool:
    """Whether a manifest is that of linked tables."""
    return path.is_file() and not path.is_symlink() and read_manifest(path).get("kind", "") == LINKED
