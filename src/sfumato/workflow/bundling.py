"""Writing a bundle: complete and verified from its bytes, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from sfumato.bundle.staging import staged
from sfumato.ground.errors import ClaimRefuted
from sfumato.verification.checks import Verification


def write_bundle(folder: str | Path, filled: Callable[[Path], Verification], *, force: bool) -> Verification:
    """Let a bundle be put into a temporary folder, and keep it only if everything in it holds."""
    place = Path(folder)
    with staged(place, force=force) as work:
        checked = filled(work)
        if not checked.holds:
            wrong = next(check for check in checked.checks if not check.holds)
            raise ClaimRefuted(f"the release was not written: {wrong.what} does not hold ({wrong.detail})")
    return replace(checked, folder=place.name)
