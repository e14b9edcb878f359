"""Guessing a true answer from the shown one: by Bayes' rule, with the coin and the estimated shares."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import ClassVar

import numpy as np

from sfumato.attacks.frame.randomized import Coin, CoinedQuestion, RandomizedAnswers, Reals, Whole
from sfumato.attacks.frame.trials import SURE, Finding, Limit, Rate
from sfumato.ground.chance import Chance


@dataclass(frozen=True, slots=True, kw_only=True)
class BayesGuess:
    """They have all shown answers and the specification, and want somebody's true answer to one question.

    What everybody's answers say together tells how frequent each answer is; the coin tells how likely each shows what
    this person shows. They guess the answer for which the product is largest, and no guess is right more often. How
    often it is right on average follows from the same figures: for every person the chance of the guess is known. With
    the true answers, in a study, guesses are made and counted.

    The naive guesser always says the most frequent answer. A local epsilon bounds everybody: an answer of share p has a
    chance of at most p e^epsilon / (p e^epsilon + 1 - p), whatever is shown.
    Source: Warner 1965; Evfimievski, Gehrke and Srikant 2003 (bounds on what a shown answer tells).
    """

    name: ClassVar[str] = "bayes-guess"
    threat: ClassVar[str] = "attribute disclosure"

    question: str = ""
    """The question; the first where none is named."""

    def fits(self, subject: RandomizedAnswers) -> str:
        """Why it cannot be made; empty if it can."""
        return "" if subject.questions else "every question is about numbers"

    def run(self, subject: RandomizedAnswers, chance: Chance, limit: Limit | None = None) -> Finding:
        """How often the guess is right on average, under the estimated shares."""
        asked = self._question(subject)
        sure = np.array([surest(one) for one in asked.coins])
        plain = np.array([one.shares.max() for one in asked.coins])
        trials = sure.size
        return self._finding(
            asked,
            rate=Rate(hits=float(sure.sum()), trials=trials, confidence=SURE),
            naive=Rate(hits=float(plain.mean()) * trials, trials=trials, exact=True),
            limit=limit or promised(asked, [one.shares for one in asked.coins]),
            worst=float(sure.max()),
            note="expected under the estimated distribution",
        )

    def measured(self, subject: RandomizedAnswers, chance: Chance, limit: Limit | None = None) -> Finding | None:
        """How often the guess is right on true answers; None where nobody has them."""
        asked = self._question(subject)
        hits = plain = trials = 0
        shares = []
        for one in asked.coins:
            if one.true is None:
                return None
            shares.append(np.bincount(one.true, minlength=len(one.shares)) / len(one.true))
            hits += int((guesses(one) == one.true).sum())
            plain += int((one.true == one.shares.argmax()).sum())
            trials += len(one.true)
        return self._finding(
            asked,
            rate=Rate(hits=hits, trials=trials, confidence=SURE),
            naive=Rate(hits=plain, trials=trials),
            limit=limit or promised(asked, shares),
            note="counted on true answers",
            exact=True,
        )

    def _question(self, subject: RandomizedAnswers) -> CoinedQuestion:
        return next(one for one in subject.questions if self.question in ("", one.name))

    def _finding(self, asked: CoinedQuestion, **found: object) -> Finding:
        many = len(asked.coins)
        what = f"tell whether a set holds an item of {asked.name}" if many > 1 else f"tell an answer to {asked.name}"
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="the shown answer, how frequent answers are estimated to be, and the specification",
            does=what,
            **found,  # type: ignore[arg-type]
        )


def posterior(coin: Coin) -> Reals:
    """Outcomes x answers: how likely each answer is for whoever showed an outcome."""
    joint = coin.chances * coin.shares
    total = joint.sum(axis=1, keepdims=True)
    return np.where(total > 0, np.divide(joint, total, out=np.zeros_like(joint), where=total > 0), coin.shares)


def surest(coin: Coin) -> Reals:
    """The chance of the best guess about every person."""
    return np.asarray(posterior(coin).max(axis=1)[coin.codes])


def guesses(coin: Coin) -> Whole:
    """The best guess about every person; of equally likely ones the first."""
    return np.asarray(posterior(coin).argmax(axis=1)[coin.codes])


def promised(asked: CoinedQuestion, shares: list[Reals]) -> Limit:
    """How often anybody is right at most who knows these shares, by the local epsilon.

    Claim: an answer of share p has, whatever is shown, a chance of at most p e^epsilon / (p e^epsilon + 1 - p): each
        other answer shows the same at least e^-epsilon times as likely. This grows with p.
    """
    most = [float(one.max()) for one in shares]
    odds = exp(min(asked.epsilon, 700.0))
    value = float(np.mean([p * odds / (p * odds + 1 - p) for p in most]))
    return Limit(value=value, why=f"local epsilon of {asked.promise} for {asked.name}")
