"""Verification with the catalog and the kinds of this installation."""

from __future__ import annotations

from pathlib import Path

from sfumato.verification.checks import Verification
from sfumato.verification.verifying import verify_bundle
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.kinds import kind_stated


def verify(folder: str | Path) -> Verification:
    """Re-read a bundle's data file and manifest, and re-check every claim; a broken plugin is no fault of a bundle."""
    catalog()
    return verify_bundle(Path(folder), lambda manifest: kind_stated(manifest).checks)
