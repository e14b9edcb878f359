"""Value swapping: records exchange single values with similar records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sfumato.core.arguments import between, text
from sfumato.core.errors import ParameterError, PlanError, unknown_column
from sfumato.core.fractions import rows_within
from sfumato.core.run_context import Work
from sfumato.core.short_repr import Brief
from sfumato.counts.keys import Ids


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SwapProblem(Brief):
    """Rows that may exchange values."""

    quasi: tuple[str, ...]
    """The quasi-identifiers: what is swapped where the plan names nothing."""
    published: tuple[str, ...]
    """Every column that can be swapped."""
    similar: Ids
    """The group of each row; only rows of one group exchange values."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Swaps(Brief):
    """From which row each row takes its value, column by column."""

    sources: Mapping[str, Ids]
    """For each swapped column, the row whose value each row shows; its own where it is not swapped."""
    effort: Mapping[str, int]
    """How many groups there are, and how many rows have a partner in the best case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Swapping:
    """Exchange values between pairs of similar records, column by column; no privacy model is met.

    Claim: none. Every column keeps its values exactly, in the whole table and in every group of similar records; so
        does every count of what ``within`` names together with one swapped column. Whose values they are is no longer
        sure. How surely somebody is still found is measured by the attack ``nearest-record``.
    How: records are similar that agree in the columns of ``within``, each on the level named there. For every column
        the records of a group are paired at random, and of all pairs so many are drawn that at most a share of ``rate``
        of the rows exchange their values. A record without a partner keeps its own.
    Needs: single rows.
    Cost: a sort of the rows for every column.
    Source: document 000, section 20.1 (attribute value swapping); Dalenius and Reiss 1982, Data-swapping.
    """

    rate: float
    """The largest share of rows that exchange their value, for each column."""
    columns: tuple[str, ...] = ()
    """The columns that are swapped, each by itself; the quasi-identifiers where none is named."""
    within: Mapping[str, int] = field(default_factory=dict)
    """The columns in which partners agree, with the level of their hierarchy; level 0 is the value itself."""

    def __post_init__(self) -> None:
        between("rate", self.rate, 0, 1, open_low=True)
        if not isinstance(self.columns, list | tuple) or len(set(self.columns)) < len(self.columns):
            raise ParameterError(f"columns must name different columns, not {self.columns!r}")
        for name in self.columns:
            text("columns", name)
        if not isinstance(self.within, Mapping):
            raise ParameterError(f"within must map columns to levels, not {self.within!r}")
        for name, level in self.within.items():
            if isinstance(level, bool) or not isinstance(level, int) or level < 0:
                raise ParameterError(f"within must map {name!r} to a level from 0 on, not to {level!r}")
        object.__setattr__(self, "columns", tuple(self.columns))

    def swapped(self, quasi: tuple[str, ...]) -> tuple[str, ...]:
        """The columns that are swapped."""
        return self.columns or tuple(name for name in quasi if self.within.get(name) != 0)

    def __call__(self, problem: SwapProblem, work: Work) -> Swaps:
        """Draw the partners."""
        draw, names = work.chance.generator(), self.swapped(problem.quasi)
        for name in names:
            if name not in problem.published:
                raise unknown_column(name, problem.published, where="algorithm.columns")
            if self.within.get(name) == 0:
                raise PlanError(f"algorithm.within: partners that agree in {name!r} have nothing to exchange there")
        sources = {}
        for place, name in enumerate(names):
            sources[name] = exchanged(problem.similar, self.rate, draw)
            work.advance("search", place + 1, len(names) + 1)
        sizes = np.bincount(problem.similar)
        return Swaps(
            sources=sources, effort={"groups": int((sizes > 0).sum()), "partners": int(2 * (sizes // 2).sum())}
        )


def exchanged(similar: Ids, rate: float, draw: np.random.Generator) -> Ids:
    """From which row each row takes its value: pairs within groups, at most a share of ``rate`` of all rows.

    >>> from sfumato.core.randomness import Chance
    >>> source = exchanged(np.array([0, 0, 1, 1, 1]), 0.8, Chance(seed=1).generator())
    >>> source[source].tolist(), sorted(source[:2].tolist()), int((source != np.arange(5)).sum())
    ([0, 1, 2, 3, 4], [0, 1], 4)
    """
    order = np.lexsort((draw.random(len(similar)), similar))
    group = similar[order]
    begins = np.concatenate([[True], group[1:] != group[:-1]]) if len(group) else np.zeros(0, np.bool_)
    place = np.arange(len(group)) - np.maximum.accumulate(np.where(begins, np.arange(len(group)), 0))
    first = np.flatnonzero((place[:-1] % 2 == 0) & ~begins[1:])
    pairs = draw.permutation(first)[: rows_within(rate, len(group)) // 2]
    source = np.arange(len(group), dtype=np.int64)
    source[order[pairs]], source[order[pairs + 1]] = order[pairs + 1], order[pairs]
    return source
