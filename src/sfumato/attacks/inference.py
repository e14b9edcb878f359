"""Guessing a person's secret from the released row that is nearest to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.finding import Finding, Limit, Rate
from sfumato.attacks.labels import Floats, numbers
from sfumato.attacks.neighbours import Space
from sfumato.attacks.subject import Ints, Mask, Subject
from sfumato.core.arguments import at_least, between
from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """Somebody knows some columns of a person and wants another one, their secret.

    The attacker looks for the released row that is nearest to the known columns, and guesses that their secret is what
    this row says; where several rows are equally near, the secret that most of them have. It takes one search. The
    guesser does not look at the release, and names the secret that most people have. The control run does the same with
    people who are not in the release: what works on them too follows from how people are, not from who is in it.

    Cost: one search among the classes for each person. Source: Giomi, Boenisch, Wehmeyer and Tasnádi 2023.
    """

    name: ClassVar[str] = "inference"
    threat: ClassVar[str] = "attribute disclosure"

    trials: int = 2000
    """At most so many people are attacked."""
    secret: str = ""
    """The column that is guessed; the first sensitive one where none is named."""
    known: tuple[str, ...] = ()
    """The quasi-identifiers that are known; all where none is named."""
    tolerance: float = 0.05
    """A guessed number is right if it is off by no more than this share of the larger of guess and truth."""

    def __post_init__(self) -> None:
        """Refuse nonsense."""
        at_least("trials", self.trials, 1)
        between("tolerance", self.tolerance, 0, 1)
        if isinstance(self.known, str) or len(set(self.known)) != len(self.known):
            raise ParameterError(f"known must name different columns, not {self.known!r}")
        if not isinstance(self.secret, str):
            raise ParameterError(f"secret must be the name of a column, not {self.secret!r}")

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        secret = self._secret(subject)
        if not secret:
            return "there is no sensitive column"
        if secret not in subject.release.columns or secret not in subject.people.columns:
            return f"the release has no column {secret!r} beside the quasi-identifiers"
        if unknown := [name for name in self.known if name not in subject.quasi]:
            return f"{unknown[0]!r} is no quasi-identifier"
        if not self._known(subject):
            return "nothing is known about anybody"
        return "" if subject.release.height else "the release has no rows"

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Guess the secret of some people."""
        secret, targets = self._secret(subject), subject.some(self.trials, chance)
        control = None
        if subject.control is not None:
            control = self._guessed(subject, subject.some(self.trials, chance, control=True))
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows=f"{', '.join(self._known(subject))} of a person",
            does=f"guess their {secret}",
            rate=self._guessed(subject, targets),
            naive=self._constant(subject, targets),
            control=control,
            limit=limit,
        )

    def _secret(self, subject: Subject) -> str:
        return self.secret or (subject.sensitive[0] if subject.sensitive else "")

    def _known(self, subject: Subject) -> tuple[str, ...]:
        return self.known or tuple(name for name in subject.quasi if name != self._secret(subject))

    def _guessed(self, subject: Subject, people: pl.DataFrame) -> Rate:
        secret = self._secret(subject)
        space = Space.of(subject, people, self._known(subject))
        codes, values = _coded(subject.release[secret])
        guesses = np.array([_commonest(space, p, codes, len(values)) for p in range(people.height)], np.int64)
        right = self._right(subject, pl.Series(values, dtype=pl.String).gather(guesses), people[secret])
        return Rate(hits=float(right.sum()), trials=people.height)

    def _constant(self, subject: Subject, people: pl.DataFrame) -> Rate:
        """The guesser's best answer, the same for everybody."""
        secret = self._secret(subject)
        codes, values = _coded(subject.people[secret])
        often = np.argsort(-np.bincount(codes, minlength=len(values)), kind="stable")[:100]
        answers = [pl.Series([values[code]] * people.height, dtype=pl.String) for code in often.tolist()]
        hits = [int(self._right(subject, answer, people[secret]).sum()) for answer in answers]
        return Rate(hits=float(max(hits, default=0)), trials=people.height)

    def _right(self, subject: Subject, guesses: pl.Series, truth: pl.Series) -> Mask:
        same = (guesses.fill_null("") == truth.cast(pl.String).fill_null("")).to_numpy()
        if self._secret(subject) not in subject.numeric:
            return np.asarray(same)
        return np.asarray(same | close(numbers(guesses), numbers(truth), self.tolerance))


def close(guess: Floats, truth: Floats, tolerance: float) -> Mask:
    """Whether numbers differ by no more than a share of the larger of the two, whatever their signs.

    >>> close(np.array([100.0, -5.0, 0.0, 0.0]), np.array([95.0, 100.0, 0.0, 1.0]), 0.05).tolist()
    [True, False, True, False]
    """
    return np.asarray(np.abs(guess - truth) <= tolerance * np.maximum(np.abs(guess), np.abs(truth)))


def _coded(cells: pl.Series) -> tuple[Ints, list[str]]:
    texts = cells.cast(pl.String).fill_null("")
    values = texts.unique().sort().to_list()
    return texts.cast(pl.Enum(values)).to_physical().to_numpy().astype(np.int64), values


def _commonest(space: Space, person: int, codes: NDArray[np.int64], count: int) -> int:
    """The secret that most of the nearest rows have; the first of several."""
    return int(np.bincount(codes[space.members(space.nearest(person)[1])], minlength=count).argmax())
