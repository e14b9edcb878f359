"""Classification as a measure of a release: train on released rows, test on rows that were generalized in the same way.

Three errors are told: with the original values (baseline, BE), without quasi-identifiers (upper bound, UE), and with
the released ones (CE). CE - BE is what privacy costs; UE - CE is what publishing quasi-identifiers still gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes
from sfumato.ground.arguments import one_of
from sfumato.ground.chance import Chance
from sfumato.ground.errors import ParameterError
from sfumato.group.keys import Ids
from sfumato.utility.accuracy import MOST_ROWS, STUDY, OutcomeLike, Posed
from sfumato.utility.label_features import Words, covered
from sfumato.utility.learners import LEARNERS, Learner, ends_read, feature_rows, learnt, values_read
from sfumato.utility.view import Reals


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
        self.train, self.test = _split(len(rows.cell), train, seed, most)

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
        shown = outcome.recoding(self.problem)
        parts = []
        for place in range(len(self.problem.hierarchies)):
            words = Words.of(shown, place)
            hierarchy, numbers = self.problem.hierarchies[place], self.problem.number(place)
            cover = covered(hierarchy, numbers, words, self.problem.cells.keys[place], shown.keys[place])
            parts.append(self._labels(place, cover))
        error = self._error(parts, list(shown.keys), outcome.suppressed)
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
        found = learnt(read(train), code[train], self.learner, self.seed)
        return float((found.predict(read(self.test)) != code[self.test]).mean())


def _split(rows: int, train: NDArray[np.bool_] | None, seed: int, most: int) -> tuple[Ids, Ids]:
    """The rows to learn from and those to test."""
    drawn = np.sort(Chance(seed=seed).generator().permutation(rows)[:most])
    if train is not None:
        return drawn[train[drawn]], drawn[~train[drawn]]
    mixed = Chance(seed=seed + 1).generator().permutation(drawn)
    tested = -(-len(mixed) // 3) if len(mixed) > 1 else 0
    return np.sort(mixed[tested:]), np.sort(mixed[:tested])
