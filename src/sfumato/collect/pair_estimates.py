"""How answers to two questions go together: as shown, and as estimated for the true ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, Protocol

import numpy as np

from sfumato.collect.channels import Evidence, evidence
from sfumato.collect.joint import reconstruct_joint
from sfumato.collect.kept_categories import KeptCategory
from sfumato.collect.noise_laws import NoiseLaw, Reals
from sfumato.collect.noisy_numbers import NoisyNumber
from sfumato.collect.pair_intervals import Drawing
from sfumato.collect.reconstruct import Stopping
from sfumato.collect.specification import Question

MOST_PAIRS = 60
"""So many pairs are told, in the order of the questions."""
_MOST_CELLS = 10_000
_ENDS = Stopping(rule="likelihood", limit=1e-7, rounds=500)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two questions."""

    questions: tuple[str, str]
    """Their names."""
    measure: Literal["correlation", "cramers-v"]
    """Pearson's r of two numbers, or Cramér's V of two categories."""
    shown: float | None
    """Of the shown answers; None where one of them never changes."""
    estimate: float | None
    """Of the true ones, estimated; None where they do not differ."""
    low: float | None
    """Where its interval begins."""
    high: float | None
    """Where it ends."""

    @property
    def figures(self) -> dict[str, float | None]:
        """All that is measured."""
        return {"shown": self.shown, "estimate": self.estimate, "low": self.low, "high": self.high}

    def to_json(self) -> dict[str, Any]:
        """As a manifest has it."""
        return {"questions": list(self.questions), "measure": self.measure, **self.figures}


class Reconstructing(Protocol):
    """How answers were reconstructed."""

    @property
    def confidence(self) -> float:
        """Of intervals."""

    def seen(self, question: Question, shown: Sequence[str]) -> Evidence:
        """The answers to a question in the cells of its distribution."""


def pairs_of(
    how: Reconstructing,
    questions: Sequence[Question],
    shown: Mapping[str, Sequence[str]],
    known: Mapping[str, tuple[float, int]],
) -> tuple[Pair, ...]:
    """All pairs of numbers, and all pairs of kept categories, up to as many as are told, with bootstrap intervals.

    ``known`` are the deviations of the estimated distributions of numbers, and after how many rounds they were found.
    Claim: in simulations an interval holds the true figure about as often as the confidence says; of Cramér's V near 0
        more often, because no V is negative and its interval begins there.
    """
    drawing = Drawing(confidence=how.confidence)
    numbers = [one for one in questions if isinstance(one, NoisyNumber)]
    found = _numbers(how, numbers, shown, known, drawing) if len(numbers) > 1 else []
    kept = [one for one in questions if isinstance(one, KeptCategory)]
    for one, other in combinations(kept, 2):
        if len(found) < MOST_PAIRS and len(one.values) * len(other.values) <= _MOST_CELLS:
            found.append(_categories(one, other, shown, drawing))
    return tuple(found[:MOST_PAIRS])


def noise_variance(question: NoisyNumber) -> float:
    """The variance of a question's noise, in units of its answers."""
    law = NoiseLaw.of(question)
    at = np.arange(-law.reach, law.reach + 1, dtype=np.float64)
    return float((law.mass * at**2).sum()) * float(question.step) ** 2


def _numbers(
    how: Reconstructing,
    questions: Sequence[NoisyNumber],
    shown: Mapping[str, Sequence[str]],
    known: Mapping[str, tuple[float, int]],
    drawing: Drawing,
) -> list[Pair]:
    """Correlations. Independent noise adds nothing to a covariance, so that of the true answers is the one shown.

    Their deviations are those of the estimated distributions. The difference of shown variance and noise would be
    unbiased, and useless where noise is ten times as large as what it hides: it is negative as often as not.
    Source: document 000, section 20.2; Fuller 1987 (attenuation).
    """
    seen = np.array([[float(one) for one in shown[question.name]] for question in questions])
    wide = np.atleast_2d(np.cov(seen)) if seen.shape[1] > 1 else np.zeros((len(seen), len(seen)))
    true = [known[one.name][0] ** 2 for one in questions]
    evidence_of = [how.seen(one, shown[one.name]) for one in questions]
    drawn = drawing.correlations(seen, evidence_of, [known[one.name][1] for one in questions])
    found = []
    for (i, one), (j, other) in combinations(enumerate(questions), 2):
        estimate = _correlation(wide[i, j], true[i], true[j])
        low, high = (None, None) if estimate is None else drawing.percentiles(drawn[:, i, j], estimate)
        found.append(
            Pair(
                questions=(one.name, other.name),
                measure="correlation",
                shown=_correlation(wide[i, j], wide[i, i], wide[j, j]),
                estimate=estimate,
                low=low,
                high=high,
            )
        )
    return found


def _correlation(both: float, one: float, other: float) -> float | None:
    return float(np.clip(both / np.sqrt(one * other), -1, 1)) if one > 0 and other > 0 else None


def _categories(one: KeptCategory, other: KeptCategory, shown: Mapping[str, Sequence[str]], drawing: Drawing) -> Pair:
    """Cramér's V of the table of shown answers, and of the joint distribution that EM finds behind it."""
    seen = [evidence(question, shown[question.name]) for question in (one, other)]
    sizes = len(one.values), len(other.values)
    counted = np.bincount(seen[0].codes * sizes[1] + seen[1].codes, minlength=sizes[0] * sizes[1])
    joint = reconstruct_joint(seen, stopping=_ENDS)
    table, estimate = counted.reshape(sizes) / seen[0].answers, cramers_v(joint.shares)
    low, high = (None, None) if estimate is None else drawing.association(seen, joint, estimate)
    return Pair(
        questions=(one.name, other.name),
        measure="cramers-v",
        shown=cramers_v(table),
        estimate=estimate,
        low=low,
        high=high,
    )


def cramers_v(shares: Reals) -> float | None:
    """Cramér's V of a table of shares: 0 if rows and columns are independent, 1 if one tells the other.

    >>> cramers_v(np.array([[0.5, 0.0], [0.0, 0.5]])), cramers_v(np.array([[0.25, 0.25], [0.25, 0.25]]))
    (1.0, 0.0)
    """
    held = shares[shares.sum(axis=1) > 0][:, shares.sum(axis=0) > 0]
    fewer = min(held.shape) - 1
    if fewer < 1:
        return None
    alone = held.sum(axis=1, keepdims=True) * held.sum(axis=0, keepdims=True)
    return float(min(np.sqrt(((held - alone) ** 2 / alone).sum() / fewer), 1.0))
