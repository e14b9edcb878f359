"""Columns beside the quasi-identifiers in a vertical release: shared by all, told by who holds them, or kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from sfumato.collaborate.exchange import Exchange, Seat, Talk
from sfumato.collaborate.primitives.bit_matrix import unpacked
from sfumato.collaborate.primitives.circuit import Circuit
from sfumato.collaborate.primitives.circuit_builder import CircuitBuilder
from sfumato.collaborate.primitives.circuit_words import equal
from sfumato.collaborate.primitives.shared_circuit import compute_shared, ready_to_share
from sfumato.collaborate.releases.integrated_rows import IntegratedRows
from sfumato.data.table import Codes
from sfumato.ground.errors import SessionError

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
    found = np.frombuffer(came[holder], _KIND).astype(np.int32)
    _refuse_strange(holder, found, values)
    return found


def kept_counts(
    seat: Seat, holder: int, found: IntegratedRows | None, sizes: Sequence[int], rows: int
) -> Talk[IntegratedRows]:
    """The integrated rows, which the holder of the columns that nobody else knows counts and tells everybody."""
    if found is not None:
        table = np.vstack([found.keys, found.rows[None]]).astype(_KIND)
        yield Exchange(label="rows/many", send=dict.fromkeys(seat.others, table.shape[1].to_bytes(8, "big")))
        yield Exchange(label="rows/counted", send=dict.fromkeys(seat.others, table.tobytes()))
        return found
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
