"""Tones and measures that all pictures share."""

from __future__ import annotations

INK, MUTED, BEFORE, AFTER, TRACK, ALARM = ("ink", "muted", "before", "after", "track", "alarm")
"""The page's colours by name: one picture serves light, dark and print."""
SERIES = 6
"""How many colours series have; a seventh has the first colour again."""

LABELS = 136
"""The room that labels have."""
BARS = 122
"""The room that bars have beside two figures."""
FIGURE = 59
"""The room that a figure has."""
STEP = 22
"""The height of a row."""
SIZE = 12.5
"""The size of letters."""
TALL = 56
"""The height of a histogram."""
