"""Statements that rows make about themselves, tried many at a time: which of them fit no other row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.frame.numeric_labels import Floats
from sfumato.attacks.frame.subject import Mask
from sfumato.attacks.identity.predicates import BLOCK, Condition, Numbers, Predicate, Rows, Sheet, Words
from sfumato.group.keys import distinct

_FIRST_ROWS, _FAR_OUT = 65_536, 256
"""Among so many rows, so many that lie far out."""

Try = tuple[int, tuple[str, ...]]
"""A row, and the columns that it speaks about."""


class RowStatements:
    """What the rows of a sheet say: their word, their number if that is shown as it is, or one at least as extreme.

    How: rows that say the same about words and exact numbers, and lie on the same side of the median where labels are
        single numbers, are found by grouping, once for every choice of columns.
        Only they can fit; what they say about other numbers is compared in each group, and asked once. Most are settled
        at once by some row that lies far out; of a large group only the rows are looked at that the rarest number
        leaves.
    """

    def __init__(self, sheet: Sheet) -> None:
        """Number what the rows say about words and exact numbers; of others they name the rarer side of the median."""
        self.sheet = sheet
        self._middles = {name: _middle(c.low) for name, c in sheet.columns.items() if isinstance(c, Numbers)}
        self._spoken = {name: self._spoken_of(name) for name in sheet.columns if self._exact(name)}
        self._groups: dict[tuple[str, ...], _Groups] = {}

    def predicate(self, tried: Try) -> Predicate:
        """The statement in full."""
        row, names = tried
        return tuple(self._said(name, row) for name in names)

    def singled(self, tries: Sequence[Try]) -> Mask:
        """Which statements fit exactly one row: the one that makes it."""
        by_names: dict[tuple[str, ...], list[int]] = {}
        for place, (_, names) in enumerate(tries):
            by_names.setdefault(names, []).append(place)
        rows = np.array([row for row, _ in tries], np.int64)
        alone = np.zeros(len(tries), np.bool_)
        for names, places in by_names.items():
            alone[places] = self._singled(names, rows[places])
        return alone

    def _singled(self, names: tuple[str, ...], rows: Rows) -> Mask:
        sided = [name for name in names if not self._exact(name)]
        if names not in self._groups:
            self._groups[names] = self._grouped([name for name in names if self._exact(name)], sided)
        groups = self._groups[names]
        if not sided:
            return groups.alone[rows]
        found = np.zeros(len(rows), np.bool_)
        free = len(sided) == len(names)
        for place in np.flatnonzero(~self._outdone(sided, rows) if free else ~found).tolist():
            found[place] = self._alone(groups, sided, int(rows[place]))
        return found

    def _outdone(self, sided: list[str], rows: Rows) -> Mask:
        """Rows of whom it is seen at once that another fits what they say: one of a few that lie far out.

        Asked of the first rows of the sheet: those that lie farthest out on the sides that a row speaks of.
        """
        columns: list[Any] = [self.sheet.columns[name] for name in sided]
        above = np.stack([c.low[rows] > self._middles[name] for name, c in zip(sided, columns, strict=True)], axis=1)
        found = np.zeros(len(rows), np.bool_)
        for sides in np.unique(above, axis=0):
            asked = np.flatnonzero((above == sides).all(axis=1))
            places = [-self._places[n] if up else self._places[n] for n, up in zip(sided, sides, strict=True)]
            out = np.argpartition(np.sum(places, axis=0), min(_FAR_OUT, len(places[0])) - 1)[:_FAR_OUT]
            fits = out[None, :] != rows[asked][:, None]
            for column, up in zip(columns, sides, strict=True):
                mine = (column.low if up else column.high)[rows[asked]][:, None]
                fits &= column.low[out] >= mine if up else column.high[out] <= mine
            found[asked] = fits.any(axis=1)
        return found

    @cached_property
    def _sides(self) -> dict[str, _Spoken]:
        """On which side of the median a row is, where labels are single numbers: who fits is on the same side."""
        found = {}
        for name, column in self.sheet.columns.items():
            if isinstance(column, Numbers) and bool((column.low == column.high)[~np.isnan(column.low)].all()):
                found[name] = _Spoken(codes=(column.low > self._middles[name]).astype(np.int32), kinds=2)
        return found

    @cached_property
    def _places(self) -> dict[str, Rows]:
        """Of columns of numbers: the first rows by how large they are."""
        parts = {n: c.low[:_FIRST_ROWS] for n, c in self.sheet.columns.items() if isinstance(c, Numbers)}
        return {name: np.argsort(np.argsort(low)) for name, low in parts.items()}

    def _grouped(self, exact: list[str], sided: list[str]) -> _Groups:
        spoken = [self._spoken[name] for name in exact] + [self._sides[name] for name in sided if name in self._sides]
        unknown = np.zeros(self.sheet.height, np.bool_)
        for name in exact:
            column = self.sheet.columns[name]
            unknown |= np.isnan(column.low) if isinstance(column, Numbers) else False
        ids, count = distinct([one.codes for one in spoken], [one.kinds for one in spoken], self.sheet.height)
        return _Groups(ids=ids, count=count, unknown=unknown)

    def _alone(self, groups: _Groups, sided: list[str], row: int) -> bool:
        """Whether no other row of the group fits what a row says about numbers that are not exact."""
        said = tuple(self._said(name, row) for name in sided)
        key = int(groups.ids[row]), said
        if key not in groups.asked:
            groups.asked[key] = not groups.unknown[row] and self._fits_one(said, groups, row)
        return groups.asked[key]

    def _fits_one(self, said: Sequence[Condition], groups: _Groups, row: int) -> bool:
        """The same, asked of as few rows as will do: some of the group, then those whom the rarest number leaves."""
        members = groups.members(row)
        if len(members) > BLOCK:
            if self.sheet.fitting(said, members[:BLOCK]) > 1:
                return False
            few, said = self.sheet.narrowest(said)
            if len(few) < len(members):
                members = few[groups.ids[few] == groups.ids[row]]
        return self.sheet.fits_one(said, members)

    def _exact(self, name: str) -> bool:
        column = self.sheet.columns[name]
        return isinstance(column, Words) or column.exact

    def _spoken_of(self, name: str) -> _Spoken:
        column = self.sheet.columns[name]
        return _Spoken.of(column.codes if isinstance(column, Words) else column.low)

    def _said(self, name: str, row: int) -> Condition:
        column = self.sheet.columns[name]
        if isinstance(column, Words):
            return said_word(name, column, int(column.codes[row]))
        if column.exact:
            return Condition(column=name, low=float(column.low[row]), high=float(column.low[row]))
        if column.low[row] > self._middles[name]:
            return Condition(column=name, low=float(column.low[row]))
        return Condition(column=name, high=float(column.high[row]))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Spoken:
    """What each row says about a column, numbered."""

    codes: NDArray[np.int32]
    kinds: int

    @classmethod
    def of(cls, values: NDArray[Any]) -> _Spoken:
        found, codes = np.unique(values, return_inverse=True)
        return cls(codes=codes.reshape(-1).astype(np.int32), kinds=max(len(found), 1))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Groups:
    """The rows of a sheet by some columns of words and exact numbers."""

    ids: Rows
    """The group of each row."""
    count: int
    """How many groups there are."""
    unknown: Mask
    """Which rows lack a number: they are like no row."""
    asked: dict[tuple[int, Predicate], bool] = field(default_factory=dict)
    """Of what was asked so far in a group, whether it fits one row."""

    @cached_property
    def alone(self) -> Mask:
        """Which rows are in a group of their own, with all numbers known."""
        return np.asarray((np.bincount(self.ids, minlength=self.count)[self.ids] == 1) & ~self.unknown)

    def members(self, row: int) -> Rows:
        """The rows of a row's group."""
        group = self.ids[row]
        return self._order[self._starts[group] : self._starts[group + 1]]

    @cached_property
    def _order(self) -> Rows:
        return np.argsort(self.ids, kind="stable").astype(np.int64)

    @cached_property
    def _starts(self) -> Rows:
        return np.append(0, np.cumsum(np.bincount(self.ids, minlength=self.count)))


def _middle(low: Floats) -> float:
    known = low[~np.isnan(low)]
    return float(np.median(known)) if len(known) else 0.0


def said_word(name: str, column: Words, code: int) -> Condition:
    """A word as it is, or a released label."""
    return Condition(column=name, value=code) if column.exact else Condition(column=name, label=code)
