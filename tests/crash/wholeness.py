"""What a steward may find after a blow: a whole old bundle, a whole new one, or none."""

from __future__ import annotations

import json
import os
from pathlib import Path

from sfumato.bundles.files import named_files, sealed_manifest, sha256
from sfumato.core.scratch import is_scratch


def found(folder: Path) -> str | None:
    """The seal of a whole bundle, or None where there is none; anything between the two is a failure."""
    if not folder.exists():
        return None
    manifest = sealed_manifest(folder)
    files = {path.name for path in folder.iterdir()}
    assert files == {"manifest.json", *named_files(manifest)}
    _same_digests(folder, manifest)
    return str(manifest["sha256"])


def _same_digests(folder: Path, content: object) -> None:
    if isinstance(content, dict):
        if "file" in content and "sha256" in content:
            assert sha256(folder / content["file"]) == content["sha256"], content["file"]
        for inner in content.values():
            _same_digests(folder, inner)


def leftovers(place: Path) -> list[str]:
    """The scratch folders under a folder."""
    every = [Path(folder) / name for folder, below, files in os.walk(place) for name in (*below, *files)]
    return [str(path.relative_to(place)) for path in sorted(every) if is_scratch(path)]


def one_message(ran: dict[str, object], code: int, words: str) -> None:
    """A refusal as a person reads it, and nothing beside it."""
    assert ran["code"] == code, ran
    text = str(ran["err"])
    assert "Traceback" not in text, text
    assert text.startswith("sfumato: "), text
    assert words in text, text


def as_json(text: str) -> dict[str, object]:
    """What a command printed, if it printed all of it."""
    try:
        told = json.loads(text)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
