"""Filtering the noise out of randomized numbers: all rows together tell more about one than it shows by itself."""

from __future__ import annotations

from dataclasses import dataclass
from math import erf, sqrt
from typing import ClassVar

import numpy as np

from sfumato.attacks.answers.spectral import Reals, reconstructed
from sfumato.attacks.frame.randomized import NoisyColumns, RandomizedAnswers
from sfumato.attacks.frame.trials import Finding, Limit, Rate
from sfumato.ground.arguments import above, at_least
from sfumato.ground.chance import Chance
from sfumato.ground.errors import ParameterError

_FEWEST = 3
"""Rows from which a covariance can be taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseFilter:
    """They have all shown numbers and the specification, and want somebody's true numbers.

    Noise is drawn for every cell by itself; true numbers go together, and lie in a distribution. They take the
    covariance of what is shown, subtract that of the noise, and compute the best linear estimate of every row: each
    direction is kept by the share of its variance that is not noise (Huang, Du and Chen), which is the best that
    filtering by directions (Kargupta and others) can do in squares. Nobody needs the true numbers to know how large the
    error of this estimate is on average: it follows from the two covariances. With the true numbers, in a study, the
    guesses are made and counted.

    The naive guesser takes the shown number itself, or the column's mean where that is nearer on average.
    Source: Kargupta, Datta, Wang and Sivakumar 2003; Huang, Du and Chen 2005; document 000, section 20.2.
    """

    name: ClassVar[str] = "spectral"
    threat: ClassVar[str] = "attribute disclosure"

    tolerance: float = 0.1
    """A number is recovered within this share of its declared range."""
    trials: int = 1000
    """Of a study: at most so many rows, one cell of each."""

    def __post_init__(self) -> None:
        above("tolerance", self.tolerance, 0)
        at_least("trials", self.trials, 1)

    def fits(self, subject: RandomizedAnswers) -> str:
        """Why it cannot be made; empty if it can."""
        if subject.numbers is None:
            return "no question is about numbers"
        return "" if subject.rows >= _FEWEST else f"there are {subject.rows} rows, too few for a covariance"

    def run(self, subject: RandomizedAnswers, chance: Chance, limit: Limit | None = None) -> Finding:
        """What is reached on average, from the covariances alone."""
        seen = _columns(subject)
        errors = expected_errors(seen)
        reached = {name: _within(error, self.tolerance * seen.span) for name, error in errors.items()}
        guesser = np.where(errors["shown"] <= errors["mean"], reached["shown"], reached["mean"])
        own = {f"error of {name}": value for name, value in zip(seen.names, errors["filtered"], strict=True)}
        noise = {f"noise of {name}": value for name, value in zip(seen.names, seen.deviation, strict=True)}
        return self._finding(
            rate=Rate(hits=float(reached["filtered"].mean()) * subject.rows, trials=subject.rows),
            naive=Rate(hits=float(guesser.mean()) * subject.rows, trials=subject.rows, exact=True),
            limit=limit,
            figures={**{f"error_{k}": _whole(v, seen.span) for k, v in errors.items()}, **own, **noise},
            note="expected from the covariance of the shown numbers and of the noise, with errors taken for normal; "
            "error_ figures are root mean squares in shares of the declared ranges, the others in units of the answers",
        )

    def measured(self, subject: RandomizedAnswers, chance: Chance, limit: Limit | None = None) -> Finding | None:
        """What is reached on true numbers; None where nobody has them."""
        seen = subject.numbers
        if seen is None or seen.true is None:
            return None
        draw = chance.generator()
        row = draw.permutation(subject.rows)[: self.trials]
        cell = row, draw.integers(len(seen.names), size=len(row))
        within = (self.tolerance * seen.span)[cell[1]]
        errors = expected_errors(seen)
        nearer = np.where(errors["shown"] <= errors["mean"], seen.shown, seen.shown.mean(axis=0))
        linear = reconstructed(seen.shown, seen.deviation, "bayes")
        spectral = reconstructed(seen.shown, seen.deviation, "spectral")
        guesses = {"filtered": linear, "spectral": spectral, "shown": seen.shown, "naive": nearer}
        hits = {name: int((abs(one[cell] - seen.true[cell]) <= within).sum()) for name, one in guesses.items()}
        apart = {name: np.sqrt(((one - seen.true) ** 2).mean(axis=0)) for name, one in guesses.items()}
        return self._finding(
            rate=Rate(hits=hits["filtered"], trials=len(row)),
            naive=Rate(hits=hits["naive"], trials=len(row)),
            limit=limit,
            figures={
                **{f"rate_{name}": many / len(row) for name, many in hits.items()},
                **{f"error_{name}": _whole(one, seen.span) for name, one in apart.items()},
            },
            note="counted on true answers; errors are root mean squares in shares of the declared ranges",
            exact=True,
        )

    def _finding(self, **found: object) -> Finding:
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="all shown numbers and the specification",
            does=f"tell a number within {self.tolerance:g} of its declared range",
            **found,  # type: ignore[arg-type]
        )


def expected_errors(seen: NoisyColumns) -> dict[str, Reals]:
    """The root mean square error of four guesses, by column: the shown number, the mean, a column alone, all together.

    In units of the noise the covariance of what is shown is that of the true numbers plus 1 in every direction. In a
    direction of true variance s the best linear estimate keeps s / (s + 1), and its squared error is s / (s + 1) too.
    """
    scaled = (seen.shown - seen.shown.mean(axis=0)) / seen.deviation
    wide = scaled.T @ scaled / (len(scaled) - 1)
    strength, directions = np.linalg.eigh(wide)
    together = (directions**2) @ _kept(strength)
    alone = np.maximum(np.diag(wide) - 1, 0)
    return {
        "shown": seen.deviation.astype(np.float64),
        "mean": seen.deviation * np.sqrt(alone),
        "alone": seen.deviation * np.sqrt(_kept(np.diag(wide))),
        "filtered": seen.deviation * np.sqrt(together),
    }


def _kept(strength: Reals) -> Reals:
    return np.asarray(np.maximum(strength - 1, 0) / np.maximum(strength, 1.0))


def _within(error: Reals, near: Reals) -> Reals:
    """How often a normal error of this size is not larger than this."""
    return np.array([1.0 if e <= 0 else erf(n / (sqrt(2) * e)) for e, n in zip(error, near, strict=True)])


def _whole(errors: Reals, span: Reals) -> float:
    return float(np.sqrt(((errors / span) ** 2).mean()))


def _columns(subject: RandomizedAnswers) -> NoisyColumns:
    if subject.numbers is None:
        raise ParameterError("no question is about numbers")
    return subject.numbers
