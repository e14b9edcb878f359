"""Two registers without a common key, and a release that shows which of their lines are one person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from sfumato.attacks.finding import Finding, Limit, Rate
from sfumato.attacks.neighbours import Space
from sfumato.attacks.subject import Subject
from sfumato.core.arguments import at_least
from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance


@dataclass(frozen=True, slots=True, kw_only=True)
class Linkability:
    """Somebody holds two registers of the same people that share no column and no key.

    One has some of the quasi-identifiers, the other the rest. To find out which lines belong together, the attacker
    looks up both in the release and takes the rows that are nearest; lines whose look-ups meet in the same row are
    linked. It takes two searches for each person. Rows that are equally near are drawn by lot, for each register anew:
    a release that shows nothing links nobody. The guesser draws rows at random. The control run looks up people who are
    not in the release: that they are linked too shows what follows from how columns depend on each other.

    Cost: two searches among the classes for each person, most of them in the first three columns only.
    Source: Giomi, Boenisch, Wehmeyer and Tasnádi 2023, A unified framework for quantifying privacy risk in synthetic
        data.
    """

    name: ClassVar[str] = "linkability"
    threat: ClassVar[str] = "re-identification"

    trials: int = 2000
    """At most so many people are looked up."""
    neighbours: int = 1
    """How many of the nearest rows are taken on each side."""
    first: tuple[str, ...] = ()
    """The quasi-identifiers in the first register; every second one where none is named. The other has the rest."""

    def __post_init__(self) -> None:
        """Refuse nonsense."""
        at_least("trials", self.trials, 1)
        at_least("neighbours", self.neighbours, 1)
        if isinstance(self.first, str) or len(set(self.first)) != len(self.first):
            raise ParameterError(f"first must name different columns, not {self.first!r}")

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        if len(subject.quasi) < 2:
            return "it needs two quasi-identifiers at least, one for each register"
        if unknown := [name for name in self.first if name not in subject.quasi]:
            return f"{unknown[0]!r} is no quasi-identifier"
        if len(self.first) == len(subject.quasi):
            return "the second register has no column"
        return "" if subject.release.height >= self.neighbours else "the release has too few rows"

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Look up some people in both halves."""
        draws = chance.generator().spawn(3)
        targets = subject.some(self.trials, chance)
        rate = self._linked(subject, targets, draws[0])
        control = None
        if subject.control is not None:
            control = self._linked(subject, subject.some(self.trials, chance, control=True), draws[1])
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="two registers about the same people that share no column",
            does="tell which of their lines belong to one person",
            rate=rate,
            naive=self._guessed(subject.release.height, rate.trials),
            control=control,
            limit=limit,
            figures={"neighbours": float(self.neighbours)},
        )

    def _halves(self, subject: Subject) -> tuple[tuple[str, ...], tuple[str, ...]]:
        first = self.first or subject.quasi[::2]
        return tuple(first), tuple(name for name in subject.quasi if name not in first)

    def _linked(self, subject: Subject, people: pl.DataFrame, draws: np.random.Generator) -> Rate:
        left, right = (Space.of(subject, people, half) for half in self._halves(subject))
        hits = 0.0
        for person in range(people.height):
            if self.neighbours == 1:
                hits += _met(left, right, person)
            else:
                first, other = (space.drawn(person, self.neighbours, draws) for space in (left, right))
                hits += bool(np.intersect1d(first, other).size)
        return Rate(hits=hits, trials=people.height)

    def _guessed(self, rows: int, trials: int) -> Rate:
        """The chance that two draws of so many rows out of all have one in common."""
        meet = 1 - float(np.prod(1 - self.neighbours / (rows - np.arange(self.neighbours)))) if rows else 0.0
        return Rate(hits=min(max(meet, 0.0), 1.0) * trials, trials=trials)


def _met(left: Space, right: Space, person: int) -> float:
    """The chance that one row drawn from the nearest on either side is the same."""
    first, other = left.nearest(person)[1], right.nearest(person)[1]
    many, few = int(left.sizes[first].sum()), int(right.sizes[other].sum())
    if many < few:
        left, right, first, other = right, left, other, first
    return float(np.isin(left.of_row[right.members(other)], first).sum()) / (many * few)
