"""LKC-privacy, and counts over every choice of a few quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arguments import at_least, between, text
from sfumato.core.errors import ParameterError
from sfumato.core.run_context import Work
from sfumato.counts.classes import Classes
from sfumato.counts.itemsets import Itemsets, known_sets, violating
from sfumato.counts.keys import Ids, distinct, total
from sfumato.counts.transactions import Transactions
from sfumato.models.item_models import extremes, numbered
from sfumato.models.model import Verdict, absent_note, absent_values, explained, named, one_class, stands, surest, texts

# Counts over every choice of a few quasi-identifiers: what an adversary with limited knowledge can count.


def subsets(classes: Classes, size: int) -> Iterator[tuple[tuple[str, ...], Ids, int]]:
    """Each choice of ``size`` columns with the group of each class by them, and how many groups there are.

    Cost: one grouping per choice; choices that begin alike share what they begin with.
    """
    if classes.count:
        yield from _finer(classes, size, (), np.zeros(classes.count, np.int64), 1)


def _finer(
    classes: Classes, size: int, chosen: tuple[int, ...], ids: Ids, count: int
) -> Iterator[tuple[tuple[str, ...], Ids, int]]:
    if not size:
        yield tuple(classes.quasi[c] for c in chosen), ids, count
        return
    coarse = ids.astype(np.int32)
    first = chosen[-1] + 1 if chosen else 0
    for column in range(first, len(classes.quasi) - size + 1):
        radix = len(classes.labels[column])
        finer, finer_count = distinct((coarse, classes.keys[column]), (count, radix), classes.count)
        yield from _finer(classes, size - 1, (*chosen, column), finer, finer_count)


# LKC-privacy: whoever knows few quasi-identifiers, or items of a path, finds no small group and no sure inference.


MOST_CHOICES = 50_000
"""More choices of columns are not counted."""
MOST_COUNTED = 2_000_000_000
"""Nor are more classes in all choices together."""
MOST_DENSE = 2**22
"""The most numbers of a histogram of groups that is held densely."""
CERTAIN = 1.0
"""The confidence that bounds nothing: what ``c`` is where a plan does not say it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LKCPrivacy:
    """Rows that agree in any ``l`` quasi-identifiers are at least ``k``, with named shares of at most ``c``.

    Claim: whoever knows at most ``l`` quasi-identifiers of a person finds at least ``k`` rows, and infers a named value
        with confidence at most ``c``.
    People with several values: at least ``k`` people, of whom at most a share of ``c`` has any one named value; each is
        counted once in every group.
    Needs: where every row has a value in every column, groups by fewer columns are unions of groups by ``l`` columns
        and need no check. Where some value is missing or suppressed every smaller number is checked as well.
    Cost: one grouping of the classes per choice of ``l`` columns.
    Source: Mohammed, Fung, Hung, Lee 2009.
    Does not protect against: an adversary who knows more than ``l`` quasi-identifiers; values that are not named.

    Example:
        >>> from sfumato.testing.models import classes_of
        >>> table = classes_of({"a": list("xxyy"), "b": list("uvuv"), "ill": ["flu"] * 4}, quasi=["a", "b"])
        >>> LKCPrivacy(l=1, k=2, c=1.0, column="ill").check(table).holds  # though every class has one row
        True
    """

    name: ClassVar[str] = "lkc-privacy"
    """As the catalog lists it."""
    kept_by_merging: ClassVar[bool] = True
    """Coarser labels join groups: they grow, and shares of a mixture lie between those of its parts."""
    kept_by_removal: ClassVar[bool] = False
    """A class taken out may have filled or diluted a group of others."""
    kept_by_growth: ClassVar[bool] = False
    """Rows of a named value can be added."""
    counts_anew: ClassVar[bool] = True
    """It groups the classes by some of their columns."""

    l: int
    """The most quasi-identifiers that an adversary knows."""
    k: int
    """How many rows every group must have."""
    c: float = CERTAIN
    """The largest share of a named value in a group."""
    column: str
    """The sensitive column."""
    values: tuple[str, ...] = ()
    """The sensitive values; none means all."""

    def __post_init__(self) -> None:
        at_least("l", self.l, 1)
        at_least("k", self.k, 1)
        between("c", self.c, 0, 1, open_low=True)
        text("column", self.column)
        texts("values", self.values, blank=True)

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive column."""
        return (self.column,)

    def check(self, classes: Classes) -> Verdict:
        """Judge every group by every choice of columns; sizes are told when only they fail."""
        self._refuse_many(classes)
        tally = classes.tally(self.column)
        small = np.zeros(classes.count, np.bool_)
        sure = np.zeros(classes.count, np.bool_)
        fewest, most = float(classes.rows), 0.0
        shares = _Shares(classes, self.column, self.values)
        for ids, count in _knowledge(classes, self.l):
            rows, share = shares.of(ids, count)
            small |= (rows < self.k)[ids]
            sure |= ~stands(share, self.c, "at most")[ids]
            fewest, most = min(fewest, rows.min()), max(most, share.max())
        return self._verdict(small, sure, float(fewest), float(most), absent_note(tally, self.values))

    def lost_for_good(self, classes: Classes, most: int) -> NDArray[np.bool_]:
        """The classes that fail under all finer labels too, by sizes alone; stops at more than ``most`` rows.

        A group smaller than ``k`` has no larger parts, and taking rows out makes none larger. So its classes are lost,
        then groups that are too small without them, and so on. Fewer columns than ``l`` make larger groups.
        """
        self._refuse_many(classes)
        lost = np.zeros(classes.count, np.bool_)
        before, now = -1, 0
        while before < now <= most:
            before = now
            for _, ids, count in subsets(classes, min(self.l, len(classes.quasi))):
                rows = np.bincount(ids, weights=classes.sizes * ~lost, minlength=count)
                lost |= (rows < self.k)[ids]
                now = int(classes.sizes[lost].sum())
                if now > most:
                    break
        return lost

    @property
    def generalizes(self) -> bool:
        """Coarser items have more records."""
        return True

    def violating(
        self, transactions: Transactions, *, most: int | None = None, listed: bool = False, work: Work | None = None
    ) -> Itemsets:
        """The minimal sets of at most ``l`` items with fewer than ``k`` records or too sure a named value."""
        l = min(self.l, most or self.l)
        return violating(transactions, l=l, k=self.k, c=self.c, values=self.values, listed=listed, work=work)

    def allows(self, rows: int, top: int) -> bool:
        """Whether a set with so many rows, of which so many share one named value, may stand."""
        return rows >= self.k and bool(stands(top / rows, self.c, "at most"))

    def check_items(self, transactions: Transactions, *, work: Work | None = None) -> Verdict:
        """Judge every set of 1 to ``l`` items that records have; every length counts (Mohammed 2012, theorem 4.1)."""
        levels = known_sets(transactions, l=self.l, k=self.k, c=self.c, values=self.values, work=work)
        fewest, surest, bad = extremes(levels, transactions.rows)
        sized = bad > 0 and bool(stands(surest, self.c, "at most"))
        secret = transactions.secret
        absent = "" if secret is None else absent_values(secret.name, secret.values, self.values)
        note = f"the smallest group of a known set has {fewest} records" + (f"; {absent}" if absent else "")
        return Verdict(
            holds=not bad,
            reached=float(fewest) if sized else surest,
            limit=float(self.k) if sized else float(self.c),
            sense="at least" if sized else "at most",
            failing=numbered(bad),
            note=note,
        )

    def reachable(self, table: Classes) -> Verdict:
        """Judge the table as one class."""
        self._refuse_many(table)
        verdict = self.check(one_class(table))
        if verdict.sense == "at least":
            return explained(verdict, requirement=f"k = {self.k}", measurement="{} rows")
        measurement = f"a value of {self.column!r} with share {{}}"
        return explained(verdict, requirement=f"c = {self.c:g}", measurement=measurement)

    def _refuse_many(self, classes: Classes) -> None:
        """Refuse more choices of columns than can be counted, by an estimate made before the first of them."""
        quasi, l = len(classes.quasi), min(self.l, len(classes.quasi))
        choices = sum(comb(quasi, size) for size in range(1 if _all_sizes(classes) else l, l + 1))
        if choices <= MOST_CHOICES and choices * classes.count <= MOST_COUNTED:
            return
        fits = max((size for size in range(1, l) if comb(quasi, size) <= MOST_CHOICES), default=1)
        raise ParameterError(
            f"lkc: l = {self.l} of {quasi} quasi-identifiers are {choices:,} choices of columns in {classes.count:,} "
            f"classes, too many to count (at most {MOST_CHOICES:,}, and {MOST_COUNTED:,} classes in all of them); "
            f"l = {fits}, fewer quasi-identifiers or coarser ones would do"
        )

    def _verdict(
        self, small: NDArray[np.bool_], sure: NDArray[np.bool_], fewest: float, surest: float, note: str
    ) -> Verdict:
        failing = np.flatnonzero(small | sure)
        sized = len(failing) > 0 and not sure.any()
        sense: Literal["at least", "at most"] = "at least" if sized else "at most"
        reached, limit = (fewest, float(self.k)) if sized else (surest, float(self.c))
        return Verdict(holds=not len(failing), reached=reached, limit=limit, sense=sense, failing=failing, note=note)


class _Shares:
    """The sizes of groups of classes and the largest share of a named value in each, for one grouping after another."""

    def __init__(self, classes: Classes, column: str, values: tuple[str, ...]) -> None:
        """Number the named values that occur; where people count, each grouping is counted anew."""
        self._classes, self._column, self._values = classes, column, values
        tally = named(classes.tally(column), values)
        used, codes = np.unique(tally.codes, return_inverse=True)
        self._width = max(len(used), 1)
        self._owners, self._codes, self._counts = tally.owners, codes.reshape(-1), tally.counts
        self._dense = not classes.per_person and classes.count * self._width <= MOST_DENSE

    def of(self, ids: Ids, count: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The figures of one grouping."""
        if not self._dense:
            return surest(self._classes, self._column, self._values, ids, count)
        rows = total(ids, self._classes.sizes, count)
        place = ids[self._owners] * self._width + self._codes
        held = np.bincount(place, weights=self._counts, minlength=count * self._width)
        return rows, held.reshape(count, self._width).max(axis=1) / rows


def _knowledge(classes: Classes, l: int) -> Iterator[tuple[Ids, int]]:
    """The groupings of the classes by what an adversary may know.

    Longer knowledge parts the groups of shorter knowledge, so the longest decides; not so with unknown values, nor
    where people have rows in several of the parts.
    """
    most = min(l, len(classes.quasi))
    for size in range(1 if _all_sizes(classes) else most, most + 1):
        for _, ids, count in subsets(classes, size):
            yield ids, count


def _all_sizes(classes: Classes) -> bool:
    """Whether shorter knowledge must be looked at too."""
    return _has_unknown(classes) or classes.per_person


def _has_unknown(classes: Classes) -> bool:
    """Whether any class has a missing or suppressed quasi-identifier."""
    if classes.wild is None:
        return False
    return any(bool(wild[codes].any()) for wild, codes in zip(classes.wild, classes.keys, strict=True))
