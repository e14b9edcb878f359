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
from sfumato.attacks.identity.predicates import Condition, Numbers, Predicate, Rows, Sheet, Words
from sfumato.group.keys import distinct

Try = tuple[int, tuple[str, ...]]
"""A row, and the columns that it speaks about."""


class RowStatements:
    """What the rows of a sheet say: their word, their number if that is shown as it is, or one at least as extreme.

    How: rows that say the same about words and exact numbers are found by grouping, once for every choice of columns.
        Only they can fit; what they say about other numbers is compared in each group, and asked once.
    """

    def __init__(self, sheet: Sheet) -> None:
        """Number what the rows say about each column; of a number they name the rarer side of the median."""
        self.sheet = sheet
        self._middles = {name: _middle(c.low) for name, c in sheet.columns.items() if isinstance(c, Numbers)}
        self._spoken = {name: self._spoken_of(name) for name in sheet.columns}
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
        return np.array([self._alone(groups, sided, row) for row in rows.tolist()], np.bool_)

    def _grouped(self, exact: list[str], sided: list[str]) -> _Groups:
        spoken = [self._spoken[name] for name in exact]
        unknown = np.zeros(self.sheet.height, np.bool_)
        for name in exact:
            column = self.sheet.columns[name]
            unknown |= np.isnan(column.low) if isinstance(column, Numbers) else False
        ids, count = distinct([one.codes for one in spoken], [one.kinds for one in spoken], self.sheet.height)
        more = [self._spoken[name] for name in sided]
        says, _ = distinct(
            [ids.astype(np.int32), *(one.codes for one in more)], [count, *(one.kinds for one in more)], len(ids)
        )
        return _Groups(ids=ids, count=count, unknown=unknown, says=says)

    def _alone(self, groups: _Groups, sided: list[str], row: int) -> bool:
        """Whether no other row of the group fits what a row says about numbers that are not exact."""
        key = int(groups.says[row])
        if key not in groups.asked:
            said = [self._said(name, row) for name in sided]
            groups.asked[key] = not groups.unknown[row] and self.sheet.fits_one(said, groups.members(row))
        return groups.asked[key]

    def _exact(self, name: str) -> bool:
        column = self.sheet.columns[name]
        return isinstance(column, Words) or column.exact

    def _spoken_of(self, name: str) -> _Spoken:
        column = self.sheet.columns[name]
        if isinstance(column, Words):
            return _Spoken.of(column.codes)
        if column.exact:
            return _Spoken.of(column.low)
        below = ~(column.low > self._middles[name])
        named = _Spoken.of(np.where(below, column.high, column.low))
        return _Spoken(codes=named.codes * 2 + below, kinds=named.kinds * 2)

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
    says: Rows
    """The number of what each row says in all its columns."""
    asked: dict[int, bool] = field(default_factory=dict)
    """Of what was asked so far, whether it fits one row."""

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
