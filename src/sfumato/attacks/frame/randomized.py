"""Randomized answers as an attacker finds them: what was shown, how it was randomized, and what is estimated."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.brief import Brief

Reals = NDArray[np.float64]
Whole = NDArray[np.int64]
_ENDLESS = 1e6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class NoisyColumns(Brief):
    """Numbers with noise of a known size."""

    names: tuple[str, ...]
    """The questions."""
    shown: Reals
    """Rows x questions."""
    deviation: Reals
    """Of the noise, by question."""
    spread: Reals
    """The estimated deviation of the true answers, by question."""
    span: Reals
    """How wide the declared range of each question is."""
    true: Reals | None = None
    """The true answers, row by row, where a study has them."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Coin(Brief):
    """How one answer, or one bit of an answer, was randomized, and what it showed."""

    chances: Reals
    """Outcomes x answers: how likely each answer shows each outcome, up to a factor for each outcome."""
    shares: Reals
    """The estimated share of people with each answer."""
    codes: Whole
    """The outcome of every row."""
    true: Whole | None = None
    """The place of every row's true answer, where a study has it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CoinedQuestion(Brief):
    """A question with declared answers."""

    name: str
    """Its name."""
    coins: tuple[Coin, ...]
    """One; of a set, one for each item."""
    epsilon: float
    """What is promised of each of them."""
    promise: str
    """The same, exactly."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RandomizedAnswers(Brief):
    """A collection: everything in it is public but the true answers."""

    rows: int
    """How many people answered."""
    numbers: NoisyColumns | None
    """The questions about numbers, if there are any."""
    questions: tuple[CoinedQuestion, ...]
    """The others."""

    def without_release(self) -> RandomizedAnswers:
        """The same people behind answers that show nothing: coins that fall alike for all, and noise without end."""
        questions = tuple(
            replace(one, coins=tuple(replace(coin, chances=np.ones_like(coin.chances)) for coin in one.coins))
            for one in self.questions
        )
        numbers = self.numbers
        if numbers is not None:
            flat = np.broadcast_to(numbers.shown.mean(axis=0), numbers.shown.shape)
            numbers = replace(numbers, shown=flat, deviation=numbers.deviation * _ENDLESS)
        return replace(self, numbers=numbers, questions=questions)
