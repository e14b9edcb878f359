"""Workbooks made by hand, good and bad."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import xlsxwriter

DAY = "yyyy-mm-dd"


def workbook(fill: Callable[[Any, dict[str, Any]], None]) -> bytes:
    """The bytes of an .xlsx file; ``fill`` is given the book and its formats."""
    into = io.BytesIO()
    book = xlsxwriter.Workbook(into, {"in_memory": True})
    fill(book, {"day": book.add_format({"num_format": DAY})})
    book.close()
    return into.getvalue()


def rows(*lines: list[Any]) -> bytes:
    """An .xlsx file with one sheet of these rows."""

    def fill(book: Any, formats: dict[str, Any]) -> None:
        sheet = book.add_worksheet()
        for place, line in enumerate(lines):
            sheet.write_row(place, 0, line)

    return workbook(fill)


def people(book: Any, formats: dict[str, Any]) -> None:
    """Two sheets: one with a remark, one with a table that begins below a blank line, with a merged name."""
    book.add_worksheet("about").write(0, 0, "made for a test")
    sheet = book.add_worksheet("people")
    sheet.merge_range(1, 0, 1, 1, "name")
    sheet.write_row(1, 2, ["age", "pay", "zip", "born", "mixed", None])
    for i in range(3):
        sheet.write_row(2 + i, 0, ["Ann", "Ives", 30 + i, 1.5 * i, f"0213{i}"])
        sheet.write_datetime(2 + i, 5, datetime(1980, 1, 1 + i), formats["day"])
        sheet.write(2 + i, 6, i if i < 2 else "x")
    sheet.write(5, 2, 99)
    sheet.write_blank(9, 9, None, formats["day"])


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """A zip folder of these parts."""
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as folder:
        for name, text in parts.items():
            folder.writestr(name, text)
    return into.getvalue()


def open_document(rows: str) -> bytes:
    """An .ods file with one sheet of these rows."""
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {spaces} office:version="1.2"><office:body>'
        f'<office:spreadsheet><table:table table:name="one">{rows}</table:table></office:spreadsheet></office:body>'
        "</office:document-content>"
    )
    mark = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    return zipped({"mimetype": mark, "content.xml": content, "META-INF/manifest.xml": manifest})


def ods_row(*cells: str, times: int = 1) -> str:
    """A row of texts."""
    made = "".join(
        f'<table:table-cell office:value-type="string"><text:p>{cell}</text:p></table:table-cell>' for cell in cells
    )
    return f'<table:table-row table:number-rows-repeated="{times}">{made}</table:table-row>'


def with_sheet(xml: str, strings: str = "") -> bytes:
    """An .xlsx file whose only sheet is this XML, and perhaps its shared texts."""
    whole = rows(["a", "b"])
    folder = zipfile.ZipFile(io.BytesIO(whole))
    parts = {one.filename: folder.read(one) for one in folder.infolist()}
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    parts["xl/worksheets/sheet1.xml"] = f'<worksheet xmlns="{space}"><sheetData>{xml}</sheetData></worksheet>'.encode()
    if strings:
        parts["xl/sharedStrings.xml"] = f'<sst xmlns="{space}">{strings}</sst>'.encode()
    return zipped(parts)


def old_workbook(lines: list[list[Any]], far: tuple[int, int] | None = None) -> bytes:
    """An .xls file (BIFF8 in a compound file) with a few texts and numbers, and perhaps a number far off."""
    begin = struct.pack("<HHHHII", 0x0600, 0x0010, 0x0DBB, 0x07CC, 0, 6)
    sheet = _record(0x0809, begin) + _record(0x0200, struct.pack("<IIHHH", 0, len(lines), 0, len(lines[0]), 0))
    for row, line in enumerate(lines):
        for column, cell in enumerate(line):
            place = struct.pack("<HHH", row, column, 0)
            if isinstance(cell, str):
                sheet += _record(0x0204, place + struct.pack("<HB", len(cell), 0) + cell.encode("latin-1"))
            else:
                sheet += _record(0x0203, place + struct.pack("<d", cell))
    if far is not None:
        sheet += _record(0x0203, struct.pack("<HHHd", *far, 0, 1.0))
    head = _record(0x0809, struct.pack("<HHHHII", 0x0600, 0x0005, 0x0DBB, 0x07CC, 0, 6))
    named = struct.pack("<IBBBB", len(head) + 4 + 11 + 4, 0, 0, 3, 0) + b"one"
    return _compound(head + _record(0x0085, named) + _record(0x000A, b"") + sheet + _record(0x000A, b""))


def _record(kind: int, data: bytes) -> bytes:
    return struct.pack("<HH", kind, len(data)) + data


def _compound(stream: bytes) -> bytes:
    """A compound file whose only stream is called Workbook."""
    sectors = max(-(-len(stream) // 512), 8)
    end, free, table = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD
    chain = [table, end, *range(3, 2 + sectors), end]
    fat = struct.pack("<128I", *chain, *[free] * (128 - len(chain)))
    entries = _entry("Root Entry", 5, 1, end, 0) + _entry("Workbook", 2, free, 2, sectors * 512)
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 16
    head += struct.pack("<HHHHH6xIIIIIIIIII", 0x3E, 3, 0xFFFE, 9, 6, 0, 1, 1, 0, 4096, end, 0, end, 0, 0)
    head += struct.pack("<108I", *[free] * 108)
    return head + fat + (entries + _entry("", 0, free, 0, 0) * 2) + stream.ljust(sectors * 512, b"\0")


def _entry(name: str, kind: int, child: int, start: int, size: int) -> bytes:
    text = (name + "\0").encode("utf-16-le") if name else b""
    none = 0xFFFFFFFF
    links = struct.pack("<BBIII", kind, 1, none, none, child)
    return text.ljust(64, b"\0") + struct.pack("<H", len(text)) + links + b"\0" * 36 + struct.pack("<IQ", start, size)
