"""The finer tables a minimal algorithm refused, and what each refusal implies about people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.candidates import Reals, Shown, homes, published_values, texts_of
from sfumato.attacks.guarantees import Closeness, Promise
from sfumato.attacks.subject import Ints, Mask, Subject, alike
from sfumato.core.special import binomial_chances, log_gamma

# The finer tables that a minimal algorithm must have refused, as somebody with a register can work them out.


HALVING = ("mondrian", "top-down")
"""Algorithms that cut numbers in two wherever it suits them."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Finer:
    """One finer table: the parts that each class would fall into."""

    name: str
    """Which column is finer; all of them where it is ``*``."""
    part: Ints
    """The part of each person."""
    sizes: Ints
    """How many people each part has."""
    home: Ints
    """The class of each part."""
    starts: Ints
    """Where the parts of each class begin; they are in a row."""

    def of_class(self, number: int) -> slice:
        """The parts of a class."""
        return slice(int(self.starts[number]), int(self.starts[number + 1]))

    def splits(self, k: int) -> Mask:
        """Which classes fall into two or more parts that all have k people."""
        parts = np.diff(self.starts)
        small = np.zeros(len(parts), np.int64)
        np.add.at(small, self.home, self.sizes < k)
        return np.asarray((parts > 1) & (small == 0))


def finer_tables(subject: Subject, people: pl.DataFrame, home: Ints) -> Iterator[Finer]:
    """One column one step finer, for each column, and the table as it was before any generalization.

    One step is down a public tree; without one it is to the values, or, where the algorithm cuts numbers freely, to two
    halves at the median.
    """
    classes = len(subject.classes[1])
    steps = [_step(subject, people, home, column) for column in range(len(subject.quasi))]
    whole = subject.coded(people).astype(np.int64)
    for name, codes in [*zip(subject.quasi, steps, strict=True), ("*", alike(whole)[1])]:
        first, part = alike(np.stack([home, codes]))
        yield Finer(
            name=name,
            part=part,
            sizes=np.bincount(part, minlength=len(first)).astype(np.int64),
            home=home[first],
            starts=np.searchsorted(home[first], np.arange(classes + 1)).astype(np.int64),
        )


def _step(subject: Subject, people: pl.DataFrame, home: Ints, column: int) -> Ints:
    name = subject.quasi[column]
    label = subject.classes[0][column][home]
    tree = subject.trees.get(name)
    if tree:
        return _below(texts_of(people, name), label, subject.coverage[name].labels, tree)
    value: Ints = subject.coded(people.select(subject.quasi))[column].astype(np.int64)
    if name not in subject.numeric or subject.algorithm not in HALVING:
        return value
    numbers = people[name].cast(pl.String).cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    return _halves(numbers, home)


def _below(texts: pl.Series, label: Ints, labels: tuple[str, ...], tree: Mapping[str, tuple[str, ...]]) -> Ints:
    """For each person what lies one step below the label, on the way down to their value."""
    frame = pl.DataFrame({"value": texts, "label": label.astype(np.int64)})
    pairs = frame.unique(maintain_order=True)
    names: dict[str, int] = {}
    below = []
    for value, code in pairs.iter_rows():
        path = (value, *tree.get(value, ()))
        at = path.index(labels[code]) if labels[code] in path else len(path)
        below.append(names.setdefault(path[max(at - 1, 0)], len(names)))
    rows = frame.join(pairs.with_columns(below=pl.Series(below, dtype=pl.Int64)), on=["value", "label"], how="left")
    return rows["below"].to_numpy().astype(np.int64)


def _halves(numbers: Reals, home: Ints) -> Ints:
    """Below the median of one's class, or not."""
    frame = pl.DataFrame({"home": home, "number": numbers})
    median = frame.select(pl.col("number").median().over("home"))["number"].to_numpy()
    return np.asarray(numbers > median, np.int64)


# Who has a value, given that a finer table was refused.
#
# A class of n rows has s rows of a value, and falls into parts of sizes n1, n2, ... that the attacker knows from a
# register. If nothing else were known, every choice of s rows would be equally likely. But the parts were not
# published, so in one of them the value is too frequent: the attacker strikes out all choices in which every part
# would have been allowed.


Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Allowed:
    """What holds where every part is allowed."""

    chance: float
    """How likely that is if nothing else is known."""
    expected: Floats
    """For each part: its number of rows with the value, 0 where some part is not allowed, on average."""


@lru_cache(maxsize=4096)
def allowed(sizes: tuple[int, ...], rows: int, most: tuple[int, ...]) -> Allowed:
    """The choices of ``rows`` among parts of these sizes with no more than ``most`` in each.

    Cost: parts times rows squared, at most.

    >>> found = allowed((2, 5), 2, (1, 2))  # two of seven; not both in the first part: 20 of 21 choices
    >>> round(found.chance, 4), found.expected.round(4).tolist()
    (0.9524, [0.4762, 1.4286])
    """
    if min(most) < 0:  # a part with fewer rows than values are asked for: refused, whatever they are
        return Allowed(chance=0.0, expected=np.zeros(len(sizes)))
    share = rows / sum(sizes)
    pieces = [_binomial(size, share, min(top, rows, size)) for size, top in zip(sizes, most, strict=True)]
    before, after = _products(pieces, rows), _products(pieces[::-1], rows)[::-1]
    whole = _binomial(sum(sizes), share, rows)[rows]
    expected = np.zeros(len(sizes))
    for at, piece in enumerate(pieces):
        others = np.convolve(before[at], after[at + 1])[: rows + 1]
        mine = piece * np.arange(len(piece))
        reach = np.arange(max(0, rows + 1 - len(others)), len(mine))
        expected[at] = (mine[reach] * others[rows - reach]).sum() / whole
    last = before[-1]
    return Allowed(chance=float(last[rows] / whole) if len(last) > rows else 0.0, expected=expected)


def belief(sizes: tuple[int, ...], rows: int, allowance: Allowed, others: float = 1.0) -> Floats | None:
    """The share of each part that has the value, given a refusal; None where it could not have been refused.

    ``others`` is the chance that nothing else, neither another value nor another class, was the reason.

    >>> belief((2, 5), 2, allowed((2, 5), 2, (1, 2))).round(4).tolist()
    [1.0, 0.0]
    """
    refused = 1 - allowance.chance * others
    if refused < 1e-9:
        return None
    size = np.array(sizes)
    left = rows * size / size.sum() - allowance.expected * others
    return np.asarray(np.clip(left / refused / size, 0, 1))


def _binomial(size: int, share: float, top: int) -> Floats:
    """How likely 0, 1, ... up to ``top`` of so many rows have the value, each with the same chance."""
    if share <= 0 or share >= 1:
        return np.asarray(np.arange(top + 1) == (size if share > 0 else 0), np.float64)
    return binomial_chances(size, share, top)


def _products(pieces: list[Floats], rows: int) -> list[Floats]:
    """The sums of the first 0, 1, 2, ... parts, as far as they matter."""
    sums = [np.ones(1)]
    for piece in pieces:
        sums.append(np.convolve(sums[-1], piece)[: rows + 1])
    return sums


# Who has which value, given that a finer table was too far from the whole one.
#
# A class is published that need not have been: its parts are large enough. So one of them was farther from the whole
# table than t-closeness allows. All ways in which the class's values can lie in its parts are equally likely
# beforehand; the attacker keeps those in which some part is too far. Here every value counts at once, for the distance
# is about all of them.


Distance = Callable[[Reals], Reals]
"""From shares, values last, to how far they are from the whole table."""
Close = Callable[[Reals, int], NDArray[np.bool_]]
"""From the counts of a part in many tables, and which part it is, to whether it is close enough in each."""
EQUAL = ("variational", "emd-equal")
"""Distances by which no value's share is more than t above that of the whole table."""
READ = (*EQUAL, "kl", "emd-ordered")
"""The distances that are read; trees and matrices of costs are not."""
MOST_TABLES = 2000
"""Where there may be more ways than this to fill the parts some are drawn."""
DRAWS = 400
FEWEST = 20
"""So few refused draws tell nothing."""
_SLACK = 1e-9


def distance_to(reference: Reals, values: Sequence[str], promised: Closeness) -> Distance | None:
    """How far shares are from the whole table, as the claim measures it; None where this is not read."""
    if promised.distance in EQUAL:
        return lambda shares: np.asarray(np.abs(shares - reference).sum(axis=-1) / 2)
    if promised.distance == "kl":
        return lambda shares: np.asarray(
            (shares * np.log(np.maximum(shares, 1e-300) / np.maximum(reference, 1e-300))).sum(axis=-1)
        )
    order = _in_order(values, promised.order) if promised.distance == "emd-ordered" else None
    if order is None:
        return None
    steps = max(len(promised.order or values) - 1, 1)
    width = np.diff([*order[1], len(promised.order or values)])[:-1]
    return lambda shares: np.asarray(
        (np.abs(np.cumsum((shares - reference)[..., order[0]], axis=-1))[..., :-1] * width).sum(axis=-1) / steps
    )


def _in_order(values: Sequence[str], listed: Sequence[str]) -> tuple[Ints, list[int]] | None:
    """The values by their place in the order, and these places; numbers are ordered by themselves."""
    try:
        rank = [listed.index(value) if listed else float(value) for value in values]
    except ValueError:
        return None
    order = np.argsort(rank, kind="stable").astype(np.int64)
    return order, [int(rank[at]) for at in order] if listed else list(range(len(values)))


def kept_close(
    counts: Ints, sizes: Ints, distance: Distance, t: float, draw: np.random.Generator
) -> tuple[Allowed, ...] | None:
    """What holds where every part is close enough, for each value; None where no part can be too far, or seldom.

    Cost: all ways to fill the parts where they are few, and else some draws.

    >>> from sfumato.core.randomness import Chance
    >>> far = distance_to(np.array([0.5, 0.5]), ("a", "b"), Closeness(t=0.2, distance="variational"))
    >>> found = kept_close(np.array([2, 2]), np.array([2, 2]), far, 0.2, Chance(seed=1).generator())
    >>> round(found[0].chance, 4)  # of six ways, four give each part one of each
    0.6667
    """

    def close(tables: Reals, part: int) -> NDArray[np.bool_]:
        return np.asarray(distance(tables / sizes[part]) <= t + _SLACK)

    most = np.log(np.minimum(counts[:, None], sizes[:-1]) + 1.0)
    if most.sum() - most.max(axis=0).sum() > np.log(MOST_TABLES):
        chance, expected = _drawn(counts, sizes, close, draw)
        if (1 - chance) * DRAWS < FEWEST:
            return None
    else:
        chance, expected = _counted(counts, sizes, close)
        if chance == 1:
            return None
    return tuple(Allowed(chance=chance, expected=expected[:, value]) for value in range(len(counts)))


def _counted(counts: Ints, sizes: Ints, close: Close) -> tuple[float, Reals]:
    """How likely all parts are close, and the rows of every part and value then (times that): by all ways there are."""
    tables = np.array(list(_filled(tuple(counts.tolist()), tuple(sizes.tolist()))), np.float64)
    logs = -log_gamma(tables + 1).sum(axis=(1, 2))
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    fine = np.array([close(tables[:, part], part) for part in range(len(sizes))]).all(axis=0)
    if fine.all():
        return 1.0, np.zeros((len(sizes), len(counts)))
    return float(weights[fine].sum()), np.einsum("w,wpv->pv", weights[fine], tables[fine])


def _filled(counts: tuple[int, ...], sizes: tuple[int, ...]) -> Iterator[list[tuple[int, ...]]]:
    """All tables with these sums of columns (values) and rows (parts)."""
    if len(sizes) == 1:
        yield [counts]
        return
    for first in _chosen(counts, sizes[0]):
        left = tuple(have - took for have, took in zip(counts, first, strict=True))
        for rest in _filled(left, sizes[1:]):
            yield [first, *rest]


def _chosen(counts: tuple[int, ...], size: int) -> Iterator[tuple[int, ...]]:
    """All ways to take so many of these counts."""
    if len(counts) == 1:
        if size <= counts[0]:
            yield (size,)
        return
    for took in range(max(0, size - sum(counts[1:])), min(counts[0], size) + 1):
        for rest in _chosen(counts[1:], size - took):
            yield (took, *rest)


def _drawn(counts: Ints, sizes: Ints, close: Close, draw: np.random.Generator) -> tuple[float, Reals]:
    """The same by draws, part by part and value by value; a draw ends at the first part that is too far."""
    left, alive = np.tile(counts, (DRAWS, 1)), np.arange(DRAWS)
    seen: list[tuple[Ints, Reals]] = []
    for part, size in enumerate(sizes.tolist()):
        need, others = np.full(len(alive), size), left.sum(axis=1)
        draws = np.zeros((len(alive), len(counts)))
        for value in np.flatnonzero(counts).tolist():
            others = others - left[:, value]
            draws[:, value] = draw.hypergeometric(left[:, value], others, need)
            need = need - draws[:, value].astype(np.int64)
        near = close(draws, part)
        alive, left, draws = alive[near], left[near] - draws[near].astype(np.int64), draws[near]
        seen.append((alive, draws))
        if not len(alive):
            return 0.0, np.zeros((len(sizes), len(counts)))
    lasting = [draws[np.isin(ids, alive)].sum(axis=0) / DRAWS for ids, draws in seen]
    return len(alive) / DRAWS, np.array(lasting)


# What the attacker believes about people, class by class, since finer tables were refused.


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
        published = published_values(subject, column)
        watch = [
            (promise, _places(published, values or promise.values)) for promise in promised if promise.closeness is None
        ]
        close = [
            (promise, far)
            for promise in promised
            if promise.closeness is not None
            and (far := distance_to(published.overall, published.values, promise.closeness)) is not None
        ]
        bets = [_places(published, values)] if close else [places for _, places in watch]
        every = np.unique(np.concatenate([np.zeros(0, np.int64), *bets]))
        return cls(subject=subject, found=published, watch=tuple(watch), close=tuple(close), values=every, k=k)

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
        return ([promise for promise, _ in self.watch] + [promise for promise, _ in self.close])[number].why


def _places(published: Shown, names: Sequence[str]) -> Ints:
    """Where the named values stand; all where none is named."""
    return np.array([at for at, value in enumerate(published.values) if not names or value in names], np.int64)


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
    published, home = view.found, homes(view.subject, view.subject.people)
    order = draw.permutation(len(published.counts))
    sizes = published.counts.sum(axis=1)
    whole = np.bincount(home[home >= 0], minlength=len(sizes)) == sizes
    looked = np.zeros(len(sizes), np.bool_)
    chosen = order if together else order[whole[order]][:classes]
    room = np.cumsum(sizes[chosen]) * len(published.values) <= MOST_BELIEFS
    looked[chosen[room if not together or room.all() else []]] = True
    who = np.flatnonzero((home >= 0) & looked[home])
    result, best = published.shares[home[who]], np.ones(published.counts.shape)
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
    published = view.found
    by_part, refused = published.shares[finer.home], np.ones(published.counts.shape)
    allowances, logs = _of_shares(view, finer, usable)
    if view.close and (not together or len(usable) <= CLOSE_CLASSES):
        close, more = _of_distances(view, finer, usable[:CLOSE_CLASSES], draw)
        logs += more
        allowances |= {
            key: min(allowances.get(key, allowance), allowance, key=lambda candidate: candidate.chance)
            for key, allowance in close.items()
        }
    everything = float(logs.sum())
    for (number, value), allowance in allowances.items():
        rest = (everything if together else logs[number]) - np.log(max(allowance.chance, 1e-300))
        parts = finer.of_class(number)
        sizes, rows = tuple(finer.sizes[parts].tolist()), int(published.counts[number, value])
        posterior = belief(sizes, rows, allowance, float(np.exp(rest)))
        if posterior is not None:
            by_part[parts, value] = posterior
            refused[number, value] = 1 - allowance.chance * np.exp(rest)
    return by_part, refused


def _of_shares(view: View, finer: Finer, usable: Ints) -> tuple[Asked, Reals]:
    """By promises about shares, value by value; and how likely all values of a class are fine, as logarithms."""
    allowances: Asked = {}
    for number in usable.tolist():
        for promise, watched in view.watch:
            for value in watched.tolist():
                if allowance := _allowed(finer, number, promise, int(view.found.counts[number, value])):
                    key = (number, value)
                    allowances[key] = min(allowances.get(key, allowance), allowance, key=lambda allowed: allowed.chance)
    logs = np.zeros(len(view.found.counts))
    for (number, _), allowance in allowances.items():
        logs[number] += np.log(max(allowance.chance, 1e-300))
    return allowances, logs


def _allowed(finer: Finer, number: int, promise: Promise, rows: int) -> Allowed | None:
    """What the parts of a class allow; None where no way of filling them could offend."""
    sizes = finer.sizes[finer.of_class(number)]
    most = promise.most(sizes)
    if not (np.minimum(sizes, rows) > most).any() or len(sizes) * (rows + 1) ** 2 > MOST_STEPS:
        return None
    return allowed(tuple(sizes.tolist()), rows, tuple(most.tolist()))


def _of_distances(view: View, finer: Finer, usable: Ints, draw: np.random.Generator) -> tuple[Asked, Reals]:
    """By promises of closeness, all values at once; and how likely a class is fine, as logarithms."""
    allowances: Asked = {}
    logs = np.zeros(len(view.found.counts))
    for number in usable.tolist():
        for promise, distance in view.close:
            sizes, limit = finer.sizes[finer.of_class(number)], promise.closeness.t if promise.closeness else 1.0
            by_value = kept_close(view.found.counts[number], sizes, distance, limit, draw)
            if by_value is not None:
                logs[number] += np.log(max(by_value[0].chance, 1e-300))
                allowances |= {(number, value): by_value[value] for value in view.values.tolist()}
    return allowances, logs
