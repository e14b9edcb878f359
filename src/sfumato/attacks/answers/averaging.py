"""The averaging attack: asking again and again until the noise is gone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.frame.trials import Finding, Limit, Rate
from sfumato.ground.arguments import at_least, number
from sfumato.ground.errors import SfumatoError


@dataclass(frozen=True, slots=True, kw_only=True)
class Averaging:
    """Somebody gets noisy answers and wants the exact count: they ask the same question many times and take the mean.

    Noise of scale b with fresh draws shrinks to b * sqrt(2 / r) after r answers; about 8 b^2 answers are enough to
    round to the right number two times in three, and 50 b^2 nearly always. It takes r questions. A budget
    that all answers share stops the attacker: a trial that is not answered to its end could not be carried out. So does
    an interface that answers the same question with the same noise.

    The naive guesser asks once and rounds.
    Source: Dwork, McSherry, Nissim and Smith 2006 (why a budget is needed); Denning 1980.
    """

    name: ClassVar[str] = "averaging"
    threat: ClassVar[str] = "method"

    repetitions: int = 400
    """How often the attacker asks in a trial."""
    trials: int = 100
    """How often the attacker tries."""

    def __post_init__(self) -> None:
        at_least("repetitions", self.repetitions, 2)
        at_least("trials", self.trials, 1)

    def run(self, answer: Callable[[], float], truth: float, limit: Limit | None = None) -> Finding:
        """Ask, average, round, and compare with the true count."""
        number("truth", truth)
        hits, first, failed, needed, spread, asked = 0, 0, 0, [], [], 0
        for _ in range(self.trials):
            answers = _asked(answer, self.repetitions)
            asked += len(answers)
            first += len(answers) > 0 and round(float(answers[0])) == truth
            if len(answers) < self.repetitions:
                failed += 1
                continue
            hits += round(float(answers.mean())) == truth
            needed.append(_from_then_on(answers, truth))
            spread.append(float(answers.std(ddof=1)))
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="how to ask the same question again",
            does="find the exact count by averaging",
            rate=Rate(hits=hits, trials=self.trials, failed=failed),
            naive=Rate(hits=first, trials=self.trials),
            limit=limit,
            figures={
                "answers": float(asked),
                "deviation_of_an_answer": float(np.mean(spread)) if spread else 0.0,
                "answers_needed": float(np.median(needed)) if needed else 0.0,
            },
            note="answers_needed: the median number after which the rounded mean stays right; "
            "one more than were asked for where it does not",
        )


def _asked(answer: Callable[[], float], repetitions: int) -> NDArray[np.float64]:
    """The answers until one is refused."""
    found = []
    for _ in range(repetitions):
        try:
            found.append(float(answer()))
        except SfumatoError:
            break
    return np.array(found, np.float64)


def _from_then_on(answers: NDArray[np.float64], truth: float) -> int:
    """After how many answers the rounded mean is right and stays right.

    >>> _from_then_on(np.array([7.0, 4.0, 4.0, 5.0]), 5)
    3
    """
    means = np.cumsum(answers) / np.arange(1, len(answers) + 1)
    wrong = np.flatnonzero(np.rint(means) != truth)
    return int(wrong[-1]) + 2 if len(wrong) else 1
