"""By what rule groups are cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Cut = Literal["balanced", "median", "any"]
"""A column is cut where it is best balanced (elsewhere only afterwards), at the median only, or anywhere alike."""
Choose = Literal["metric", "width", "gain"]
"""A cut is better by the price that it wins, by the width of its column, by what it tells about the class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Where groups may be cut, and what makes a cut better."""

    ordered: bool
    """Whether cuts lie between any two values; otherwise between the children of a group's label, frequent first."""
    relaxed: bool
    """Whether a cut may divide the rows of one value."""
    cut: Cut
    """Where columns are cut."""
    choose: Choose
    """What makes a cut better."""
    least: int
    """How many rows each side must have."""
