"""Filters noise out of randomized numbers: spectral reconstruction and the best linear filter."""

from __future__ import annotations

from dataclasses import dataclass
from math import erf, sqrt
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.finding import Finding, Limit, Rate
from sfumato.attacks.randomized_answers import NoisyColumns, RandomizedAnswers
from sfumato.core.arguments import above, at_least, one_of
from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance

# Reconstruction of perturbed numbers: noise has no direction, correlated columns have one.


Reals = NDArray[np.float64]
Method = Literal["pca", "spectral", "bayes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spectral:
    """Somebody has numbers with noise added to every cell, knows how large the noise is, and wants the numbers.

    Columns that go together lie near a plane; independent noise does not. The attacker takes the covariance of the
    noisy numbers, subtracts that of the noise, and keeps the directions in which the data is stronger than the noise
    (pca), or those that no noise of this size could make by itself (spectral), or weighs all directions by their
    strength (bayes). What is dropped is mostly noise. It takes one decomposition of a small matrix.

    The naive guesser knows the noise too, but looks at one column at a time, and takes the better of the cell
    itself, the column's mean, and the point between them that noise of this size suggests.
    Source: Kargupta, Datta, Wang and Sivakumar 2003 (spectral); Huang, Du and Chen 2005 (pca, bayes).
    """

    name: ClassVar[str] = "spectral"
    threat: ClassVar[str] = "attribute disclosure"

    method: Method = "bayes"
    """How the attacker separates data and noise."""
    tolerance: float = 0.1
    """A cell is recovered within this share of its column's range."""
    trials: int = 2000
    """At most so many rows, one cell of each."""

    def __post_init__(self) -> None:
        one_of("method", self.method, get_args(Method))
        above("tolerance", self.tolerance, 0)
        at_least("trials", self.trials, 1)

    def run(
        self,
        perturbed: Reals,
        original: Reals,
        deviation: float | Reals,
        chance: Chance,
        limit: Limit | None = None,
    ) -> Finding:
        """Reconstruct all cells, and compare one of each row; ``deviation`` is the noise's, by column."""
        seen, true = np.asarray(perturbed, np.float64), np.asarray(original, np.float64)
        if seen.ndim != 2 or seen.shape != true.shape or len(seen) < 3:
            raise ParameterError(f"perturbed must have rows and columns as original has, not {seen.shape}")
        noise = np.broadcast_to(np.asarray(deviation, np.float64), (seen.shape[1],))
        if not (noise > 0).all():
            raise ParameterError(f"deviation must be above 0, not {deviation}")
        draw = chance.generator()
        row = draw.permutation(len(seen))[: self.trials]
        cell = row, draw.integers(seen.shape[1], size=len(row))
        within = self.tolerance * np.maximum(np.ptp(true, axis=0), 1e-300)[cell[1]]
        guesses = {name: reconstructed(seen, noise, name) for name in get_args(Method)}
        alone = {"cell": seen, "mean": np.broadcast_to(seen.mean(axis=0), seen.shape), "shrunk": _shrunk(seen, noise)}
        hits = {name: int((abs(guess[cell] - true[cell]) <= within).sum()) for name, guess in (guesses | alone).items()}
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="the perturbed table and the size of the noise",
            does=f"recover a number within {self.tolerance:g} of its column's range",
            rate=Rate(hits=hits[self.method], trials=len(row)),
            naive=Rate(hits=max(hits[name] for name in alone), trials=len(row)),
            limit=limit,
            figures={
                **{f"rate_{name}": many / len(row) for name, many in hits.items()},
                **{f"error_{name}": _error(guess, true) for name, guess in (guesses | alone).items()},
            },
            note="errors are root mean squares in units of each column's deviation",
        )


def reconstructed(perturbed: Reals, noise: Reals, method: Method) -> Reals:
    """The numbers as far as they can be told from the noise."""
    middle = perturbed.mean(axis=0)
    scaled = (perturbed - middle) / noise
    strength, directions = np.linalg.eigh(scaled.T @ scaled / (len(scaled) - 1))
    if method == "pca":
        weight = (strength > 2).astype(np.float64)
    elif method == "spectral":
        weight = (strength > (1 + np.sqrt(scaled.shape[1] / len(scaled))) ** 2).astype(np.float64)
    else:
        weight = np.maximum(strength - 1, 0) / np.maximum(strength, 1e-300)
    return np.asarray(middle + (scaled @ (directions * weight) @ directions.T) * noise)


def _shrunk(perturbed: Reals, noise: Reals) -> Reals:
    """Each column by itself: towards its mean, by the share of its variance that is noise."""
    middle, variance = perturbed.mean(axis=0), perturbed.var(axis=0, ddof=1)
    kept = np.maximum(variance - noise**2, 0) / np.maximum(variance, 1e-300)
    return np.asarray(middle + (perturbed - middle) * kept)


def _error(guess: Reals, true: Reals) -> float:
    scale = np.maximum(true.std(axis=0), 1e-300)
    return float(np.sqrt((((guess - true) / scale) ** 2).mean()))


# Filtering the noise out of randomized numbers: all rows together tell more about one than it shows by itself.


_FEWEST = 3
"""Rows from which a covariance can be taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseFilter:
    """They have all shown numbers and the specification, and want somebody's true numbers.

    Noise is drawn for every cell by itself; true numbers go together, and lie in a distribution. They take the
    covariance of the true numbers, as it is estimated, and that of the noise, which is known, and compute the best
    linear estimate of every row (Huang, Du and Chen): no filter that keeps some directions and drops others (Kargupta
    and others) has a smaller error in squares. Nobody needs the true numbers to know how large this error is on
    average: it follows from the two covariances. With the true numbers, in a study, guesses are made and counted.

    The naive guesser takes the shown number itself, or the column's mean where that is nearer on average. Figures that
    begin with error_ are root mean squares in shares of the declared ranges; those of questions are in their own units.
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
        noise = {f"noise of {name}": value for name, value in zip(seen.names, errors["shown"], strict=True)}
        spread = {f"spread of {name}": value for name, value in zip(seen.names, errors["mean"], strict=True)}
        return self._finding(
            rate=Rate(hits=float(reached["filtered"].mean()) * subject.rows, trials=subject.rows),
            naive=Rate(hits=float(guesser.mean()) * subject.rows, trials=subject.rows, exact=True),
            limit=limit,
            figures={**{f"error_{k}": _whole(v, seen.span) for k, v in errors.items()}, **own, **noise, **spread},
            note="expected from the estimated covariance of the true numbers and that of the noise, with errors taken "
            "for normal",
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
        linear = best_linear(seen)
        spectral = reconstructed(seen.shown, seen.deviation, "spectral")
        guesses = {"filtered": linear, "spectral": spectral, "shown": seen.shown, "naive": nearer}
        hits = {name: int((abs(guess[cell] - seen.true[cell]) <= within).sum()) for name, guess in guesses.items()}
        apart = {name: np.sqrt(((guess - seen.true) ** 2).mean(axis=0)) for name, guess in guesses.items()}
        return self._finding(
            rate=Rate(hits=hits["filtered"], trials=len(row)),
            naive=Rate(hits=hits["naive"], trials=len(row)),
            limit=limit,
            figures={
                **{f"rate_{name}": many / len(row) for name, many in hits.items()},
                **{f"error_{name}": _whole(errors, seen.span) for name, errors in apart.items()},
            },
            note="counted on true answers",
            exact=True,
        )

    def _finding(self, **details: object) -> Finding:
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="all shown numbers and the specification",
            does=f"tell a number within {self.tolerance:g} of its declared range",
            **details,  # type: ignore[arg-type]
        )


def expected_errors(seen: NoisyColumns) -> dict[str, Reals]:
    """The root mean square error of four guesses, by column: the shown number, the mean, a column alone, all together.

    Let S be the covariance of the true numbers and N that of the noise. The best linear estimate keeps S (S + N)^-1 of
    what is shown beside the mean, and the covariance of its error is S - S (S + N)^-1 S.
    """
    noise, spread = seen.deviation.astype(np.float64), np.maximum(seen.spread, 0.0)
    true = covariance(seen)
    left = true - true @ np.linalg.solve(true + np.diag(noise**2), true)
    return {
        "shown": noise,
        "mean": spread,
        "alone": spread * noise / np.sqrt(spread**2 + noise**2),
        "filtered": np.sqrt(np.maximum(np.diag(left), 0.0)),
    }


def covariance(seen: NoisyColumns) -> Reals:
    """The estimated covariance of the true numbers: deviations as estimated, and between columns what is shown.

    Noise is independent, so it adds nothing between two columns. Correlations that cannot be are moved to the nearest
    that can: none beyond 1, and no direction of negative variance.
    """
    apart = seen.shown - seen.shown.mean(axis=0)
    between = apart.T @ apart / (len(apart) - 1)
    scale = np.outer(seen.spread, seen.spread)
    goes = np.clip(np.divide(between, scale, out=np.zeros_like(between), where=scale > 0), -1, 1)
    np.fill_diagonal(goes, 1.0)
    strength, directions = np.linalg.eigh(goes)
    goes = (directions * np.maximum(strength, 0.0)) @ directions.T
    size = np.sqrt(np.maximum(np.diag(goes), 1e-12))
    return np.asarray(goes / np.outer(size, size) * scale)


def best_linear(seen: NoisyColumns) -> Reals:
    """The best linear estimate of every true number."""
    true, middle = covariance(seen), seen.shown.mean(axis=0)
    kept = np.linalg.solve(true + np.diag(seen.deviation**2), true)
    return np.asarray(middle + (seen.shown - middle) @ kept)


def _within(error: Reals, near: Reals) -> Reals:
    """How often a normal error of this size is not larger than this."""
    return np.array([1.0 if e <= 0 else erf(n / (sqrt(2) * e)) for e, n in zip(error, near, strict=True)])


def _whole(errors: Reals, span: Reals) -> float:
    return float(np.sqrt(((errors / span) ** 2).mean()))


def _columns(subject: RandomizedAnswers) -> NoisyColumns:
    if subject.numbers is None:
        raise ParameterError("no question is about numbers")
    return subject.numbers
