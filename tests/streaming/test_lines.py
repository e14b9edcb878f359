"""Bytes to lines to records: however they are cut, and what is wrong with the first line that is none."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.bundles.manifest.sections import CONDENSED_EPOCH
from sfumato.core.errors import DataError, PlanError
from sfumato.streaming.lines import LineBuffer, Lines
from sfumato.streaming.records import Reading, StreamColumn, Wanted
from tests.weights import examples


def of(text: str | bytes) -> Lines:
    buffer = LineBuffer()
    buffer.put(text.encode() if isinstance(text, str) else text)
    buffer.close()
    return buffer.take(10**9)


def reading(**more: object) -> Reading:
    columns = (
        StreamColumn(name="n", kind="integer", decimals=0),
        StreamColumn(name="x", kind="real", decimals=1),
        StreamColumn(name="w", kind="text"),
    )
    told = {"names": ("n", "x", "w"), "delimiter": ",", "quote": '"', "trim": False, "columns": columns}
    return Reading(**{**told, "missing": (), "drop": False, **more})  # type: ignore[arg-type]


def wanted(**more: object) -> Wanted:
    told = {"published": {"n": None, "w": None}, "named": ("n", "w"), "delimiter": None, "quote": '"', "trim": False}
    told |= {"header": True, "names": (), "missing": (), "drop": False, "classes": None}
    return Wanted(**{**told, **more})  # type: ignore[arg-type]


@examples(80)
@given(text=st.text("ab,\n", max_size=60), cuts=st.lists(st.integers(1, 7), min_size=1), takes=st.integers(1, 4))
def test_lines_do_not_depend_on_how_bytes_arrive(text: str, cuts: list[int], takes: int):
    buffer, data, turn, found = LineBuffer(), text.encode(), 0, []
    while data:
        buffer.put(data[: cuts[turn % len(cuts)]])
        data, turn = data[cuts[turn % len(cuts)] :], turn + 1
        while buffer.lines >= takes:
            lines = buffer.take(takes)
            found += [lines.part(row, row + 1) for row in range(lines.count)]
    buffer.close()
    lines = buffer.take(10**6)
    found += [lines.part(row, row + 1) for row in range(lines.count)]
    assert b"".join(found).decode() == text
    assert found == text.encode().splitlines(keepends=True)


def test_a_line_without_end_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sfumato.streaming.lines.MOST_LINE", 10)
    with pytest.raises(DataError, match="does not end"):
        LineBuffer().put(b"x" * 11)


cells = st.tuples(st.integers(-99, 99), st.floats(-9, 9).map(lambda x: round(x, 2)), st.sampled_from(["u", "v w", ""]))


@examples(60)
@given(rows=st.lists(cells, min_size=1, max_size=12), end=st.sampled_from(["\n", "\r\n"]))
def test_both_ways_of_reading_agree(rows: list[tuple[int, float, str]], end: str):
    plain = of("".join(f"{n},{x},{w}{end}" for n, x, w in rows))
    quoted = of("".join(f'{n},{x},"{w}"{end}' for n, x, w in rows))
    one, other = reading().read(plain), reading().read(quoted)
    assert one[1] is None
    assert other[1] is None
    assert one[0].equals(other[0])
    assert one[0]["w"].to_list() == [w for _, _, w in rows]
    records, dropped = reading().records(one[0])
    assert dropped == 0
    assert records.numbers.tolist() == [[n, x] for n, x, _ in rows]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("1,2\n", "has 2 fields"),
        ("1,2,a,b\n", "has 4 fields"),
        ("\n", "has 0 fields"),
        ("1.5,2,a\n", "'1.5', and a whole number"),
        ("one,2,a\n", "'one', and a whole number"),
        ("1,NaN,a\n", "'NaN', and a number"),
        ("1,nan,a\n", "'nan', and a number"),
        ("1,inf,a\n", "'inf', and a number"),
        ("1,-Infinity,a\n", "'-Infinity', and a number"),
        ("1,1e200,a\n", "'1e200', and a number"),
        ("1,x\x1b[2J,a\n", r"x\\x1b[2J"),
        ("9007199254740994,2,a\n", "a whole number"),
        (",2,a\n", 'on_missing = "drop"'),
        ("1,,a\n", 'on_missing = "drop"'),
        ('1,2,"a\n', "quotes are closed"),
        (b"1,2,\xff\n", "not valid UTF-8"),
    ],
)
@pytest.mark.parametrize("before", ["", "1,2,a\n" * 3, '1,2,"a"\n'])
def test_the_first_bad_line_is_told_and_those_before_it_are_kept(line: str | bytes, told: str, before: str):
    data = line.encode() if isinstance(line, str) else line
    frame, fault = reading().read(of(before.encode() + data + b"also,bad\n"))
    assert fault is not None
    assert fault.row == frame.height == before.count("\n")
    assert told in fault.told


@pytest.mark.parametrize("marks", [("?",), ("?", "-")])
def test_records_with_missing_values_are_left_out_or_refused(marks: tuple[str, ...]):
    lines = of("1,2,a\n?,2,b\n3,,c\n4,2,?\n5,2,\n")
    frame, fault = reading(missing=marks, drop=True).read(lines)
    assert fault is None
    records, dropped = reading(missing=marks, drop=True).records(frame)
    assert dropped == 3
    assert records.numbers[:, 0].tolist() == [1, 5]
    assert records.words["w"].to_list() == ["a", ""]
    _, fault = reading(missing=marks).read(lines)
    assert fault is not None
    assert fault.row == 1
    frame, fault = reading(missing=marks).read(of("4,2,?\n4,2,x\n"))
    assert fault is None
    assert frame["w"].to_list() == ["?", "x"]


@pytest.mark.parametrize("line", ["2026-13-01,1\n", "soon,1\n"])
def test_a_text_that_is_no_date_is_not_missing(line: str):
    columns = (StreamColumn(name="d", kind="date", decimals=0), StreamColumn(name="n", kind="integer", decimals=0))
    read = reading(names=("d", "n"), columns=columns, missing=("?",), drop=True)
    frame, fault = read.read(of("2026-01-01,1\n?,1\n,1\n" + line))
    assert fault is not None
    assert (frame.height, fault.row) == (3, 3)
    assert "a date such as" in fault.told
    assert read.records(frame)[1] == 2


def test_a_bad_number_beside_a_missing_one_is_a_fault_either_way():
    for text in ("1,inf,a\n1,inf,b\n?,inf,c\n", '"?",inf,c\n'):
        _, fault = reading(missing=("?",), drop=True).read(of(text))
        assert fault is not None
        assert fault.row == 0


def test_what_columns_are_is_found_from_the_first_block():
    lines = of("1;2.25;2026-01-31;007;a\n2;3.5;2026-02-01;010;b\n")
    published = dict.fromkeys(("whole", "real", "day", "code", "word"))
    found, fault = wanted(published=published, named=tuple(published)).look(
        b"\xef\xbb\xbfwhole;real;day;code;word\n", lines, where="here"
    )
    assert fault is None
    assert found.delimiter == ";"
    assert {one.name: (one.kind, one.decimals) for one in found.columns} == {
        "whole": ("integer", 0), "real": ("real", 2), "day": ("date", 0), "code": ("text", None),
        "word": ("text", None),
    }  # fmt: skip
    frame, _ = found.read(lines)
    day = pl.Series(["2026-01-31"]).str.to_date().to_physical()[0] + CONDENSED_EPOCH
    assert frame["day"][0] == day
    assert Reading.from_json(found.to_json()) == found


def test_a_column_that_is_nearly_numbers_is_no_column_of_words():
    found = wanted().look(b"n,w\n", of("1,a\nNaN,b\n3,c\n"), where="here")
    assert found[1] is not None
    assert found[1].row == 1
    assert "declare its type" in found[1].told
    with pytest.raises(PlanError, match="no published column has numbers"):
        wanted().look(b"n,w\n", of("x,a\ny,b\n"), where="here")


def test_other_headers_are_refused():
    with pytest.raises(DataError, match="no column 'w'; did you mean 'ww'"):
        wanted().look(b"n,ww\n", of("1,a\n"), where="here")
    with pytest.raises(DataError, match="more than once"):
        wanted().look(b"n,w,w\n", of("1,a,b\n"), where="here")


def test_blanks_are_cut_where_the_plan_says_so():
    read = reading(trim=True, names=("n", "x", "w"))
    frame, fault = read.read(of(" 1 , 2.5 , a b \n"))
    assert fault is None
    assert frame.row(0) == (1.0, 2.5, "a b")
    assert np.isfinite(frame["x"].to_numpy()).all()
