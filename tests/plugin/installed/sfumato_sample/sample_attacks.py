"""An attack on tables, and one on sets of items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.attacks.finding import Finding, Limit, Rate
from sfumato.attacks.sparse_sets import SparseSets
from sfumato.attacks.subject import Subject
from sfumato.core.arguments import at_least
from sfumato.core.randomness import Chance


@dataclass(frozen=True, slots=True, kw_only=True)
class OneColumn:
    """Somebody knows one quasi-identifier of a person, the one that leaves the fewest rows."""

    name: ClassVar[str] = "one-column"
    threat: ClassVar[str] = "re-identification"

    trials: int = 200
    l: int = 1

    def __post_init__(self) -> None:
        at_least("trials", self.trials, 1)

    def fits(self, subject: Subject) -> str:
        return "" if subject.quasi else "there are no quasi-identifiers"

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        people = subject.coded(subject.some(self.trials, chance))
        sizes = subject.classes[1]
        rows = np.array([min(self._rows(subject, one, sizes)) for one in people.T])
        chances = np.where(rows > 0, 1 / np.maximum(rows, 1), 0.0)
        trials, released = len(rows), max(subject.release.height, 1)
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="one quasi-identifier of a person",
            does="pick their row",
            rate=Rate(hits=float(chances.sum()), trials=trials, failed=int((rows == 0).sum())),
            naive=Rate(hits=trials / released, trials=trials, exact=True),
            limit=limit,
        )

    def _rows(self, subject: Subject, person: np.ndarray, sizes: np.ndarray) -> list[int]:
        found = [int(sizes[subject.fitting(person, [column])].sum()) for column in range(len(subject.quasi))]
        return [rows for rows in found if rows] or [0]


@dataclass(frozen=True, slots=True, kw_only=True)
class OneItem(SparseSets):
    """Somebody knows one item of a person."""

    name: ClassVar[str] = "one-item"

    m: int = 1
