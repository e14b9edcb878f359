"""Counts that several parties add up by secure sum: a source of cut counts, and the session `counts`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.core.errors import DataError, ParameterError, listed, nearest
from sfumato.counts.keys import Ids
from sfumato.counts.sources import CutCounts, CutSource, Divided, Division, Figure, Groups, Need, Numbers
from sfumato.parties.conversation import Conversation, Leakage, Told, WrongNumbers
from sfumato.parties.protocols import JointProtocol, JointResult
from sfumato.parties.secure_sum import Counts, PairwiseKeys, agree_keys, secure_sum
from sfumato.tables.table import Table, as_text

# Counts under a cut that several parties add up: each counts its own records, and only sums are told.
#
# So every search and learner that asks for counts step by step runs over several parties as it is: top-down
# specialization, DiffGen, trees. All parties run it, ask the same questions in the same order, and come to the same
# result.


Sums = Callable[[Counts], Counts]
"""From a party's own numbers to those of all parties."""
MOST_PAIRS = 2**26
"""More counts than this are not summed in one step."""


class SummedNumbers:
    """Sums over all parties of a conversation; each sum has masks of its own."""

    def __init__(self, conversation: Conversation, *, each: int = 1, signed: bool = False) -> None:
        """Agree on keys with every other party.

        A record adds at most ``each`` to a number; ``signed`` numbers have noise and may be negative.
        """
        self.conversation, most = conversation, each * conversation.max_records
        self._least, self._most = (-most, 2 * most) if signed else (0, most)
        self._keys: PairwiseKeys = conversation.run(agree_keys(conversation.seat))

    def __call__(self, values: Counts) -> Counts:
        """The sum of what every party gives here; all give arrays of the same shape."""
        refuse_own(values, self._most, self.conversation)
        total = self.conversation.run(secure_sum(self.conversation.seat, self._keys, values))
        parties = self.conversation.seat.count
        refuse_outside(total, self._least * parties, self._most * parties)
        return total


def refuse_own(values: Counts, most: int, conversation: Conversation) -> None:
    """Refuse one's own numbers before they are sent, where the others would refuse them."""
    if values.size and int(values.max()) > most:
        raise DataError(
            f"this party counts more than limits.records of the session allows, {conversation.max_records:,}; agree on "
            "a higher limit"
        )


def refuse_outside(numbers: Counts, least: int, most: int) -> None:
    """Refuse opened numbers that no honest parties can have."""
    if numbers.size and (int(numbers.min()) < least or int(numbers.max()) > most):
        worst = int(numbers.min()) if int(numbers.min()) < least else int(numbers.max())
        raise WrongNumbers(f"a count or sum of the parties is {worst:,}, and must be from {least:,} to {most:,}")


def refuse_more(parts: Numbers, whole: Numbers) -> None:
    """Refuse parts that add up to more than the whole that they are parts of."""
    if (np.asarray(parts) > np.asarray(whole)).any():
        raise WrongNumbers("the counts of the parts of a group add up to more than the group has")


class SummedSource:
    """The records of all parties, over public domains; this party holds some of them."""

    def __init__(self, sums: Sums, own: CutSource) -> None:
        """``own`` counts this party's records in whole numbers."""
        if "integers" not in own.gives:
            raise DataError("parties add up whole numbers; the counts of this source are estimates")
        self._sums, self._own = sums, own

    @property
    def gives(self) -> frozenset[Need]:
        """Whole numbers; cells and rows stay with each party."""
        return frozenset({"integers"})

    def root(self, figures: Sequence[Figure]) -> SummedCuts:
        """A walk that all parties take together."""
        return SummedCuts(self._sums, self._own.root(figures), len(figures))


class SummedCuts:
    """A walk of one party's records, whose counts are those of all parties."""

    def __init__(self, sums: Sums, own: CutCounts, figures: int) -> None:
        """At the root."""
        self._sums, self._own, self._figures = sums, own, figures
        self._known: Numbers | None = None
        """What each partition has, where it has been told: partitions x figures."""
        self._all: Numbers | None = None

    def total(self) -> Numbers:
        """The figures of all records of all parties."""
        counts = self._sums(np.asarray(self._own.total(), np.int64))
        self._all = counts
        if self._known is None:
            self._known = counts[None]
        return counts

    def histogram(self, division: Division, groups: Groups | None = None) -> Numbers:
        """Partitions (or groups of them) x children x figures."""
        self._refuse_many((groups.count if groups else division.count) * division.children)
        counts = self._sums(np.asarray(self._own.histogram(division, groups), np.int64))
        self._refuse_wrong(counts, division, groups)
        return counts

    def refine(self, division: Division) -> Divided:
        """The pairs in which anybody counted anything; every public child is asked about, so that none tells whose."""
        self._refuse_many(division.count * division.children)
        counts = self._sums(np.asarray(self._own.refine(division).dense(), np.int64))
        self._refuse_wrong(counts, division, None)
        flat = counts.reshape(-1, self._figures)
        keys = np.arange(len(flat), dtype=np.int64)
        return Divided(
            division=division, owner=keys // division.children, child=keys % division.children, counts=flat
        ).occupied()

    def apply(self, divided: Divided, places: Ids) -> None:
        """Each party divides its own records."""
        self._own.apply(divided, places)
        if self._known is not None and self._all is not None:
            kept, parts = places >= 0, divided.division.parts
            whole = self._all[None] if parts is None else self._known[parts]
            # a search that names no counts (a tree) is held to those of the partition that it divides
            counts = divided.counts if divided.counts.any() else whole[divided.owner]
            grown = np.zeros((max(len(self._known), int(places.max(initial=-1)) + 1), self._figures), np.int64)
            grown[: len(self._known)] = self._known
            grown[slice(None) if parts is None else parts] = 0
            grown[places[kept]] = counts[kept]
            self._known = grown

    def _refuse_wrong(self, counts: Numbers, division: Division, groups: Groups | None) -> None:
        """Children of a partition have no more records than it has."""
        known = self._all if division.parts is None else self._known
        if known is None:
            return
        expected = known[None] if division.parts is None else known[division.parts]
        if groups is not None:
            each, expected = expected, np.zeros((groups.count, self._figures), np.int64)
            np.add.at(expected, groups.of, each)
        refuse_more(counts.sum(axis=1), expected)

    def _refuse_many(self, pairs: int) -> None:
        if pairs * self._figures > MOST_PAIRS:
            raise DataError(
                f"{pairs:,} parts x {self._figures} figures are too many to sum at once; a coarser grid or fewer "
                "children of a label would do"
            )


# How many rows all parties have together of every combination of declared values, by secure sum.


MOST_COUNTS = 1_000_000
"""So many combinations may be counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountsAsked:
    """Which combinations are counted."""

    columns: Mapping[str, tuple[str, ...]]
    """The values of every column: declared, never taken from anybody's table."""

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each column has."""
        return tuple(map(len, self.columns.values()))


def read_counts(tree: Mapping[str, Any], names: Sequence[str]) -> CountsAsked:
    """What the session file asks for.

    >>> read_counts({"columns": {"ward": ["A", "B"], "outcome": ["home", "died"]}}, ()).shape
    (2, 2)
    """
    for key in tree:
        if key != "columns":
            raise ParameterError(f"parameters.{key} is not known{nearest(key, ['columns'])}")
    columns = tree.get("columns")
    if not isinstance(columns, Mapping) or not columns:
        raise ParameterError('parameters.columns must name at least one column, such as ward = ["A", "B"]')
    for name, values in columns.items():
        if not isinstance(values, list) or not values or not all(isinstance(value, str) for value in values):
            raise ParameterError(f"parameters.columns.{name} must be a list of texts, not {values!r}")
        if len(set(values)) < len(values):
            raise ParameterError(f"parameters.columns.{name} names a value twice")
    request = CountsAsked(columns={name: tuple(values) for name, values in columns.items()})
    if prod(request.shape) > MOST_COUNTS:
        raise ParameterError(
            f"parameters.columns has {prod(request.shape):,} combinations; at most {MOST_COUNTS:,} are counted"
        )
    return request


def own_counts(request: CountsAsked, table: Table) -> NDArray[np.int64]:
    """A party's own counts, in the order of the declared values; a value that is not declared is refused."""
    places = []
    for name, values in request.columns.items():
        texts = as_text(table.require(name, where=table.source))
        codes = texts.replace_strict(list(values), list(range(len(values))), default=None, return_dtype=pl.Int64)
        if codes.null_count():
            row = int(codes.is_null().arg_true()[0])
            raise DataError(
                f"{table.source}, column {name!r}, row {row + 1}: {texts[row]!r} is not declared; parameters.columns."
                f"{name} has {listed(values)}"
            )
        places.append(codes.to_numpy())
    cells = np.ravel_multi_index(tuple(places), request.shape)
    return np.bincount(cells, minlength=prod(request.shape)).astype(np.int64)


def told_counts(request: CountsAsked, names: Sequence[str]) -> Leakage:
    """What a session tells."""
    by = " and ".join(request.columns)
    return Leakage(
        protocol="counts",
        result=(Told(to="everybody", what=f"how many rows all parties have together, by {by}"),),
        withstands=f"any {len(names) - 2} of the {len(names)} parties that put together what they saw",
        limits=(
            f"{len(names) - 1} parties that subtract their own counts from the sum; small counts, which may point to "
            "somebody; a party that counts wrongly"
        ),
    )


def summed_counts(conversation: Conversation, request: CountsAsked, own: NDArray[np.int64]) -> JointResult:
    """The counts of all parties together."""
    total = SummedNumbers(conversation)(own)
    rows = [[*values, int(count)] for values, count in zip(product(*request.columns.values()), total, strict=True)]
    columns = (*request.columns, "count")
    return JointResult(document={"columns": list(columns), "rows": rows}, columns=columns, rows=rows)


COUNTS = JointProtocol(
    name="counts",
    about="How many rows all parties have together of every combination of declared values.",
    least=3,
    read=read_counts,
    leakage=told_counts,
    prepare=own_counts,
    given=lambda request, own: f"{len(own):,} counts of {int(own.sum()):,} rows, by {' and '.join(request.columns)}",
    run=summed_counts,
)
