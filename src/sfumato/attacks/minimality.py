"""The minimality attack: what was generalized without need of k-anonymity tells why it was generalized."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import ClassVar, Literal, get_args

import numpy as np
import polars as pl

from sfumato.attacks.candidates import Reals, codes_of, different, right, too_many
from sfumato.attacks.finding import SURE, Finding, Limit, Rate
from sfumato.attacks.guarantees import Promise, about, class_size, limit_to_find, limit_to_tell
from sfumato.attacks.refused_tables import READ, Beliefs, View, beliefs
from sfumato.attacks.subject import Ints, Subject, by_value
from sfumato.core.arguments import at_least, one_of
from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance

Scope = Literal["auto", "class", "table"]
FULL_DOMAIN = ("optimal", "samarati", "incognito", "datafly", "greedy")
"""Algorithms that give a column one level everywhere: they refuse a finer table as a whole."""
MOST_LISTED = 10_000
"""More choices of columns are not listed one by one."""
MOST_VIEWS = 6
"""Of more choices of the columns that somebody knows than this, some are taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Minimality:
    """Somebody has the release and a register of everybody in it, knows the algorithm, and wants a sensitive value.

    The algorithm generalizes as little as its models allow. So for every class the attacker asks: would its parts have
    been large enough? If yes, they were not refused for the sake of k; one of them had a value too often. The attacker
    strikes out all ways in which the class's values could lie in its parts without offence, and so believes more about
    the parts than the class says. The bets are then on the people for whom this belief is above what the release
    promises. It takes a count of the register.

    Where the claim is about somebody who knows L quasi-identifiers (LKC-privacy) or those of a template, the attacker
    looks at these columns alone, and at the groups that they make. Where it is about closeness to the whole table, a
    part was refused because the distribution of its values was too far away.

    A trial is a bet. The naive guesser reads the class and does not know the method, and makes the same bet on anybody
    of the same class. Where nobody is singled out, every sampled person is a trial that could not be carried out. Where
    claims are about few columns or about closeness, bounds differ from bet to bet; the limit is then what they promise
    about the bets that the attacker makes, on average, if they promise something about each.

    Needs: a claim that bounds how frequent a value may be; a release by generalization. With several values, or several
    finer tables, the attacker takes them as independent, and the finer table whose refusal was least to be expected.
    Source: Wong, Fu, Wang and Pei 2007; document 003, section 2.1.1.
    """

    name: ClassVar[str] = "minimality"
    threat: ClassVar[str] = "method"

    column: str | None = None
    """The sensitive column; the first one where nothing is said."""
    values: tuple[str, ...] = ()
    """The values that are watched; none means those that the claims name, or all."""
    scope: Scope = "auto"
    """Whether a refusal is about one class or about the whole table; by the algorithm's name where it is auto."""
    trials: int = 2000
    """At most so many bets."""
    classes: int = 10_000
    """At most so many classes are reasoned about, drawn at random; none where a larger table is refused as a whole."""

    def __post_init__(self) -> None:
        at_least("trials", self.trials, 1)
        at_least("classes", self.classes, 1)
        one_of("scope", self.scope, get_args(Scope))

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        if not subject.sensitive:
            return "there is no sensitive column"
        if subject.groups is not None:
            return "nothing was generalized: the sensitive column is published apart"
        if not subject.release.height:
            return "the release has no rows"
        column = self._column(subject)
        if why := too_many(subject, column):
            return why
        if any(self._promised(subject, column)):
            return ""
        return f"no claim bounds how frequent a value of {column!r} may be, by which an attacker could reason"

    def variants(self, subject: Subject) -> Sequence[tuple[str, Minimality]]:
        """As it is; and, where some claims are no bounds on belief, on the values that others protect."""
        mine = about(subject.promises, next(iter(subject.sensitive), ""), 2, len(subject.quasi))
        if all(promise.posterior for promise in mine):
            return (("", self),)
        return by_value(self, subject, self.column or next(iter(subject.sensitive), None))

    def limit(self, subject: Subject, column: str | None) -> Limit | None:
        """How often bets on the watched values are right at most; None where the bets themselves must tell."""
        whole, _ = self._promised(subject, column or "")
        if not whole or self._by_bets(subject, column or ""):
            return None
        named = (
            ()
            if any(not promise.values for promise in whole)
            else [value for promise in whole for value in promise.values]
        )
        return limit_to_tell(whole, column, values=self.values or named, known=len(subject.quasi), inferred=True)

    def _by_bets(self, subject: Subject, column: str) -> bool:
        """Whether bounds differ from bet to bet: some are about few columns, or about closeness."""
        whole, few = self._promised(subject, column)
        return bool(few) or any(promise.closeness is not None for promise in whole)

    def _column(self, subject: Subject) -> str:
        return self.column or subject.sensitive[0]

    def _promised(self, subject: Subject, column: str) -> tuple[list[Promise], list[Promise]]:
        """The promises about classes, and those about groups by fewer columns."""
        mine = [promise for promise in subject.promises if promise.column in (None, column) and promise.find is None]
        close = [promise for promise in mine if promise.closeness is not None and promise.closeness.distance in READ]
        few = [
            promise for promise in mine if promise.quasi or (promise.known or len(subject.quasi)) < len(subject.quasi)
        ]
        return [*about(mine, column, different(subject, column), len(subject.quasi)), *close], few

    def _views(self, subject: Subject, column: str, draw: np.random.Generator) -> list[View]:
        """The whole release, and what is seen by whoever knows fewer columns."""
        whole, few = self._promised(subject, column)
        views = [View.of(subject, column, whole, self.values, class_size(subject.claims))] if whole else []
        for promise in few:
            every = [promise.quasi] if promise.quasi else _some(subject.quasi, promise.known or 1, draw)
            for quasi in every:
                seen = replace(subject, quasi=quasi)
                size = limit_to_find(subject.promises, len(quasi))
                k = 1 if size is None else round(1 / size.value)
                views.append(View.of(seen, column, [promise], self.values, k))
        return views

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Work out the beliefs, bet where they are high, and count."""
        if reason := self.fits(subject):
            raise ParameterError(f"subject cannot be attacked: {reason}")
        column, draw = self._column(subject), chance.generator()
        together = self.scope == "table" or (self.scope == "auto" and subject.algorithm in FULL_DOMAIN)
        views = self._views(subject, column, draw)
        thought = [beliefs(view, together=together, classes=self.classes, draw=draw) for view in views]
        bets = _Bets.of(views, thought, draw.integers(len(views), size=subject.people.height))
        pool = draw.permutation(len(bets.who))[: self.trials]
        some, values = bets.chosen(np.sort(pool)), views[0].found.values
        missed = 0 if len(bets.who) else min(self.trials, subject.people.height)
        truth = codes_of(subject.people[some.who], column, values)
        trials = missed or len(some.who)
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="everybody's quasi-identifiers and the algorithm",
            does=f"name somebody's {column}, because a finer table was refused",
            rate=Rate(hits=float(right(some.bets, truth).sum()), trials=trials, failed=missed, confidence=SURE),
            naive=Rate(hits=float(_same_class(views[0], some, missed)), trials=trials),
            control=self._control(subject, column, bets, values),
            limit=limit or (some.limit(views) if self._by_bets(subject, column) else None),
            worst=float(bets.bets.max()) if len(bets.who) else None,
            figures={
                "believed": float(some.bets.max(axis=1).mean()) if len(some.who) else 0.0,
                "allowed_by_claims": float(min(view.bets_above.min() for view in views)),
                "singled_out": len(bets.who) / max(subject.people.height, 1),
                "classes_with_a_raised_belief": float(
                    np.mean([*(belief.raised.mean() for belief in thought if belief.raised.size)] or [0])
                ),
                "classes": float(len(views[0].found.counts)),
            },
            note="a trial is a bet on somebody whose value is believed more firmly than the release allows",
            exact=True,
        )

    def _control(self, subject: Subject, column: str, bets: _Bets, values: tuple[str, ...]) -> Rate | None:
        """The same bets on people who are not in the table and have the quasi-identifiers of somebody bet on."""
        if subject.control is None or not len(bets.who):
            return None
        keys = list(subject.quasi)
        known = subject.people[bets.who].select(pl.col(keys).cast(pl.String)).with_row_index("at")
        others = subject.control.with_columns(pl.col(keys).cast(pl.String))
        joined = others.join(known.unique(keys, keep="first", maintain_order=True), on=keys, how="inner")
        joined = joined.head(self.trials)
        if not joined.height:
            return None
        truth = codes_of(joined, column, values)
        return Rate(hits=float(right(bets.bets[joined["at"].to_numpy()], truth).sum()), trials=joined.height)


def _some(quasi: tuple[str, ...], known: int, draw: np.random.Generator) -> list[tuple[str, ...]]:
    """A few choices of so many columns, each as likely as any other; all of them where they are few."""
    if comb(len(quasi), known) <= MOST_LISTED:
        every = list(combinations(quasi, known))
        return [every[place] for place in draw.permutation(len(every))[:MOST_VIEWS].tolist()]
    drawn = (tuple(sorted(draw.permutation(len(quasi))[:known].tolist())) for _ in range(MOST_VIEWS))
    return [tuple(quasi[place] for place in places) for places in dict.fromkeys(drawn)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Bets:
    """The people whom the attacker bets on.

    Everybody is looked at by the columns of one view, drawn beforehand: who took the view with the highest belief would
    use the other columns too, about which a claim on few columns promises nothing.
    """

    who: Ints
    """The people."""
    bets: Reals
    """For each of them the attacker's belief in each value that the attacker would bet on, and 0 for the others."""
    shares: Reals
    """What their group says by itself."""
    view: Ints
    """By which columns the attacker looked."""

    @classmethod
    def of(cls, views: Sequence[View], thought: Sequence[Beliefs], own: Ints) -> _Bets:
        """From what the attacker believes: where it is above what is promised, and above what the class says."""
        parts = []
        for number, (view, belief) in enumerate(zip(views, thought, strict=True)):
            above = np.maximum(view.bets_above, belief.shares)
            kept = np.zeros(len(view.found.values), np.bool_)
            kept[view.values] = True
            bets = np.where((belief.values > above + 1e-9) & kept, belief.values, 0.0)
            singled = np.flatnonzero(bets.any(axis=1) & (own[belief.who] == number))
            parts.append((belief.who[singled], bets[singled], belief.shares[singled], np.full(len(singled), number)))
        who, bets, shares, view_of = (np.concatenate(part) for part in zip(*parts, strict=True))
        return cls(who=who, bets=bets, shares=shares, view=view_of)

    def chosen(self, some: Ints) -> _Bets:
        """Some of them."""
        return _Bets(who=self.who[some], bets=self.bets[some], shares=self.shares[some], view=self.view[some])

    def limit(self, views: Sequence[View]) -> Limit | None:
        """How often such bets are right at most if all promises hold; None where one bet is not promised anything."""
        if not len(self.who):
            return None
        bounds, by = (np.stack(part) for part in zip(*(view.promised for view in views), strict=True))
        value = self.bets.argmax(axis=1)
        mine, claim = bounds[self.view, value], by[self.view, value]
        if (claim < 0).any():
            return None
        most = int(np.bincount(self.view * by.size + claim).argmax())
        return Limit(value=float(mine.mean()), why=views[most // by.size].why(most % by.size))


def _same_class(view: View, some: _Bets, missed: int) -> float:
    """How often the value that is bet on is right for anybody of the class; the most frequent one where none is."""
    if missed:
        sizes = view.found.counts.sum(axis=1)
        return float((view.found.shares.max(axis=1, initial=0) * sizes).sum() / max(sizes.sum(), 1)) * missed
    return float(some.shares[np.arange(len(some.who)), some.bets.argmax(axis=1)].sum())
