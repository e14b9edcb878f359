"""The minimality attack: what was generalized without need of k-anonymity tells why it was generalized."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
import polars as pl

from sfumato.attacks.frame.assignment import Reals, Shown, codes_of, homes, right, shown
from sfumato.attacks.frame.promises import Promise, about, class_size
from sfumato.attacks.frame.subject import Ints, Mask, Subject
from sfumato.attacks.frame.trials import Finding, Limit, Rate
from sfumato.attacks.method.finer_tables import Finer, finer_tables
from sfumato.attacks.method.refused_tables import Allowed, allowed, belief
from sfumato.ground.arguments import at_least, one_of
from sfumato.ground.chance import Chance
from sfumato.ground.errors import ParameterError

Scope = Literal["auto", "class", "table"]
FULL_DOMAIN = ("optimal", "samarati", "incognito", "datafly", "greedy")
"""Algorithms that give a column one level everywhere: they refuse a finer table as a whole."""
MOST_STEPS = 20_000_000
"""Classes that would take more steps than this are not reasoned about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Minimality:
    """He has the release, a register of everybody in it, and knows the algorithm; he wants a sensitive value.

    The algorithm generalizes as little as its models allow. So for every class he asks: would its parts have been large
    enough? If yes, they were not refused for the sake of k; one of them had a value too often. He strikes out all ways
    in which the class's values could lie in its parts without offence, and his belief about the parts rises. He then
    bets on the people for whom it is above what the release promises. It costs him a count of the register.

    A trial is a bet. The naive guesser makes the same bet on anybody of the same class, for he reads the class and does
    not know the method. Where nobody is singled out, every
    sampled person is a trial that could not be carried out.

    Needs: a claim that bounds how frequent a value may be; a release by generalization. With several values, or several
    finer tables, he takes them as independent, and the finer table whose refusal was least to be expected.
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
        column = self.column or subject.sensitive[0]
        return (
            "" if about(subject.promises, column, 2) else f"no claim bounds how frequent a value of {column!r} may be"
        )

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Work out the beliefs, bet where they are high, and count."""
        if reason := self.fits(subject):
            raise ParameterError(f"subject cannot be attacked: {reason}")
        column = self.column or subject.sensitive[0]
        found = shown(subject, column)
        watch = [self._watched(one, found) for one in about(subject.promises, column, len(found.values))]
        home = homes(subject, subject.people)
        order = chance.generator().permutation(len(found.counts))
        beliefs, raised = self._beliefs(subject, found, watch, home, order)
        shares = found.shares[np.maximum(home, 0)]
        bets = np.where(beliefs > np.maximum(_bounds(watch, len(found.values)), shares) + 1e-9, beliefs, 0.0)
        bets[home < 0] = 0
        singled = np.flatnonzero(bets.any(axis=1))
        pool = singled if len(singled) else np.arange(len(home))
        chosen = np.sort(chance.generator().permutation(pool)[: self.trials])
        truth = codes_of(subject.people[chosen], column, found.values)
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="everybody's quasi-identifiers and the algorithm",
            does=f"name somebody's {column}, because a finer table was refused",
            rate=Rate(
                hits=float(right(bets[chosen], truth).sum()),
                trials=len(chosen),
                failed=0 if len(singled) else len(chosen),
            ),
            naive=Rate(hits=float(_same_class(shares[chosen], bets[chosen]).sum()), trials=len(chosen)),
            control=self._control(subject, column, found, singled, bets),
            limit=limit,
            worst=float(bets.max()) if len(singled) else None,
            figures={
                "believed": float(bets[chosen].max(axis=1).mean()) if len(chosen) else 0.0,
                "allowed_by_claims": min(one.share for one, _ in watch),
                "singled_out": len(singled) / max(len(home), 1),
                "classes_with_a_raised_belief": float(raised.mean()) if raised.size else 0.0,
                "classes": float(len(found.counts)),
            },
            note="a trial is a bet on somebody whose value is believed more firmly than the release allows",
        )

    def _watched(self, promise: Promise, found: Shown) -> tuple[Promise, Ints]:
        names = self.values or promise.values or found.values
        return promise, np.array([at for at, value in enumerate(found.values) if value in names], np.int64)

    def _beliefs(
        self, subject: Subject, found: Shown, watch: list[tuple[Promise, Ints]], home: Ints, order: Ints
    ) -> tuple[Reals, Mask]:
        """For each person and value, and which classes tell more than they show."""
        known = np.flatnonzero(home >= 0)
        sizes = found.counts.sum(axis=1)
        whole = np.bincount(home[known], minlength=len(sizes)) == sizes
        result = found.shares[np.maximum(home, 0)]
        best = np.full(found.counts.shape, 1.0)
        together = self.scope == "table" or (self.scope == "auto" and subject.algorithm in FULL_DOMAIN)
        for finer in finer_tables(subject, subject.people[known], home[known]):
            usable = whole & finer.splits(class_size(subject.claims))
            if together and (len(order) > self.classes or not (finer.sizes >= class_size(subject.claims)).all()):
                continue
            chosen = order[usable[order]][: self.classes]
            by_part, refused = _table(finer, found, watch, chosen, together=together)
            better = refused < best
            best = np.where(better, refused, best)
            touched = np.flatnonzero(better.any(axis=1)[home[known]])
            swap = better[home[known[touched]]]
            result[known[touched]] = np.where(swap, by_part[finer.part[touched]], result[known[touched]])
        return result, (best < 1).any(axis=1)

    def _control(self, subject: Subject, column: str, found: Shown, singled: Ints, bets: Reals) -> Rate | None:
        """The same bets on people who are not in the table and have the quasi-identifiers of somebody he bets on."""
        if subject.control is None or not len(singled):
            return None
        keys = list(subject.quasi)
        known = subject.people[singled].select(pl.col(keys).cast(pl.String)).with_columns(at=pl.Series(singled))
        others = subject.control.with_columns(pl.col(keys).cast(pl.String))
        joined = others.join(known.unique(keys, keep="first", maintain_order=True), on=keys, how="inner")
        joined = joined.head(self.trials)
        if not joined.height:
            return None
        truth = codes_of(joined, column, found.values)
        return Rate(hits=float(right(bets[joined["at"].to_numpy()], truth).sum()), trials=joined.height)


def _same_class(shares: Reals, bets: Reals) -> Reals:
    """How often the value that is bet on is right for anybody of the class; the most frequent one where none is."""
    value = np.where(bets.any(axis=1), bets.argmax(axis=1), shares.argmax(axis=1))
    return np.asarray(shares[np.arange(len(value)), value])


def _bounds(watch: list[tuple[Promise, Ints]], values: int) -> Reals:
    """For each value the belief above which he bets: what is promised, or one half where no share is."""
    found = np.ones(values)
    for promise, watched in watch:
        found[watched] = np.minimum(found[watched], promise.share if promise.share < 1 else 0.5)
    return found


def _table(
    finer: Finer, found: Shown, watch: list[tuple[Promise, Ints]], usable: Ints, *, together: bool
) -> tuple[Reals, Reals]:
    """The belief for each part and value, and how likely the refusal was for each class and value (1: no news)."""
    by_part = found.shares[finer.home]
    refused = np.ones(found.counts.shape)
    asked: dict[tuple[int, int], Allowed] = {}
    for number in usable.tolist():
        for promise, watched in watch:
            for value in watched.tolist():
                if one := _allowed(finer, number, promise, int(found.counts[number, value])):
                    key = (number, value)
                    asked[key] = min(asked.get(key, one), one, key=lambda allowed: allowed.chance)
    logs = np.zeros(len(found.counts))
    for (number, _), one in asked.items():
        logs[number] += np.log(max(one.chance, 1e-300))
    everything = float(logs.sum())
    for (number, value), one in asked.items():
        rest = (everything if together else logs[number]) - np.log(max(one.chance, 1e-300))
        parts = finer.of_class(number)
        sizes, rows = tuple(finer.sizes[parts].tolist()), int(found.counts[number, value])
        posterior = belief(sizes, rows, one, float(np.exp(rest)))
        if posterior is not None:
            by_part[parts, value] = posterior
            refused[number, value] = 1 - one.chance * np.exp(rest)
    return by_part, refused


def _allowed(finer: Finer, number: int, promise: Promise, rows: int) -> Allowed | None:
    """What the parts of a class allow; None where no way of filling them could offend."""
    sizes = finer.sizes[finer.of_class(number)]
    most = promise.most(sizes)
    if not (np.minimum(sizes, rows) > most).any() or len(sizes) * (rows + 1) ** 2 > MOST_STEPS:
        return None
    return allowed(tuple(sizes.tolist()), rows, tuple(most.tolist()))
