"""Finished points on disk: one file each, found again by what they were made of."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.bundle.staging import MANIFEST, sha256, write_whole
from sfumato.ground.errors import BundleError
from sfumato.ground.opening import read_text
from sfumato.ground.scratch import clear, is_scratch
from sfumato.ground.strict_json import read_json
from sfumato.utility.accuracy import MOST_ROWS, STUDY
from sfumato.version import __version__
from sfumato.workflow.plan.frontier_plan import Tree

RECORD = 1
"""The form of a point's file."""
POINTS = "points"
PAGE, TABLE, FIGURES = "frontier.html", "points.csv", "points.json"
_FILES = ("file", "population")
_NAMED = re.compile(r"(point|original)-[0-9a-f]{24}\.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """The finished points under a folder."""

    folder: Path
    """The frontier's folder."""
    data: str
    """The digest of the data file."""
    sources: Path
    """Where relative file names of the plan start."""

    def key(self, tree: Tree) -> str:
        """The name of a point's file: a digest of its plan, of all files that it reads, and of the program."""
        told = {
            "plan": {**tree, "input": {k: v for k, v in tree["input"].items() if k != "path"}},
            "data": self.data,
            "files": {name: digest(self.sources / name) for name in sorted(set(_files(tree)))},
            "program": [__version__, RECORD, STUDY, MOST_ROWS],
        }
        text = json.dumps(told, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def load(self, name: str) -> dict[str, Any] | None:
        """A finished record; None where there is none, or none that can be read."""
        try:
            found = read_json(read_text(self.folder / POINTS / f"{name}.json"))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) and found.get("name") == name else None

    def save(self, name: str, record: Mapping[str, Any]) -> None:
        """Write a record: all of it or nothing."""
        text = json.dumps({"name": name, **record}, indent=1, ensure_ascii=False, allow_nan=False)
        write_whole(self.folder / POINTS / f"{name}.json", text + "\n", private=True)


def check_folder(folder: Path) -> None:
    """Refuse a folder that is neither new, nor empty, nor a frontier already."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise BundleError(f"{folder} is no folder; name another one with -o")
    if (folder / MANIFEST).exists():
        raise BundleError(f"{folder} is a release bundle; figures of the original must not lie in it")
    for place in (folder.parent, folder, folder / POINTS):
        clear(place)
    if folder.exists() and any(folder.iterdir()) and not (folder / POINTS).is_dir():
        raise BundleError(f"{folder} exists and is no frontier (it has no {POINTS}); name another folder with -o")
    _refuse_others(folder)
    parent = next(place for place in (folder.resolve(), *folder.resolve().parents) if place.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise BundleError(f"{folder} cannot be written: {parent} is not a writable folder")


def _refuse_others(folder: Path) -> None:
    """Refuse a folder whose points, or whose files with the names of ours, a frontier did not make."""
    inside = sorted((folder / POINTS).iterdir()) if (folder / POINTS).is_dir() else []
    records = [path for path in inside if _NAMED.fullmatch(path.name)]
    strange = [path for path in inside if path not in records and not is_scratch(path)]
    if not records:
        strange += [folder / name for name in (PAGE, TABLE, FIGURES) if (folder / name).exists()]
    if strange:
        told = strange[0].relative_to(folder)
        raise BundleError(
            f"{folder} exists and is no frontier: '{told}' is no file of one; name another folder with -o"
        )


def digest(path: Path) -> str:
    """The digest of a file's bytes; what is wrong with a file is said by whoever reads it."""
    try:
        return sha256(path)
    except OSError:
        return "unreadable"


def _files(tree: Any) -> Iterator[str]:
    """The files that a plan names beside its data file."""
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            if key in _FILES and isinstance(value, str):
                yield value
            else:
                yield from _files(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _files(value)
