"""The kit that every source of counts under a cut must pass: what it counts must fit together.

``check_cut_counts`` takes random steps from the root and raises ``BrokenSource`` where counts do not add up;
``check_same_counts`` walks two sources side by side; ``check_added`` compares parts with the whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.ground.chance import Chance
from sfumato.group.added_cuts import AddedSources
from sfumato.group.cut_counts import CutCounts, CutSource, Divided, Division, Figure, Groups, Numbers, by_value
from sfumato.group.keys import Ids

_STEPS = 4
_NEAR = 1e-9


class BrokenSource(AssertionError):
    """The counts of a source do not fit together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Domains:
    """What is public about a source."""

    sizes: Sequence[int]
    """How many values each column has."""
    figures: Sequence[Figure]
    """What is counted."""
    sets: Collection[int] = ()
    """The places of those columns that have sets."""

    def division(self, column: int, parts: Ids | None, dice: np.random.Generator) -> Division:
        """A division by random children."""
        many = int(dice.integers(1, 4))
        low, children = (-1, 1 << many) if column in self.sets else (0, many)
        child_of = dice.integers(low, many, self.sizes[column]).astype(np.int32)
        return Division(column=column, parts=parts, child_of=child_of, children=children)


def check_cut_counts(source: CutSource, domains: Domains, *, seed: int = 1) -> None:
    """Take random steps; all counts must add up to those before, and another walk must not notice."""
    walk, other = source.root(domains.figures), source.root(domains.figures)
    total, whole = walk.total(), [walk.histogram(by_value(c, domains.sizes[c])) for c in _plain(domains)]
    for table in whole:
        _demand(_equal(table[0].sum(axis=0), total), "a histogram adds up to the total")
    for divided, parts, before in _steps(walk, domains, seed):
        _check_division(divided, before)
        _demand(_equal(divided.counts, _of_parts(walk, domains, parts)), "after a step, counts are those foretold")
        _check_groups(walk, domains.division(0, parts, Chance(seed=seed).generator()))
    again = [walk.histogram(by_value(c, domains.sizes[c])) for c in _plain(domains)]
    _demand(all(map(_equal, whole, again)), "steps change nothing about all records together")
    _demand(_equal(_of_parts(other, domains, np.zeros(1, np.int64))[0], total), "another walk has its own partitions")
    _check_dropped(other, domains, seed)


def check_same_counts(one: CutSource, other: CutSource, domains: Domains, *, seed: int = 1) -> None:
    """Two sources of the same records answer alike, step by step."""
    first, second = one.root(domains.figures), other.root(domains.figures)
    _demand(_equal(first.total(), second.total()), "the same total")
    pairs = zip(_steps(first, domains, seed), _steps(second, domains, seed), strict=True)
    for (mine, _, _), (theirs, _, _) in pairs:
        _demand(np.array_equal(mine.keys, theirs.keys), "the same pairs")
        _demand(_equal(mine.counts, theirs.counts), "the same counts")


def check_added(parts: Sequence[CutSource], whole: CutSource, domains: Domains, *, seed: int = 1) -> None:
    """Sources that are added up are the source of all their records."""
    added = AddedSources(sources=tuple(parts))
    check_cut_counts(added, domains, seed=seed)
    check_same_counts(added, whole, domains, seed=seed)


def _steps(walk: CutCounts, domains: Domains, seed: int) -> Iterator[tuple[Divided, Ids, Numbers]]:
    """Divide all partitions, again and again: what was divided, the new numbers, and the counts before."""
    dice = Chance(seed=seed).generator()
    parts, numbers, before = np.zeros(1, np.int64), 1, walk.total()[None]
    for _ in range(_STEPS):
        asked = domains.division(int(dice.integers(len(domains.sizes))), parts, dice)
        divided = walk.refine(asked).occupied()
        places = divided.places(numbers)
        walk.apply(divided, places)
        numbers = max(numbers, int(places.max(initial=0)) + 1)
        yield divided, places, before
        parts, before = places, divided.counts


def _check_division(divided: Divided, before: Numbers) -> None:
    """The pairs of a partition add up to it; they stand in order, and within the children that there are."""
    sums = np.zeros_like(before)
    np.add.at(sums, divided.owner, divided.counts)
    _demand(_equal(sums, before), "the children of a partition add up to it")
    _demand(bool((np.diff(divided.keys) > 0).all()), "pairs stand in order, each once")
    _demand(bool((divided.child < divided.division.children).all()), "children are those that were named")
    _demand(bool((divided.counts >= 0).all()), "no count is negative")


def _check_dropped(walk: CutCounts, domains: Domains, seed: int) -> None:
    """Pairs that go to -1, or are not named, are no longer followed."""
    asked = domains.division(0, np.zeros(1, np.int64), Chance(seed=seed).generator())
    divided = walk.refine(asked).occupied()
    turn = np.arange(len(divided.owner)) % 3
    named, places = divided.kept(turn != 2), divided.places(1)[turn != 2]
    places[turn[turn != 2] == 1] = -1
    walk.apply(named, places)
    kept = places >= 0
    _demand(_equal(_of_parts(walk, domains, places[kept]), named.counts[kept]), "what is not dropped is as it was")
    everything = np.unique(np.append(places[kept], 0))
    _demand(_equal(_of_parts(walk, domains, everything).sum(axis=0), named.counts[kept].sum(axis=0)), "drops are gone")


def _check_groups(walk: CutCounts, asked: Division) -> None:
    """A histogram is a division, densely; partitions can be counted together."""
    dense = walk.histogram(asked)
    _demand(_equal(dense, walk.refine(asked).dense()), "a histogram is a division, densely")
    group = Groups(of=(np.arange(asked.count) % 2).astype(np.int32), count=2)
    summed = np.stack([dense[group.of == n].sum(axis=0) for n in range(2)])
    _demand(_equal(walk.histogram(asked, group), summed), "partitions counted together are their sum")


def _of_parts(walk: CutCounts, domains: Domains, parts: Ids) -> Numbers:
    """Partitions x figures."""
    whole = Division(column=0, parts=parts, child_of=_nothing(domains), children=1)
    return walk.histogram(whole)[:, 0]


def _nothing(domains: Domains) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """Everything is one child: number 0, or of sets no bit."""
    return np.full(domains.sizes[0], -1 if 0 in domains.sets else 0, np.int32)


def _plain(domains: Domains) -> list[int]:
    return [c for c in range(len(domains.sizes)) if c not in domains.sets]


def _equal(one: Numbers, other: Numbers) -> bool:
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=_NEAR, atol=_NEAR))


def _demand(kept: bool, what: str) -> None:
    if not kept:
        raise BrokenSource(f"broken: {what}")
