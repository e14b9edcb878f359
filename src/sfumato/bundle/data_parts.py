"""Released rows in many files, ``data/part-00000.parquet`` and so on: in random order, and never all in memory.

Every row is put into a random drawer, and the rows of each drawer are shuffled when all are there. Together that is a
random permutation of all rows (each order is equally likely), in two passes and with one drawer in memory.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sfumato.bundle.bundle_files import sha256
from sfumato.ground.chance import Chance
from sfumato.ground.errors import BundleError

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
    found = [{"file": f"{FOLDER}/{file.name}", "sha256": sha256(file)} for file in sorted(place.iterdir())]
    return {"file": FOLDER, "sha256": joint_digest(found), "parts": found}


def joint_digest(parts: Iterable[Mapping[str, str]]) -> str:
    """One digest for all parts: of their names and digests, line by line."""
    lines = "".join(f"{one['sha256']}  {one['file']}\n" for one in parts)
    return hashlib.sha256(lines.encode()).hexdigest()


def part_files(folder: Path, data: Mapping[str, Any]) -> list[Path]:
    """The parts that a manifest names; one that is missing, or no plain file, is refused."""
    place = folder / FOLDER
    found = [folder / str(one["file"]) for one in data["parts"]]
    for path in found:
        if path.parent != place or place.is_symlink() or path.is_symlink() or not path.is_file():
            raise BundleError(f"{folder} is not whole: its part {path.name!r} is missing")
    return found


def digest_now(folder: Path, data: Mapping[str, Any]) -> str:
    """The joint digest of the parts as they are now."""
    files = part_files(folder, data)
    return joint_digest([{"file": f"{FOLDER}/{path.name}", "sha256": sha256(path)} for path in files])


def strange_parts(folder: Path, data: Mapping[str, Any]) -> Iterator[str]:
    """Files among the parts that the manifest does not name."""
    known = {path.name for path in part_files(folder, data)}
    yield from sorted(f"{FOLDER}/{path.name}" for path in (folder / FOLDER).iterdir() if path.name not in known)
