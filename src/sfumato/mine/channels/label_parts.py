"""Boxes of attributes, cut by the labels of trees and rules: what lies in several at once, and what is left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sfumato.describe.domains import Numbers
from sfumato.mine.edge_labels import Attribute, Label, grid_points, meeting

Box = Mapping[str, Label]
"""What is left of some attributes, by name; of all others everything is."""
Known = Mapping[str, Attribute]
"""Attributes by name."""


def label_rest(one: Label, other: Label) -> Label:
    """What a label of one attribute has and another has not.

    >>> label_rest(((0.0, 5.0),), ((1.0, 2.0), (4.0, 9.0))), label_rest((0, 2), (2, 3))
    (((0.0, 1.0), (2.0, 4.0)), (0,))
    """
    left: list[Any] = list(one)
    if not left or isinstance(left[0], int):
        gone = set(other)
        return tuple(code for code in left if code not in gone)
    for low, high in other:  # type: ignore[misc]
        left = [part for a, b in left for part in ((a, min(b, low)), (max(a, high), b)) if part[0] < part[1]]
    return tuple(left)


def _some(attribute: Attribute, label: Label) -> bool:
    """Whether a value can lie in a label; between two marks of a declared grid none does."""
    domain = attribute.domain
    if not isinstance(domain, Numbers) or domain.grid is None:
        return bool(label)
    return any(grid_points(domain, low, high)[1] for low, high in label)  # type: ignore[misc]


def box_meeting(one: Box, other: Box, known: Known) -> Box | None:
    """What lies in both boxes; None where nothing can."""
    found = dict(one)
    for name, label in other.items():
        found[name] = meeting(one[name], label) if name in one else label
        if not _some(known[name], found[name]):
            return None
    return found


def box_rest(one: Box, other: Box, known: Known) -> list[Box]:
    """What lies in one box and not in another, as boxes apart from each other."""
    if box_meeting(one, other, known) is None:
        return [one]
    found: list[Box] = []
    left = dict(one)
    for name, label in other.items():
        held = left.get(name, known[name].whole)
        rest = label_rest(held, label)
        if _some(known[name], rest):
            found.append({**left, name: rest})
        left[name] = meeting(held, label)
    return found


def all_met(boxes: Iterable[Box], other: Box, known: Known) -> list[Box]:
    """What lies in some boxes and in another."""
    return [found for one in boxes if (found := box_meeting(one, other, known)) is not None]
