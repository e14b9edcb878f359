"""One dictionary-encoded column: a value for each record, or a set of values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes
from sfumato.group.keys import Ids


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CodedColumn:
    """The values of records by code, over a public domain."""

    codes: Codes
    """One per record; of sets: all values of the first record, then those of the second, and so on."""
    size: int
    """How many values the domain has."""
    starts: Ids | None = None
    """For sets: record ``r`` has ``codes[starts[r]:starts[r + 1]]``, each value once."""

    @property
    def records(self) -> int:
        """How many records there are."""
        return len(self.codes) if self.starts is None else len(self.starts) - 1

    def take(self, records: Ids) -> CodedColumn:
        """The values of some records."""
        if self.starts is None:
            return CodedColumn(codes=self.codes[records], size=self.size)
        starts, places = ragged(self.starts, records)
        return CodedColumn(codes=self.codes[places], size=self.size, starts=starts)

    def masks(self, bit_of: Codes, records: Ids) -> NDArray[np.int64]:
        """For each of some records with sets, the bits of its values in one number; ``bit_of`` is -1 for none."""
        if self.starts is None:
            raise TypeError("a column of single values has no masks")
        bits = np.where(bit_of >= 0, np.int64(1) << np.maximum(bit_of, 0).astype(np.int64), 0)
        starts, places = ragged(self.starts, records)
        items = np.append(bits[self.codes[places]], 0)
        if not len(records):
            return np.zeros(0, np.int64)
        found = np.bitwise_or.reduceat(items, starts[:-1])
        return np.asarray(np.where(np.diff(starts) > 0, found, 0))


def ragged(starts: Ids, records: Ids) -> tuple[Ids, Ids]:
    """Where the values of some records start when these alone are there, and the places where they are now."""
    lengths = np.diff(starts)[records]
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    return ends, np.arange(ends[-1]) + np.repeat(starts[:-1][records] - ends[:-1], lengths)
