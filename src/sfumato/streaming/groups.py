"""Groups of unpublished records, kept as moments and as counts of words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.algorithms.condensation import Moments, Points
from sfumato.counts.keys import Ids

# The words of records that wait in groups: how often each occurs in each group, and nothing about which go together.
#
# A column keeps, for every waiting record, a group and a word; which words of two columns came from one record is not
# kept. A split divides the words of a group at random without replacement. When a group is drawn, its words are dealt
# out among the drawn rows.


@dataclass(slots=True, kw_only=True, eq=False)
class WaitingWords:
    """One column of words."""

    owners: Ids
    """The group of each word."""
    words: pl.Series
    """The words."""

    @classmethod
    def empty(cls, name: str) -> WaitingWords:
        """No words yet."""
        return cls(owners=np.zeros(0, np.int64), words=pl.Series(name, [], dtype=pl.String))

    def add(self, groups: Ids, words: pl.Series) -> None:
        """The words of some records, given the group of each."""
        self.owners = np.concatenate([self.owners, groups])
        self.words = pl.concat([self.words, words.alias(self.words.name)], rechunk=False)

    def divide(self, parents: Ids, first: Ids, fresh: Ids, draw: np.random.Generator) -> None:
        """Leave ``first`` words of each of these groups, chosen at random, and give the others to the new groups."""
        at, of = self._held(parents)
        order = np.lexsort((draw.random(len(at)), of))
        sizes = np.bincount(of, minlength=len(parents))
        place = np.arange(len(at)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        moved = order[place >= first[of[order]]]
        self.owners[at[moved]] = fresh[of[moved]]

    def move(self, group: int, into: int) -> None:
        """Give all words of one group to another."""
        self.owners[self.owners == group] = into

    def take_out(self, groups: Ids, copies: int, draw: np.random.Generator) -> pl.Series:
        """The words of some groups, one group after the other, each so often and in random order; they are gone."""
        at, of = self._held(groups)
        at, of = np.repeat(at, copies), np.repeat(of, copies)
        taken = self.words.gather(at[np.lexsort((draw.random(len(at)), of))])
        rest = np.ones(len(self.owners), np.bool_)
        rest[at] = False
        self.owners, self.words = self.owners[rest], self.words.filter(pl.Series(rest))
        return taken

    def renumber(self, stay: Ids) -> None:
        """Follow groups that got the place in ``stay`` as their number."""
        if len(self.owners):
            places = np.full(int(max(stay.max(initial=-1), self.owners.max())) + 1, -1, np.int64)
            places[stay] = np.arange(len(stay))
            self.owners = places[self.owners]

    def settle(self) -> None:
        """Sort by group and word, so that nothing tells in which order records came."""
        frame = pl.DataFrame({"owner": self.owners, "word": self.words}).sort("owner", "word")
        self.owners = frame["owner"].to_numpy().astype(np.int64)
        self.words = frame["word"].alias(self.words.name).rechunk()

    def _held(self, groups: Ids) -> tuple[Ids, Ids]:
        """Where the words of some groups stand, and of which group each is."""
        places = np.full(int(max(groups.max(initial=-1), self.owners.max(initial=-1))) + 1, -1, np.int64)
        places[groups] = np.arange(len(groups))
        of = places[self.owners]
        at = np.flatnonzero(of >= 0)
        return at, of[at]


# Groups of records that were not published yet, kept as moments: fed, split, emptied, joined, and never looked into.
#
# Document 000, section 20.3.1.4: a group is its count, its sums and its sums of products, which add up. A record joins
# the group with the nearest centre; a group of 2k records is split in two without any record (equations 20.6 to 20.9).


_AT_ONCE = 2**18
"""A matrix product of no more multiplications than this is done by one thread: waiting for others costs more."""
Divide = Callable[[Ids, Ids, Ids], None]
"""Told of every split: the groups, how many records of each stay, and the numbers of the new groups for the rest."""


def undivided(parents: Ids, first: Ids, fresh: Ids) -> None:
    """Nothing else hangs on the groups."""


@dataclass(slots=True, kw_only=True, eq=False)
class GroupPool:
    """The groups of one class; the arrays have a place for every group, and change as records come.

    Claim: the moments of all groups, and of those that were taken out, add up to the moments of all records that came
    in, whatever their order. Every group that is taken out has k to 2k - 1 records, none of which was taken out before.
    """

    k: int
    """The fewest records of a group that is taken out."""
    moments: Moments
    """What each group holds: records that were not taken out yet."""
    anchors: Points
    """Where a group with fewer than k records is: the mean of those that it was emptied of, or of its first ones."""
    fed: Ids
    """The block in which each group was last given a record."""

    @classmethod
    def empty(cls, k: int, width: int) -> GroupPool:
        """No group yet, for records of so many numbers."""
        none = Moments(count=np.zeros(0, np.int64), sums=np.zeros((0, width)), products=np.zeros((0, width, width)))
        return cls(k=k, moments=none, anchors=np.zeros((0, width)), fed=np.zeros(0, np.int64))

    @property
    def waiting(self) -> int:
        """How many records are held."""
        return int(self.moments.count.sum())

    @property
    def centres(self) -> Points:
        """The mean of a group that has k records, and the anchor of one that has fewer."""
        enough = self.moments.count >= self.k
        centres = self.anchors.copy()
        centres[enough] = self.moments.sums[enough] / self.moments.count[enough, None]
        return centres

    def begin(self, points: Points, groups: Ids, many: int, block: int) -> None:
        """Take the groups that some first records were put into."""
        moments = Moments.by_group(points, groups, many)
        self.moments = moments
        self.anchors, self.fed = moments.mean, np.full(many, block, np.int64)

    def feed(self, points: Points, block: int) -> Ids:
        """Add records to the groups with the nearest centres; the group of each is told, before any is split."""
        if not len(self.fed):
            self.begin(points, np.zeros(len(points), np.int64), 1, block)
            return np.zeros(len(points), np.int64)
        groups = nearest_centres(points, self.centres)
        touched, inner = np.unique(groups, return_inverse=True)
        more = Moments.by_group(points, inner.reshape(-1).astype(np.int64), len(touched))
        held = self.moments
        held.count[touched] += more.count
        held.sums[touched] += more.sums
        held.products[touched] += more.products
        self.fed[touched] = block
        return groups

    def split(self, divide: Divide = undivided) -> None:
        """Split groups of 2k records and more until there is none, along their longest eigenvectors."""
        while len(parents := np.flatnonzero(self.moments.count >= 2 * self.k)):
            half, other = self.moments[parents].split()
            fresh = len(self.fed) + np.arange(len(parents), dtype=np.int64)
            divide(parents, np.asarray(half.count), fresh)
            held = self.moments
            held.count[parents], held.sums[parents], held.products[parents] = half.count, half.sums, half.products
            self.anchors[parents] = half.mean
            self.moments = _appended(held, other)
            self.anchors = np.concatenate([self.anchors, other.mean])
            self.fed = np.concatenate([self.fed, self.fed[parents]])

    def take_out(self) -> tuple[Ids, Moments]:
        """The groups with k records and more, and their moments; they are empty then, and their centres stay."""
        full = np.flatnonzero(self.moments.count >= self.k)
        held = self.moments
        taken = held[full]
        if len(full):
            self.anchors[full] = taken.mean
        held.count[full], held.sums[full], held.products[full] = 0, 0.0, 0.0
        return full, taken

    def retire(self, most: int) -> Ids:
        """Give up empty groups beyond ``most`` groups, the least recently fed first; the groups that stay are told."""
        empty = np.flatnonzero(self.moments.count == 0)
        over = min(max(len(self.fed) - most, 0), len(empty))
        gone = empty[np.argsort(self.fed[empty], kind="stable")[:over]]
        stay = np.setdiff1d(np.arange(len(self.fed)), gone)
        self._keep(stay)
        return stay

    def join_small(self, divide: Divide, joined: Callable[[int, int], None]) -> None:
        """Join the smallest group with the nearest one until each has k records, or one is left; then split.

        ``joined`` is told which group went into which. Empty groups are given up first (``retire``).
        """
        count = self.moments.count
        there = count > 0
        while (
            there.sum() > 1 and count[least := int(np.argmin(np.where(there, count, np.iinfo(np.int64).max)))] < self.k
        ):
            there[least] = False
            left = np.flatnonzero(there)
            where = self.moments.sums[left] / count[left, None]
            apart = ((where - self.moments.sums[least] / count[least]) ** 2).sum(axis=1)
            into = int(left[np.argmin(apart)])
            for part in (count, self.moments.sums, self.moments.products):
                part[into] += part[least]
                part[least] = 0
            joined(least, into)
        self.split(divide)

    def _keep(self, stay: Ids) -> None:
        self.moments, self.anchors, self.fed = self.moments[stay], self.anchors[stay], self.fed[stay]


def nearest_centres(points: Points, centres: Points) -> Ids:
    """The nearest centre of each record; the first of several.

    The squares of a record are the same for all centres, so |c|^2 - 2 x c decides; it is one matrix product, with the
    centres moved to the middle of all so that few digits are lost.
    """
    middle = centres.mean(axis=0)
    around = centres - middle
    sides = np.concatenate([-2 * around, (around * around).sum(axis=1)[:, None]], axis=1).T.copy()
    rows = np.concatenate([points - middle, np.ones((len(points), 1))], axis=1)
    indices = np.empty(len(points), np.int64)
    step = max(_AT_ONCE // sides.size, 1)
    room: NDArray[np.float64] = np.empty((min(step, len(points)), len(centres)))
    for start in range(0, len(points), step):
        part = rows[start : start + step]
        indices[start : start + step] = np.matmul(part, sides, out=room[: len(part)]).argmin(axis=1)
    return indices


def _appended(held: Moments, more: Moments) -> Moments:
    return Moments(
        count=np.concatenate([held.count, more.count]),
        sums=np.concatenate([held.sums, more.sums]),
        products=np.concatenate([held.products, more.products]),
    )
