"""Whether the table still meets every model after a specialization."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import cast

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.problem import Problem
from sfumato.algorithms.top_down.columns import Column, Split
from sfumato.algorithms.top_down.partitions import Partitions, Refined
from sfumato.counts.classes import Classes
from sfumato.counts.keys import Ids, distinct, numbered, representatives, total
from sfumato.counts.sources import ROWS, Figure, JointCuts, Numbers
from sfumato.counts.tally import Tally
from sfumato.counts.wildcards import has_wildcards
from sfumato.models.confidence import ConfidenceBounding
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.lkc import LKCPrivacy
from sfumato.models.model import Model, Reading, judge, stands
from sfumato.tables.table import Codes

# What models ask of groups by some of the columns, as counts: at least k rows, and shares within a limit.


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """Groups by every choice of ``size`` of the columns have ``k`` rows, and watched values no larger a share."""

    columns: tuple[int, ...]
    """What may be chosen from."""
    size: int
    """How many of them are chosen."""
    k: int
    """How many rows every group must have."""
    limit: float
    """The largest share."""
    watched: tuple[Figure, ...]
    """Whose share."""


def demands(model: Model, cells: Classes, reading: Reading) -> tuple[Demand, ...] | None:
    """A model as demands, or None where it is none of those that are. Of the cells only the columns and values matter.

    Groups by fewer columns are unions of groups by more, also where an unknown value is one of the labels; so the
    largest number of columns says all.
    """
    every = tuple(range(len(cells.quasi)))
    if isinstance(model, LKCPrivacy):
        watched = _watched(cells, model.column, model.values, reading) if model.c < 1 else ()
        return (Demand(columns=every, size=min(model.l, len(every)), k=model.k, limit=model.c, watched=watched),)
    if isinstance(model, KAnonymity) and not (reading == "wildcard" and may_be_unknown(cells)):
        return (Demand(columns=every, size=len(every), k=model.k, limit=1.0, watched=()),)
    if not isinstance(model, ConfidenceBounding) or not model.counts_anew:
        return None
    demands = []
    for template in model.templates:
        if not set(template.quasi) <= set(cells.quasi):
            return None
        chosen = tuple(cells.quasi.index(name) for name in template.quasi) or every
        watched = _watched(cells, template.column, (template.value,), reading) if template.limit < 1 else ()
        demands.append(Demand(columns=chosen, size=len(chosen), k=1, limit=template.limit, watched=watched))
    return tuple(demands)


def may_be_unknown(cells: Classes) -> bool:
    """Whether some value of a quasi-identifier stands for an unknown one."""
    return any(bool(flags.any()) for flags in cells.wild or ())


def passed_by_all(demands: Sequence[Demand], totals: Mapping[Figure, float]) -> bool:
    """Whether all rows as one group meet the demands."""
    rows = totals[ROWS]
    shares = [(demand.limit, totals[figure] / max(rows, 1)) for demand in demands for figure in demand.watched]
    enough = all(rows >= demand.k for demand in demands)
    return enough and all(bool(stands(share, limit, "at most")) for limit, share in shares)


def _watched(cells: Classes, column: str, values: Sequence[str], reading: Reading) -> tuple[Figure, ...]:
    """The values that count; unless a missing value is one of its own, it may be any of them."""
    tally = cells.tally(column)
    codes = [code for code, value in enumerate(tally.values) if not values or value in values]
    if tally.missing is None or reading == "value":
        return tuple((column, (code,)) for code in codes)
    known = tuple((column, (code, tally.missing)) for code in codes if code != tally.missing)
    alone = reading == "strict" or len(tally.values) == 1
    return known + (((column, (tally.missing,)),) if alone and tally.missing in codes else ())


# Whether groups by every choice of columns meet a demand after a specialization.


_SLACK = 1e-12
"""Room for rounding, as models have it."""
_ROOM = 2**10
"""So many combinations are never renumbered."""
Judged = Callable[[Numbers, Demand], bool]
"""Whether every group (a line of rows and watched values) that occurs meets a demand."""


class Choices:
    """The check of one demand; it counts only groups that contain a child of what is specialized.

    All other groups stay as they are. If even the smallest partitions pass, everything does, because shares and sizes
    of unions are no worse. A choice that failed is tried first the next time.
    """

    def __init__(self, demand: Demand, figures: tuple[int, ...], judged: Judged | None = None) -> None:
        """``figures`` are the places of the watched values among the partitions' counts; ``judged`` looks at groups."""
        self.demand, self.figures, self._passes = demand, list(figures), judged or passes
        self.counted = 0
        self._failed: list[tuple[int, ...]] = []

    def hold(self, partitions: Partitions, refined: Refined) -> bool:
        """Whether the demand is still met."""
        if refined.column not in self.demand.columns or not len(refined.owner):
            return True
        counts = refined.counts[:, [0, *self.figures]]
        if self._passes(counts, self.demand):
            return True
        if self.demand.size == len(partitions.keys):
            return False
        others = [c for c in self.demand.columns if c != refined.column and self.demand.size > 1]
        keys, radices, places = _local(partitions, refined, others)
        size = min(self.demand.size - 1, len(places))
        for failed in self._failed:
            if set(failed) <= set(places) and len(failed) == size:
                chosen = [places.index(c) for c in failed]
                if self._fails(keys[chosen], radices[chosen], refined.child, counts, size) is not None:
                    return False
        pick = self._fails(keys, radices, refined.child, counts, size)
        if pick is not None:
            self._failed = [tuple(places[p] for p in pick), *self._failed][:3]
        return pick is None

    def _fails(
        self, keys: NDArray[np.int32], radices: Ids, child: Ids, counts: Numbers, size: int
    ) -> tuple[int, ...] | None:
        """The choice of columns whose groups fail, if one does; groups by common first columns are numbered once."""
        prefixes: dict[tuple[int, ...], tuple[Ids, int]] = {(): (child, int(child.max()) + 1)}

        def numbers(pick: tuple[int, ...]) -> tuple[Ids, int]:
            if pick not in prefixes:
                ids, space = numbers(pick[:-1])
                for old in [prefix for prefix in prefixes if len(prefix) >= len(pick)]:
                    del prefixes[old]
                prefixes[pick] = _finer(ids, space, keys[pick[-1]], int(radices[pick[-1]]))
            return prefixes[pick]

        for pick in combinations(range(len(keys)), size):
            self.counted += 1
            ids, space = numbers(pick)
            if not self._passes(np.array([np.bincount(ids, figure, space) for figure in counts.T]).T, self.demand):
                return pick
        return None


def _finer(ids: Ids, space: int, codes: NDArray[np.int32], radix: int) -> tuple[Ids, int]:
    """Number the combinations of id and code; as they are where they are few, else only those that occur."""
    together, room = ids * radix + codes, space * radix
    return (together, room) if room <= max(4 * len(ids), _ROOM) else numbered(together, room)


def passes(groups: Numbers, demand: Demand) -> bool:
    """Whether every group (a line of rows and watched values) that occurs meets the demand."""
    groups = groups[groups[:, 0] > 0]
    rows = groups[:, :1]
    return bool(rows.min() >= demand.k * (1 - _SLACK) and (groups[:, 1:] / rows <= demand.limit + _SLACK).all())


def _local(
    partitions: Partitions, refined: Refined, others: list[int]
) -> tuple[NDArray[np.int32], Ids, tuple[int, ...]]:
    """The labels of each pair in the other columns, numbered anew, most labels first; columns with one are left out."""
    keys, radices, places = [], [], []
    for c in others:
        codes = partitions.keys[c][refined.parts]
        ids, count = distinct([codes], [int(codes.max()) + 1], len(codes))
        if count > 1:
            keys.append(ids.astype(np.int32)[refined.owner])
            radices.append(count)
            places.append(c)
    order = np.argsort([-count for count in radices], kind="stable")
    stacked = np.array([keys[i] for i in order], np.int32).reshape(len(order), len(refined.owner))
    return stacked, np.array([radices[i] for i in order], np.int64), tuple(places[i] for i in order)


# Whether the table still meets every model after a specialization.


class Validity:
    """Every model by the cheapest way that says the same as ``judge`` on the whole table.

    * Models that ask for counts by some of the columns: those groups that contain a child are counted.
    * Models that judge classes one by one: the classes that contain a child are judged; all others passed before.
    * Other models, and one by one under wildcards: the whole table is judged.
    """

    def __init__(self, problem: Problem, *, general: bool = False, judged: Judged | None = None) -> None:
        """With ``general``, every model judges the whole table; ``judged`` looks at groups in place of their counts."""
        self.problem = problem
        self.one_by_one: list[Model] = []
        self.whole: list[Model] = []
        all_demands: list[Demand] = []
        gaps = has_wildcards(problem.cells)
        for model in problem.models:
            model_demands = None if general else demands(model, problem.cells, problem.reading)
            if model_demands is not None:
                all_demands += model_demands
            elif general or model.counts_anew or (gaps and _matches(model, problem)):
                self.whole.append(model)
            else:
                self.one_by_one.append(model)
        self.watched: tuple[Figure, ...] = tuple(dict.fromkeys(w for demand in all_demands for w in demand.watched))
        places = {watched: place for place, watched in enumerate(self.watched, start=1)}
        self.choices = [Choices(demand, tuple(places[w] for w in demand.watched), judged) for demand in all_demands]
        names = dict.fromkeys(name for model in self.one_by_one for name in model.columns)
        self._tallies = [_Entries(problem.cells.tally(name)) for name in names]

    @property
    def counted(self) -> int:
        """How many choices of columns were counted."""
        return sum(choice.counted for choice in self.choices)

    def holds(self, columns: Sequence[Column], partitions: Partitions, refined: Refined, split: Split) -> bool:
        """Whether every model holds for the table in which a label is replaced."""
        if not all(choice.hold(partitions, refined) for choice in self.choices):
            return False
        if self.one_by_one and len(refined.owner):
            classes = self._children(partitions, refined)
            if not self._judged(self.one_by_one, classes):
                return False
        return not self.whole or self._judged(self.whole, self._table(columns, refined.column, split))

    def _judged(self, models: Sequence[Model], classes: Classes) -> bool:
        return all(judge(model, classes, self.problem.reading).holds for model in models)

    def _children(self, partitions: Partitions, refined: Refined) -> Classes:
        """The classes that contain a child, with the columns that models look at."""
        count = len(refined.owner)
        cells = group = np.zeros(0, np.int32)
        if self._tallies:
            cells, group = cast("JointCuts", partitions.walk).members(refined.divided.division)
        return replace(
            self.problem.cells,
            quasi=(),
            keys=np.zeros((0, count), np.int32),
            labels=(),
            sizes=refined.rows,
            tallies={entries.tally.column: entries.grouped(cells, group, count) for entries in self._tallies},
            measures={},
            wild=None,
            population=None,
        )

    def _table(self, columns: Sequence[Column], place: int, split: Split) -> Classes:
        """The classes of the whole table."""
        lifts, many = [column.of_code for column in columns], [column.values for column in columns]
        unknown = [column.unknown() for column in columns]
        under = lifts[place] == split.value
        lifts[place] = np.where(under, split.values[split.child_of], lifts[place]).astype(np.int32)
        fresh = max(int(split.values.max()) + 1 - many[place], 0)
        many[place] += fresh
        unknown[place] = np.append(unknown[place], np.arange(fresh) == (2 if split.apart else -1))
        classes, _ = self.problem.cells.recoded(lifts, [tuple(map(str, range(n))) for n in many])
        return replace(classes, wild=tuple(unknown))


def _matches(model: Model, problem: Problem) -> bool:
    """Whether an unknown value makes the model judge rows of several classes together."""
    return problem.reading == "wildcard" or (problem.reading == "strict" and not model.kept_by_merging)


class _Entries:
    """A tally with the place of each cell's entries."""

    def __init__(self, tally: Tally) -> None:
        self.tally = replace(tally, whole=tally.overall)
        self._first: Ids = np.searchsorted(tally.owners, np.arange(tally.classes + 1))

    def grouped(self, cells: Codes, group: Codes, count: int) -> Tally:
        """The tally of groups of some of the cells."""
        first = self._first[cells]
        lengths = self._first[cells + 1] - first
        offsets = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        picked = np.repeat(first, lengths) + offsets
        owners, codes, counts = np.repeat(group, lengths), self.tally.codes[picked], self.tally.counts[picked]
        entry, entries = distinct((owners.astype(np.int32), codes), (count, len(self.tally.values)), len(owners))
        place = representatives(entry, entries)
        return replace(
            self.tally,
            owners=owners[place].astype(np.int64),
            codes=codes[place],
            counts=total(entry, counts, entries),
            classes=count,
        )
