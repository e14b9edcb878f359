"""Verifying all batches of a stream: each by itself, and the chain that they form.

Every manifest names the seal of the manifest before it. So a batch that was exchanged, left out or published again with
other rows breaks the chain at the next one. Of a stream that goes on nobody can see from its batches whether the newest
are there; the last batch of one that ended says that it is the last.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from sfumato.bundle.manifest import load
from sfumato.bundle.staging import MANIFEST
from sfumato.ground.errors import BundleError
from sfumato.verification.checks import Check, Remark, Verification, same

_BATCH = re.compile(r"batch-(\d{6,})")
_SAME = ("id", "every", "block")


def is_stream(folder: Path) -> bool:
    """Whether a folder is no bundle, and holds batches of a stream."""
    return folder.is_dir() and not (folder / MANIFEST).exists() and any(map(_number, folder.iterdir()))


def verify_stream(folder: Path, verify: Callable[[Path], Verification]) -> Verification:
    """Verify every batch of a stream with ``verify``, and the chain."""
    batches = sorted((path for path in folder.iterdir() if _number(path)), key=_number)
    strange = sorted(path.name for path in folder.iterdir() if not _number(path))
    found: list[Verification] = []
    manifests: list[dict[str, Any]] = []
    for path in batches:
        if path.is_symlink():
            raise BundleError(f"{path} is a link; the batches of a stream are folders")
        found.append(verify(path))
        manifests.append(load(path / MANIFEST, sealed=False))
    checks = [same("files that do not belong here", strange, []), *(one.as_check(one.folder) for one in found)]
    checks += _chain(manifests, [_number(path) for path in batches])
    ended = bool(manifests[-1].get("stream", {}).get("last"))
    told = "the stream ended with it" if ended else "whether later ones are missing cannot be seen from here"
    remarks = [Remark(what="last batch", detail=f"{batches[-1].name} is the last one here; {told}")]
    remarks += [remark for one in found for remark in one.placed_remarks]
    return Verification(
        folder=folder.name, checks=tuple(checks), stated=found[-1].stated, remarks=tuple(remarks),
        signature=found[-1].signature,
    )  # fmt: skip


def _number(path: Path) -> int:
    """The number of a batch by its name; 0 for everything else."""
    named = _BATCH.fullmatch(path.name)
    return int(named[1]) if named and path.is_dir() else 0


def _chain(manifests: list[dict[str, Any]], numbers: list[int]) -> Iterable[Check]:
    """Numbers without a gap, one stream, one plan, each naming the one before, and no more records than came."""
    strangers = [number for number, one in zip(numbers, manifests, strict=True) if "stream" not in one]
    yield same("bundles that are no batch of a stream", strangers, [])
    if strangers:
        return
    parts: list[Mapping[str, Any]] = [one["stream"] for one in manifests]
    yield same("numbers of the batches", [one["batch"] for one in parts], list(range(1, len(parts) + 1)))
    yield same("names of the batches", numbers, [one["batch"] for one in parts])
    seals = [None, *(one["sha256"] for one in manifests)]
    broken = [number for number, one, seal in zip(numbers, parts, seals, strict=False) if one["before"] != seal]
    detail = f"batch {broken[0]} does not follow the one before it" if broken else "each names the seal before it"
    yield Check(what="chain of the batches", holds=not broken, detail=detail)
    several = [key for key in _SAME if len({str(one[key]) for one in parts}) > 1]
    yield same("what differs between batches of one stream", several, [])
    yield same("one plan for all batches", all(one["plan"] == manifests[0]["plan"] for one in manifests), True)
    early = [number for number, one in zip(numbers[:-1], parts[:-1], strict=True) if one["last"]]
    yield same("batches after the last one", early, [])
    yield from _came(manifests, parts)


def _came(manifests: list[dict[str, Any]], parts: list[Mapping[str, Any]]) -> Iterable[Check]:
    """Records come between batches, and no batch shows more of them than had arrived."""
    shown, much = 0, []
    for one, part in zip(manifests, parts, strict=True):
        stated = one["recoding"]
        shown += sum(int(size) * int(many) for size, many in stated["sizes"]) + int(stated.get("left_out", 0))
        much += [part["batch"]] * (shown > part["read"])
    yield same("batches that show more records than had arrived", much, [])
    read = [one["read"] for one in parts]
    odd = [one["batch"] for one in parts if not one["last"] and one["read"] % one["every"]]
    yield same("batches that were cut elsewhere than the plan says", odd, [])
    yield same("records that had arrived, batch by batch", read, sorted(set(read)))
