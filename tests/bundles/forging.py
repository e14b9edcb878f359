"""A careful forger: whatever they change, they mend every digest, make the report again and seal the manifest."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import sfumato as sf
from sfumato.bundles.files import sha256
from sfumato.bundles.manifest.document import dump, seal
from sfumato.core.errors import BundleError
from sfumato.core.run_context import Work
from sfumato.pipeline.methods import method_stated
from sfumato.pipeline.release import write_report

Change = Callable[[dict[str, Any]], Any]


def manifest_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return found


def forge(folder: Path, change: Change = lambda content: None, *, sealed: bool = True, report: bool = True) -> None:
    """Change the manifest, and mend what can be mended."""
    content = manifest_of(folder)
    change(content)
    data = content["data"]
    for part in (data, data.get("apart", {})):
        path = folder / str(part.get("file"))[:100]
        if path.is_file() and path.parent == folder:
            part["sha256"] = sha256(path)
    if report:
        with suppress(Exception):  # where the change leaves nothing to show, the old report stays
            write_report(method_stated(content), folder, content, Work())
    (folder / "manifest.json").write_text(dump(seal(content) if sealed else content))


def failing(folder: Path, **options: Any) -> list[str]:
    """Which checks fail; a bundle that is refused as a whole fails by its form."""
    try:
        found = sf.verify(folder, **options)
    except BundleError as error:
        return ["form of the manifest", str(error)]
    return [check.what for check in found.checks if not check.holds]
