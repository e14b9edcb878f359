"""How many rows all parties have together of every combination of declared values, by secure sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.collaborate.conversation import Conversation
from sfumato.collaborate.joint_protocols import JointProtocol, JointResult
from sfumato.collaborate.leakage import Leakage, Told
from sfumato.collaborate.summed_cuts import SummedNumbers
from sfumato.data.table import Table, as_text
from sfumato.ground.errors import DataError, ParameterError, listed, nearest

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
        if not isinstance(values, list) or not values or not all(isinstance(one, str) for one in values):
            raise ParameterError(f"parameters.columns.{name} must be a list of texts, not {values!r}")
        if len(set(values)) < len(values):
            raise ParameterError(f"parameters.columns.{name} names a value twice")
    asked = CountsAsked(columns={name: tuple(values) for name, values in columns.items()})
    if prod(asked.shape) > MOST_COUNTS:
        raise ParameterError(
            f"parameters.columns has {prod(asked.shape):,} combinations; at most {MOST_COUNTS:,} are counted"
        )
    return asked


def own_counts(asked: CountsAsked, table: Table) -> NDArray[np.int64]:
    """A party's own counts, in the order of the declared values; a value that is not declared is refused."""
    places = []
    for name, values in asked.columns.items():
        texts = as_text(table.require(name, where=table.source))
        codes = texts.replace_strict(list(values), list(range(len(values))), default=None, return_dtype=pl.Int64)
        if codes.null_count():
            row = int(codes.is_null().arg_true()[0])
            raise DataError(
                f"{table.source}, column {name!r}, row {row + 1}: {texts[row]!r} is not declared; parameters.columns."
                f"{name} has {listed(values)}"
            )
        places.append(codes.to_numpy())
    cells = np.ravel_multi_index(tuple(places), asked.shape)
    return np.bincount(cells, minlength=prod(asked.shape)).astype(np.int64)


def told_counts(asked: CountsAsked, names: Sequence[str]) -> Leakage:
    """What a session tells."""
    by = " and ".join(asked.columns)
    return Leakage(
        protocol="counts",
        result=(Told(to="everybody", what=f"how many rows all parties have together, by {by}"),),
        withstands=f"any {len(names) - 2} of the {len(names)} parties that put together what they saw",
        limits=(
            f"{len(names) - 1} parties that subtract their own counts from the sum; small counts, which may point to "
            "somebody; a party that counts wrongly"
        ),
    )


def summed_counts(conversation: Conversation, asked: CountsAsked, own: NDArray[np.int64]) -> JointResult:
    """The counts of all parties together."""
    total = SummedNumbers(conversation)(own)
    rows = [[*values, int(count)] for values, count in zip(product(*asked.columns.values()), total, strict=True)]
    columns = (*asked.columns, "count")
    return JointResult(document={"columns": list(columns), "rows": rows}, columns=columns, rows=rows)


COUNTS = JointProtocol(
    name="counts",
    about="How many rows all parties have together of every combination of declared values.",
    least=3,
    read=read_counts,
    leakage=told_counts,
    prepare=own_counts,
    given=lambda asked, own: f"{len(own):,} counts of {int(own.sum()):,} rows, by {' and '.join(asked.columns)}",
    run=summed_counts,
)
