"""Attackers who know at most L quasi-identifiers, and bets on protected values with that knowledge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import ClassVar

import numpy as np
import polars as pl

from sfumato.attacks.finding import SURE, Finding, Limit, Rate
from sfumato.attacks.guarantees import Promise, limit_to_tell
from sfumato.attacks.homogeneity import check_options, chosen, mean, most_frequent, unfit
from sfumato.attacks.posterior import Counted, Reals, counted, holding
from sfumato.attacks.subject import Codes, Mask, Subject
from sfumato.core.arguments import at_least, one_of, text
from sfumato.core.errors import ParameterError, listed
from sfumato.core.randomness import Chance

# An adversary who knows few things about a person: L of their quasi-identifiers.


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
        sizes = sorted(
            {promise.known for promise in subject.promises if promise.known is not None and promise.find is not None}
        )
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
        measures = np.zeros((3, people.height))
        if self.choice == "worst":
            for columns in telling(count, people, known, coded):
                candidate = self._asked(count, people, columns, coded)
                better = (candidate[0] > 0) & ((measures[0] == 0) | (candidate[0] < measures[0]))
                sure = np.maximum(candidate[1], measures[1])
                measures = np.where(better, candidate, measures)
                measures[1] = sure
            return measures
        rng = chance.generator()
        drawn = choices(rng, len(count.subject.quasi), known)
        own = rng.integers(len(drawn), size=people.height)
        for place, columns in enumerate(drawn):
            who = np.flatnonzero(own == place)
            measures[:, who] = self._asked(count, people[who], columns, coded[:, who])
        return measures

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
        order = np.argsort([-n_rows for n_rows in rows], kind="stable")
        many = max(n for n in range(known, len(columns) + 1) if comb(n, known) <= MOST)
        columns = sorted(order[:many].tolist())
    return combinations(columns, known)


# Betting on protected values where the rows that fit make them most likely, by as much as a claim says is known.


PEOPLE = 20_000
"""At most so many people are looked up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectedValues:
    """Somebody knows some quasi-identifiers of people, and wants to know who has a value that a claim protects.

    The attacker keeps the rows that fit and sees how frequent the protected values are among them, and bets only on
    people for whom one is most frequent. LKC-privacy says how surely somebody with L columns can be right, a template
    of confidence bounding somebody with its columns, (alpha, k)-anonymity with named values somebody with all columns.
    So the attacker is made for the claims: with L columns, the worst choice or a random one for each person, and with
    the values that the claim names. The guesser bets on the same value for anybody.

    A trial is a bet: a person, the columns that are known of them, and the value. Where some rows that fit are surer
    than the claim allows, the attacker bets on everybody whom these rows fit; otherwise on everybody whom the surest
    rows fit. Whoever fits the same rows is bet on together, so that bets on an honest release are right as often as the
    rows say.

    Figures: confidence, the share of the value among the rows that fit, on average over the attacker's bets;
        confidence_worst, the largest share in any group of rows with equal labels, for any choice of columns that the
        attacker tries, counted from the release.
    Needs: a claim that says how surely nobody infers some values, or any value by few columns.
    Cost: a grouping of the release for each choice of columns, at most 64.
    Source: Mohammed, Fung, Hung and Lee 2009; Wang, Fung and Yu 2007; 003 chapter 3.
    """

    name: ClassVar[str] = "protected-values"
    threat: ClassVar[str] = "attribute disclosure"

    l: int | None = None
    """How many quasi-identifiers the attacker knows; None: all."""
    choice: str = "worst"
    """Which ones: "random", or "worst"."""
    quasi: tuple[str, ...] = ()
    """The quasi-identifiers that the attacker knows, instead of a number."""
    values: tuple[str, ...] = ()
    """The values that the attacker bets on; all where none is named."""
    column: str | None = None
    """The sensitive column; the first one where none is named."""
    trials: int = 2000
    """At most so many bets are counted."""

    def __post_init__(self) -> None:
        """Refuse nonsense."""
        check_options(self.trials, self.column)
        one_of("choice", self.choice, ("random", "worst"))
        if self.l is not None:
            at_least("l", self.l, 1)

    def variants(self, subject: Subject) -> Sequence[tuple[str, ProtectedValues]]:
        """One for each claim that protects named values, or any value against somebody with few columns."""
        column = chosen(subject, self.column)
        variants: dict[str, ProtectedValues] = {}
        for promise in subject.promises:
            if _protects(promise, len(subject.quasi)) and promise.column in (None, column):
                variants |= self._against(promise, len(subject.quasi))
        return list(variants.items()) or [("", self)]

    def _against(self, promise: Promise, columns: int) -> dict[str, ProtectedValues]:
        whom = f" of {listed(promise.values, most=3)}" if promise.values else ""
        if promise.quasi:
            return {
                f"{whom}, by {listed(promise.quasi, most=3)}": replace(self, values=promise.values, quasi=promise.quasi)
            }
        if promise.known is None or promise.known >= columns:
            return {whom: replace(self, values=promise.values)}
        return {
            f"{whom}, {promise.known} known, {choice}": replace(
                self, values=promise.values, l=promise.known, choice=choice
            )
            for choice in ("worst", "random")
        }

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        column = chosen(subject, self.column)
        if why := unfit(subject, column):
            return why
        if any(
            _protects(promise, len(subject.quasi)) and promise.column in (None, column) for promise in subject.promises
        ):
            return ""
        return "no claim protects named values, or any value against somebody who knows few columns"

    def limit(self, subject: Subject, column: str | None) -> Limit | None:
        """How surely claims say that the watched values are inferred at most, by who knows so much."""
        every = len(subject.quasi)
        known = min(len(self.quasi) or self.l or every, every)
        promised = subject.promises
        return limit_to_tell(promised, column, values=self.values, known=known, quasi=self.quasi, inferred=True)

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Bet on people for whom the protected values are most frequent."""
        column = chosen(subject, self.column) or ""
        if why := unfit(subject, column or None):
            raise ParameterError(f"subject cannot be attacked: {why}")
        count, people = holding(subject, column), subject.some(PEOPLE, chance)
        watched = np.array([not self.values or value in self.values for value in count.values], np.bool_)
        looked = list(self._known(count, people, chance))
        sure, right, blind = np.concatenate(
            [_bets(count, people.filter(who), at, watched) for at, who in looked], axis=1
        )
        bets = _surest(sure, self.trials, 1.0 if limit is None else limit.value)
        trials = min(int(bets.sum()), self.trials)
        scale = trials / max(int(bets.sum()), 1)
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows=self._knows(len(subject.quasi)),
            does=f"say who has {self._what(column)}, by a bet where it is most frequent",
            rate=Rate(hits=float(right[bets].sum() * scale), trials=trials, confidence=SURE),
            naive=Rate(hits=float(blind[bets].sum() * scale), trials=trials),
            limit=limit,
            worst=float(sure.max(initial=0)),
            figures={
                "confidence": float(sure[bets].mean()) if trials else 0.0,
                "confidence_worst": max((_worst(count, at, watched) for at, _ in looked), default=0.0),
            },
            note="a trial is a bet on somebody for whom the rows that fit make the value most likely",
        )

    def _what(self, column: str | None) -> str:
        return f"{column} {listed(self.values, most=3)}" if self.values else f"which {column}"

    def _knows(self, columns: int) -> str:
        if self.quasi:
            return f"{listed(self.quasi, most=3)} of a person"
        if self.l is None or self.l >= columns:
            return "a person's quasi-identifiers"
        return f"{self.l} quasi-identifiers of a person ({self.choice} ones)"

    def _known(self, count: Counted, people: pl.DataFrame, chance: Chance) -> Iterator[tuple[tuple[int, ...], Mask]]:
        """The choices of columns that the attacker tries, and who is looked up by each."""
        every = np.ones(people.height, np.bool_)
        columns = list(count.subject.quasi)
        if self.quasi or self.l is None or self.l >= len(columns):
            yield tuple(columns.index(name) for name in self.quasi or columns), every
        elif self.choice == "worst":
            some = people[:2000]
            for known in telling(count, some, self.l, count.subject.coded(some)):
                yield known, every
        else:
            rng = chance.generator()
            drawn = choices(rng, len(columns), self.l)
            own = rng.integers(len(drawn), size=people.height)
            for place, known in enumerate(drawn):
                yield known, own == place


def _protects(promise: Promise, columns: int) -> bool:
    few = promise.known is not None and promise.known < columns
    return promise.posterior and promise.share < 1 and bool(promise.values or promise.quasi or few)


def _bets(count: Counted, people: pl.DataFrame, known: tuple[int, ...], watched: Mask) -> Reals:
    """By person: the share of the likeliest watched value, whether it is theirs, and its share in the whole release."""
    posterior, truth, person = count.owned(people, known)
    share = np.where(watched[posterior.code], posterior.share, 0.0)
    sure, best = posterior.highest(share)
    best &= share > 0
    overall = count.overall / max(count.size, 1.0)
    blind = posterior.highest(np.where(best, overall[posterior.code], 0.0))[0]
    right = posterior.hits(best, truth, person)
    return np.stack([posterior.per_person(sure), right, posterior.per_person(blind)])


def _surest(sure: Reals, trials: int, bound: float) -> Mask:
    """Where the rows say more than is allowed; else the surest, about so many, and all that are as sure as the last."""
    above = sure > bound + 1e-9
    if above.any() or not (sure > 0).any():
        return above
    last = np.sort(sure)[-min(trials, len(sure))]
    return np.asarray((sure >= last - 1e-12) & (sure > 0))


def _worst(count: Counted, known: tuple[int, ...], watched: Mask) -> float:
    """The largest share of a watched value in a group of rows with equal labels, from the release alone."""
    keys = [str(place) for place in known]
    total = pl.col("weight").sum().over(keys) if keys else pl.col("weight").sum()
    rows = count.rows.group_by(*keys, "value").agg(pl.col("weight").sum()).with_columns(total=total)
    if count.people is not None and keys:
        rows = rows.drop("total").join(count.people.group_by(*keys).agg(total=pl.col("weight").sum()), on=keys)
    mine = rows.filter(pl.Series(watched[rows["value"].to_numpy()], dtype=pl.Boolean))
    return float(mine.select((pl.col("weight") / pl.col("total")).max()).item() or 0.0)
