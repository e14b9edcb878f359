"""Accuracy of a classifier that learns from released rows and is tried on original ones.

The rows are split once, two thirds to learn from and one third to be tried on. The learner reads the released form of
the first and is asked about the original values of the second: that is what a reader of the release would do with it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.describe.hierarchy import Hierarchy
from sfumato.ground.arguments import at_least
from sfumato.ground.chance import Chance
from sfumato.ground.errors import ParameterError
from sfumato.ground.extras import extra
from sfumato.group.classes import Classes
from sfumato.group.keys import Ids, distinct, representatives, total
from sfumato.utility.label_features import Encoder, Shown
from sfumato.utility.view import Reals

STUDY = 20_060
"""The seed of the split: the same table is always split in the same way, so that releases can be compared."""
MOST_ROWS = 60_000
"""How many rows of a larger table are drawn for the trial."""


class Posed(Protocol):
    """A problem, as far as a trial reads it."""

    @property
    def cells(self) -> Classes:
        """The finest classes."""

    @property
    def hierarchies(self) -> Sequence[Hierarchy]:
        """One per quasi-identifier."""

    @property
    def target(self) -> str | None:
        """The class attribute."""

    def number(self, column: int) -> Reals | None:
        """A column's values as numbers, where they are."""


class OutcomeLike(Protocol):
    """An outcome, as far as a trial reads it."""

    @property
    def suppressed(self) -> NDArray[np.bool_]:
        """Which cells are suppressed."""

    def recoding(self, problem: Any) -> Shown:
        """The label of every cell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """The share of original test rows whose class is told rightly."""

    released: float
    """By the learner that saw the released training rows; 0 where none was released."""
    original: float
    """By the same learner after the original training rows."""
    majority: float
    """By always saying the most frequent class of the original training rows."""


def accuracy(problem: Posed, outcome: OutcomeLike, *, seed: int = STUDY, most: int = MOST_ROWS) -> Accuracy:
    """Train on released rows, test on held-out original rows.

    Claim: the test rows are never trained on; every label enters by what it says, not by the rows behind it.
    How: logistic regression; for every value and every node of a hierarchy below the top, one feature holds the share
        of the label's values under it. Suppressed rows, sensitive and kept columns are left out.
    Needs: a target column.
    Cost: two trainings on distinct released tuples with weights.
    Source: classification as a measure of a release: LeFevre et al. 2006; Fung et al. 2005.
    """
    trial = Trial(problem, seed=seed, most=most)
    return Accuracy(released=trial.released(outcome), original=trial.original, majority=trial.majority)


class Trial:
    """One split of a table's rows; any release of the table can be tried on it."""

    def __init__(self, problem: Posed, *, seed: int = STUDY, most: int = MOST_ROWS) -> None:
        if problem.target is None:
            raise ParameterError("accuracy needs a column with role = 'target'")
        at_least("most", most, 3)
        self.problem, cells = problem, problem.cells
        tally = cells.tally(problem.target)
        known = tally.codes != (-1 if tally.missing is None else tally.missing)
        self.cell, self.code = tally.owners[known], tally.codes[known].astype(np.int64)
        self.values = len(tally.values)
        self.train, self.test = _split(
            cells.keys[:, self.cell], self.code, tally.counts[known], Chance(seed=seed), most
        )
        self.encoder = Encoder([(h, problem.number(c)) for c, h in enumerate(problem.hierarchies)])

    @property
    def majority(self) -> float:
        """What the most frequent class of the training rows reaches."""
        best = int(total(self.code, self.train, self.values).argmax())
        return float(self.test[self.code == best].sum()) / max(int(self.test.sum()), 1)

    @cached_property
    def original(self) -> float:
        """What the learner reaches after the original training rows."""
        return self._reached(self.problem.cells.keys, self.encoder.originals(), self.train)

    def released(self, outcome: OutcomeLike) -> float:
        """What the learner reaches after the released training rows."""
        shown = outcome.recoding(self.problem)
        kept = np.where(outcome.suppressed[self.cell], 0, self.train)
        return self._reached(shown.keys, self.encoder.labels(self.problem.cells.keys, shown), kept)

    def _reached(self, keys: NDArray[np.int32], meanings: Sequence[Reals], weights: NDArray[np.int64]) -> float:
        """Learn from the rows with weights, told by the meanings of their labels, and try the test rows."""
        used = np.flatnonzero(weights)
        if not len(used):
            return 0.0
        parts = [codes[self.cell[used]] for codes in keys]
        radices = [len(meaning) for meaning in meanings]
        ids, count = distinct([*parts, self.code[used].astype(np.int32)], [*radices, self.values], len(used))
        place = representatives(ids, count)
        feature_rows = _feature_rows(meanings, [codes[place] for codes in parts])
        learnt = _learn(feature_rows, self.code[used][place], total(ids, weights[used], count))
        return self._right(learnt)

    def _right(self, learnt: Any) -> float:
        """The share of test rows whose class the learner tells."""
        tried = np.flatnonzero(self.test)
        asked, where = np.unique(self.cell[tried], return_inverse=True)
        keys = self.problem.cells.keys[:, asked]
        said = learnt.predict(_feature_rows(self.encoder.originals(), list(keys)))[where]
        return float(self.test[tried][said == self.code[tried]].sum()) / max(int(self.test.sum()), 1)


def _split(
    keys: NDArray[np.int32], code: NDArray[np.int64], counts: NDArray[np.int64], chance: Chance, most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many rows of each entry (a cell's rows of one class) are trained on, and how many are tested on.

    Rows are drawn in the order of their values, so that it does not matter how they were grouped.
    """
    order = np.lexsort((code, *keys[::-1]))
    rows = int(counts.sum())
    drawn = chance.generator().permutation(rows)[:most]
    tested = -(-len(drawn) // 3) if len(drawn) > 1 else 0
    return tuple(_per_entry(part, order, counts) for part in (drawn[tested:], drawn[:tested]))  # type: ignore[return-value]


def _per_entry(rows: Ids, order: Ids, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Drawn rows per entry."""
    ends = np.cumsum(counts[order])
    found = np.zeros(len(order), np.int64)
    found[order] = np.bincount(np.searchsorted(ends, rows, side="right"), minlength=len(order))
    return found


def _feature_rows(meanings: Sequence[Reals], keys: Sequence[NDArray[np.int32]]) -> Any:
    """The features of rows, sparse: each column's label replaced by its meaning."""
    sparse = extra("scipy.sparse", "learning on a release")
    return sparse.hstack(
        [sparse.csr_array(meaning)[codes] for meaning, codes in zip(meanings, keys, strict=True)], format="csr"
    )


class _Always:
    """A learner that says one class whatever it is asked."""

    def __init__(self, code: int) -> None:
        self.code = code

    def predict(self, feature_rows: Any) -> NDArray[np.int64]:
        return np.full(feature_rows.shape[0], self.code)


def _learn(feature_rows: Any, code: NDArray[np.int64], weights: NDArray[np.int64]) -> Any:
    """A logistic regression on distinct rows with weights; the most frequent class where there is nothing to learn."""
    if not feature_rows.shape[1] or len(np.unique(code)) == 1:
        return _Always(int(np.bincount(code, weights=weights).argmax()))
    learning = "learning on a release"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", extra("sklearn.exceptions", learning).ConvergenceWarning)
        return (
            extra("sklearn.linear_model", learning)
            .LogisticRegression(max_iter=200)
            .fit(feature_rows, code, sample_weight=weights)
        )
