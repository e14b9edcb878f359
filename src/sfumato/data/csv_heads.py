"""Whether the first line of a text file names the columns, from the first lines alone.

A line is taken for data only where its cells look like those below: numbers and dates among numbers and dates, within
their range, or texts that come again in their column. Names that count up, such as years, are names.
"""

from __future__ import annotations

import csv
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import polars as pl

from sfumato.data.csv_shape import Dialect, sniff
from sfumato.data.kinds import infer_kind, numbers_of
from sfumato.ground.errors import DataError
from sfumato.ground.opening import GZIP, opened

_BYTES = 2**18
_LINES = 400
_TEXTS = ("text", "category")
_STRING = pl.String()
_ALIKE, _AGAIN, _UNLIKE, _NAME = 1, 2, -1, -2
"""A number among numbers; a text that comes again; a text unlike the few below it; a text over numbers or dates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What the first lines of a text file tell about how it is to be read."""

    header: bool
    """Whether the first line names the columns."""
    trim: bool
    """Whether blanks follow the delimiters throughout."""


def read_head(path: Path, *, delimiter: str | None, encoding: str = "utf-8", trim: bool = False) -> Head | None:
    """The head of a text file; None where it cannot be looked at, for the reader says why."""
    try:
        text = _first_lines(path).decode(encoding, errors="replace")
        dialect = Dialect(delimiter=delimiter or sniff(text, quote='"'))
        records = [record for _, record in zip(range(_LINES), dialect.records(text), strict=False) if record]
    except (OSError, EOFError, LookupError, csv.Error, zlib.error, DataError):
        return None
    if len(records) < 2:
        return None
    blank = _blank(records)
    return Head(header=not _is_data(records), trim=blank and not trim)


def _first_lines(path: Path) -> bytes:
    """The whole lines at the beginning of a file, without a byte order mark."""
    with opened(path) as file:
        data = file.read(_BYTES)
    if data.startswith(GZIP):
        data = zlib.decompressobj(wbits=31).decompress(data, _BYTES)
    data = data.removeprefix(b"\xef\xbb\xbf")
    return data[: data.rfind(b"\n") + 1] or data


def _blank(records: Sequence[Sequence[str]]) -> bool:
    """Whether every cell but the first of nearly every line begins with a blank."""
    cells = [cell for record in records for cell in record[1:]]
    return bool(cells) and sum(cell[:1] == " " for cell in cells) > 0.95 * len(cells)


def _is_data(records: Sequence[Sequence[str]]) -> bool:
    first, *rest = [[cell.strip() for cell in record] for record in records]
    rows = [record for record in rest if len(record) == len(first)]
    if len(rows) < 2 or _counts_up(first) or not all(first):
        return False
    votes = [_vote(name, [row[place] for row in rows]) for place, name in enumerate(first)]
    alike, again, unlike = votes.count(_ALIKE), votes.count(_AGAIN), votes.count(_UNLIKE)
    if _NAME in votes:
        return False
    return alike + again >= max(1, len(votes) // 2) and (not unlike or again >= max(3, 2 * unlike))


def _vote(name: str, below: Sequence[str]) -> int:
    """Whether a cell looks like those below it, or like their name; 0 where nobody can say."""
    values = sorted({cell for cell in below if cell})
    if not values:
        return 0
    kind = infer_kind(values, _STRING)
    mine = infer_kind([name], _STRING)
    if kind in _TEXTS:
        few = len(values) * 5 < len(below) and mine == "text"
        return _AGAIN if below.count(name) >= 2 else _UNLIKE if few else 0
    if mine in _TEXTS:
        return _NAME
    if (mine == "date") != (kind == "date"):
        return 0
    numbers, own = numbers_of("", values, kind), numbers_of("", [name], mine)[0]
    return _ALIKE if numbers.min() <= own <= numbers.max() else 0


def _counts_up(names: Sequence[str]) -> bool:
    """Whether the numbers among names follow each other in equal steps, as years and places do."""
    numbers = [int(name) for name in names if re.fullmatch(r"\d{1,9}", name)]
    steps = {b - a for a, b in pairwise(numbers)}
    return steps == {1} or (len(numbers) > 2 and len(steps) == 1 and 0 not in steps)
