"""Labels as numeric features, and the learners of scikit-learn that read them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.core.extras import extra
from sfumato.metrics.metric import Reals, Ruler
from sfumato.tables.hierarchy import TOP, Hierarchy
from sfumato.tables.labels import read_distribution

# What a label says about a value, as numbers that a learner can read.
#
# A label is read as its reader must read it: as each of the values that it covers, equally likely. So a label's
# features are averages over those values, and an original value is the label that covers itself alone.


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

    def labels(self, cells: Codes, recoding: Shown) -> list[Reals]:
        """Per column: the features of every label, averaged over what it covers."""
        return [
            self._column(place, Words.of(recoding, place), cells[place], recoding.keys[place])
            for place in range(len(self.columns))
        ]

    def _column(self, place: int, words: Words, codes: Codes, keys: Codes) -> Reals:
        """The features of one column's labels, some labels at a time."""
        (hierarchy, numbers), values = self.columns[place], self._values[place]
        step = max(_BLOCK // max(len(values), 1), 1)
        order = np.argsort(keys, kind="stable")
        features = [np.zeros((0, values.shape[1]))]
        for first in range(0, len(words.labels), step):
            low, high = np.searchsorted(keys[order], (first, first + step))
            here = order[low:high]
            part = words.part(first, first + step)
            features.append(covered(hierarchy, numbers, part, codes[here], keys[here] - np.int32(first)) @ values)
        return np.concatenate(features)


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
    def of(cls, recoding: Shown, place: int) -> Words:
        """The labels of a column."""
        form = recoding.forms[place] if recoding.forms else "levels"
        return cls(labels=recoding.labels[place], form=form, steps=recoding.rulers[place].steps)

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
        single_node = np.flatnonzero(low == high)
        cover[single_node] = here.parent[None, :] == low[single_node, None]


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
    label_numbers = np.array([_number(label) for label in labels])
    places = np.flatnonzero(
        (label_numbers >= known.min(initial=np.inf)) & (label_numbers <= known.max(initial=-np.inf))
    )
    high = np.searchsorted(known, label_numbers[places])
    low = np.where(known[high] == label_numbers[places], high, high - 1)
    width = np.where(low == high, 1.0, known[high] - known[low])
    part = (label_numbers[places] - known[low]) / width
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


# Four learners of scikit-learn, and the form in which each reads labels.
#
# A label is read as any of the values that it covers, equally likely. Trees read a numeric label as its smallest and
# its largest number, other labels as the share of their values under each node of the hierarchy; logistic regression
# reads means and shares; naive Bayes reads shares of single values, of twenty equally full bins where numbers are
# many.


Learner = Literal["tree", "bayes", "logistic", "boosting"]
LEARNERS: tuple[str, ...] = get_args(Learner)
_BINS = 20


def values_read(hierarchy: Hierarchy, numbers: Reals | None, learner: Learner) -> Reals:
    """Values x features of one column, as a learner reads them; features of a label are averages over its values."""
    if learner == "bayes":
        return _single(hierarchy, numbers)
    if numbers is None:
        return features(hierarchy, None)
    return scaled(numbers)[:, None] if learner == "logistic" else np.nan_to_num(numbers, nan=_beyond(numbers))[:, None]


def _beyond(numbers: Reals) -> float:
    """A number below all others, for the missing one."""
    known = numbers[~np.isnan(numbers)]
    return float(known.min()) - 1.0 if len(known) else 0.0


def _single(hierarchy: Hierarchy, numbers: Reals | None) -> Reals:
    """One feature per value, or per bin of numbers."""
    count = len(hierarchy.levels[0].labels)
    codes = np.arange(count)
    if count > MOST_NODES and numbers is not None:
        marks = np.nanquantile(numbers, np.arange(1, _BINS) / _BINS)
        codes = np.where(np.isnan(numbers), _BINS, np.searchsorted(marks, numbers, side="right"))
    elif count > MOST_NODES:
        codes = hierarchy.levels[
            next(n for n, lv in enumerate(hierarchy.levels) if len(lv.labels) <= MOST_NODES)
        ].parent
    return np.equal.outer(codes, np.arange(int(codes.max(initial=0)) + 1)).astype(np.float64)


def ends_read(cover: Reals, numbers: Reals) -> Reals:
    """Labels x 2: the smallest and the largest number that each label covers."""
    known = np.nan_to_num(numbers, nan=_beyond(numbers))
    low = np.where(cover > 0, known[None, :], np.inf).min(axis=1)
    high = np.where(cover > 0, known[None, :], -np.inf).max(axis=1)
    return np.asarray(np.nan_to_num(np.stack([low, high], axis=1), posinf=0.0, neginf=0.0))


def learnt(feature_rows: NDArray[np.float64], code: NDArray[np.int64], learner: Learner, seed: int) -> Any:
    """A fitted learner; the most frequent class where there is nothing to learn."""
    if not feature_rows.shape[1] or len(np.unique(code)) == 1:
        return _Always(int(np.bincount(code).argmax()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", _of("exceptions").ConvergenceWarning)
        return _made(learner, seed).fit(feature_rows, code)


def _of(part: str) -> Any:
    return extra(f"sklearn.{part}", "learning on a release")


def _made(learner: Learner, seed: int) -> Any:
    if learner == "tree":
        return _of("tree").DecisionTreeClassifier(
            criterion="entropy", min_samples_leaf=10, ccp_alpha=2e-4, random_state=seed
        )
    if learner == "bayes":
        return _of("naive_bayes").MultinomialNB()
    if learner == "logistic":
        return _of("linear_model").LogisticRegression(max_iter=300)
    return _of("ensemble").HistGradientBoostingClassifier(random_state=seed)


class _Always:
    """A learner that says one class whatever it is asked."""

    def __init__(self, code: int) -> None:
        self.code = code

    def predict(self, feature_rows: Any) -> NDArray[np.int64]:
        return np.full(feature_rows.shape[0], self.code)


def feature_rows(parts: Sequence[Reals], codes: Sequence[NDArray[np.int32]], rows: int) -> Reals:
    """Rows x features: each column's codes replaced by what they mean."""
    if not parts:
        return np.zeros((rows, 0))
    return np.concatenate([meaning[mine] for meaning, mine in zip(parts, codes, strict=True)], axis=1)
