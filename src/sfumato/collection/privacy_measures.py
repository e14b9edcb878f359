"""What each way to randomize gives: interval widths, mutual information, local epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from sfumato.collection.channels import Reals, category_channel, number_channel
from sfumato.collection.local_epsilon import LocalEpsilon
from sfumato.collection.mechanisms import KeptCategory, NoisyNumber
from sfumato.collection.specification import Question
from sfumato.core.errors import ParameterError
from sfumato.core.special import binomial_chances

CONFIDENCES = (0.5, 0.95, 0.999)
"""Those of Agrawal and Srikant."""
_LISTED = 12
"""So many bits have few enough patterns to list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyGiven:
    """The privacy that one question gives to whoever answers it."""

    name: str
    """The question."""
    kind: str
    """How it is randomized."""
    epsilon: LocalEpsilon | None
    """What is promised whatever others know; None where nothing is."""
    widths: dict[float, float]
    """Of numbers: by confidence, how wide an interval must be."""
    shares: dict[float, float]
    """The same as shares of the range: 1 is what the literature calls 100 % privacy."""
    information: float
    """Bits that a shown answer tells about the true one, on average, where nothing is known before."""
    entropy: float
    """Bits that there are to tell."""

    @property
    def loss(self) -> float:
        """The share of privacy that is lost: 1 - 2^-information (Agrawal and Aggarwal 2001)."""
        return 1 - float(2.0**-self.information)

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        promised = None if self.epsilon is None else {"exact": str(self.epsilon), "about": float(self.epsilon)}
        widths = {f"{c:g}": {"width": w, "of_range": self.shares[c]} for c, w in self.widths.items()}
        figures = {"information_bits": self.information, "entropy_bits": self.entropy, "loss": self.loss}
        return {"question": self.name, "kind": self.kind, "epsilon": promised, "widths": widths, **figures}


def privacy_given(question: Question, confidences: Sequence[float] = CONFIDENCES) -> PrivacyGiven:
    """The privacy of a question, for answers of which nothing is known: all equally likely."""
    widths = {c: question.width(c) for c in confidences} if isinstance(question, NoisyNumber) else {}
    span = float(question.high - question.low) if isinstance(question, NoisyNumber) else 1.0
    information, entropy = _information(question)
    return PrivacyGiven(
        name=question.name,
        kind=question.kind,
        epsilon=question.epsilon,
        widths=widths,
        shares={c: w / span for c, w in widths.items()},
        information=information,
        entropy=entropy,
    )


def mutual_information(matrix: Reals, prior: Reals) -> float:
    """Bits that an outcome tells about the cell; ``matrix`` is outcomes x cells.

    >>> round(mutual_information(np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([0.5, 0.5])), 4)
    0.1887
    """
    if matrix.shape[1] != len(prior) or abs(float(prior.sum()) - 1) > 1e-9 or bool((prior < 0).any()):
        raise ParameterError("prior must be probabilities that add up to 1, one for each cell")
    joint = matrix * prior
    both = joint.sum(axis=1, keepdims=True) * prior
    held = joint > 0
    return float((joint[held] * np.log2(joint[held] / both[held])).sum())


def _information(question: Question) -> tuple[float, float]:
    if isinstance(question, NoisyNumber):
        matrix = number_channel(question).matrix
    elif isinstance(question, KeptCategory):
        matrix = category_channel(question).matrix
    else:
        keep, flip = map(float, question.shown)
        bit = np.array([[keep, flip], [1 - keep, 1 - flip]])
        if question.kind == "items":
            each = mutual_information(bit, np.array([0.5, 0.5]))
            return each * len(question.values), float(len(question.values))
        return _of_bits(len(question.values), keep, flip), float(np.log2(len(question.values)))
    many = matrix.shape[1]
    return mutual_information(matrix, np.full(many, 1 / many)), float(np.log2(many))


def _of_bits(many: int, keep: float, flip: float) -> float:
    """Of one value among so many, told by as many bits: by the number of ones where there are too many patterns."""
    if many <= _LISTED:
        rows = np.array(list(product([True, False], repeat=many)))
        chance = np.where(rows, flip, 1 - flip).prod(axis=1, keepdims=True)
        return mutual_information(
            chance * np.where(rows, keep / flip, (1 - keep) / (1 - flip)), np.full(many, 1 / many)
        )
    return _by_ones(many, keep, flip)


def _by_ones(many: int, keep: float, flip: float) -> float:
    """All values are alike, so the posterior depends on the number of ones alone."""
    ones = np.arange(many)  # among the other bits
    weight = binomial_chances(many - 1, flip)
    one, zero = keep / flip, (1 - keep) / (1 - flip)
    information = 0.0
    for bit, chance, mine in ((1, keep, one), (0, 1 - keep, zero)):
        total = (ones + bit) * one + (many - ones - bit) * zero
        information += chance * float((weight * np.log2(many * mine / total)).sum())
    return information
