"""Columns that nearly single people out by themselves, whatever their role.

A column is near-unique for k if at least one row in twenty holds a value that fewer than k rows share, itself among
them. Whoever knows such a value of a person is left with fewer than k rows, whatever a model promises about the
quasi-identifiers. Of fewer than k rows altogether nothing is said: every value would be rare. A missing cell is no
value, and neither is a star; both count among the rows. A quasi-identifier is judged by the labels that are released.
Pseudonyms are no values that anybody knows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.core.arguments import at_least
from sfumato.tables.hierarchy import TOP
from sfumato.tables.schema import Role
from sfumato.tables.table import ENCODED, FEW_CELLS, categories

ONE_IN = 20
"""A column is near-unique from this share of its rows on: one in so many."""
FEW = 5
"""The k where no claim asks for one."""
JUDGED = (Role.QUASI, Role.SENSITIVE, Role.TARGET, Role.KEEP)
"""The roles of columns whose values are published."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NearUnique:
    """A column that nearly singles people out."""

    column: str
    """Its name."""
    role: Role
    """Its part in the release."""
    rows: int
    """How many rows hold a value that fewer than k rows share."""
    of: int
    """How many rows there are."""
    k: int
    """The k of the claims, or five."""

    @property
    def told(self) -> str:
        """What a reader must know, and what would help, in two sentences."""
        return (
            f"{self.column} ({self.role}) is near-unique: {self.rows:,} of {self.of:,} rows hold a value that fewer "
            f"than {self.k} rows share, so whoever knows it of a person is left with fewer than {self.k} rows. "
            f"{_ADVICE[self.role is Role.QUASI]}"
        )

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        return {"column": self.column, "role": str(self.role), "rows": self.rows, "of": self.of, "k": self.k}


_ADVICE = {
    False: "Make it a quasi-identifier with a hierarchy, round it before the release, or drop it.",
    True: "Ask for k-anonymity, give it a coarser hierarchy, or drop it.",
}


def asked_size(parameters: Iterable[Mapping[str, Any]]) -> int:
    """The largest k among the parameters of claims; five where none asks for more than one row.

    >>> asked_size([{"k": 3}, {"k": 10}, {"l": 20}]), asked_size([{"l": 2}]), asked_size([{"k": 1}])
    (10, 5, 5)
    """
    largest_k = max((int(given["k"]) for given in parameters if given.get("k") is not None), default=1)
    return largest_k if largest_k > 1 else FEW


def near_unique(column: str, role: Role, counts: NDArray[np.int64], rows: int, k: int) -> NearUnique | None:
    """Whether a column is near-unique, from the rows of each of its values; values that no row has say nothing.

    >>> near_unique("income", Role.KEEP, np.array([1, 1, 38]), 40, 2)
    NearUnique(column='income', role=<Role.KEEP: 'keep'>, rows=2, of=40, k=2)
    >>> near_unique("sex", Role.KEEP, np.array([20, 20]), 40, 2) is None
    True
    """
    at_least("k", k, 2)
    return near_unique_rows(column, role, int(counts[counts < k].sum()), rows, k)


def near_unique_rows(column: str, role: Role, rare: int, rows: int, k: int) -> NearUnique | None:
    """The same from the number of rows that hold a value which fewer than k rows share."""
    finding = NearUnique(column=column, role=role, rows=rare, of=rows, k=k)
    return finding if rare and rare * ONE_IN >= rows >= k else None


def near_unique_columns(
    frame: pl.DataFrame, roles: Mapping[str, Role], missing: Iterable[str], k: int
) -> tuple[NearUnique, ...]:
    """The near-unique columns among rows as they are published; columns without a judged role are passed over."""
    findings = []
    for name in frame.columns:
        role = roles.get(name)
        if role in JUDGED and frame.schema[name] != pl.Object:
            holes = [*missing, *([TOP] if role is Role.QUASI else [])]
            findings.append(near_unique(name, role, _counts(frame[name], holes), frame.height, k))
    return tuple(finding for finding in findings if finding is not None)


def unchanged(roles: Mapping[str, Role]) -> dict[str, Role]:
    """The columns that are published as they are, without the quasi-identifiers."""
    return {name: role for name, role in roles.items() if role is not Role.QUASI}


def _counts(cells: pl.Series, holes: list[str]) -> NDArray[np.int64]:
    """The rows of each value."""
    if cells.dtype in ENCODED:
        known, codes = categories(cells, holes)
        return np.bincount(codes, minlength=len(known)).astype(np.int64)[: len(known)]
    if cells.dtype == pl.String and len(cells) <= FEW_CELLS:
        held = Counter(cells.to_list())
        return np.array([held[text] for text in held.keys() - {None, *holes}], np.int64)
    counts = cells.drop_nulls().to_frame("cell").group_by("cell").len("rows")
    if cells.dtype == pl.String and holes:
        counts = counts.filter(~counts["cell"].cast(pl.String).is_in(holes))
    return counts["rows"].to_numpy().astype(np.int64)
