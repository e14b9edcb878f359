"""Sheets of Excel and OpenDocument workbooks, read with fastexcel.

The first row that is not empty names the columns. A blank name is the name on its left with a number, for that is how a
merged cell looks from below; without one it is that of its place. Columns without a name and without a value, and rows
without a value, are no part of the table.
"""

from __future__ import annotations

import logging
from typing import Any

import polars as pl

from sfumato.data.names import checked_names, refuse_long_texts, refuse_many
from sfumato.data.reading_apart import try_reading
from sfumato.data.sheet_sizes import MOST_SHEET_CELLS, ZIP, sheet_sizes
from sfumato.data.whole_numbers import plain_types
from sfumato.ground.errors import DataError
from sfumato.ground.extras import extra
from sfumato.ground.limits import most_unfolded


def sheet_frame(data: bytes, *, sheet: str | int | None, header: bool, where: str) -> pl.DataFrame:
    """The frame in a sheet, by its name or its number from 1 on; without either the only sheet that has cells."""
    module = extra("fastexcel", f"reading {where}")
    for name in ("fastexcel", "calamine"):  # what they would say on standard error, the refusal says
        logging.getLogger(name).setLevel(logging.CRITICAL)
    _refuse_large(data, where)
    try_reading("workbook", data)
    try:
        book = module.read_excel(data)
        name = _sheet(book, sheet, where)
        first = _loaded(book, name, header_row=None, n_rows=1, dtypes="string")
        if not first.width:
            raise DataError(f"{where}: the sheet {name!r} is empty; a header and rows were expected")
        frame = _loaded(book, name, header_row=0 if header else None, schema_sample_rows=None)
    except module.FastExcelError as fault:
        raise ValueError(str(fault)) from None
    frame.columns = checked_names(_names([one if header else None for one in first.row(0)]), where=where)
    kept = [name for name, said in zip(frame.columns, first.row(0), strict=True) if said or _full(frame[name])]
    frame = plain_types(frame.select(kept).filter(~pl.all_horizontal(pl.all().is_null())))
    refuse_long_texts(frame, where=where)
    return frame


def _loaded(book: Any, name: str, **options: Any) -> pl.DataFrame:
    return pl.DataFrame(book.load_sheet(name, **options).to_polars())


def _full(cells: pl.Series) -> bool:
    return cells.null_count() < len(cells)


def _names(said: list[str | None]) -> list[str]:
    """What the columns are called.

    >>> _names([None, "blood", None, " ", "age"])
    ['column_1', 'blood', 'blood_2', 'blood_3', 'age']
    """
    found: list[str] = []
    left, many = "", 1
    for place, name in enumerate(said, 1):
        if name is not None and name.strip():
            left, many = name, 1
            found.append(name)
        else:
            many += 1
            found.append(f"{left}_{many}" if left else f"column_{place}")
    return found


def _refuse_large(data: bytes, where: str) -> None:
    """Refuse a workbook that becomes more than its limits."""
    sizes, most = sheet_sizes(data), max(MOST_SHEET_CELLS, len(data))
    if sizes.rows * sizes.columns > most:
        raise DataError(
            f"{where}: a sheet reaches to row {sizes.rows:,} and column {sizes.columns:,}; at most {most:,} cells are "
            "read; remove what stands far away from the table, or write the sheet as CSV"
        )
    refuse_many(sizes.columns if data.startswith(ZIP) else 0, where=where)
    if sizes.unfolded > most_unfolded(len(data)):
        raise DataError(
            f"{where}: {len(data):,} bytes unfold to {sizes.unfolded:,}; at most {most_unfolded(len(data)):,} are read"
        )


def _sheet(book: Any, sheet: str | int | None, where: str) -> str:
    """The name of the sheet that was asked for."""
    names: list[str] = book.sheet_names
    told = ", ".join(f"{at} {name!r}" for at, name in enumerate(names, 1)) or "none"
    if isinstance(sheet, str) and sheet in names:
        return sheet
    if isinstance(sheet, int) and 1 <= sheet <= len(names):
        return names[sheet - 1]
    if sheet is not None:
        raise DataError(f"{where}: there is no sheet {sheet!r}; its sheets are {told}")
    full = [name for name in names if book.load_sheet(name, header_row=None, n_rows=1).width]
    if len(full) > 1:
        raise DataError(f"{where}: several sheets have cells; say which by name or number (sheet, --sheet): {told}")
    if not full:
        raise DataError(f"{where}: no sheet has cells; a header and rows were expected")
    return full[0]
