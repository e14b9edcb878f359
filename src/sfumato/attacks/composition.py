"""The composition attack: two releases about the same people, each fine by itself, are laid over each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from sfumato.attacks.candidates import Reals, Shown, codes_of, likely, published_values, right
from sfumato.attacks.finding import Finding, Limit, Rate
from sfumato.attacks.guarantees import allowed
from sfumato.attacks.subject import Subject
from sfumato.core.arguments import at_least
from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """Somebody has two releases about the same people, knows a person's quasi-identifiers, and wants their value.

    Two hospitals, or one register in two years, publish with different recodings. In each release the attacker looks up
    the rows that fit them and lists their sensitive values. Their value is on both lists. Where only one value is on
    both, it is theirs; otherwise the attacker takes the one that both make likely: the product of its shares, divided
    by its share overall. It takes two lookups. Neither release promised anything about the other.

    The naive guesser reads the better one of the two releases; so the excess is what the second one adds.
    Source: Ganta, Kasiviswanathan and Smith 2008 (intersection attack); document 003, section 2.1.1.
    """

    name: ClassVar[str] = "composition"
    threat: ClassVar[str] = "attribute disclosure"

    column: str | None = None
    """The sensitive column; the first one of the first release where nothing is said."""
    trials: int = 2000
    """At most so many people."""

    def __post_init__(self) -> None:
        at_least("trials", self.trials, 1)

    def fits(self, first: Subject, second: Subject) -> str:
        """Why it cannot be made on these releases; empty if it can."""
        column = self.column or (first.sensitive[0] if first.sensitive else "")
        if column not in first.sensitive or column not in second.sensitive:
            return "the releases have no sensitive column in common"
        if not first.release.height or not second.release.height:
            return "a release has no rows"
        missing = (set(first.quasi) | set(second.quasi)) - set(first.people.columns)
        return f"the register does not know {sorted(missing)[0]!r}" if missing else ""

    def run(
        self,
        first: Subject,
        second: Subject,
        chance: Chance,
        limit: Limit | None = None,
        *,
        people: pl.DataFrame | None = None,
    ) -> Finding:
        """Attack people who are in both releases: all of the first one's where nothing else is said."""
        if reason := self.fits(first, second):
            raise ParameterError(f"second must fit the first release: {reason}")
        column = self.column or first.sensitive[0]
        published, other = published_values(first, column), published_values(second, column)
        everybody = first.people if people is None else people
        chosen = everybody[np.sort(chance.generator().permutation(everybody.height)[: self.trials])]
        apart = likely(first, published, chosen), _aligned(likely(second, other, chosen), other, published)
        both = _together(*apart, published)
        truth = codes_of(chosen, column, published.values)
        alone = [right(shares, truth).sum() for shares in apart]
        sure = (both > 0).sum(axis=1) == 1
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="the quasi-identifiers of somebody who is in both releases",
            does=f"name their {column} by laying the releases over each other",
            rate=Rate(hits=float(right(both, truth).sum()), trials=len(truth), failed=int((both.sum(1) == 0).sum())),
            naive=Rate(hits=float(max(alone, default=0.0)), trials=len(truth)),
            control=self._control(first, second, published, other, chance),
            limit=limit,
            worst=float(both.max()) if both.size else None,
            figures=allowed(first.promises, column, len(published.values))
            | {
                "one_value_left": float(sure.mean()) if len(truth) else 0.0,
                "values_left": float((both > 0).sum(axis=1).mean()) if len(truth) else 0.0,
                "values_in_the_first": float((apart[0] > 0).sum(axis=1).mean()) if len(truth) else 0.0,
                "values_in_the_second": float((apart[1] > 0).sum(axis=1).mean()) if len(truth) else 0.0,
            },
            note="the naive guesser reads the better one of the two releases",
        )

    def _control(self, first: Subject, second: Subject, published: Shown, other: Shown, chance: Chance) -> Rate | None:
        if first.control is None or not first.control.height:
            return None
        people = first.some(self.trials, chance, control=True)
        both = _together(
            likely(first, published, people), _aligned(likely(second, other, people), other, published), published
        )
        truth = codes_of(people, self.column or first.sensitive[0], published.values)
        return Rate(hits=float(right(both, truth).sum()), trials=len(truth), failed=int((both.sum(1) == 0).sum()))


def _together(first: Reals, second: Reals, published: Shown) -> Reals:
    """What both releases make likely; nothing but zeros where no value is in both."""
    product = first * second / np.maximum(published.overall, 1e-12)
    return np.asarray(product / np.maximum(product.sum(axis=1, keepdims=True), 1e-300))


def _aligned(shares: Reals, published: Shown, like: Shown) -> Reals:
    """The shares of one release in the order of another one's values."""
    place = {value: at for at, value in enumerate(published.values)}
    columns = [shares[:, place[value]] if value in place else np.zeros(len(shares)) for value in like.values]
    return np.stack(columns, axis=1) if columns else shares[:, :0]
