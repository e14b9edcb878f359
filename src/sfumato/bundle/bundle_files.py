"""The files of a bundle, and whether a folder is a bundle of ours."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sfumato.bundle.manifest import seal_holds
from sfumato.ground.errors import BundleError
from sfumato.ground.opening import opened, read_text
from sfumato.ground.scratch import clear
from sfumato.ground.strict_json import read_json

MANIFEST = "manifest.json"
REPORT = "report.html"
SIGNATURE = "signature.json"
UNNAMED = frozenset({MANIFEST, SIGNATURE})
"""Files of a bundle that its manifest does not name with their digests."""
_PAGE = b'<meta name="generator" content="sfumato '


def sha256(path: Path) -> str:
    """The digest of a file's bytes."""
    with opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def named_files(content: Any) -> Iterator[str]:
    """The files that a manifest names with their digests.

    >>> list(named_files({"data": {"file": "data.csv", "sha256": "ab", "apart": {"file": "s.csv", "sha256": "cd"}}}))
    ['data.csv', 's.csv']
    """
    if isinstance(content, Mapping):
        if isinstance(content.get("file"), str) and isinstance(content.get("sha256"), str):
            yield content["file"]
        for inner in content.values():
            yield from named_files(inner)
    elif isinstance(content, list):
        for inner in content:
            yield from named_files(inner)


def sealed_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a bundle whose seal holds; a ValueError or OSError says what is missing."""
    content = read_json(read_text(folder / MANIFEST, follow=False))
    if not isinstance(content, dict) or not seal_holds(content):
        raise ValueError(f"the seal of its {MANIFEST} does not hold")
    return content


def refuse_foreign(folder: Path) -> None:
    """Refuse to replace a folder that is neither empty nor a bundle of ours, with nothing else in it."""
    if not folder.is_dir():
        raise BundleError(f"{folder} exists and is no bundle (it is no folder); --force replaces bundles only")
    if not any(folder.iterdir()):
        return
    if not (folder / MANIFEST).is_file():
        raise BundleError(f"{folder} exists and is no bundle (it has no {MANIFEST}); --force replaces bundles only")
    try:
        known = UNNAMED | set(named_files(sealed_manifest(folder)))
    except (OSError, ValueError) as error:
        raise BundleError(
            f"{folder} exists and is no bundle of sfumato ({error}); --force replaces bundles only, so remove it "
            "yourself, or name another folder with -o"
        ) from error
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        holds = any(one.startswith(f"{name}/") for one in known)
        if not (name in known or holds) or path.is_symlink() or not (path.is_dir() if holds else path.is_file()):
            raise BundleError(
                f"{folder} exists and is no bundle alone: {name!r} is no file of it and would be lost; move it "
                "away, or name another folder with -o"
            )


def refuse_existing(folder: Path, *, force: bool) -> None:
    """Refuse to write over something, unless told to and it is a bundle; what a killed run left is put right before."""
    clear(folder.parent)
    if folder.is_symlink():
        raise BundleError(f"{folder} is a symbolic link; name the folder itself")
    if not folder.exists():
        return
    if not force:
        raise BundleError(f"{folder} exists already; name another folder with -o, or replace it with --force")
    refuse_foreign(folder)


def refuse_page(path: Path, *, force: bool) -> None:
    """Refuse to write over something, unless told to and it is a page of ours: never a data file named by mistake."""
    if not is_taken(path):
        return
    if not force:
        raise BundleError(f"{path} exists already; name another file with --inside, or replace it with --force")
    if path.is_file() and not path.is_symlink():
        with path.open("rb") as file:
            if _PAGE in file.read(8192):
                return
    raise BundleError(f"{path} exists and is no page of sfumato; --force does not replace it, name another file")


def refuse_file(path: Path, *, force: bool, sources: tuple[Path, ...] = ()) -> None:
    """Refuse to write over a file without --force, and always over what is read, over a link, or into a bundle."""
    if is_taken(path) and not force:
        raise BundleError(f"{path} exists already; name another file with -o, or replace it with --force")
    if is_taken(path) and (path.is_symlink() or not path.is_file()):
        raise BundleError(f"{path} exists and is no plain file; --force does not replace it")
    if is_taken(path) and any(source.exists() and path.samefile(source) for source in sources):
        raise BundleError(f"{path} is read by this command; name another file with -o")
    if (path.parent / MANIFEST).is_file():
        raise BundleError(f"{path} would lie inside the bundle {path.parent}, which holds its own files only")


def is_taken(path: Path) -> bool:
    """Whether a name is taken, also by a link that leads nowhere."""
    return path.is_symlink() or path.exists()
