"""The files of a bundle: names, digests, overwriting rules, and rows in many shuffled part files."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sfumato.bundles.manifest.document import seal_holds
from sfumato.core.errors import BundleError
from sfumato.core.input_files import opened, read_text
from sfumato.core.randomness import Chance
from sfumato.core.scratch import clear
from sfumato.core.staging import is_taken
from sfumato.core.strict_parsing import read_json

# The files of a bundle, and whether a folder is a bundle of ours.


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
        holds = any(file_name.startswith(f"{name}/") for file_name in known)
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


# Released rows in many files, ``data/part-00000.parquet`` and so on: in random order, and never all in memory.
#
# Every row is put into a random drawer, and the rows of each drawer are shuffled when all are there. Together that is
# a random permutation of all rows (each order is equally likely), in two passes and with one drawer in memory.


FOLDER = "data"
"""The folder of a bundle that holds the parts, and what its manifest calls them together."""
EACH = 1_000_000
"""About how many rows a part has."""
_DRAWERS = "drawers"


def write_parts(batches: Iterable[pl.DataFrame], folder: Path, rows: int, chance: Chance, *, each: int = EACH) -> None:
    """Write rows, which come some at a time, into parts of about the same size, in random order.

    ``rows`` is about how many there are.
    """
    draw, many = chance.generator(), max(-(-rows // each), 1)
    drawers = folder / _DRAWERS
    drawers.mkdir()
    head = None
    for place, batch in enumerate(batches):
        head = batch.clear()
        _put(batch, draw.integers(many, size=batch.height), drawers, place)
    number = 0
    for drawer in range(many):
        files = sorted(drawers.glob(f"{drawer}-*.arrow"))
        if files:
            whole = pl.concat([pl.read_ipc(file) for file in files])
            whole[draw.permutation(whole.height)].write_parquet(folder / _name(number))
            number += 1
        for file in files:
            file.unlink()
    shutil.rmtree(drawers)
    if not number and head is not None:
        head.write_parquet(folder / _name(0))


def _put(batch: pl.DataFrame, drawer: np.ndarray[Any, np.dtype[np.int64]], drawers: Path, place: int) -> None:
    """Put the rows of one batch into their drawers."""
    order = np.argsort(drawer, kind="stable")
    ends = np.bincount(drawer).cumsum().tolist()
    moved = batch[order]
    for number, (begin, end) in enumerate(zip([0, *ends], ends, strict=False)):
        if end > begin:
            moved[begin:end].write_ipc(drawers / f"{number}-{place}.arrow", compression="lz4")


def _name(number: int) -> str:
    return f"part-{number:05}.parquet"


def copy_parts(folder: Path, bundle: Path) -> dict[str, Any]:
    """Put the parts of a folder into a bundle; what its manifest states about them is returned.

    Where the file system can, the bytes are shared and not copied.
    """
    place = bundle / FOLDER
    place.mkdir()
    for file in sorted(folder.glob("part-*.parquet")):
        try:
            (place / file.name).hardlink_to(file)
        except OSError:
            shutil.copyfile(file, place / file.name)
    parts = [{"file": f"{FOLDER}/{file.name}", "sha256": sha256(file)} for file in sorted(place.iterdir())]
    return {"file": FOLDER, "sha256": joint_digest(parts), "parts": parts}


def joint_digest(parts: Iterable[Mapping[str, str]]) -> str:
    """One digest for all parts: of their names and digests, line by line."""
    lines = "".join(f"{part['sha256']}  {part['file']}\n" for part in parts)
    return hashlib.sha256(lines.encode()).hexdigest()


def part_files(folder: Path, data: Mapping[str, Any]) -> list[Path]:
    """The parts that a manifest names; one that is missing, or no plain file, is refused."""
    place = folder / FOLDER
    paths = [folder / str(part["file"]) for part in data["parts"]]
    for path in paths:
        if path.parent != place or place.is_symlink() or path.is_symlink() or not path.is_file():
            raise BundleError(f"{folder} is not whole: its part {path.name!r} is missing")
    return paths


def digest_now(folder: Path, data: Mapping[str, Any]) -> str:
    """The joint digest of the parts as they are now."""
    files = part_files(folder, data)
    return joint_digest([{"file": f"{FOLDER}/{path.name}", "sha256": sha256(path)} for path in files])


def strange_parts(folder: Path, data: Mapping[str, Any]) -> Iterator[str]:
    """Files among the parts that the manifest does not name."""
    known = {path.name for path in part_files(folder, data)}
    yield from sorted(f"{FOLDER}/{path.name}" for path in (folder / FOLDER).iterdir() if path.name not in known)
