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
        told = {key: np.round(each, _DIGITS).tolist() for key, each in columns.items()}
        head = {"question": self.name, "method": self.method, "rounds": self.rounds, "cells": list(self.labels)}
        return {**head, **told, "outside": [round(each, _DIGITS) for each in self.outside]}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Estimates(Brief):
    """All that is estimated."""

    questions: tuple[Estimate, ...]
    """In the order of the specification."""
    pairs: tuple[Pair, ...]
    """Two numbers, or two categories, each."""

    def to_json(self) -> dict[str, Any]:
        """As a manifest has it."""
        told = ({**one.to_json(), **{key: _told(value) for key, value in one.figures.items()}} for one in self.pairs)
        return {"questions": [one.to_json() for one in self.questions], "pairs": list(told)}


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

    def __call__(self, spec: Specification, shown: Mapping[str, Sequence[str]]) -> Estimates:
        """From the shown answers to every question, as texts."""
        from sfumato.collection.joint_distribution import pairs_of

        refuse_long(spec)
        found = tuple(self._estimate(one, shown[one.name]) for one in spec.questions)
        known = {one.name: (one.deviation, one.rounds) for one in found}
        return Estimates(questions=found, pairs=pairs_of(self, spec.questions, shown, known))

    def seen(self, question: Question, shown: Sequence[str]) -> Evidence:
        """The answers to a question that has a distribution, in these cells."""
        cells = min(self.cells, question.steps + 1) if isinstance(question, NoisyNumber) else None
        return evidence(question, shown, cells=cells)

    def _estimate(self, question: Question, shown: Sequence[str]) -> Estimate:
        if isinstance(question, UnaryBits) and question.kind == "items":
            return self._items(question, shown)
        from sfumato.collection.reconstruction import with_intervals

        seen = self.seen(question, shown)
        found = with_intervals(seen, confidence=self.confidence, chance=_DRAWS)
        received, outside = _received(question, seen, shown)
        low, high = (found.shares if end is None else end for end in (found.low, found.high))
        return Estimate(
            name=question.name,
            method="em",
            rounds=found.rounds,
            labels=found.labels,
            shown=received,
            shares=found.shares,
            low=low,
            high=high,
            outside=outside,
            deviation=float(deviation(found.shares, seen.channel.edges)),
        )

    def _items(self, question: UnaryBits, shown: Sequence[str]) -> Estimate:
        """The share of baskets that hold each item, without bias but for the cut to [0, 1]; normal intervals."""
        from sfumato.collection.baskets import Baskets

        baskets, wide = Baskets(question, shown), NormalDist().inv_cdf((1 + self.confidence) / 2)
        found = [baskets.support((one,)) for one in question.values]
        shares, errors = np.array([one.share for one in found]), np.array([one.error for one in found])
        return Estimate(
            name=question.name,
            method="inversion",
            rounds=0,
            labels=question.values,
            shown=bit_rows(question, shown).mean(axis=0),
            shares=np.clip(shares, 0, 1),
            low=np.clip(shares - wide * errors, 0, 1),
            high=np.clip(shares + wide * errors, 0, 1),
        )


def refuse_long(spec: Specification) -> None:
    """Refuse questions with more answers than a distribution is published for."""
    for one in spec.questions:
        if not isinstance(one, NoisyNumber) and len(one.values) > MOST_CELLS:
            raise PlanError(
                f"question {one.name!r} has {len(one.values):,} answers; a bundle shows at most {MOST_CELLS:,}, so "
                "group them before anybody is asked"
            )


def _received(question: Question, seen: Evidence, shown: Sequence[str]) -> tuple[Reals, tuple[float, float]]:
    """The shares that show each cell, and of numbers those that show none."""
    if isinstance(question, UnaryBits):
        return bit_rows(question, shown).mean(axis=0), (0.0, 0.0)
    if not isinstance(question, NoisyNumber) or seen.channel.edges is None:
        return seen.counts / seen.answers, (0.0, 0.0)
    values = np.array([float(one) for one in shown])
    half = float(question.step) / 2
    ends = float(question.low) - half, float(question.high) + half
    inside = values[(values > ends[0]) & (values < ends[1])]
    cell = np.searchsorted(seen.channel.edges[1:-1], inside, side="right")
    shares = np.bincount(cell, minlength=seen.channel.cells) / len(values)
    return shares, (float((values < ends[0]).mean()), float((values > ends[1]).mean()))


def _told(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
