"""The words of records that wait in groups: how often each occurs in each group, and nothing about which go together.

A column keeps, for every waiting record, a group and a word; which words of two columns came from one record is not
kept. A split divides the words of a group at random without replacement. When a group is drawn, its words are dealt out
among the drawn rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from sfumato.group.keys import Ids


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
