"""Randomized answers as evidence: noise laws, channel matrices, simulated answers for studies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sfumato.collection.local_epsilon import decimal
from sfumato.collection.mechanisms import KeptCategory, NoisyNumber, UnaryBits
from sfumato.collection.specification import Question
from sfumato.core.arguments import at_least
from sfumato.core.errors import DataError, ParameterError
from sfumato.core.randomness import Chance
from sfumato.core.short_repr import Brief

# The laws of the noise on numbers, for whoever reconstructs: probabilities on the grid, and densities.


Reals = NDArray[np.float64]
Whole = NDArray[np.int64]
_FAR = {"laplace": 40.0, "gaussian": 9.0}
"""Noise further out, in scales or deviations, has a probability below 1e-17."""
_SEEN = {"laplace": 14.0, "gaussian": 4.8}
"""Noise further out has a probability below 2e-6: it is counted with the last cell."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoiseLaw:
    """Noise as a whole number of steps: ``mass[reach + y]`` is the probability of y."""

    reach: int
    """The largest number of steps that has a probability worth counting."""
    mass: Reals
    """Probabilities, which add up to 1."""

    @classmethod
    def of(cls, question: NoisyNumber) -> NoiseLaw:
        """The law of a question's noise."""
        spread = float(question.spread)
        reach = int(spread) if question.law == "uniform" else int(_FAR[question.law] * spread) + 1
        at = np.abs(np.arange(-reach, reach + 1, dtype=np.float64))
        if question.law == "uniform":
            mass = np.ones(len(at))
        else:
            mass = np.exp(-at / spread if question.law == "laplace" else -(at**2) / (2 * spread**2))
        return cls(reach=reach, mass=mass / mass.sum())

    def seen(self, question: NoisyNumber) -> int:
        """How many steps outside the range are told apart."""
        if question.law == "uniform":
            return self.reach
        return min(int(_SEEN[question.law] * float(question.spread)) + 1, self.reach)

    def summed(self, ends: Whole, first: Whole, last: Whole) -> Reals:
        """Ends x cells: the mean over a cell's codes, first to last - 1, of the chance to be shown below an end."""
        below = np.concatenate([[0.0], np.cumsum(np.concatenate([[0.0], np.cumsum(self.mass)]))])

        def area(at: Whole) -> Reals:
            """The sum of P(Y < t) over all t up to this one."""
            place = at + self.reach + 1
            inside = below[np.clip(place, 0, len(below) - 1)]
            return np.asarray(inside + np.maximum(place - (len(below) - 1), 0))

        sums = area(ends[:, None] - first[None, :]) - area(ends[:, None] - last[None, :])
        return np.asarray(sums / (last - first)[None, :])


def density(question: NoisyNumber, apart: Reals) -> Reals:
    """The density of the continuous law at distances in steps."""
    spread = float(question.spread)
    if question.law == "uniform":
        return np.where(np.abs(apart) <= spread + 0.5, 1 / (2 * spread + 1), 0.0)
    if question.law == "laplace":
        return np.asarray(np.exp(-np.abs(apart) / spread) / (2 * spread))
    return np.asarray(np.exp(-((apart / spread) ** 2) / 2) / (spread * np.sqrt(2 * np.pi)))


# Shown answers as evidence: which outcome each is, and how likely every cell of the original makes each outcome.


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


def evidence(question: Question, answers: Shown, *, cells: int | None = None) -> Evidence:
    """The answers to a question, read as it wrote them; numbers fall into so many cells of equal width."""
    if len(answers) == 0:
        raise DataError(f"question {question.name!r}: there are no answers; at least one is needed")
    if isinstance(question, NoisyNumber):
        channel = number_channel(question, cells)
        bins = np.zeros(0, np.int64) if channel.bins is None else channel.bins
        return Evidence(channel=channel, codes=np.searchsorted(bins, _steps(question, answers), side="right"))
    if cells is not None:
        raise ParameterError(f"question {question.name!r}: cells are for numbers; its answers are {question.kind}")
    if isinstance(question, KeptCategory):
        return Evidence(channel=category_channel(question), codes=_places(question, answers))
    if question.kind == "items":
        raise ParameterError(f"question {question.name!r}: sets have no distribution of single values; see baskets")
    return _unary(question, bit_rows(question, answers))


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


def bit_rows(question: UnaryBits, answers: Shown) -> NDArray[np.bool_]:
    """Answers x values: the shown bits."""
    if isinstance(answers, np.ndarray):
        answers = answers.astype(np.bool_)
        if answers.ndim != 2 or answers.shape[1] != len(question.values):
            raise DataError(f"question {question.name!r}: bits must have {len(question.values)} columns")
        return answers
    known = {text: question.read(str(text)) for text in set(answers)}
    return np.array([known[text] for text in answers], np.bool_).reshape(len(answers), len(question.values))


def _places(question: KeptCategory, answers: Shown) -> Whole:
    known = {text: question.read(str(text)) for text in set(answers)}
    return np.fromiter((known[text] for text in answers), np.int64, len(answers))


def _steps(question: NoisyNumber, answers: Shown) -> Whole:
    """The step of every shown number; one that the question cannot have shown is refused."""
    given = np.asarray(answers)
    if given.dtype.kind not in "fiu":
        known = {text: question.read(str(text)) for text in set(answers)}
        return np.fromiter((known[text] for text in answers), np.int64, len(answers))
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


# Simulated collections for studies: the declared laws by NumPy from a seed. Never for answers of people.


def shown_numbers(question: NoisyNumber, true: Reals, chance: Chance) -> Reals:
    """What a question would show of these numbers, which are rounded to its grid; its chance must be its own.

    Numbers that were drawn from the same seed would go with their noise.
    """
    rng, law = chance.generator(), NoiseLaw.of(question)
    low, step = float(question.low), float(question.step)
    codes = np.clip(np.rint((np.asarray(true) - low) / step), 0, question.steps)
    drawn = np.searchsorted(np.cumsum(law.mass)[:-1], rng.random(len(codes)), side="right") - law.reach
    return np.asarray(low + step * (codes + drawn))


def shown_codes(question: KeptCategory, true: Whole, chance: Chance) -> Whole:
    """What a question would show of these answers, by their places."""
    rng, many = chance.generator(), len(question.values)
    other = rng.integers(0, many - 1, len(true))
    other += other >= true
    return np.where(rng.random(len(true)) < float(question.keep), true, other)


def shown_bits(question: UnaryBits, true: NDArray[np.bool_], chance: Chance) -> NDArray[np.bool_]:
    """What a question would show of these rows of bits, in one report."""
    keep, flip = map(float, question.shown)
    return np.asarray(chance.generator().random(true.shape) < np.where(true, keep, flip))
