"""What is wrong with a CSV text, and at which line; slow, and used only when the fast way fails."""

from __future__ import annotations

import csv

import polars as pl

from sfumato.data.csv_shape import Dialect
from sfumato.ground.errors import DataError

_PART = 1_000_000
"""So many cells are held as texts of their own, which take many times what they say, before they become columns."""


def decode(data: bytes, encoding: str, *, where: str) -> str:
    """The text of the bytes without a byte order mark, or a refusal that says which byte is not valid."""
    try:
        return data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, fault.start) + 1
        found = data[fault.start : fault.start + 1].hex()
        raise DataError(
            f"{where}: byte 0x{found} at offset {fault.start} (line {line}) is not valid {encoding}; "
            f"{_other_encoding(data)} may do"
        ) from None


def _other_encoding(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return 'encoding="utf-16"'
    return 'encoding="latin-1" or encoding="cp1252"'


def read_carefully(text: str, dialect: Dialect, *, width: int, header: bool, where: str) -> pl.DataFrame:
    """The cells of the text, or a refusal that names the first line that does not fit the others."""
    reader = dialect.records(text, strict=True)
    schema = {f"column_{i}": pl.String for i in range(width)}
    parts, rows = [pl.DataFrame(schema=schema)], list[list[str]]()
    line = 1
    try:
        for record in reader:
            fields = record or [""] * (width == 1)
            if len(fields) != width:
                raise DataError(f"{where}, line {line}: {_ragged(fields, width, dialect)}")
            rows.append(fields)
            line = reader.line_num + 1
            if len(rows) * width > _PART:
                parts.append(pl.DataFrame(rows, schema=schema, orient="row"))
                rows = []
    except csv.Error as fault:
        raise DataError(f"{where}, line {line}: {_broken(str(fault), dialect)}") from None
    whole = pl.concat([*parts, pl.DataFrame(rows, schema=schema, orient="row")])
    return whole[1:] if header else whole


def _ragged(fields: list[str], width: int, dialect: Dialect) -> str:
    if not fields:
        return f"a blank line, expected {width} fields; remove the line"
    return (
        f"fields found: {len(fields)}, expected: {width} (delimiter {dialect.delimiter!r}); "
        "wrap a field that contains the delimiter in quotes, or complete the row"
    )


def _broken(fault: str, dialect: Dialect) -> str:
    if "unexpected end" in fault:
        return f"a quote {dialect.quote} that opens here is never closed; close it, or read with quote=None"
    if "expected after" in fault:
        return f"text follows a closing quote {dialect.quote}; double it inside a field, or read with quote=None"
    return f"the record cannot be read ({fault})"
