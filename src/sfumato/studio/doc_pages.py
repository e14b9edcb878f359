"""Where the docs are that the studio shows: in an installed package, and in a checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent
PLACES = (_HERE / "docs", _HERE.parents[2] / "docs")
"""In an installed package, and in a checkout."""


@cache
def place() -> Path:
    """The folder of the docs."""
    return next((one for one in PLACES if (one / "glossary.md").is_file()), PLACES[0])
