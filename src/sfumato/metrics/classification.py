"""Train classifiers on released rows and measure their accuracy."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arguments import at_least, one_of
from sfumato.core.errors import ParameterError
from sfumato.core.extras import extra
from sfumato.core.randomness import Chance
from sfumato.counts.classes import Classes
from sfumato.counts.keys import Ids, distinct, representatives, total
from sfumato.metrics.learners import (
    LEARNERS,
    Encoder,
    Learner,
    Shown,
    Words,
    covered,
    ends_read,
    feature_rows,
    learnt,
    values_read,
)
from sfumato.metrics.metric import Reals
from sfumato.tables.hierarchy import Hierarchy
from sfumato.tables.table import Codes

# Accuracy of a classifier that learns from released rows and is tried on original ones.
#
# The rows are split once, two thirds to learn from and one third to be tried on. The learner reads the released form
# of the first and is asked about the original values of the second: that is what a reader of the release would do with
# it.


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
        self.train, self.test = _split_records(
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
        recoding = outcome.recoding(self.problem)
        kept = np.where(outcome.suppressed[self.cell], 0, self.train)
        return self._reached(recoding.keys, self.encoder.labels(self.problem.cells.keys, recoding), kept)

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
        cells, where = np.unique(self.cell[tried], return_inverse=True)
        keys = self.problem.cells.keys[:, cells]
        predictions = learnt.predict(_feature_rows(self.encoder.originals(), list(keys)))[where]
        return float(self.test[tried][predictions == self.code[tried]].sum()) / max(int(self.test.sum()), 1)


def _split_records(
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
    entry_counts = np.zeros(len(order), np.int64)
    entry_counts[order] = np.bincount(np.searchsorted(ends, rows, side="right"), minlength=len(order))
    return entry_counts


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


# Classification as a measure of a release: train on released rows, test on rows that were generalized in the same way.
#
# Three errors are told: with the original values (baseline, BE), without quasi-identifiers (upper bound, UE), and with
# the released ones (CE). CE - BE is what privacy costs; UE - CE is what publishing quasi-identifiers still gives.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labelled:
    """The rows of a table as a study reads them."""

    cell: Ids
    """The cell of each row."""
    target: Codes
    """The class of each row."""
    others: tuple[Codes, ...] = ()
    """Published columns that are neither quasi-identifiers nor the class, by row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """Shares of test rows whose class is told wrongly."""

    learner: str
    """Which learner."""
    baseline: float
    """With original quasi-identifiers (BE)."""
    upper_bound: float
    """With no quasi-identifiers (UE)."""
    released: float
    """With released ones, in training and in testing (CE)."""
    tested: int
    """Test rows."""


class Study:
    """One split of a table's rows and one learner; any release of the table can be tried on it.

    Claim: test rows are never trained on. CE is what a reader gets who learns from released rows and asks about new
        ones in the same form.
    How: a random two thirds (or the rows marked in ``train``) are learnt from, the others tested.
    Needs: a target column.
    Cost: one training per error; at most ``most`` rows are drawn.
    Source: Fung, Wang, Yu 2005; Mohammed et al. 2009 (document 003, section 3.4); document 001, section 6.1.
    """

    def __init__(
        self,
        problem: Posed,
        rows: Labelled,
        learner: Learner = "tree",
        *,
        train: NDArray[np.bool_] | None = None,
        seed: int = STUDY,
        most: int = MOST_ROWS,
    ) -> None:
        one_of("learner", learner, LEARNERS)
        if problem.target is None:
            raise ParameterError("classification needs a column with role = 'target'")
        self.problem, self.rows, self.learner, self.seed = problem, rows, learner, seed
        self.train, self.test = _split_rows(len(rows.cell), train, seed, most)

    @cached_property
    def baseline(self) -> float:
        """The error with original values."""
        columns = range(len(self.problem.hierarchies))
        parts = [self._values(column) for column in columns]
        return self._error(parts, [self.problem.cells.keys[column] for column in columns], None)

    @cached_property
    def upper_bound(self) -> float:
        """The error without quasi-identifiers."""
        return self._error([], [], None)

    def errors(self, outcome: OutcomeLike) -> Errors:
        """All three, for one release."""
        recoding = outcome.recoding(self.problem)
        parts = []
        for place in range(len(self.problem.hierarchies)):
            words = Words.of(recoding, place)
            hierarchy, numbers = self.problem.hierarchies[place], self.problem.number(place)
            cover = covered(hierarchy, numbers, words, self.problem.cells.keys[place], recoding.keys[place])
            parts.append(self._labels(place, cover))
        error = self._error(parts, list(recoding.keys), outcome.suppressed)
        return Errors(
            learner=self.learner,
            baseline=self.baseline,
            upper_bound=self.upper_bound,
            released=error,
            tested=len(self.test),
        )

    def _values(self, place: int) -> Reals:
        """What the column's own values mean to the learner."""
        numbers = self.problem.number(place)
        read = values_read(self.problem.hierarchies[place], numbers, self.learner)
        return np.repeat(read, 2, axis=1) if self._by_ends(numbers) else read

    def _labels(self, place: int, cover: Reals) -> Reals:
        """What labels mean to the learner: averages over the values that they cover, or the ends of their numbers."""
        numbers = self.problem.number(place)
        if numbers is not None and self._by_ends(numbers):
            return ends_read(cover, numbers)
        averages: Reals = cover @ values_read(self.problem.hierarchies[place], numbers, self.learner)
        return averages

    def _by_ends(self, numbers: Reals | None) -> bool:
        return numbers is not None and self.learner in ("tree", "boosting")

    def _error(self, parts: Sequence[Reals], keys: Sequence[Codes], suppressed: NDArray[np.bool_] | None) -> float:
        """Learn from training rows that are published, and count the test rows that are told wrongly."""
        train = self.train if suppressed is None else self.train[~suppressed[self.rows.cell[self.train]]]
        if not len(train) or not len(self.test):
            return 1.0
        others = [np.eye(int(codes.max(initial=0)) + 1) for codes in self.rows.others]

        def read(rows: Ids) -> Reals:
            mine = [codes[self.rows.cell[rows]] for codes in keys]
            return feature_rows([*parts, *others], [*mine, *(codes[rows] for codes in self.rows.others)], len(rows))

        code = self.rows.target.astype(np.int64)
        model = learnt(read(train), code[train], self.learner, self.seed)
        return float((model.predict(read(self.test)) != code[self.test]).mean())


def _split_rows(rows: int, train: NDArray[np.bool_] | None, seed: int, most: int) -> tuple[Ids, Ids]:
    """The rows to learn from and those to test."""
    drawn = np.sort(Chance(seed=seed).generator().permutation(rows)[:most])
    if train is not None:
        return drawn[train[drawn]], drawn[~train[drawn]]
    mixed = Chance(seed=seed + 1).generator().permutation(drawn)
    tested = -(-len(mixed) // 3) if len(mixed) > 1 else 0
    return np.sort(mixed[tested:]), np.sort(mixed[:tested])
