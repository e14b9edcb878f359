"""A drawing with its words, for those who cannot see it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A drawing with its words."""

    svg: str
    """The drawing."""
    words: str
    """What it shows, for those who cannot see it."""
    caption: str = ""
    """A line above it."""
