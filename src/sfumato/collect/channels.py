"""Shown answers as evidence: which outcome each is, and how likely every cell of the original makes each outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sfumato.collect.amounts_of_privacy import decimal
from sfumato.collect.kept_categories import KeptCategory
from sfumato.collect.noise_laws import NoiseLaw, Reals, Whole, density
from sfumato.collect.noisy_numbers import NoisyNumber
from sfumato.collect.specification import Question
from sfumato.collect.unary_bits import UnaryBits
from sfumato.ground.arguments import at_least
from sfumato.ground.brief import Brief
from sfumato.ground.errors import DataError, ParameterError

Shown = Sequence[str] | Reals | NDArray[np.bool_]
"""Answers as texts, as numbers, or as rows of bits."""
CELLS = 100
"""A range is divided into so many cells where nothing is said."""
_OFF = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bits:
    """Unary outcomes."""

    rows: NDArray[np.bool_]
    """Outcomes x values."""
    keep: float
    """How often the bit of the true value is shown as 1."""
    flip: float
    """How often another bit is."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Channel(Brief):
    """How an original cell becomes an outcome."""

    name: str
    """The column."""
    labels: tuple[str, ...]
    """The cells of the original."""
    matrix: Reals
    """Outcomes x cells: probabilities; of unary answers up to a factor for each outcome, which cancels."""
    densities: Reals | None = None
    """The same by densities at midpoints, as in section 20.2.1; for numbers."""
    edges: Reals | None = None
    """Of numbers: where the cells begin, and where the last one ends."""
    bins: Whole | None = None
    """Of numbers: the first step of every outcome but the first."""
    bits: Bits | None = None
    """Of unary answers: the outcomes."""

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return len(self.labels)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Evidence(Brief):
    """The shown answers to one question."""

    channel: Channel
    """How they came about."""
    codes: Whole
    """The outcome of every answer."""

    @property
    def counts(self) -> Reals:
        """Answers per outcome."""
        return np.bincount(self.codes, minlength=len(self.channel.matrix)).astype(np.float64)

    @property
    def answers(self) -> int:
        """How many there are."""
        return len(self.codes)

    def take(self, some: NDArray[np.bool_] | Whole) -> Evidence:
        """Some of the answers."""
        return Evidence(channel=self.channel, codes=self.codes[some])


def exact(name: str, values: Sequence[str], codes: Whole) -> Evidence:
    """A column that was not randomized, such as a class."""
    channel = Channel(name=name, labels=tuple(values), matrix=np.eye(len(values)))
    return Evidence(channel=channel, codes=np.asarray(codes, np.int64))


def evidence(question: Question, shown: Shown, *, cells: int | None = None) -> Evidence:
    """The answers to a question, read as it wrote them; numbers fall into so many cells of equal width."""
    if len(shown) == 0:
        raise DataError(f"question {question.name!r}: there are no answers; at least one is needed")
    if isinstance(question, NoisyNumber):
        channel = number_channel(question, cells)
        bins = np.zeros(0, np.int64) if channel.bins is None else channel.bins
        return Evidence(channel=channel, codes=np.searchsorted(bins, _steps(question, shown), side="right"))
    if cells is not None:
        raise ParameterError(f"question {question.name!r}: cells are for numbers; its answers are {question.kind}")
    if isinstance(question, KeptCategory):
        return Evidence(channel=category_channel(question), codes=_places(question, shown))
    if question.kind == "items":
        raise ParameterError(f"question {question.name!r}: sets have no distribution of single values; see baskets")
    return _unary(question, bit_rows(question, shown))


@lru_cache(maxsize=64)
def number_channel(question: NoisyNumber, cells: int | None = None) -> Channel:
    """Exact probabilities of cells of shown values, given a cell of original ones in which all values are alike."""
    codes = question.steps + 1
    many = min(CELLS, codes) if cells is None else cells
    at_least("cells", many, 2)
    if many > codes:
        raise ParameterError(
            f"question {question.name!r}: cells must be at most {codes}, one for every step of its range, not {many}"
        )
    law = NoiseLaw.of(question)
    outside = -(-law.seen(question) * many // codes)
    bounds = np.floor_divide(np.arange(-outside, many + outside + 1, dtype=np.int64) * codes, many)
    first, last = bounds[outside:-outside][:-1], bounds[outside:-outside][1:]
    below = law.summed(bounds[1:-1], first, last)
    matrix = np.diff(np.vstack([np.zeros(many), below, np.ones(many)]), axis=0)
    middle = (bounds[1:] + bounds[:-1] - 1) / 2
    densities = density(question, middle[:, None] - middle[None, outside:-outside])
    low, step = float(question.low), float(question.step)
    edges = low + step * (np.append(first, codes) - 0.5)
    edges[0], edges[-1] = low, float(question.high)
    return Channel(
        name=question.name,
        labels=_labels(question, first, last),
        matrix=np.clip(matrix, 0.0, None),
        densities=densities,
        edges=edges,
        bins=bounds[1:-1],
    )


def _labels(question: NoisyNumber, first: Whole, last: Whole) -> tuple[str, ...]:
    ends = [(decimal(question.low + a * question.step), b) for a, b in zip(first.tolist(), last.tolist(), strict=True)]
    return tuple(
        text if a + 1 == b else f"{text} to {decimal(question.low + (b - 1) * question.step)}"
        for (text, b), a in zip(ends, first.tolist(), strict=True)
    )


def category_channel(question: KeptCategory) -> Channel:
    """The matrix of randomized response."""
    many, keep, other = len(question.values), float(question.keep), float(question.other)
    matrix = np.full((many, many), other) + (keep - other) * np.eye(many)
    return Channel(name=question.name, labels=question.values, matrix=matrix)


def _unary(question: UnaryBits, bits: NDArray[np.bool_]) -> Evidence:
    """Outcomes are the distinct rows of bits; one bit tells for or against its value."""
    rows, codes = np.unique(bits, axis=0, return_inverse=True)
    keep, flip = map(float, question.shown)
    matrix = np.where(rows, keep / flip, (1 - keep) / (1 - flip))
    bits_of = Bits(rows=rows, keep=keep, flip=flip)
    channel = Channel(name=question.name, labels=question.values, matrix=matrix, bits=bits_of)
    return Evidence(channel=channel, codes=np.asarray(codes, np.int64).reshape(-1))


def bit_rows(question: UnaryBits, shown: Shown) -> NDArray[np.bool_]:
    """Answers x values: the shown bits."""
    if isinstance(shown, np.ndarray):
        shown = shown.astype(np.bool_)
        if shown.ndim != 2 or shown.shape[1] != len(question.values):
            raise DataError(f"question {question.name!r}: bits must have {len(question.values)} columns")
        return shown
    known = {text: question.read(str(text)) for text in set(shown)}
    return np.array([known[text] for text in shown], np.bool_).reshape(len(shown), len(question.values))


def _places(question: KeptCategory, shown: Shown) -> Whole:
    known = {text: question.read(str(text)) for text in set(shown)}
    return np.fromiter((known[text] for text in shown), np.int64, len(shown))


def _steps(question: NoisyNumber, shown: Shown) -> Whole:
    """The step of every shown number; one that the question cannot have shown is refused."""
    given = np.asarray(shown)
    if given.dtype.kind not in "fiu":
        known = {text: question.read(str(text)) for text in set(shown)}
        return np.fromiter((known[text] for text in shown), np.int64, len(shown))
    at = (given.astype(np.float64) - float(question.low)) / float(question.step)
    bad = ~np.isfinite(at) | (np.abs(at - np.rint(at)) > _OFF * np.maximum(1.0, np.abs(at)))
    if question.law == "uniform":
        bad |= (at < -float(question.spread) - _OFF) | (at > question.steps + float(question.spread) + _OFF)
    if bad.any():
        place = int(np.argmax(bad))
        raise DataError(
            f"question {question.name!r}, row {place + 1}: {given[place]} was not shown by it; it shows "
            f"{decimal(question.low)} plus a multiple of {decimal(question.step)}"
        )
    return np.asarray(np.rint(at), np.int64)
