"""Rows of all parties under one recoding, as counts, and columns other than the quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.top_down.partitions import Partitions
from sfumato.core.errors import SessionError
from sfumato.core.randomness import Chance
from sfumato.core.short_repr import Brief
from sfumato.counts.sources import ROWS, CutSource, Numbers
from sfumato.parties.circuit_arithmetic import equal
from sfumato.parties.circuits import Circuit, CircuitBuilder, unpacked
from sfumato.parties.conversation import Exchange, Seat, Talk
from sfumato.parties.gmw import compute_shared, ready_to_share
from sfumato.tables.table import Codes

# The rows of all parties under one recoding, as counts: nobody sends a row, so nobody can tell whose it is.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shown:
    """What the values of one column read as."""

    of_code: Codes
    """For each declared value (by code), its label."""
    labels: tuple[str, ...]
    """The labels."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class IntegratedRows(Brief):
    """The combinations of labels that released rows have, with how many rows have each."""

    keys: Codes
    """Columns x combinations: the label of each."""
    rows: Numbers
    """How many rows each has."""

    def shuffled(self, session: bytes) -> Codes:
        """Columns x rows, in an order that every party draws from the name of the session; it tells nothing."""
        order = np.lexsort(self.keys[::-1])
        drawn = Chance(seed=int.from_bytes(session, "big")).generator()
        each = np.repeat(self.keys[:, order], self.rows[order], axis=1)
        return np.asarray(each[:, drawn.permutation(each.shape[1])], np.int32)


def integrated(source: CutSource, columns: Sequence[Shown]) -> IntegratedRows:
    """The combinations that occur at anybody, column after column.

    Every count that is asked for on the way is a sum of counts of the final rows, so they tell it all.
    """
    partitions = Partitions(len(columns), source.root((ROWS,)))
    for place, column in enumerate(columns):
        refined = partitions.refine(place, 0, column.of_code, len(column.labels))
        partitions.apply(refined, np.arange(1, len(column.labels) + 1, dtype=np.int32))
    return IntegratedRows(keys=np.asarray(partitions.keys - 1, np.int32), rows=partitions.rows)


# Columns beside the quasi-identifiers in a vertical release: shared by all, told by who holds them, or kept.


_MOST = 2**28
"""Longer messages are refused."""
_KIND = np.dtype("<i4")
_DIGEST = 64
"""Bits of a digest of a column, which goes into a circuit."""


def same_values(seat: Seat, columns: Mapping[str, Codes]) -> Talk[None]:
    """All parties have the same values of the common people in each column, or the session ends.

    Claim: everybody learns of each column whether all parties have the same values, and nothing else. Digests go into a
    circuit on shares and are never sent, so no party can try out values later. Different values pass once in 2^64.
    """
    if not columns:
        return
    ready = yield from ready_to_share(seat)
    own = b"".join(
        sha256(seat.session + name.encode() + codes.astype(_KIND).tobytes()).digest()[: _DIGEST // 8]
        for name, codes in columns.items()
    )
    circuit, size = _all_alike(seat.count, len(columns)), _DIGEST * len(columns)
    alike = yield from compute_shared(ready, circuit, unpacked(own, size), [size] * seat.count)
    for name, same in zip(columns, alike.tolist(), strict=True):
        if not same:
            raise SessionError(f"the parties do not have the same values of {name!r} about the common people")


@lru_cache(maxsize=8)
def _all_alike(parties: int, columns: int) -> Circuit:
    """Whether all parties have the same digest, for each column."""
    build = CircuitBuilder()
    words = np.moveaxis(build.garbler_input(parties, columns, _DIGEST), 0, 1)
    alike = equal(build, words[:, 1:].reshape(columns, -1), words[:, :-1].reshape(columns, -1))
    return build.circuit(garbler=alike)


def told_values(seat: Seat, holder: int, codes: Codes | None, rows: int, values: int) -> Talk[Codes]:
    """The values of a column that its holder tells everybody."""
    if codes is not None:
        yield Exchange(label="column/told", send=dict.fromkeys(seat.others, codes.astype(_KIND).tobytes()))
        return codes
    came = yield Exchange(label="column/told", expect={holder: rows * _KIND.itemsize})
    received_codes = np.frombuffer(came[holder], _KIND).astype(np.int32)
    _refuse_strange(holder, received_codes, values)
    return received_codes


def kept_counts(
    seat: Seat, holder: int, own_rows: IntegratedRows | None, sizes: Sequence[int], rows: int
) -> Talk[IntegratedRows]:
    """The integrated rows, which the holder of the columns that nobody else knows counts and tells everybody."""
    if own_rows is not None:
        table = np.vstack([own_rows.keys, own_rows.rows[None]]).astype(_KIND)
        yield Exchange(label="rows/many", send=dict.fromkeys(seat.others, table.shape[1].to_bytes(8, "big")))
        yield Exchange(label="rows/counted", send=dict.fromkeys(seat.others, table.tobytes()))
        return own_rows
    came = yield Exchange(label="rows/many", expect={holder: 8})
    many, lines = int.from_bytes(came[holder], "big"), len(sizes) + 1
    if many * lines * _KIND.itemsize > _MOST or many > rows:
        raise SessionError(f"party {holder} announces {many:,} combinations of {rows:,} rows")
    came = yield Exchange(label="rows/counted", expect={holder: many * lines * _KIND.itemsize})
    table = np.frombuffer(came[holder], _KIND).reshape(lines, many)
    for codes, values in zip(table[:-1], sizes, strict=True):
        _refuse_strange(holder, codes, values)
    counts = table[-1].astype(np.int64)
    if (counts < 1).any() or int(counts.sum()) != rows:
        raise SessionError(f"party {holder} counts {int(counts.sum()):,} rows, where there are {rows:,}")
    return IntegratedRows(keys=table[:-1].astype(np.int32), rows=counts)


def _refuse_strange(holder: int, codes: NDArray[np.int32], values: int) -> None:
    if len(codes) and not (codes.min() >= 0 and codes.max() < values):
        raise SessionError(f"party {holder} tells a value that is not declared")
