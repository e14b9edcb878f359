"""What is published of a collection beside its answers: what was shown, what is estimated, intervals, pairs.

Everything is a function of the shown answers and the specification, so that whoever has both computes it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.collection.channels import Evidence, Reals, bit_rows, evidence
from sfumato.collection.mechanisms import NoisyNumber, UnaryBits
from sfumato.collection.reconstruction import deviation
from sfumato.collection.specification import Question, Specification
from sfumato.core.arguments import at_least, between
from sfumato.core.errors import ParameterError, PlanError
from sfumato.core.randomness import Chance
from sfumato.core.short_repr import Brief

if TYPE_CHECKING:
    from sfumato.collection.joint_distribution import Pair

MOST_CELLS = 1_000
"""A published distribution may have so many cells."""
_DRAWS = Chance(seed=0)
"""Of the bootstrap: it draws from published answers, and whoever draws again must draw the same."""
_DIGITS = 6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Estimate(Brief):
    """The answers to one question: what was shown, and what is estimated."""

    name: str
    """The question."""
    method: str
    """How: em, or inversion for the items of sets."""
    rounds: int
    """Of the iteration."""
    labels: tuple[str, ...]
    """The cells of the true answers."""
    shown: Reals
    """The share of answers that show each cell; of bits, that show a one."""
    shares: Reals
    """The estimated share of people in each cell."""
    low: Reals
    """Where the interval of each share begins."""
    high: Reals
    """Where it ends."""
    outside: tuple[float, float] = (0.0, 0.0)
    """Of numbers: the shares of answers that noise took below the range, and above it."""
    deviation: float = 0.0
    """Of numbers: the standard deviation of the estimated distribution."""

    def to_json(self) -> dict[str, Any]:
        """As a manifest has it: to six digits behind the point."""
        columns = {"shown": self.shown, "share": self.shares, "low": self.low, "high": self.high}
        figures = {key: np.round(each, _DIGITS).tolist() for key, each in columns.items()}
        head = {"question": self.name, "method": self.method, "rounds": self.rounds, "cells": list(self.labels)}
        return {**head, **figures, "outside": [round(each, _DIGITS) for each in self.outside]}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Estimates(Brief):
    """All that is estimated."""

    questions: tuple[Estimate, ...]
    """In the order of the specification."""
    pairs: tuple[Pair, ...]
    """Two numbers, or two categories, each."""

    def to_json(self) -> dict[str, Any]:
        """As a manifest has it."""
        pairs = (
            {**pair.to_json(), **{key: _told(value) for key, value in pair.figures.items()}} for pair in self.pairs
        )
        return {"questions": [estimate.to_json() for estimate in self.questions], "pairs": list(pairs)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconstruction:
    """Estimates the distribution of true answers to every question, with intervals, and how pairs go together.

    Claim: the same answers and the same specification give the same estimates.
    Source: document 000, section 20.2; Agrawal and Aggarwal 2001 (EM); Efron 1979 (intervals).
    """

    cells: int = 10
    """Into how many cells of equal width ranges of numbers are divided, at most."""
    confidence: float = 0.95
    """Of the intervals."""

    def __post_init__(self) -> None:
        at_least("cells", self.cells, 2)
        between("confidence", self.confidence, 0.0, 1.0, open_low=True)
        if self.cells > MOST_CELLS or self.confidence == 1:
            raise ParameterError(
                f"cells must be at most {MOST_CELLS:,} and confidence below 1, not {self.cells} and {self.confidence}"
            )

    def __call__(self, spec: Specification, answers: Mapping[str, Sequence[str]]) -> Estimates:
        """From the shown answers to every question, as texts."""
        from sfumato.collection.joint_distribution import pairs_of

        refuse_long(spec)
        estimates = tuple(self._estimate(question, answers[question.name]) for question in spec.questions)
        known = {estimate.name: (estimate.deviation, estimate.rounds) for estimate in estimates}
        return Estimates(questions=estimates, pairs=pairs_of(self, spec.questions, answers, known))

    def seen(self, question: Question, answers: Sequence[str]) -> Evidence:
        """The answers to a question that has a distribution, in these cells."""
        cells = min(self.cells, question.steps + 1) if isinstance(question, NoisyNumber) else None
        return evidence(question, answers, cells=cells)

    def _estimate(self, question: Question, answers: Sequence[str]) -> Estimate:
        if isinstance(question, UnaryBits) and question.kind == "items":
            return self._items(question, answers)
        from sfumato.collection.reconstruction import with_intervals

        seen = self.seen(question, answers)
        distribution = with_intervals(seen, confidence=self.confidence, chance=_DRAWS)
        received, outside = _received(question, seen, answers)
        low, high = (distribution.shares if end is None else end for end in (distribution.low, distribution.high))
        return Estimate(
            name=question.name,
            method="em",
            rounds=distribution.rounds,
            labels=distribution.labels,
            shown=received,
            shares=distribution.shares,
            low=low,
            high=high,
            outside=outside,
            deviation=float(deviation(distribution.shares, seen.channel.edges)),
        )

    def _items(self, question: UnaryBits, answers: Sequence[str]) -> Estimate:
        """The share of baskets that hold each item, without bias but for the cut to [0, 1]; normal intervals."""
        from sfumato.collection.baskets import Baskets

        baskets, wide = Baskets(question, answers), NormalDist().inv_cdf((1 + self.confidence) / 2)
        supports = [baskets.support((value,)) for value in question.values]
        shares, errors = (
            np.array([support.share for support in supports]),
            np.array([support.error for support in supports]),
        )
        return Estimate(
            name=question.name,
            method="inversion",
            rounds=0,
            labels=question.values,
            shown=bit_rows(question, answers).mean(axis=0),
            shares=np.clip(shares, 0, 1),
            low=np.clip(shares - wide * errors, 0, 1),
            high=np.clip(shares + wide * errors, 0, 1),
        )


def refuse_long(spec: Specification) -> None:
    """Refuse questions with more answers than a distribution is published for."""
    for question in spec.questions:
        if not isinstance(question, NoisyNumber) and len(question.values) > MOST_CELLS:
            raise PlanError(
                f"question {question.name!r} has {len(question.values):,} answers; a bundle shows at most "
                f"{MOST_CELLS:,}, so "
                "group them before anybody is asked"
            )


def _received(question: Question, seen: Evidence, answers: Sequence[str]) -> tuple[Reals, tuple[float, float]]:
    """The shares that show each cell, and of numbers those that show none."""
    if isinstance(question, UnaryBits):
        return bit_rows(question, answers).mean(axis=0), (0.0, 0.0)
    if not isinstance(question, NoisyNumber) or seen.channel.edges is None:
        return seen.counts / seen.answers, (0.0, 0.0)
    values = np.array([float(answer) for answer in answers])
    half = float(question.step) / 2
    ends = float(question.low) - half, float(question.high) + half
    inside = values[(values > ends[0]) & (values < ends[1])]
    cell = np.searchsorted(seen.channel.edges[1:-1], inside, side="right")
    shares = np.bincount(cell, minlength=seen.channel.cells) / len(values)
    return shares, (float((values < ends[0]).mean()), float((values > ends[1]).mean()))


def _told(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
