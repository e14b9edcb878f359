"""Randomized answers as an attacker sees them, and the Bayes guess of the true answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.finding import SURE, Finding, Limit, Rate
from sfumato.core.arguments import at_least
from sfumato.core.randomness import Chance
from sfumato.core.short_repr import Brief

# Randomized answers as an attacker finds them: what was shown, how it was randomized, and what is estimated.


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
            replace(question, coins=tuple(replace(coin, chances=np.ones_like(coin.chances)) for coin in question.coins))
            for question in self.questions
        )
        numbers = self.numbers
        if numbers is not None:
            flat = np.broadcast_to(numbers.shown.mean(axis=0), numbers.shown.shape)
            numbers = replace(numbers, shown=flat, deviation=numbers.deviation * _ENDLESS)
        return replace(self, numbers=numbers, questions=questions)


# Guessing a true answer from the shown one: by Bayes' rule, with the coin and the estimated shares.


_OFTEN = 20
"""From so many known people on an outcome tells by itself what goes with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BayesGuess:
    """They have all shown answers and the specification, and want somebody's true answer to one question.

    What everybody's answers say together tells how frequent each answer is; the coin tells how likely each shows what
    this person shows. They guess the answer for which the product is largest, and no guess is right more often. How
    often it is right on average follows from the same figures: for every person the chance of the guess is known. With
    the true answers, in a study, who knows half of them guesses the others, and is counted.

    The naive guesser always says the most frequent answer. A local epsilon bounds everybody: an answer of share p has a
    chance of at most p e^epsilon / (p e^epsilon + 1 - p), whatever is shown.
    Source: Warner 1965; Evfimievski, Gehrke and Srikant 2003 (bounds on what a shown answer tells).
    """

    name: ClassVar[str] = "bayes-guess"
    threat: ClassVar[str] = "attribute disclosure"

    question: str = ""
    """The question; the first where none is named."""
    trials: int = 1000
    """Of a study: at most so many people are guessed."""

    def __post_init__(self) -> None:
        at_least("trials", self.trials, 1)

    def fits(self, subject: RandomizedAnswers) -> str:
        """Why it cannot be made; empty if it can."""
        return "" if subject.questions else "every question is about numbers"

    def run(self, subject: RandomizedAnswers, chance: Chance, limit: Limit | None = None) -> Finding:
        """How often the guess is right on average, under the estimated shares."""
        question = self._question(subject)
        sure = np.array([surest(coin) for coin in question.coins])
        plain = np.array([coin.shares.max() for coin in question.coins])
        trials = sure.size
        return self._finding(
            question,
            rate=Rate(hits=float(sure.sum()), trials=trials, confidence=SURE),
            naive=Rate(hits=float(plain.mean()) * trials, trials=trials, exact=True),
            limit=limit or promised(question, [coin.shares for coin in question.coins]),
            worst=float(sure.max()),
            note="expected under the estimated distribution",
        )

    def measured(self, subject: RandomizedAnswers, chance: Chance, limit: Limit | None = None) -> Finding | None:
        """How often who knows half of the true answers is right about the others; None where nobody has them.

        They need not believe in the coin: where every outcome was seen often enough, they guess what went with it.
        People who showed something else than the coin says are found so.
        """
        question = self._question(subject)
        order = chance.generator().permutation(subject.rows)
        known, others = order[: subject.rows // 2], order[subject.rows // 2 :][: self.trials]
        hits = plain = trials = 0
        shares = []
        for coin in question.coins:
            if coin.true is None:
                return None
            true, many = coin.true[others], len(coin.shares)
            shares.append(np.bincount(coin.true, minlength=many) / len(coin.true))
            hits += int((learned(coin, known)[coin.codes[others]] == true).sum())
            plain += int((true == np.bincount(coin.true[known], minlength=many).argmax()).sum())
            trials += len(true)
        return self._finding(
            question,
            rate=Rate(hits=hits, trials=trials, confidence=SURE),
            naive=Rate(hits=plain, trials=trials),
            limit=limit or promised(question, shares),
            note="counted on true answers",
            knows="the shown answer, the true answers of half of the people, and the specification",
            exact=True,
        )

    def _question(self, subject: RandomizedAnswers) -> CoinedQuestion:
        return next(question for question in subject.questions if self.question in ("", question.name))

    def _finding(self, question: CoinedQuestion, **details: object) -> Finding:
        many = len(question.coins)
        what = (
            f"tell whether a set holds an item of {question.name}" if many > 1 else f"tell an answer to {question.name}"
        )
        knows = "the shown answer, how frequent answers are estimated to be, and the specification"
        arguments = {"knows": knows, "does": what, **details}
        return Finding(attack=self.name, threat=self.threat, **arguments)  # type: ignore[arg-type]


def posterior(coin: Coin) -> Reals:
    """Outcomes x answers: how likely each answer is for whoever showed an outcome."""
    joint = coin.chances * coin.shares
    total = joint.sum(axis=1, keepdims=True)
    return np.where(total > 0, np.divide(joint, total, out=np.zeros_like(joint), where=total > 0), coin.shares)


def surest(coin: Coin) -> Reals:
    """The chance of the best guess about every person."""
    return np.asarray(posterior(coin).max(axis=1)[coin.codes])


def learned(coin: Coin, known: Whole) -> Whole:
    """For every outcome the answer that went with it most often among known people, or the guess where it was rare."""
    assumed = posterior(coin).argmax(axis=1)
    if coin.true is None:
        return np.asarray(assumed)
    outcomes, many = coin.chances.shape
    table = np.bincount(coin.codes[known] * many + coin.true[known], minlength=outcomes * many)
    counts = table.reshape(outcomes, many)
    return np.where(counts.sum(axis=1) >= _OFTEN, counts.argmax(axis=1), assumed)


def promised(question: CoinedQuestion, shares: list[Reals]) -> Limit:
    """How often anybody is right at most who knows these shares, by the local epsilon.

    Claim: an answer of share p has, whatever is shown, a chance of at most p e^epsilon / (p e^epsilon + 1 - p): each
        other answer shows the same at least e^-epsilon times as likely. This grows with p.
    """
    most = [float(coin_shares.max()) for coin_shares in shares]
    odds = exp(min(question.epsilon, 700.0))
    value = float(np.mean([p * odds / (p * odds + 1 - p) for p in most]))
    return Limit(value=value, why=f"local epsilon of {question.promise} for {question.name}")
