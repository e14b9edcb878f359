"""Reading labels as anybody can: which values a released label covers."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.frame.subject import Coverage, Mask
from sfumato.data.kinds import is_readable
from sfumato.describe.distributions import read_distribution
from sfumato.describe.hierarchy import TOP, Hierarchy
from sfumato.describe.spans import read_interval

_LEVEL = re.compile(r"(.*) \(level (\d+)\)")
_BOX = re.compile(r"\[(.*) - (.*)\]")
_SET = re.compile(r"\{(.*)\}")
_MASK = re.compile(r"[^*]*\*+|\*+[^*]*")


def coverage_of(labels: Sequence[str], values: Sequence[str], hierarchy: Hierarchy | None = None) -> Coverage:
    """What the labels of a column mean for some values; a public hierarchy says what lies above each value.

    A label that nothing explains covers the value of its own name only.
    """
    names, people = tuple(dict.fromkeys(labels)), tuple(dict.fromkeys(values))
    numbers = _numbers(people)
    covers = np.zeros((len(names), len(people)), np.bool_)
    place = {value: code for code, value in enumerate(people)}
    above = {} if hierarchy is None else _above(hierarchy)
    for row, label in enumerate(names):
        covers[row] = _covered(label, people, numbers, place, above)
    _nearest(covers, names, numbers)
    return Coverage(labels=names, values=people, covers=covers)


def _covered(
    label: str,
    values: tuple[str, ...],
    numbers: NDArray[np.float64],
    place: dict[str, int],
    above: dict[tuple[str, int | None], set[str]],
) -> Mask:
    if label == TOP:
        return np.ones(len(values), np.bool_)
    found = np.zeros(len(values), np.bool_)
    if label in place:
        found[place[label]] = True
    posterior = _LEVEL.fullmatch(label)
    key = (posterior[1], int(posterior[2])) if posterior else (label, None)
    for value in above.get(key, ()):
        if value in place:
            found[place[value]] = True
    if found.any() and (key in above or label in place):
        return found
    return found | _spelled(label, values, numbers, place)


def _spelled(label: str, values: tuple[str, ...], numbers: NDArray[np.float64], place: dict[str, int]) -> Mask:
    """Intervals, boxes, distributions, sets and masks, by how they are written."""
    interval = read_interval(label)
    if interval is not None:
        return interval.holds(numbers)
    if box := _BOX.fullmatch(label):
        ends = _numbers((box[1], box[2]))
        if not np.isnan(ends).any():
            return np.asarray((numbers >= ends[0]) & (numbers <= ends[1]))
        return np.array([box[1] <= value <= box[2] for value in values], np.bool_)
    if (counts := read_distribution(label)) is not None:
        return np.array([value in counts for value in values], np.bool_)
    if several := _SET.fullmatch(label):
        inside = _among(several[1], [value for value in values if value in several[1]])
        return np.array([value in inside for value in values], np.bool_)
    if _MASK.fullmatch(label) and len(label) > 1:
        pattern = re.compile("".join("." if mark == TOP else re.escape(mark) for mark in label))
        return np.array([bool(pattern.fullmatch(value)) for value in values], np.bool_)
    return np.zeros(len(values), np.bool_)


def _among(text: str, values: Sequence[str]) -> set[str]:
    """The values that a text lists, split by commas that may stand in values too; by commas alone where none fits.

    >>> sorted(_among("cook, nurse, RN", ["cook", "nurse, RN"]))
    ['cook', 'nurse, RN']
    """
    longest = sorted(values, key=len, reverse=True)
    waiting: list[tuple[str, tuple[str, ...]]] = [(text, ())]
    tried = set()
    while waiting:
        rest, found = waiting.pop()
        if not rest:
            return set(found)
        for value in reversed(longest):
            after = rest[len(value) + 2 :]
            if rest == value:
                return {*found, value}
            if rest.startswith(f"{value}, ") and after not in tried:
                tried.add(after)
                waiting.append((after, (*found, value)))
    return set(text.split(", "))


def _above(hierarchy: Hierarchy) -> dict[tuple[str, int | None], set[str]]:
    """The values under each label of a hierarchy, by name, and by name and level."""
    found: dict[tuple[str, int | None], set[str]] = {}
    leaves = hierarchy.levels[0].labels
    for number, level in enumerate(hierarchy.levels[1:-1], start=1):
        for code, parent in enumerate(level.parent):
            found.setdefault((level.labels[parent], None), set()).add(leaves[code])
            found.setdefault((level.labels[parent], number), set()).add(leaves[code])
    tree = hierarchy.tree()
    for code, node in enumerate(tree.leaf.tolist()):
        up = int(tree.parent[node])
        while up > 0:
            found.setdefault((tree.labels[up], None), set()).add(leaves[code])
            parent = f"{tree.labels[up]} ({tree.labels[tree.parent[up]]})"
            found.setdefault((parent, None), set()).add(leaves[code])
            up = int(tree.parent[up])
    return found


def _nearest(covers: Mask, labels: tuple[str, ...], numbers: NDArray[np.float64]) -> None:
    """A number that covers nobody, such as a group's mean, stands for the numbers that are nearest to it."""
    means = _numbers(labels)
    lost = np.flatnonzero(~covers.any(axis=1) & ~np.isnan(means))
    known = np.flatnonzero(~np.isnan(numbers))
    if not len(lost) or not len(known):
        return
    every = np.flatnonzero(~np.isnan(means))
    order = every[np.argsort(means[every], kind="stable")]
    cuts = (means[order][1:] + means[order][:-1]) / 2
    covers[order[np.searchsorted(cuts, numbers[known])], known] = True


def _numbers(texts: Sequence[str]) -> NDArray[np.float64]:
    return np.array([float(text) if is_readable(text, "real") else np.nan for text in texts], np.float64)
