"""The manifest of linked tables: which bundles belong together, by which keys, and the digest of every file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.bundle.bundle_files import sha256
from sfumato.bundle.manifest import SCHEMA, read_manifest, seal
from sfumato.ground.errors import BundleError
from sfumato.group.linked_rows import Link
from sfumato.version import __version__

LINKED = "linked"
"""What the kind of such a manifest is."""
KNOWN = ("rows", "values")
"""What somebody may know of a person's rows in one table: all of them, or only which values there are."""


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
        try:
            return cls(
                tables=tuple(map(_name, content["tables"])),
                links=tuple(
                    Link(table=_name(a), column=str(b), to_table=_name(c), to_column=str(d))
                    for a, b, c, d in content["links"]
                ),
                known=KNOWN[KNOWN.index(content["known"])],
                people=int(content["people"]),
                suppressed=int(content["suppressed"]),
                files=tuple((str(one["file"]), str(one["sha256"])) for one in content["files"]),
            )
        except (KeyError, TypeError, ValueError) as fault:
            raise BundleError(f"{where}: it is not of the form that this version writes ({fault!r})") from None


def is_table_name(text: str) -> bool:
    """Whether a text can name a table: a folder of this one, and no way out of it."""
    return text.replace("-", "").replace("_", "").isalnum()


def _name(text: Any) -> str:
    if not isinstance(text, str) or not is_table_name(text):
        raise ValueError(f"{text!r} names no table")
    return text


def is_linked(path: Path) -> bool:
    """Whether a manifest is that of linked tables."""
    return path.is_file() and not path.is_symlink() and read_manifest(path).get("kind", "") == LINKED
