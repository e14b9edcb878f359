"""What the attacker believes about people, class by class, since finer tables were refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.attacks.frame.assignment import Reals, Shown, homes, shown
from sfumato.attacks.frame.promises import Promise
from sfumato.attacks.frame.subject import Ints, Mask, Subject
from sfumato.attacks.method.finer_tables import Finer, finer_tables
from sfumato.attacks.method.refused_closeness import EQUAL, Distance, distance_to, kept_close
from sfumato.attacks.method.refused_tables import Allowed, allowed, belief

MOST_STEPS = 20_000_000
"""Classes that would take more steps than this are not reasoned about."""
CLOSE_CLASSES = 60
"""Distances of parts are worked out for so many classes at most; for none where more are refused as a whole."""
MOST_BELIEFS = 10_000_000
"""So many beliefs at most, one for each person and value, are held at once."""
Asked = dict[tuple[int, int], Allowed]
"""For a class and a value, what holds where its parts are fine."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View:
    """A release by some of its quasi-identifiers, and what is promised about the groups that these make."""

    subject: Subject
    """The release; its quasi-identifiers are those that the attacker knows."""
    found: Shown
    """The values of its groups."""
    watch: tuple[tuple[Promise, Ints], ...]
    """Promises about shares, each with the values that it is about."""
    close: tuple[tuple[Promise, Distance], ...]
    """Promises of closeness to the whole table, each with its distance."""
    values: Ints
    """The values that the attacker bets on."""
    k: int
    """How many rows a group must have."""

    @classmethod
    def of(cls, subject: Subject, column: str, promised: Sequence[Promise], values: Sequence[str], k: int) -> View:
        """The attacker watches the named values; where none is named, those that the promises name."""
        found = shown(subject, column)
        watch = [(one, _places(found, values or one.values)) for one in promised if one.closeness is None]
        close = [
            (one, far)
            for one in promised
            if one.closeness is not None
            and (far := distance_to(found.overall, found.values, one.closeness)) is not None
        ]
        bets = [_places(found, values)] if close else [places for _, places in watch]
        every = np.unique(np.concatenate([np.zeros(0, np.int64), *bets]))
        return cls(subject=subject, found=found, watch=tuple(watch), close=tuple(close), values=every, k=k)

    @property
    def bets_above(self) -> Reals:
        """For each value the belief above which the attacker bets: what is promised, or one half where no share is."""
        bounds = np.ones(len(self.found.values))
        for promise, watched in self.watch:
            bounds[watched] = np.minimum(bounds[watched], promise.share if promise.share < 1 else 0.5)
        for promise, _ in self.close:
            near = self.found.overall + (promise.closeness.t if promise.closeness else 1.0)
            bounds[self.values] = np.minimum(bounds, near)[self.values]
        return bounds

    @property
    def promised(self) -> tuple[Reals, Ints]:
        """For each value how surely nobody infers it, by the claims, and by which; 1 and -1 where none says so."""
        bounds, by = np.ones(len(self.found.values)), np.full(len(self.found.values), -1)
        for number, (promise, watched) in enumerate(self.watch):
            better = watched[promise.posterior & (bounds[watched] > promise.share)]
            bounds[better], by[better] = promise.share, number
        for number, (promise, _) in enumerate(self.close, start=len(self.watch)):
            if promise.closeness is not None and promise.closeness.distance in EQUAL:
                near = np.minimum(self.found.overall + promise.closeness.t, 1.0)
                by = np.where(near < bounds, number, by)
                bounds = np.minimum(near, bounds)
        return bounds, by

    def why(self, number: int) -> str:
        """The claim of a promise."""
        return ([one for one, _ in self.watch] + [one for one, _ in self.close])[number].why


def _places(found: Shown, names: Sequence[str]) -> Ints:
    """Where the named values stand; all where none is named."""
    return np.array([at for at, value in enumerate(found.values) if not names or value in names], np.int64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Beliefs:
    """What the attacker believes about the people of some classes."""

    who: Ints
    """The people."""
    values: Reals
    """For each of them how firmly the attacker believes in each value."""
    shares: Reals
    """What their class says by itself."""
    raised: Mask
    """Which classes tell more than they show."""


def beliefs(view: View, *, together: bool, classes: int, draw: np.random.Generator) -> Beliefs:
    """For people of at most so many classes: for each value, by the finer table whose refusal was least expected.

    ``together`` says that a finer table was refused as a whole, so that all classes share the blame; then all of them
    are looked at, or none.
    """
    found, home = view.found, homes(view.subject, view.subject.people)
    order = draw.permutation(len(found.counts))
    sizes = found.counts.sum(axis=1)
    whole = np.bincount(home[home >= 0], minlength=len(sizes)) == sizes
    looked = np.zeros(len(sizes), np.bool_)
    chosen = order if together else order[whole[order]][:classes]
    room = np.cumsum(sizes[chosen]) * len(found.values) <= MOST_BELIEFS
    looked[chosen[room if not together or room.all() else []]] = True
    who = np.flatnonzero((home >= 0) & looked[home])
    result, best = found.shares[home[who]], np.ones(found.counts.shape)
    shares = result.copy()
    for finer in finer_tables(view.subject, view.subject.people[who], home[who]) if len(who) else ():
        if together and (len(order) > classes or not looked.all() or not (finer.sizes >= view.k).all()):
            continue
        usable = np.flatnonzero(whole & looked & finer.splits(view.k))
        by_part, refused = _by_part(view, finer, usable, draw, together=together)
        better = refused < best
        best = np.where(better, refused, best)
        touched = np.flatnonzero(better.any(axis=1)[home[who]])
        swap = better[home[who[touched]]]
        result[touched] = np.where(swap, by_part[finer.part[touched]], result[touched])
    return Beliefs(who=who, values=result, shares=shares, raised=(best < 1).any(axis=1))


def _by_part(
    view: View, finer: Finer, usable: Ints, draw: np.random.Generator, *, together: bool
) -> tuple[Reals, Reals]:
    """The belief for each part and value, and how likely the refusal was for each class and value (1: no news)."""
    found = view.found
    by_part, refused = found.shares[finer.home], np.ones(found.counts.shape)
    asked, logs = _of_shares(view, finer, usable)
    if view.close and (not together or len(usable) <= CLOSE_CLASSES):
        close, more = _of_distances(view, finer, usable[:CLOSE_CLASSES], draw)
        logs += more
        asked |= {key: min(asked.get(key, one), one, key=lambda one: one.chance) for key, one in close.items()}
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


def _of_shares(view: View, finer: Finer, usable: Ints) -> tuple[Asked, Reals]:
    """By promises about shares, value by value; and how likely all values of a class are fine, as logarithms."""
    asked: Asked = {}
    for number in usable.tolist():
        for promise, watched in view.watch:
            for value in watched.tolist():
                if one := _allowed(finer, number, promise, int(view.found.counts[number, value])):
                    key = (number, value)
                    asked[key] = min(asked.get(key, one), one, key=lambda allowed: allowed.chance)
    logs = np.zeros(len(view.found.counts))
    for (number, _), one in asked.items():
        logs[number] += np.log(max(one.chance, 1e-300))
    return asked, logs


def _allowed(finer: Finer, number: int, promise: Promise, rows: int) -> Allowed | None:
    """What the parts of a class allow; None where no way of filling them could offend."""
    sizes = finer.sizes[finer.of_class(number)]
    most = promise.most(sizes)
    if not (np.minimum(sizes, rows) > most).any() or len(sizes) * (rows + 1) ** 2 > MOST_STEPS:
        return None
    return allowed(tuple(sizes.tolist()), rows, tuple(most.tolist()))


def _of_distances(view: View, finer: Finer, usable: Ints, draw: np.random.Generator) -> tuple[Asked, Reals]:
    """By promises of closeness, all values at once; and how likely a class is fine, as logarithms."""
    asked: Asked = {}
    logs = np.zeros(len(view.found.counts))
    for number in usable.tolist():
        for promise, distance in view.close:
            sizes, limit = finer.sizes[finer.of_class(number)], promise.closeness.t if promise.closeness else 1.0
            one = kept_close(view.found.counts[number], sizes, distance, limit, draw)
            if one is not None:
                logs[number] += np.log(max(one[0].chance, 1e-300))
                asked |= {(number, value): one[value] for value in view.values.tolist()}
    return asked, logs
