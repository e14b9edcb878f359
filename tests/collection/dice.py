"""Dice that repeat, for tests; people's answers are drawn from the operating system."""

from __future__ import annotations

import random

from sfumato.collection.mechanisms import Below


def dice(seed: int) -> Below:
    return random.Random(seed).randrange
