"""Reads released labels as anybody can: which values a label covers, and its ends as numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import inf, isnan, nan

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.subject import Coverage, Mask
from sfumato.tables.hierarchy import TOP, Hierarchy
from sfumato.tables.labels import read_distribution, read_interval
from sfumato.tables.table import is_readable

# Reading labels as anybody can: which values a released label covers.


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
    is_covered = np.zeros(len(values), np.bool_)
    if label in place:
        is_covered[place[label]] = True
    posterior = _LEVEL.fullmatch(label)
    key = (posterior[1], int(posterior[2])) if posterior else (label, None)
    for value in above.get(key, ()):
        if value in place:
            is_covered[place[value]] = True
    if is_covered.any() and (key in above or label in place):
        return is_covered
    return is_covered | _spelled(label, values, numbers, place)


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
        rest, chosen_values = waiting.pop()
        if not rest:
            return set(chosen_values)
        for value in reversed(longest):
            after = rest[len(value) + 2 :]
            if rest == value:
                return {*chosen_values, value}
            if rest.startswith(f"{value}, ") and after not in tried:
                tried.add(after)
                waiting.append((after, (*chosen_values, value)))
    return set(text.split(", "))


def _above(hierarchy: Hierarchy) -> dict[tuple[str, int | None], set[str]]:
    """The values under each label of a hierarchy, by name, and by name and level."""
    values_under: dict[tuple[str, int | None], set[str]] = {}
    leaves = hierarchy.levels[0].labels
    for number, level in enumerate(hierarchy.levels[1:-1], start=1):
        for code, parent in enumerate(level.parent):
            values_under.setdefault((level.labels[parent], None), set()).add(leaves[code])
            values_under.setdefault((level.labels[parent], number), set()).add(leaves[code])
    tree = hierarchy.tree()
    for code, node in enumerate(tree.leaf.tolist()):
        up = int(tree.parent[node])
        while up > 0:
            values_under.setdefault((tree.labels[up], None), set()).add(leaves[code])
            parent = f"{tree.labels[up]} ({tree.labels[tree.parent[up]]})"
            values_under.setdefault((parent, None), set()).add(leaves[code])
            up = int(tree.parent[up])
    return values_under


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


# What labels and values say as numbers: the ends of a label, and the number of a value.


Floats = NDArray[np.float64]

_PLAIN = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
"""A number as it is, which stands for itself: read for all labels at once."""


def numbers(cells: pl.Series) -> Floats:
    """The numbers of some cells; NaN for what is none."""
    return cells.cast(pl.String).cast(pl.Float64, strict=False).fill_null(nan).to_numpy().astype(np.float64)


def ends(coverage: Coverage) -> tuple[Floats, Floats]:
    """The smallest and the largest number that each label may stand for; NaN where it names none.

    A number stands for itself, an interval for what its spelling says, a star for every number; other labels, such as
    the names of a tree, for the values that they cover.

    >>> low, high = ends(Coverage(labels=("*", "7"), values=("1", "9"), covers=np.array([[1, 1], [0, 0]], np.bool_)))
    >>> low.tolist(), high.tolist()
    ([-inf, 7.0], [inf, 7.0])
    """
    cells = pl.Series(coverage.labels, dtype=pl.String)
    low = numbers(pl.select(pl.when(cells.str.contains(_PLAIN)).then(cells)).to_series())
    high, others = low.copy(), np.flatnonzero(np.isnan(low)).tolist()
    values = np.array([_number(value) for value in coverage.values] if others else [], np.float64)
    for place in others:
        low[place], high[place] = _ends(coverage.labels[place], values, coverage.covers[place])
    return low, high


def _number(text: str) -> float:
    return float(text) if is_readable(text, "real") else nan


def _ends(label: str, values: Floats, covered: Mask) -> tuple[float, float]:
    if label == "*":
        return -inf, inf
    interval = read_interval(label)
    if interval is not None:
        return interval.low, interval.high if interval.closed else float(np.nextafter(interval.high, -inf))
    if (box := _BOX.fullmatch(label)) and not isnan(_number(box[1]) + _number(box[2])):
        return _number(box[1]), _number(box[2])
    known = values[covered]
    known = known[~np.isnan(known)]
    return (float(known.min()), float(known.max())) if len(known) else (nan, nan)
