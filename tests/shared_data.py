"""Where the real data sets are, for tests that want them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def shared(*parts: str) -> Path:
    """A file of the shared data folder; the test is skipped where there is none."""
    named = os.environ.get("SFUMATO_DATA")
    root = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    path = root.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"needs {'/'.join(parts)} from the shared data; set SFUMATO_DATA to the folder that holds it")
    return path
