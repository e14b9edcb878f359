"""An adversary who knows few things about a person: L of their quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import ClassVar

import numpy as np
import polars as pl

from sfumato.attacks.disclosure.homogeneity import chosen, mean, most_frequent, unfit
from sfumato.attacks.frame.posterior import Counted, Reals, counted
from sfumato.attacks.frame.subject import Codes, Subject
from sfumato.attacks.frame.trials import Finding, Limit, Rate
from sfumato.ground.arguments import at_least, one_of, text
from sfumato.ground.chance import Chance

MOST = 64
"""Of more choices of columns than this, some are taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LkcAdversary:
    """Somebody knows L facts about a person: their values in L quasi-identifiers, and that they are in the release.

    Nobody knows everything about everybody. The attacker keeps the rows that fit the facts, picks one, which is right
    with probability 1 / rows that fit, and reads off how frequent each sensitive value is among them. It takes one pass
    over the release. The facts are random ones, other ones for each person; or the worst ones, those that leave the
    fewest rows, if the attacker is lucky enough to know just these; the confidence is then the largest over all
    choices. The guesser picks any row.

    Figures: confidence and confidence_worst, the share of the most frequent watched value among the fitting rows, on
        average and at most; told, how often the most frequent value is the person's own; told_naive, the same for a
        guesser; rows_fewest and rows_mean, how many rows fit; below_2, the share of people whom one row fits.
    Needs: a release that tells the truth, with them in it; rows that fit somebody who was left out are other people's,
        and their chance is then too high. For "worst", all choices of L columns are tried if there are 64 at most, and
        otherwise those of the columns that, each alone, leave the fewest rows. For "random", at most 64 choices are
        drawn, and people share them.
    Cost: a grouping of the release for each choice of columns.
    Source: Mohammed, Fung, Hung and Lee 2009, LKC-privacy; 003 chapter 3.
    """

    name: ClassVar[str] = "lkc-adversary"
    threat: ClassVar[str] = "re-identification"

    l: int = 2
    """How many quasi-identifiers the attacker knows; all where there are fewer."""
    choice: str = "random"
    """Which ones: "random", or "worst"."""
    values: tuple[str, ...] = ()
    """The sensitive values whose confidence is watched; all where none is named."""
    column: str | None = None
    """The sensitive column; the first one where none is named."""
    trials: int = 2000
    """At most so many people are attacked."""

    def __post_init__(self) -> None:
        """Refuse nonsense."""
        at_least("l", self.l, 1)
        one_of("choice", self.choice, ("random", "worst"))
        at_least("trials", self.trials, 1)
        for value in self.values:
            text("values", value)
        if self.column is not None:
            text("column", self.column)

    def variants(self, subject: Subject) -> Sequence[tuple[str, LkcAdversary]]:
        """As it is; or, for every number of columns that claims speak of, with the worst ones and with random ones."""
        sizes = sorted({one.known for one in subject.promises if one.known is not None and one.find is not None})
        forms = [(l, choice) for l in sizes for choice in ("worst", "random")]
        return [(f", {l} known, {choice}", replace(self, l=l, choice=choice)) for l, choice in forms] or [("", self)]

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        column = chosen(subject, self.column)
        return unfit(subject, column) if column is not None or not subject.quasi else ""

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Attack some people."""
        column = chosen(subject, self.column)
        count, people = counted(subject, column), subject.some(self.trials, chance)
        rows, sure, right = self._known(count, people, chance)
        chances = np.where(rows > 0, 1.0 / np.maximum(rows, 1), 0.0)
        figures = {
            "below_2": mean(rows == 1),
            "rows_mean": mean(rows),
            "rows_fewest": float(min(rows[rows > 0], default=0)),
        }
        if column is not None:
            figures |= {"confidence": mean(sure), "confidence_worst": float(sure.max(initial=0)), "told": mean(right)}
            figures["told_naive"] = mean(
                most_frequent(count.posterior(people[:0]).blind(people.height), count.truth(people))
            )
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows=f"{min(self.l, len(subject.quasi))} quasi-identifiers of a person ({self.choice} ones)",
            does="pick their row",
            rate=Rate(hits=float(chances.sum()), trials=len(rows), failed=int((rows == 0).sum())),
            naive=Rate(hits=len(rows) / max(subject.release.height, 1), trials=len(rows), exact=True),
            control=self._outsiders(count, chance),
            limit=limit,
            worst=float(chances.max(initial=0)),
            figures=figures,
        )

    def _outsiders(self, count: Counted, chance: Chance) -> Rate | None:
        """Whatever row is picked for somebody who is not there, it is not theirs."""
        if count.subject.control is None:
            return None
        rows = self._known(count, count.subject.some(self.trials, chance, control=True), chance)[0]
        return Rate(hits=0.0, trials=len(rows), failed=int((rows == 0).sum()))

    def _known(self, count: Counted, people: pl.DataFrame, chance: Chance) -> Reals:
        """By person: how many rows fit, the largest share of a watched value, and whether their own value is named."""
        known, coded = min(self.l, len(count.subject.quasi)), count.subject.coded(people)
        found = np.zeros((3, people.height))
        if self.choice == "worst":
            for columns in telling(count, people, known, coded):
                asked = self._asked(count, people, columns, coded)
                better = (asked[0] > 0) & ((found[0] == 0) | (asked[0] < found[0]))
                sure = np.maximum(asked[1], found[1])
                found = np.where(better, asked, found)
                found[1] = sure
            return found
        rng = chance.generator()
        drawn = choices(rng, len(count.subject.quasi), known)
        own = rng.integers(len(drawn), size=people.height)
        for place, columns in enumerate(drawn):
            who = np.flatnonzero(own == place)
            found[:, who] = self._asked(count, people[who], columns, coded[:, who])
        return found

    def _asked(self, count: Counted, people: pl.DataFrame, columns: Sequence[int], coded: Codes) -> Reals:
        """What these columns tell about these people, whose codes are given."""
        posterior = count.posterior(people, columns, coded)
        watched = np.isin(posterior.code, [at for at, value in enumerate(posterior.values) if value in self.values])
        share = np.where(watched, posterior.share, 0.0) if self.values else posterior.share
        own = count.truth(people) if count.column in (None, *people.columns) else np.full(people.height, -1)
        rows = np.round(posterior.per_person(posterior.rows))
        return np.stack([rows, posterior.per_person(posterior.highest(share)[0]), most_frequent(posterior, own)])


def choices(rng: np.random.Generator, quasi: int, known: int) -> list[tuple[int, ...]]:
    """All choices of so many columns, or some of them where there are many."""
    if comb(quasi, known) <= MOST:
        return list(combinations(range(quasi), known))
    return sorted({tuple(sorted(rng.permutation(quasi)[:known].tolist())) for _ in range(MOST)})


def telling(count: Counted, people: pl.DataFrame, known: int, coded: Codes) -> Iterator[tuple[int, ...]]:
    """All choices of so many columns, or of as many of the most telling columns as there is time for."""
    columns = list(range(len(count.subject.quasi)))
    if comb(len(columns), known) > MOST:
        alone = [count.posterior(people, (column,), coded) for column in columns]
        rows = [mean(1 / np.maximum(posterior.per_person(posterior.rows), 1)) for posterior in alone]
        order = np.argsort([-one for one in rows], kind="stable")
        many = max(n for n in range(known, len(columns) + 1) if comb(n, known) <= MOST)
        columns = sorted(order[:many].tolist())
    return combinations(columns, known)
