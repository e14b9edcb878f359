"""Dates moved by a keyed number of days: intervals of a person stay, and no shift is likelier than another."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from sfumato.bundles.pseudonyms import DateShift
from sfumato.core.errors import DataError
from sfumato.tables.table import Table
from tests.weights import examples

KEY = b"a key that is long enough"


@given(
    rows=st.lists(st.tuples(st.sampled_from("abc"), st.dates(date(1900, 1, 1), date(2100, 1, 1))), min_size=1),
    days=st.integers(1, 5000),
)
@examples(100)
def test_all_dates_of_a_person_move_alike_and_within_the_limit(rows: list[tuple[str, date]], days: int) -> None:
    shift = DateShift(key=KEY, days=days, by="who")
    frame = pl.DataFrame({"who": [who for who, _ in rows], "day": [day.isoformat() for _, day in rows]})
    moved = shift.moved(Table(frame=frame), "day").to_list()
    for (who, day), text in zip(rows, moved, strict=True):
        assert date.fromisoformat(text) - day == timedelta(days=shift.offset(who))
        assert abs(shift.offset(who)) <= days


def test_no_shift_is_likelier_than_another() -> None:
    """A chi-square test over 20,000 people and 21 shifts; with this key it is the same every time."""
    shift = DateShift(key=KEY, days=10, by="who")
    seen = Counter(shift.offset(f"person {n}") for n in range(20_000))
    assert set(seen) == set(range(-10, 11))
    assert chisquare(list(seen.values())).pvalue > 0.01


def test_draws_beyond_the_largest_multiple_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = iter([2**64 - 1, 7])
    monkeypatch.setattr(DateShift, "_draw", lambda *_: next(draws))
    assert DateShift(key=KEY, days=1, by="who").offset("a") == 7 % 3 - 1


def test_another_key_moves_otherwise_and_the_key_is_never_shown() -> None:
    mine, other = DateShift(key=KEY, days=500, by="who"), DateShift(key=KEY + b"!", days=500, by="who")
    assert [mine.offset(f"{n}") for n in range(20)] != [other.offset(f"{n}") for n in range(20)]
    assert "a key that" not in repr(mine)


def test_missing_dates_stay_and_dates_of_nobody_are_refused() -> None:
    frame = pl.DataFrame({"who": ["a", None, "?"], "day": [date(2020, 1, 1), None, None]})
    shift = DateShift(key=KEY, days=30, by="who")
    assert shift.moved(Table(frame=frame, missing=("?",)), "day").null_count() == 2
    frame = frame.with_columns(day=pl.Series([date(2020, 1, 1), None, date(2020, 1, 2)]))
    with pytest.raises(DataError, match="row 3: the date belongs to nobody, for 'who' is missing there"):
        shift.moved(Table(frame=frame, missing=("?",)), "day")


def test_a_calendar_ends() -> None:
    shift = DateShift(key=KEY, days=30, by="who")
    who = next(f"{n}" for n in range(99) if shift.offset(f"{n}") > 0)
    with pytest.raises(DataError, match="no calendar goes that far"):
        shift.moved(Table(frame=pl.DataFrame({"who": [who], "day": ["9999-12-31"]})), "day")
    with pytest.raises(DataError, match="declare how the dates are written with format"):
        shift.moved(Table(frame=pl.DataFrame({"who": [who], "day": ["3.2.1980"]})), "day")
