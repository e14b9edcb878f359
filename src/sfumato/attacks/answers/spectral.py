"""Reconstruction of perturbed numbers: noise has no direction, correlated columns have one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.frame.trials import Finding, Limit, Rate
from sfumato.ground.arguments import above, at_least, one_of
from sfumato.ground.chance import Chance
from sfumato.ground.errors import ParameterError

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
