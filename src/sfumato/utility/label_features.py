"""What a label says about a value, as numbers that a learner can read.

A label is read as its reader must read it: as each of the values that it covers, equally likely. So a label's features
are averages over those values, and an original value is the label that covers itself alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.describe.distributions import read_distribution
from sfumato.describe.hierarchy import TOP, Hierarchy
from sfumato.utility.view import Reals, Ruler

MOST_NODES = 200
"""A level with more labels than this gives no features of its own."""
Codes = NDArray[np.int32]
Flags = NDArray[np.bool_]
_BLOCK = 2**22


class Shown(Protocol):
    """The label of every cell in every column."""

    @property
    def labels(self) -> Sequence[tuple[str, ...]]:
        """For each column, its labels."""

    @property
    def keys(self) -> Codes:
        """Columns x cells: the label of each cell."""

    @property
    def rulers(self) -> Sequence[Ruler]:
        """For each column, how high each label lies."""

    @property
    def forms(self) -> Sequence[str]:
        """For each column, what its labels are; empty where all are hierarchy values."""


class Encoder:
    """Features of labels: for each column, what its values mean, and from it what any label means."""

    def __init__(self, columns: Sequence[tuple[Hierarchy, Reals | None]]) -> None:
        self.columns = columns
        self._values = [features(hierarchy, numbers) for hierarchy, numbers in columns]

    def originals(self) -> list[Reals]:
        """Per column: the features of every value, by code."""
        return self._values

    def labels(self, cells: Codes, shown: Shown) -> list[Reals]:
        """Per column: the features of every label, averaged over what it covers."""
        return [
            self._column(place, Words.of(shown, place), cells[place], shown.keys[place])
            for place in range(len(self.columns))
        ]

    def _column(self, place: int, words: Words, codes: Codes, keys: Codes) -> Reals:
        """The features of one column's labels, some labels at a time."""
        (hierarchy, numbers), values = self.columns[place], self._values[place]
        step = max(_BLOCK // max(len(values), 1), 1)
        order = np.argsort(keys, kind="stable")
        found = [np.zeros((0, values.shape[1]))]
        for first in range(0, len(words.labels), step):
            low, high = np.searchsorted(keys[order], (first, first + step))
            here = order[low:high]
            part = words.part(first, first + step)
            found.append(covered(hierarchy, numbers, part, codes[here], keys[here] - np.int32(first)) @ values)
        return np.concatenate(found)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Words:
    """Some labels of one column."""

    labels: Sequence[str]
    """As they are written."""
    form: str
    """What they are: levels (hierarchy values), boxes, means, ..."""
    steps: Reals
    """How high each lies."""

    @classmethod
    def of(cls, shown: Shown, place: int) -> Words:
        """The labels of a column."""
        form = shown.forms[place] if shown.forms else "levels"
        return cls(labels=shown.labels[place], form=form, steps=shown.rulers[place].steps)

    def part(self, first: int, last: int) -> Words:
        """Some of them."""
        return replace(self, labels=self.labels[first:last], steps=self.steps[first:last])


def covered(hierarchy: Hierarchy, numbers: Reals | None, words: Words, codes: Codes, keys: Codes) -> Reals:
    """Labels x values: how likely each value is when the label is all one knows; every row adds up to 1.

    A hierarchy value covers all values below it, a range all numbers within it, a set its values, a mean the numbers
    next to it, a distribution its values by their shares. Which one a label is, is told by the cells that carry it:
    ``codes`` their values, ``keys`` their labels.
    """
    cover = np.zeros((len(words.labels), len(hierarchy.levels[0].labels)), np.bool_)
    cover[keys, codes] = True
    carried = cover.any(axis=1)
    if words.form == "levels":
        _under(cover, hierarchy, words.steps, codes, keys)
    elif numbers is not None and words.form not in ("nodes", "distributions"):
        _within(cover, numbers, codes, keys)
    cover[carried & np.array([label == TOP for label in words.labels], np.bool_)] = True
    shares: Reals = cover / np.maximum(cover.sum(axis=1, keepdims=True), 1)
    if words.form == "means" and numbers is not None:
        _beside(shares, numbers, words.labels)
    if words.form == "distributions":
        _stated(shares, hierarchy, words.labels)
    return shares


def _stated(shares: Reals, hierarchy: Hierarchy, labels: Sequence[str]) -> None:
    """For labels that are distributions: each value as often as they say."""
    place = {value: code for code, value in enumerate(hierarchy.levels[0].labels)}
    for row, label in enumerate(labels):
        counts = read_distribution(label)
        if counts is not None and set(counts) <= set(place):
            shares[row] = 0.0
            shares[row, [place[value] for value in counts]] = np.array(list(counts.values())) / sum(counts.values())


def _under(cover: Flags, hierarchy: Hierarchy, steps: Reals, codes: Codes, keys: Codes) -> None:
    """All values under the node that holds the carried ones; just those where no single node of the level does."""
    level = np.clip(steps.astype(np.int64), 0, hierarchy.height)
    for number, here in enumerate(hierarchy.levels):
        mine = level[keys] == number
        nodes = here.parent[codes[mine]]
        low = np.full(len(cover), len(here.labels))
        high = np.full(len(cover), -1)
        np.minimum.at(low, keys[mine], nodes)
        np.maximum.at(high, keys[mine], nodes)
        one = np.flatnonzero(low == high)
        cover[one] = here.parent[None, :] == low[one, None]


def _within(cover: Flags, numbers: Reals, codes: Codes, keys: Codes) -> None:
    """All values from the smallest to the largest of the carried ones; labels of missing values stay as they are."""
    low, high = np.full(len(cover), np.inf), np.full(len(cover), -np.inf)
    known = ~np.isnan(numbers[codes])
    np.minimum.at(low, keys[known], numbers[codes[known]])
    np.maximum.at(high, keys[known], numbers[codes[known]])
    cover |= (numbers[None, :] >= low[:, None]) & (numbers[None, :] <= high[:, None])


def _beside(shares: Reals, numbers: Reals, labels: Sequence[str]) -> None:
    """For labels that are numbers: the values next to them, the nearer one the likelier."""
    order = np.argsort(numbers, kind="stable")[: int((~np.isnan(numbers)).sum())]
    known = numbers[order]
    said = np.array([_number(label) for label in labels])
    places = np.flatnonzero((said >= known.min(initial=np.inf)) & (said <= known.max(initial=-np.inf)))
    high = np.searchsorted(known, said[places])
    low = np.where(known[high] == said[places], high, high - 1)
    width = np.where(low == high, 1.0, known[high] - known[low])
    part = (said[places] - known[low]) / width
    shares[places] = 0.0
    shares[places, order[low]] = 1.0 - part
    shares[places, order[high]] += part


def _number(label: str) -> float:
    try:
        return float(label)
    except ValueError:
        return float("nan")


def features(hierarchy: Hierarchy, numbers: Reals | None) -> Reals:
    """Values x features: whether a value lies under each node below the top, and its scaled number."""
    parts = [np.zeros((len(hierarchy.levels[0].labels), 0))]
    small = [level for level in hierarchy.levels[:-1] if len(level.labels) <= MOST_NODES]
    parts += [np.equal.outer(level.parent, np.arange(len(level.labels))).astype(np.float64) for level in small]
    if numbers is not None:
        parts.append(scaled(numbers)[:, None])
    return np.concatenate(parts, axis=1)


def scaled(numbers: Reals) -> Reals:
    """Numbers with mean 0 and deviation 1 over the distinct values; a missing one is 0."""
    known = numbers[~np.isnan(numbers)]
    if not len(known):
        return np.zeros(len(numbers))
    spread = float(known.std()) or 1.0
    return np.where(np.isnan(numbers), 0.0, (numbers - known.mean()) / spread)
