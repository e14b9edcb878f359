"""Columns beside the quasi-identifiers in a vertical release: shared by all, told by who holds them, or kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.collaborate.exchange import Exchange, Seat, Talk, to_all
from sfumato.collaborate.releases.integrated_rows import IntegratedRows
from sfumato.data.table import Codes
from sfumato.ground.errors import SessionError

_MOST = 2**28
"""Longer messages are refused."""
_KIND = np.dtype("<i4")


def same_values(seat: Seat, name: str, codes: Codes) -> Talk[None]:
    """Everybody has the same values of the common people, or the session ends; digests tell those who know them."""
    from hashlib import sha256

    digest = sha256(seat.session + name.encode() + codes.astype(_KIND).tobytes()).digest()
    came = yield to_all(seat, "shared/digest", digest)
    for peer, content in came.items():
        if content != digest:
            raise SessionError(f"party {peer} has other values of {name!r} about the common people")


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
