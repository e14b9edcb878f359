"""Attacks on pseudonymized columns: known plaintext pairs and frequency matching."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.attacks.finding import Finding, Limit, Rate
from sfumato.core.arguments import above, at_least
from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance
from sfumato.core.short_repr import Brief

# A pseudonymized column as an attacker finds it: what is shown of every person, and what is true of them.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PseudonymizedColumn(Brief):
    """One column, person by person, without missing values."""

    name: str
    """The column."""
    shown: tuple[str, ...]
    """The code or alias of every person."""
    true: tuple[str, ...]
    """Their own value."""
    codes: bool
    """Whether numbers have codes, which keep order; else values have aliases."""

    @property
    def public(self) -> Mapping[str, float]:
        """How frequent every value is: what somebody with the best statistic knows."""
        return Counter(self.true)

    def without_release(self) -> PseudonymizedColumn:
        """The same people behind a column that shows everybody alike."""
        return replace(self, shown=("1",) * len(self.shown))


# Attacks on pseudonyms: known pairs where order is kept, frequencies where equal values stay equal.


Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPlaintext:
    """Somebody has a column whose numbers were replaced by others in the same order, and knows a few of the numbers.

    Graded grouping maps each category to an interval in a straight line. Two known pairs of a category give its line
    away, and everything between two known pairs lies between their numbers. The attacker draws lines between known
    pairs, and goes on with the first and the last line beyond them. It takes a few acquaintances in the table.

    The naive guesser knows the same few people, and says for everybody else the number that lies within the tolerance
    of most of them.
    Source: document 002, section 3.2 (what is attacked); for order-preserving encryption, Naveed, Kamara, Wright 2015.
    """

    name: ClassVar[str] = "known-plaintext"
    threat: ClassVar[str] = "attribute disclosure"

    known: int = 5
    """How many people's numbers the attacker knows."""
    tolerance: float = 0.02
    """A number is recovered within this share of the column's range."""
    trials: int = 2000
    """At most so many other people."""

    def __post_init__(self) -> None:
        at_least("known", self.known, 2)
        above("tolerance", self.tolerance, 0)
        at_least("trials", self.trials, 1)

    def fits(self, subject: PseudonymizedColumn) -> str:
        """It needs codes of more people than the attacker knows."""
        if not subject.codes:
            return "aliases keep no order"
        return "" if len(subject.true) > self.known else f"{len(subject.true)} values are too few"

    def run(self, subject: PseudonymizedColumn, chance: Chance, limit: Limit | None = None) -> Finding:
        """Recover a column of a release."""
        codes, true = (np.array(cells, np.float64) for cells in (subject.shown, subject.true))
        return self.against(codes, true, chance, limit)

    def against(
        self, pseudonyms: ArrayLike, originals: ArrayLike, chance: Chance, limit: Limit | None = None
    ) -> Finding:
        """Recover the originals of others from a random few."""
        codes, true = np.asarray(pseudonyms, np.float64), np.asarray(originals, np.float64)
        if codes.ndim != 1 or codes.shape != true.shape or len(true) <= self.known:
            raise ParameterError(f"pseudonyms must be one for each original, and more than known = {self.known}")
        order = chance.generator().permutation(len(true))
        pairs, others = order[: self.known], order[self.known :][: self.trials]
        within = self.tolerance * float(np.ptp(true)) + 1e-9
        error = abs(interpolated(codes[pairs], true[pairs], codes[others]) - true[others])
        naive = abs(_densest(true[pairs], within) - true[others])
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows=f"the numbers of {self.known} people in the table",
            does=f"recover the numbers of others within {self.tolerance:g} of the range",
            rate=Rate(hits=int((error <= within).sum()), trials=len(others)),
            naive=Rate(hits=int((naive <= within).sum()), trials=len(others)),
            limit=limit,
            figures={"largest_error": float(error.max()), "mean_error": float(error.mean()), "within": within},
        )


def interpolated(pseudonyms: Reals, numbers: Reals, wanted: Reals) -> Reals:
    """Straight lines through known pairs, and beyond them the first and the last line.

    >>> interpolated(np.array([1.0, 3.0]), np.array([15.0, 45.0]), np.array([2.0, 5.0])).tolist()
    [30.0, 75.0]
    """
    x, first = np.unique(pseudonyms, return_index=True)
    y = numbers[first]
    if len(x) == 1:
        return np.full(len(wanted), y[0])
    left = np.clip(np.searchsorted(x, wanted) - 1, 0, len(x) - 2)
    return np.asarray(y[left] + (wanted - x[left]) * (y[left + 1] - y[left]) / (x[left + 1] - x[left]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Frequencies:
    """Somebody has a column whose values have aliases, always the same ones, and knows how frequent values are.

    A mapping table hides names, not counts. The attacker sorts aliases and values by frequency and matches them rank by
    rank: the most frequent alias is the most frequent value. Aliases of known people are read off first. It takes a
    published statistic. The naive guesser knows the statistic too, and always says its most frequent value.

    Source: document 002, section 3.2 (mapping tables, what is attacked); Naveed, Kamara, Wright 2015.
    """

    name: ClassVar[str] = "frequency"
    threat: ClassVar[str] = "attribute disclosure"

    known: int = 0
    """How many people's values the attacker knows."""
    trials: int = 2000
    """At most so many people."""

    def __post_init__(self) -> None:
        at_least("known", self.known, 0)
        at_least("trials", self.trials, 1)

    def fits(self, subject: PseudonymizedColumn) -> str:
        """It needs aliases of more people than the attacker knows."""
        if subject.codes:
            return "codes keep order, and fall to known people"
        return "" if len(subject.true) > self.known else f"{len(subject.true)} values are too few"

    def run(self, subject: PseudonymizedColumn, chance: Chance, limit: Limit | None = None) -> Finding:
        """Read the aliases of a release, knowing the frequencies of its own table: the worst case."""
        return self.against(subject.shown, subject.true, subject.public, chance, limit)

    def against(
        self,
        aliases: Sequence[str],
        originals: Sequence[str],
        public: Mapping[str, float],
        chance: Chance,
        limit: Limit | None = None,
    ) -> Finding:
        """Match aliases with values of a public statistic, and count the rows that are recovered."""
        if len(aliases) != len(originals) or len(aliases) <= self.known or not public:
            raise ParameterError(
                f"aliases must be one for each original, more than known = {self.known}; public not empty"
            )
        names, first, code, counts = np.unique(
            np.asarray(aliases), return_index=True, return_inverse=True, return_counts=True
        )
        true = np.asarray(originals)
        order = chance.generator().permutation(len(true))
        pairs, others = order[: self.known], order[self.known :][: self.trials]
        fixed = {int(code[row]): str(true[row]) for row in pairs}
        matching = _Matching.of(counts, fixed, public)
        hits = matching.chances(code[others], true[others])
        top = max(public, key=lambda value: (public[value], value))
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="how frequent the values are" + (f", and {self.known} people's values" if self.known else ""),
            does="read aliases as the values behind them",
            rate=Rate(hits=float(hits.sum()), trials=len(others), failed=int(matching.unmatched[code[others]].sum())),
            naive=Rate(hits=int((true[others] == top).sum()), trials=len(others)),
            limit=limit,
            figures={
                "aliases": float(len(names)),
                "aliases_recovered": float(matching.chances(code[first], true[first]).mean()),
            },
            note="rows with one alias are right or wrong together: with few aliases the interval is too narrow",
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Matching:
    """Aliases and values by rank; equal ones share their ranks, and are matched by lot."""

    fixed: Mapping[int, str]
    """What is known of an alias."""
    alias: NDArray[np.int64]
    """For each alias, the first of its ranks and the end; empty where it is known."""
    value: Mapping[str, tuple[int, int]]
    """The same for each value that is not known to have an alias."""

    @classmethod
    def of(cls, counts: NDArray[np.int64], fixed: Mapping[int, str], public: Mapping[str, float]) -> _Matching:
        free = sorted(set(public) - set(fixed.values()))
        open_ones = np.array([at for at in range(len(counts)) if at not in fixed], np.int64)
        alias = np.zeros((len(counts), 2), np.int64)
        alias[open_ones] = _ranks(counts[open_ones].astype(np.float64))
        ranks = _ranks(np.array([public[value] for value in free], np.float64))
        value = {name: (int(low), int(high)) for name, (low, high) in zip(free, ranks, strict=True)}
        return cls(fixed=fixed, alias=alias, value=value)

    @property
    def unmatched(self) -> NDArray[np.bool_]:
        """Aliases for which no value is left."""
        known = np.isin(np.arange(len(self.alias)), list(self.fixed))
        return np.asarray((self.alias[:, 0] >= len(self.value)) & ~known)

    def chances(self, code: NDArray[np.int64], true: NDArray[Any]) -> Reals:
        """How likely each alias is read as the true value."""
        chances = np.zeros(len(code))
        for row, (at, value) in enumerate(zip(code.tolist(), true.tolist(), strict=True)):
            if at in self.fixed:
                chances[row] = self.fixed[at] == value
            elif value in self.value:
                (low, high), (start, end) = self.alias[at], self.value[value]
                chances[row] = max(min(high, end) - max(low, start), 0) / ((high - low) * (end - start))
        return chances


def _ranks(sizes: Reals) -> NDArray[np.int64]:
    """For each size how many are larger, and how many are as large or larger.

    >>> _ranks(np.array([5.0, 9.0, 5.0])).tolist()
    [[1, 3], [0, 1], [1, 3]]
    """
    order = np.sort(-sizes)
    low, high = np.searchsorted(order, -sizes), np.searchsorted(order, -sizes, side="right")
    return np.stack([low, high], axis=1).astype(np.int64)


def _densest(numbers: Reals, within: float) -> float:
    """The known number that has most others within reach."""
    return float(numbers[int((abs(numbers[:, None] - numbers) <= within).sum(axis=1).argmax())])
