"""Numbers of people that are the same in every table that agrees with told counts, decided by integer programs.

A table divides people into cells, and every told count is the sum of some cells. The number of a group follows just
where its least and its largest value over all tables of whole numbers that agree are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.errors import DataError
from sfumato.ground.extras import extra

Whole = NDArray[np.int64]
_NEAR = 1e-6
FREE = 1_000_000
"""As many people as are tried in cells that no told count is about: they can be any number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """A group whose number follows."""

    group: int
    """Which group."""
    people: int
    """The number."""
    used: tuple[int, ...] | None
    """The told counts that it follows from by linear inequalities; None where it takes whole numbers."""


class CountSystem:
    """Counts over cells, each told exactly."""

    def __init__(self, counts: Any, totals: NDArray[Any]) -> None:
        """``counts`` has one line for every told count and one column for every cell, zeros and ones."""
        self._optimize = extra("scipy.optimize", "deciding what published counts tell")
        self._counts = extra("scipy.sparse", "deciding what published counts tell").csr_matrix(counts, dtype=float)
        self._totals = np.asarray(totals, np.float64)
        self._most = np.full(self._counts.shape[1], np.inf)
        at = self._counts.tocoo()
        np.minimum.at(self._most, at.col, self._totals[at.row])

    def pinned(self, groups: Any, k: int, *, skip: NDArray[np.bool_] | None = None) -> list[Pinned]:
        """The groups, lines over cells, of 1 to k - 1 people whose number follows; those to skip are not looked at.

        A table that agrees rules out every group that has none there, too many, or not the number it had in another.
        Each group that is left is made as small and as large as can be; what that finds rules out others.
        """
        lines = extra("scipy.sparse", "deciding what published counts tell").csr_matrix(groups, dtype=float)
        first = self._table(np.zeros(lines.shape[1]))
        if first is None:
            raise DataError("no records agree with all published counts; they are not about the same people")
        values = np.rint(lines @ first).astype(np.int64)
        open_ = (values > 0) & (values < k)
        if skip is not None:
            open_ &= ~skip
        together = np.asarray(lines[open_].sum(axis=0)).ravel()
        for aim in (together, -together):
            self._rule_out(lines, values, open_, aim)
        found = []
        for group in np.flatnonzero(open_).tolist():
            aim = lines[group].toarray().ravel()
            for sign in (1, -1):
                if open_[group]:
                    self._rule_out(lines, values, open_, sign * aim)
            if open_[group]:
                found.append(Pinned(group=group, people=int(values[group]), used=self._used(aim, values[group])))
        return found

    def _rule_out(self, lines: Any, values: Whole, open_: NDArray[np.bool_], aim: NDArray[np.float64]) -> None:
        table = self._table(aim)
        if table is not None:
            open_ &= np.rint(lines @ table).astype(np.int64) == values

    def _table(self, aim: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """The table of whole numbers that agrees and has the least of something; None where none agrees."""
        most = np.where(np.isinf(self._most), FREE, self._most)
        found = self._optimize.milp(
            aim,
            integrality=np.ones(len(aim)),
            bounds=self._optimize.Bounds(0, most),
            constraints=self._optimize.LinearConstraint(self._counts, self._totals, self._totals),
            options={"mip_rel_gap": 0.0},
        )
        if found.x is None:
            return None
        table = np.rint(found.x)
        return table if np.array_equal(self._counts @ table, self._totals) else None

    def _used(self, aim: NDArray[np.float64], people: int) -> tuple[int, ...] | None:
        """Told counts that pin a group by themselves: those with a multiplier in the dual of either end."""
        used: set[int] = set()
        for sign in (1, -1):
            found = self._optimize.linprog(sign * aim, A_eq=self._counts, b_eq=self._totals, method="highs")
            if found.status != 0 or abs(sign * found.fun - people) > _NEAR:
                return None
            used.update(np.flatnonzero(np.abs(found.eqlin.marginals) > _NEAR).tolist())
        return tuple(sorted(used))
