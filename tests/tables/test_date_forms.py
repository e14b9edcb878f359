"""Dates as people write them: every form is read back, ambiguous ones are found, and what is no date is refused."""

from __future__ import annotations

from datetime import date

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import DataError, ParameterError
from sfumato.tables.table import Table
from sfumato.tables.times import ORDERS, PIVOT, DateForm, fitting_orders, has_short_year, read_days
from tests.weights import examples

WRITINGS = {
    "ymd": ("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%SZ", "%Y-%b-%d"),
    "dmy": ("%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%d-%b-%Y", "%d %B %Y", "%d.%m.%Y %H:%M", "%d%m%Y", "%d. %m. %Y"),
    "mdy": ("%m/%d/%Y", "%m-%d-%Y", "%b %d, %Y", "%B %d %Y", "%m/%d/%Y %I:%M %p", "%m%d%Y"),
}
DAYS = st.dates(date(1800, 1, 1), date(2199, 12, 31))


@given(day=DAYS, order=st.sampled_from(ORDERS), data=st.data())
@examples(200)
def test_every_writing_is_read_back(day: date, order: str, data: st.DataObject) -> None:
    form = DateForm(order=order)  # type: ignore[arg-type]
    assert form.day(day.strftime(data.draw(st.sampled_from(WRITINGS[order])))) == day


@given(day=st.dates(date(1930, 1, 1), date(2029, 12, 31)), order=st.sampled_from(("dmy", "mdy")))
@examples(100)
def test_two_digits_mean_a_year_from_the_pivot_on(day: date, order: str) -> None:
    text = day.strftime("%d/%m/%y" if order == "dmy" else "%m/%d/%y")
    assert DateForm(order=order).day(text) == day  # type: ignore[arg-type]
    later = DateForm(order=order, pivot=PIVOT + 1).day(text)  # type: ignore[arg-type]
    assert later is None or later.year == (day.year if day.year > PIVOT else day.year + 100)


@given(days=st.lists(DAYS, min_size=1, max_size=30), order=st.sampled_from(ORDERS))
@examples(100)
def test_the_true_order_is_always_among_those_that_fit(days: list[date], order: str) -> None:
    written = {"ymd": "%Y-%m-%d %H:%M", "dmy": "%d.%m.%Y", "mdy": "%m/%d/%Y"}[order]
    found = fitting_orders([day.strftime(written) for day in days])
    assert order in found
    assert order != "ymd" or found == ("ymd",)


def test_months_are_words_in_eight_languages() -> None:
    words = {"März": 3, "août": 8, "dic": 12, "maggio": 5, "fevereiro": 2, "mei": 5, "października": 10, "Sept.": 9}
    for word, month in words.items():
        assert DateForm(order="dmy").day(f"3 {word} 1980") == date(1980, month, 3)


@pytest.mark.parametrize("text", ["", "31.02.1980", "1.1.198", "01.13.1980", "now", "1-2", "0.0.2000", "3.2.1980x"])
def test_what_is_no_day_is_none(text: str) -> None:
    assert DateForm(order="dmy").day(text) is None


def test_a_year_of_four_digits_that_comes_first_is_read_in_every_form() -> None:
    assert {DateForm(order=order).day("1895-05-17 00:00:00") for order in ORDERS} == {date(1895, 5, 17)}  # type: ignore[arg-type]
    assert has_short_year("8/12/65 0:00")


def test_bad_forms_are_refused() -> None:
    with pytest.raises(ParameterError, match="format must be one of ymd, dmy, mdy, not 'myd'"):
        DateForm(order="myd")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="pivot must be a year from 1 to 9900"):
        DateForm(order="dmy", pivot=0)


def test_days_are_read_once_for_each_value_and_missing_ones_stay() -> None:
    cells = ["03.02.1980", "?", None, "03.02.1980", "1.1.81"]
    for dtype in (pl.String, pl.Categorical):
        table = Table(frame=pl.DataFrame({"d": pl.Series(cells, dtype=dtype)}), missing=("?",))
        read = read_days(table, "d", DateForm(order="dmy"))
        assert read.to_list() == ["1980-02-03", "?", None, "1980-02-03", "1981-01-01"]
        assert Table(frame=pl.DataFrame([read]), missing=("?",)).column("d").kind == "date"


def test_a_refusal_names_the_first_row_and_what_would_work() -> None:
    table = Table(frame=pl.DataFrame({"d": ["01/02/1980", "03/25/1980", "04/26/1980"]}), source="t.csv")
    with pytest.raises(DataError) as told:
        read_days(table, "d", DateForm(order="dmy"))
    assert str(told.value) == (
        "t.csv, column 'd', row 2: '03/25/1980' is no date in the order day, month, year (format = \"dmy\"); 2 "
        'different values are none; every value is a date with format = "mdy" (month, day, year)'
    )
    table = Table(frame=pl.DataFrame({"d": ["01.02.1980", "unknown"]}), source="t.csv")
    with pytest.raises(DataError, match=r"row 2: 'unknown' is no date .*; correct it, declare it in \[input\] missing"):
        read_days(table, "d", DateForm(order="dmy"))
