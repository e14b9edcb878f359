"""Four learners of scikit-learn, and the form in which each reads labels.

A label is read as any of the values that it covers, equally likely. Trees read a numeric label as its smallest and its
largest number, other labels as the share of their values under each node of the hierarchy; logistic regression reads
means and shares; naive Bayes reads shares of single values, of twenty equally full bins where numbers are many.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.describe.hierarchy import Hierarchy
from sfumato.ground.extras import extra
from sfumato.utility.label_features import MOST_NODES, features, scaled
from sfumato.utility.view import Reals

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
