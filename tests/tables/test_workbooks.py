"""Sheets of workbooks: types, names, sheets by name and number; what is broken or far too large is refused."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import polars as pl
import pytest

from sfumato.core.errors import DataError, MissingExtra
from sfumato.tables.files import FORMATS, read
from sfumato.tables.workbooks import sheet_sizes
from sfumato.testing.formats import check_format
from tests.tables.made_workbooks import ods_row, old_workbook, open_document, people, rows, with_sheet, workbook, zipped

FAR = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
SAME = '<row r="1"><c r="A1" t="s"><v>0</v></c>' + '<c t="s"><v>0</v></c>' * 900 + "</row>"
TAIL = (
    '<table:table-row table:number-rows-repeated="1048570">'
    '<table:table-cell table:number-columns-repeated="1024"/></table:table-row>'
)
EXCEL = next(one for one in FORMATS if one.name == "excel")


def kept(folder: Path, data: bytes, name: str = "t.xlsx") -> Path:
    (folder / name).write_bytes(data)
    return folder / name


def test_cells_keep_their_types_and_blank_names_are_filled(tmp_path):
    frame = read(kept(tmp_path, workbook(people)), sheet="people").frame
    assert frame.columns == ["name", "name_2", "age", "pay", "zip", "born", "mixed"]
    assert frame.dtypes == [pl.String, pl.String, pl.Int64, pl.Float64, pl.String, pl.Date, pl.String]
    assert frame.row(1) == ("Ann", "Ives", 31, 1.5, "02131", date(1980, 1, 2), "1")
    assert frame.row(3) == (None, None, 99, None, None, None, None)
    assert frame.height == 4


def test_a_sheet_is_named_or_numbered(tmp_path):
    path = kept(tmp_path, workbook(people))
    assert read(path, sheet=2).frame.equals(read(path, sheet="people").frame)
    with pytest.raises(
        DataError, match=r"several sheets have cells; say which by name or number.*1 'about', 2 'people'"
    ):
        read(path)
    with pytest.raises(DataError, match="there is no sheet 'peple'; its sheets are 1 'about', 2 'people'"):
        read(path, sheet="peple")
    with pytest.raises(DataError, match="there is no sheet 3"):
        read(path, sheet=3)
    with pytest.raises(DataError, match="only workbooks have sheets"):
        read(kept(tmp_path, b"a,b\n1,2\n", "t.csv"), sheet=1)


def test_names_and_no_header(tmp_path):
    path = kept(tmp_path, rows([1, 2]))
    assert read(path, header=False).frame.rows() == [(1, 2)]
    assert read(path, header=False).names == ("column_1", "column_2")
    assert read(path, header=False, names=["a", "b"]).names == ("a", "b")


def test_an_open_document_is_read_and_its_empty_end_is_not(tmp_path):
    data = open_document(ods_row("a", "b") + ods_row("x", "y", times=2) + TAIL)
    assert read(kept(tmp_path, data, "t.ods")).frame.rows() == [("x", "y"), ("x", "y")]
    assert (sheet_sizes(data).rows, sheet_sizes(data).columns) == (3, 2)


def test_an_old_workbook_is_read_and_one_with_a_cell_far_away_is_refused(tmp_path):
    lines = [["name", "age"], ["Ann", 31.0], ["Bob", 47.0]]
    assert read(kept(tmp_path, old_workbook(lines), "t.xls")).frame.rows() == [("Ann", 31), ("Bob", 47)]
    with pytest.raises(DataError, match="its reader breaks down on it"):
        read(kept(tmp_path, old_workbook(lines, far=(65_535, 65_535)), "t.xls"))


def test_the_kit():
    check_format(EXCEL, [(rows(["a", "b"], [1, "x"]), pl.DataFrame({"a": [1], "b": ["x"]}))])


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "the file is empty"),
        (b"name,age\nAnn,3\n", "is not a valid excel file"),
        (workbook(people)[:-200], "is not a valid excel file"),
        (rows(), "no sheet has cells"),
        (rows(["a", "b"]), "but no rows"),
        (rows(["a", "a"], [1, 2]), "more than once"),
        (zipped({"xl/worksheets/sheet1.xml": "0" * 150_000_000}), "unfold to more than 100,000,000"),
        (with_sheet(FAR), "reaches to row 1,048,576 and column 16,384"),
        (with_sheet(SAME, f"<si><t>{'x' * 400_000}</t></si>"), "unfold to"),
    ],
    ids=["empty", "text", "cut", "no cells", "no rows", "repeated", "bomb", "far", "texts"],
)
def test_what_is_refused(tmp_path, data, told):
    with pytest.raises(DataError, match=told):
        read(kept(tmp_path, data))


def test_an_open_document_that_repeats_a_full_cell_for_ever_is_refused(tmp_path):
    cell = '<table:table-cell table:number-columns-repeated="1000" office:value-type="float" office:value="1"/>'
    data = open_document(f'<table:table-row table:number-rows-repeated="1000000">{cell}</table:table-row>')
    with pytest.raises(DataError, match="reaches to row 1,000,000 and column 1,000"):
        read(kept(tmp_path, data, "t.ods"))


def test_an_open_document_in_an_unknown_encoding_is_refused(tmp_path):
    data = zipped({"content.xml": '<?xml version="1.0" encoding="UVF-8"?><a/>'})
    with pytest.raises(DataError, match="its content is broken"):
        read(kept(tmp_path, data, "t.ods"))


def test_a_part_that_is_larger_than_it_says_is_refused(tmp_path):
    data = bytearray(zipped({"xl/worksheets/sheet1.xml": "0" * 100_000}))
    at = data.rindex(b"PK\x01\x02")
    data[at + 24 : at + 28] = (10).to_bytes(4, "little")
    with pytest.raises(DataError, match="has not the 10 bytes that it says"):
        read(kept(tmp_path, bytes(data)))


def test_without_the_extra_the_refusal_names_it(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "fastexcel", None)
    with pytest.raises(MissingExtra, match=r"pip install 'sfumato\[files\]'"):
        read(kept(tmp_path, workbook(people)))
