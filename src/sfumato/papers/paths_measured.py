"""Trajectories like those of the thesis, and what leaving out their pairs costs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar

import numpy as np
import polars as pl

from sfumato.data.table import Table
from sfumato.data.trajectories import trajectory_column
from sfumato.datasets.synthetic_city import city
from sfumato.datasets.synthetic_metro import metro
from sfumato.ground.work import Work
from sfumato.group.itemsets import Itemsets, violating
from sfumato.group.maximal import maximal_frequent
from sfumato.group.transactions import Secret, Transactions
from sfumato.publish.items import item_algorithms as algorithm
from sfumato.publish.items.item_problem import ItemProblem
from sfumato.publish.items.item_space import Axis, ItemSpace

SUPPORTS = (0.005, 0.01, 0.015)
SCORES: dict[Any, str] = {"ratio": "Score1", "gain": "Score2", "loss": "Score3", "cheapest": "cheapest, ours"}
"""The three of the thesis, and ours."""
WHOLE = 0
"""Stands for the largest L that is counted (``Paths.most``): traditional k-anonymity and confidence bounding."""
COUNTED = 10
"""Sets of more items are not counted; of paths with up to 29 pairs they would be too many."""
Setting = tuple[int, int, float]
"""L, K and C."""


@dataclass(frozen=True, kw_only=True)
class Known:
    """A requirement whose minimal violating sets are found already; leaving out items makes no new ones."""

    name: ClassVar[str] = "LKC"
    sets: Itemsets
    columns: tuple[str, ...] = ()
    generalizes: bool = False

    def violating(self, *_: object, **__: object) -> Itemsets:
        """The sets."""
        return self.sets


@dataclass(frozen=True, kw_only=True, eq=False)
class Paths:
    """Trajectories with what is looked at in them, and what was found for them until now."""

    name: str
    """City or metro."""
    records: Transactions
    """The trajectories as sets of pairs."""
    space: ItemSpace
    """What the pairs are."""
    watched: str
    """The sensitive value."""
    frequent: dict[float, Itemsets]
    """Maximal frequent sequences by support."""
    losses: dict[tuple[Setting, float, str], float] = field(default_factory=dict)
    """Utility loss by requirement, support and score."""
    counts: dict[Setting, int] = field(default_factory=dict)
    """How many minimal violating sequences a requirement has."""

    @property
    def most(self) -> int:
        """The length of the longest path, or less where that is too much to count."""
        longest = int(np.diff(self.records.starts).max())
        return longest if longest <= COUNTED else COUNTED - 2

    @classmethod
    def of(cls, name: str, frame: pl.DataFrame, column: str, watched: str) -> Paths:
        """From a generated table."""
        rows = Table(frame=frame)
        path, secret = trajectory_column(rows, "path"), rows.column(column)
        records = Transactions(
            starts=path.starts,
            codes=path.codes,
            labels=path.labels,
            secret=Secret(name=column, codes=secret.codes, values=secret.values),
        )
        axes = (Axis(values=path.places), Axis(values=path.times))
        space = ItemSpace(name="path", begin=0, axes=axes, values=np.stack([path.place, path.time]))
        frequent = {s: maximal_frequent(records, algorithm.records(s, records.rows)) for s in SUPPORTS}
        return cls(name=name, records=records, space=space, watched=watched, frequent=frequent)

    def problem(self, setting: Setting) -> ItemProblem:
        """A requirement with its violating sequences."""
        l, k, c = setting
        bad = violating(self.records, l=l or self.most, k=k, c=c, values=(self.watched,))
        self.counts[setting] = bad.count
        return ItemProblem(transactions=self.records, spaces=(self.space,), models=(Known(sets=bad),))  # type: ignore[arg-type]

    def tried(self, setting: Setting, work: Work, scores: Iterable[Any] = SCORES) -> None:
        """The losses of one requirement for the scores, at every support; violating sequences are found once."""
        if setting in self.counts:
            return
        problem = self.problem(setting)
        for support in SUPPORTS:
            for score in scores:
                search = algorithm.Trajectory(score=score, support=support, generalize="never")
                hidden = search(problem, work).shown.to < 0
                self.losses[setting, support, score] = 100 * _lost(self.frequent[support], hidden)


@cache
def city_paths(full: bool) -> Paths:
    """Like City80K; half of it for a quick look."""
    return Paths.of("city", city(80_000 if full else 40_000, seed=1), "diagnosis", "HIV")


@cache
def metro_paths(full: bool) -> Paths:
    """Like Metro100K; half of it for a quick look."""
    return Paths.of("metro", metro(100_000 if full else 50_000, seed=1), "status", "Unemployed")


def _lost(sets: Itemsets, hidden: np.ndarray[Any, np.dtype[np.bool_]]) -> float:
    """The share of sets of which an item is hidden."""
    if not sets.count:
        return 0.0
    return float((np.add.reduceat(hidden[sets.codes].astype(int), sets.starts[:-1]) > 0).mean())
