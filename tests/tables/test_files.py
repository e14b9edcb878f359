"""Files are read as they are written, and refused with the file, the line, and what would do."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from sfumato.core.errors import DataError, ParameterError
from sfumato.tables.files import read, write
from tests.weights import examples

PEOPLE = pl.DataFrame({"zip": ["02139", "10598"], "name": ["Ann", "Bob"]})
File = Callable[..., Path]


@pytest.fixture
def file(tmp_path: Path) -> File:
    def made(content: bytes | str, name: str = "people.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return made


def rows(path: Path, **options: object) -> list[tuple[str, ...]]:
    return read(path, **options).frame.rows()  # type: ignore[arg-type]


# What is read


def test_every_cell_stays_text_and_nothing_becomes_null(file: File) -> None:
    table = read(file("zip,age,x\n02139,7,\n10598,1.50,NA\n"), missing=["", "NA"])
    assert table.frame.rows() == [("02139", "7", ""), ("10598", "1.50", "NA")]
    assert set(table.frame.dtypes) == {pl.String}
    assert table.missing == ("", "NA")
    assert table.is_missing("x").to_list() == [True, True]


def test_the_source_is_the_bare_name_of_the_file(file: File) -> None:
    assert read(file("a,b\n1,2\n")).source == "people.csv"


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_delimiter_is_told_from_the_head(file: File, mark: str) -> None:
    path = file(f'a{mark}"b,;|\t"{mark}c\n1{mark}2,5;x|y{mark}3\n'.replace("2,5;x|y", '"2,5;x|y"'))
    assert rows(path) == [("1", "2,5;x|y", "3")]


def test_a_delimiter_that_fits_every_line_wins_over_one_in_the_header_only(file: File) -> None:
    assert rows(file("name;street, city, land\nAnn;Mill Lane\nBob;High Street\n")) == [
        ("Ann", "Mill Lane"),
        ("Bob", "High Street"),
    ]


def test_tsv_is_divided_by_tabs(file: File) -> None:
    assert rows(file("a,x\tb\n1,2\t3\n", "people.tsv")) == [("1,2", "3")]


def test_quotes_line_ends_and_byte_order_marks(file: File) -> None:
    path = file(b'\xef\xbb\xbf"a",b\r\n"x ""q"", y","1\r\n2"\r\n3,\r\n\r\n')
    table = read(path)
    assert table.names == ("a", "b")
    assert table.frame.rows() == [('x "q", y', "1\r\n2"), ("3", "")]


def test_lone_carriage_returns_end_lines_when_nothing_else_does(file: File) -> None:
    assert rows(file("a,b\r1,2\r3,4\r")) == [("1", "2"), ("3", "4")]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8-sig"])
def test_any_codec_of_python_is_decoded(file: File, encoding: str) -> None:
    assert rows(file("näme,b\nJosé,ü\n".encode(encoding)), encoding=encoding) == [("José", "ü")]


def test_trim_strips_names_and_cells_and_finds_quotes_after_blanks(file: File) -> None:
    table = read(file('a , b\n 1, "x, y" \n2 ,  z\n   \n'), trim=True)
    assert table.names == ("a", "b")
    assert table.frame.rows() == [("1", "x, y"), ("2", "z")]
    assert rows(file("a, b\n1, x\n")) == [("1", " x")]


def test_a_file_without_header(file: File) -> None:
    assert read(file("1,2\n3,4\n"), header=False).names == ("column_1", "column_2")
    table = read(file("1,2\n3,4\n"), header=False, names=["x", "y"])
    assert (table.names, table.rows) == (("x", "y"), 2)


def test_names_replace_the_header_even_a_bad_one(file: File) -> None:
    table = read(file("a,a,a_duplicated_0\n1,2,3\n"), names=["x", "y", "z"])
    assert (table.names, table.frame.rows()) == (("x", "y", "z"), [("1", "2", "3")])


def test_a_genuine_single_column(file: File) -> None:
    assert rows(file('a\n1\n\n"x;y"\n\n')) == [("1",), ("",), ("x;y",)]
    assert rows(file("a\nSmith, Ann\nBo\n"), delimiter="\t") == [("Smith, Ann",), ("Bo",)]


def test_quotes_within_a_cell_are_plain_text(file: File) -> None:
    assert rows(file('a,b\n6\'5",1\n5",2\nx"y"z,"q, r"\n')) == [
        ("6'5\"", "1"),
        ('5"', "2"),
        ('x"y"z', "q, r"),
    ]
    assert rows(file('a,b\n"1,2\n'), quote=None) == [('"1', "2")]


def test_empty_cells_at_the_end_of_quoted_rows_are_no_short_rows(file: File) -> None:
    assert rows(file('a,"b,c"\n"1,1,1",\n2,\n')) == [("1,1,1", ""), ("2", "")]


@pytest.mark.parametrize("name", ["t.csv.gz", "t.csv", "t.data.gz"])
def test_gzip_is_recognised(file: File, name: str) -> None:
    assert rows(file(gzip.compress(b"a,b\n1,2\n"), name)) == [("1", "2")]


def test_the_format_can_be_named(file: File) -> None:
    assert rows(file("a\tb\n1\t2\n", "export.xyz"), format="tsv") == [("1", "2")]


def test_types_of_parquet_and_arrow_stay(tmp_path: Path) -> None:
    frame = pl.DataFrame({" n ": [1, 2], "t": [" x", None]})
    for name in ("t.parquet", "t.pq", "t.arrow", "t.feather", "t.ipc", "t.parquet.gz", "t.arrow.gz"):
        write(frame, tmp_path / name)
        assert read(tmp_path / name).frame.equals(frame)
    trimmed = read(tmp_path / "t.pq", trim=True).frame
    assert trimmed.equals(pl.DataFrame({"n": [1, 2], "t": ["x", None]}))
    assert read(tmp_path / "t.pq", names=["a", "b"]).names == ("a", "b")


# What is written

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.text('",;|\t\r\n 0"\ufeff', max_size=6)
NAME = TEXT.filter(lambda name: bool(name.strip()))


@st.composite
def frames(draw: st.DrawFn, *, narrowest: int = 1) -> pl.DataFrame:
    names = draw(st.lists(NAME, min_size=narrowest, max_size=4, unique=True))
    height = draw(st.integers(1, 5))
    column = st.lists(TEXT, min_size=height, max_size=height)
    return pl.DataFrame({name: draw(column) for name in names}, schema=dict.fromkeys(names, pl.String))


@examples(150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(frame=frames(), name=st.sampled_from(["t.csv", "t.tsv", "t.csv.gz", "t.parquet", "t.arrow"]))
def test_text_survives_the_round_trip(tmp_path: Path, frame: pl.DataFrame, name: str) -> None:
    write(frame, tmp_path / name)
    back = read(tmp_path / name).frame
    assert back.columns == frame.columns
    assert back.equals(frame)


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(frame=frames(narrowest=2), mark=st.sampled_from([",", ";", "\t", "|"]))
def test_the_delimiter_of_a_written_file_is_found_again(tmp_path: Path, frame: pl.DataFrame, mark: str) -> None:
    write(frame, tmp_path / "t.csv", delimiter=mark)
    assert read(tmp_path / "t.csv").frame.equals(frame)


def test_csv_is_plain(tmp_path: Path) -> None:
    write(pl.DataFrame({"zip": ["02139"], "q": ['a"b'], "n": [None], "i": [7]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == b'zip,q,n,i\n02139,"a""b",,7\n'


def test_a_null_in_a_single_column_keeps_its_row(tmp_path: Path) -> None:
    write(pl.DataFrame({"a": [1, None]}), tmp_path / "t.csv")
    assert rows(tmp_path / "t.csv") == [("1",), ("",)]


def test_equal_frames_give_equal_bytes(tmp_path: Path) -> None:
    for name in ("t.csv.gz", "t.parquet", "t.arrow"):
        write(PEOPLE, tmp_path / name)
        first = (tmp_path / name).read_bytes()
        write(PEOPLE, tmp_path / name)
        assert (tmp_path / name).read_bytes() == first
    write(PEOPLE, tmp_path / "t.csv.gz")
    assert (tmp_path / "t.csv.gz").read_bytes()[4:8] == bytes(4)


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"t\.csv: the table cannot be written as csv .*nested"):
        write(pl.DataFrame({"a": [[1]]}), tmp_path / "t.csv")
    with pytest.raises(DataError, match=r"No such file or directory.*name a file that can be"):
        write(PEOPLE, tmp_path / "nowhere" / "t.csv")
    with pytest.raises(DataError, match=r"extension \.docx is not known"):
        write(PEOPLE, tmp_path / "t.docx")
    with pytest.raises(DataError, match=r"tables of format excel can be read, not written"):
        write(PEOPLE, tmp_path / "t.xlsx")


# What is refused

REFUSED: dict[str, tuple[str, bytes, dict[str, object], str]] = {
    "empty": ("t.csv", b"", {}, "t.csv: the file is empty; a header and rows were expected"),
    "empty parquet": ("t.parquet", b"", {}, "the file is empty"),
    "empty gzip": ("t.csv.gz", gzip.compress(b""), {}, "the file is empty"),
    "blank lines": ("t.csv", b"\n\r\n\n", {}, "the file has only blank lines"),
    "header only": (
        "t.csv",
        b"a,b\n",
        {},
        "the file has a header (columns: 2) but no rows; at least one is needed",
    ),
    "extension": ("t.docx", b"a,b\n", {}, "the extension .docx is not known; known are .csv,"),
    "no extension": ("table", b"a,b\n", {}, "the extension none is not known"),
    "repeated names": (
        "t.csv",
        b"a,b,a,c,b,a\n1,2,3,4,5,6\n",
        {},
        "column names occur more than once: 'a' (columns 1, 3, 6), 'b' (columns 2, 5); every column needs",
    ),
    "repeated trimmed names": ("t.csv", b"a, a\n1,2\n", {"trim": True}, "'a' (columns 1, 2)"),
    "blank name": ("t.csv", b"a, ,c\n1,2,3\n", {}, "column 2 has a blank name; name every column"),
    "blank first line": ("t.csv", b"\na\n1\n", {}, "column 1 has a blank name"),
    "wrong delimiter": (
        "t.csv",
        b"a;b;c\n1;2,5;3\n",
        {"delimiter": ","},
        "delimiter ',' gives a single column, delimiter=';' would give 3 columns",
    ),
    "wrong delimiter of tsv": (
        "t.tsv",
        b"a,b\n1,2\n",
        {},
        "delimiter '\\t' gives a single column, delimiter=','",
    ),
    "more fields": (
        "t.csv",
        b'a,b\n1,"2\n2"\n1,2,3\n',
        {},
        "t.csv, line 4: fields found: 3, expected: 2 (delimiter ','); wrap a field",
    ),
    "fewer fields": ("t.csv", b"a,b,c\n1,2,3\n1,2\n1,2,\n", {}, "line 3: fields found: 2, expected: 3"),
    "fewer fields at the end": ("t.csv", b"a,b\n1,2\n1", {}, "line 3: fields found: 1, expected: 2"),
    "fewer fields and quotes": ("t.csv", b'a,b\n"1,1",2\n"3,3"\n', {}, "line 3: fields found: 1, expected: 2"),
    "ragged without header": ("t.csv", b"1,2\n3\n", {"header": False}, "line 2: fields found: 1, expected: 2"),
    "blank line": (
        "t.csv",
        b"a,b\n1,2\n\n3,4\n",
        {},
        "line 3: a blank line, expected 2 fields; remove the line",
    ),
    "open quote": (
        "t.csv",
        b'a,b\n1,2\n3,"4\n5,6\n',
        {},
        'line 3: a quote " that opens here is never closed',
    ),
    "open quote in a long header": (
        "t.csv",
        b'a,"b\n' + b"1,2\n" * 40_000,
        {},
        "line 1: the record cannot be read",
    ),
    "text after quote": ("t.csv", b'a,b\n1,"2" x\n', {}, 'line 2: text follows a closing quote "; double it'),
    "encoding": (
        "t.csv",
        b"a,b\n1,2\n\xe9,2\n",
        {},
        'byte 0xe9 at offset 8 (line 3) is not valid utf-8; encoding="latin-1" or encoding="cp1252" may do',
    ),
    "encoding of the header": (
        "t.csv",
        b"\xe9,b\n1,2\n",
        {},
        "byte 0xe9 at offset 0 (line 1) is not valid utf-8",
    ),
    "utf-16": ("t.csv", "a,b\n1,2\n".encode("utf-16"), {}, 'encoding="utf-16" may do'),
    "cut gzip": (
        "t.csv.gz",
        gzip.compress(b"a,b\n1,2\n" * 99)[:-9],
        {},
        "t.csv.gz: is not a complete gzip file (",
    ),
    "no gzip": ("t.csv.gz", b"a,b\n1,2\n", {}, "is not a complete gzip file (Not a gzipped file"),
    "broken gzip": ("t.csv", b"\x1f\x8b\x08\x00" + b"\xff" * 40, {}, "is not a complete gzip file ("),
    "parquet": ("t.parquet", b"PAR1 and then nothing", {}, "t.parquet: is not a valid parquet file ("),
    "arrow": ("t.arrow", b"ARROW1 and then nothing of use", {}, "t.arrow: is not a valid arrow file ("),
    "too few names": (
        "t.csv",
        b"a,b\n1,2\n",
        {"names": ["x"]},
        "names given: 1, columns: 2; give one name per column",
    ),
    "repeated given names": ("t.csv", b"a,b\n1,2\n", {"names": ["x", "x"]}, "'x' (columns 1, 2)"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_bad_file_is_refused(file: File, case: str) -> None:
    name, content, options, message = REFUSED[case]
    path = file(content, name)
    with pytest.raises(DataError, match=re.escape(message)) as refused:
        read(path, **options)  # type: ignore[arg-type]
    assert str(refused.value).startswith(str(path))
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nobody\.csv: there is no such file; check the name and the folder"):
        read(tmp_path / "nobody.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match=r"folder\.csv: cannot be read: it is a folder, not a regular file"):
        read(tmp_path / "folder.csv")


def test_typed_files_without_rows_or_with_other_names_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    write(PEOPLE, path)
    with pytest.raises(DataError, match="names given: 3, columns: 2"):
        read(path, names=["a", "b", "c"])
    write(PEOPLE.clear(), path)
    with pytest.raises(DataError, match=r"a header \(columns: 2\) but no rows"):
        read(path)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_cut_typed_files_are_refused(tmp_path: Path, share: float) -> None:
    for name in ("t.parquet", "t.arrow"):
        write(PEOPLE, tmp_path / name)
        data = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(data[: int(len(data) * share)])
        with pytest.raises(DataError, match="is not a valid"):
            read(tmp_path / name)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"delimiter": ", "},
            "delimiter must be a single ASCII character, not ', '; fields divided by \", \"",
        ),
        ({"delimiter": "\n"}, "delimiter must be a single ASCII character"),
        ({"quote": "«"}, "quote must be a single ASCII character"),
        ({"delimiter": '"'}, "delimiter and quote must differ"),
        ({"encoding": "klingon"}, "encoding 'klingon' is not known"),
        ({"missing": "NA"}, "missing must be a list of texts"),
        ({"format": "word"}, "format must be one of csv, tsv, parquet, arrow, json-lines, excel, spss, stata,"),
    ],
)
def test_a_bad_option_is_refused(file: File, options: dict[str, str], message: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(message)):
        read(file("a,b\n1,2\n"), **options)  # type: ignore[arg-type]
