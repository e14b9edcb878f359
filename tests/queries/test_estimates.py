"""Answers are what a literal reading of the records gives, plus noise that one record's reach and the budget ask for.

Statistical tests raise a false alarm with probability 1e-9 at most.
"""

from __future__ import annotations

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from sfumato.core.errors import ParameterError
from sfumato.dp.events import Pure
from sfumato.dp.noise import Noisy
from sfumato.queries import answers
from sfumato.queries.answers import quantile
from sfumato.queries.groups import candidates, codes_in, group_codes, numbers_in, parted, present, queryable, texts_in
from sfumato.tables.schema import Categories, Numbers
from sfumato.tables.table import Table
from tests.weights import examples

FALSE_ALARM = 1e-9
CELLS = st.one_of(
    st.none(),
    st.integers(-50, 50).map(str),
    st.floats(-1e3, 1e3).map(repr),
    st.sampled_from(["", "?", "inf", "-inf", "nan", "1e300", "x", " 7 ", "-1e300"]),
)
WORDS = st.one_of(st.none(), st.sampled_from(["a", "b", "c", "?", "z"]))
ROWS = st.lists(st.tuples(CELLS, WORDS), max_size=12)
BOUNDS = st.sampled_from([(0, 10), (-3, 4), (-20.5, -1.25), (0, 1e-3), (1000, 1000.5), (-1e90, 1e99)])


def table(rows) -> Table:
    frame = pl.DataFrame(
        {"x": [r[0] for r in rows], "g": [r[1] for r in rows]}, schema={"x": pl.String, "g": pl.String}
    )
    return Table(frame=frame, missing=("?",))


def parsed(cell: str | None) -> float | None:
    """A cell as a number, literally."""
    try:
        found = float(cell) if cell is not None and cell != "?" else None
    except ValueError:
        return None
    return found if found is not None and np.isfinite(found) else None


def parts(rows, bounds):
    made = table(rows)
    place, groups = group_codes([(Categories(values=("a", "b")), made.frame["g"])], made.rows)
    numbers = numbers_in(present(made, "x"))
    kept = (place >= 0) & ~np.isnan(numbers)
    return numbers[kept], place[kept], groups, Numbers(low=bounds[0], high=bounds[1])


def exactly_drawn(counts, *, epsilon, sensitivity=1, what=""):
    """The mechanism without its noise."""
    return Noisy(values=np.asarray(counts), event=Pure(epsilon=epsilon), scale=1e-9, law="laplace")


@examples(150)
@given(rows=ROWS, bounds=BOUNDS)
def test_without_noise_the_answers_are_those_of_the_definition(rows, bounds):
    found = parts(rows, bounds)
    with patch.object(answers, "noisy_counts", exactly_drawn):
        sums = answers.total(*found, Fraction(1), 0.95).values
        means = answers.mean(*found, Fraction(1), 0.95).values
        variances = answers.variance(*found, Fraction(1), 0.95).values
    wide = max(abs(bounds[0]), abs(bounds[1]))
    for g, name in enumerate("ab"):
        clamped = [min(max(x, bounds[0]), bounds[1]) for c, w in rows if w == name and (x := parsed(c)) is not None]
        assert sums[g] == pytest.approx(sum(clamped), abs=wide * 1e-7)
        if clamped:
            assert means[g] == pytest.approx(np.mean(clamped), abs=wide * 1e-7)
            assert variances[g] == pytest.approx(np.var(clamped), abs=(bounds[1] - bounds[0]) ** 2 * 1e-6)


@examples(300)
@given(rows=ROWS, one=st.tuples(CELLS, WORDS), at=st.integers(0, 12), bounds=BOUNDS)
def test_one_record_moves_what_is_noised_by_no_more_than_stated(rows, one, at, bounds):
    """Whatever the record says: the whole numbers that get noise move by the stated sensitivity at most, exactly."""
    neighbour = [*rows[:at], one, *rows[at:]]
    seen: list[list[tuple[np.ndarray, int]]] = []
    for given_rows in (rows, neighbour):
        seen.append([])

        def watch(counts, *, epsilon, sensitivity=1, what="", into=seen[-1]):
            into.append((np.asarray(counts), sensitivity))
            return exactly_drawn(counts, epsilon=epsilon)

        found = parts(given_rows, bounds)
        with patch.object(answers, "noisy_counts", watch):
            answers.count(found[1], found[2], Fraction(1), 0.95)
            for run in (answers.total, answers.mean, answers.variance):
                run(*found, Fraction(1), 0.95)
    assert len(seen[0]) == len(seen[1]) == 7
    for (before, moved), (after, same) in zip(*seen, strict=True):
        assert moved == same
        assert before.dtype.kind == "i"
        assert np.abs(after.astype(object) - before.astype(object)).sum() <= moved


GROUPS = 4000
AGES = np.tile(np.array([3.0, 20, 21, 40, 41, 60, 61, 80, 99, 130]), GROUPS)
PLACES = np.repeat(np.arange(GROUPS), 10)
BOUND = Numbers(low=0, high=100)
CLAMPED = np.minimum(AGES[:10], 100)


@pytest.mark.parametrize("epsilon", ["1/10", "2", "20"])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
@pytest.mark.parametrize(
    ("run", "truth"),
    [
        (lambda *asked: answers.count(PLACES, GROUPS, *asked), 10),
        (lambda *asked: answers.total(AGES, PLACES, GROUPS, BOUND, *asked), CLAMPED.sum()),
        (lambda *asked: answers.mean(AGES, PLACES, GROUPS, BOUND, *asked), CLAMPED.mean()),
        (lambda *asked: answers.variance(AGES, PLACES, GROUPS, BOUND, *asked), CLAMPED.var()),
    ],
)
def test_intervals_cover_as_often_as_they_say(run, truth, epsilon, confidence):
    found = run(Fraction(epsilon), confidence)
    assert (found.low <= found.high).all()
    hits = int(((found.low <= truth + 1e-6) & (truth - 1e-6 <= found.high)).sum())
    assert binom.cdf(hits, GROUPS, confidence) > FALSE_ALARM


def test_intervals_of_quantiles_cover_and_shrink():
    numbers, place = np.tile(np.arange(500.0) / 5, 60), np.repeat(np.arange(60), 500)
    widths = []
    for epsilon in ("1/2", "20"):
        found = quantile(numbers, place, 60, BOUND, Fraction(epsilon), 0.9, share=0.25)
        hits = int(((found.low <= 25) & (found.high >= 24.8)).sum())
        assert binom.cdf(hits, 60, 0.9) > FALSE_ALARM
        assert ((found.low <= found.values) & (found.values <= found.high)).all()
        widths.append((found.high - found.low).mean())
    assert widths[1] < 15 < widths[0]


@pytest.mark.parametrize("numbers", [[], [50.0], [0.0] * 30, [100.0] * 30, [200.0] * 30, [7.0, 7.0, 90.0]])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_quantiles_of_odd_tables_stay_within_the_bounds(numbers, share):
    given_numbers = np.array(numbers)
    found = quantile(given_numbers, np.zeros(len(numbers), np.int64), 1, BOUND, Fraction(50), 1 - 1e-9, share=share)
    assert 0 <= found.low[0] <= found.values[0] <= found.high[0] <= 100
    if len(set(numbers)) == 1 and len(numbers) > 1:
        assert found.low[0] <= min(numbers[0], 100) <= found.high[0]


@examples(100)
@given(numbers=st.lists(st.integers(0, 9), max_size=9), share=st.sampled_from([0.0, 0.25, 0.5, 1.0]))
def test_without_noise_the_ends_hold_every_quantile(numbers, share):
    """An end is a candidate whose rank does not pass that of the quantile."""
    given_numbers = np.array(numbers, float)
    marks = candidates(Numbers(low=0, high=9))
    with patch.object(answers, "noisy_counts", exactly_drawn):
        found = quantile(
            given_numbers,
            np.zeros(len(numbers), np.int64),
            1,
            Numbers(low=0, high=9),
            Fraction(10**6),
            0.95,
            share=share,
        )
    if numbers:
        rank = [(1 - share) * sum(x < c for x in numbers) - share * sum(x > c for x in numbers) for c in marks]
        inside = [r for c, r in zip(marks, rank, strict=True) if found.low[0] <= c <= found.high[0]]
        assert min(inside) <= 0 <= max(inside)


def test_the_cost_of_the_ends_is_within_their_share():
    spent = []

    def watch(counts, *, epsilon, sensitivity=1, what=""):
        spent.append(epsilon)
        return exactly_drawn(counts, epsilon=epsilon)

    with patch.object(answers, "noisy_counts", watch):
        quantile(np.arange(100.0), np.zeros(100, np.int64), 1, BOUND, Fraction(1), 0.95, share=0.5)
    assert sum(spent) <= Fraction(1, 2)


def test_domains_are_checked():
    for low, high in ((1, 1), (2, 1), (0, float("inf")), (float("nan"), 1), (0, 1e200), (0, 1e-200), ("0", 1)):
        with pytest.raises(ParameterError, match=r"low|high"):
            Numbers(low=low, high=high)
    for grid in (0, -1, 1e-9):
        with pytest.raises(ParameterError, match="grid"):
            queryable(Numbers(low=0, high=100, grid=grid))
    for values in ((), ("a", "a")):
        with pytest.raises(ParameterError, match="values"):
            Categories(values=values)


def test_numbers_fall_into_their_groups():
    ages = Numbers(low=0, high=100, grid=40)
    assert ages.labels == ("[0-40)", "[40-80)", "[80-100]")
    cells = pl.Series(["-5", "0", "39.9", "40", "80", "100", "1e9", "x", None])
    assert codes_in(ages, cells).tolist() == [0, 0, 0, 1, 2, 2, 2, -1, -1]
    assert len(parted(Numbers(low=0, high=1), 4).labels) == 4


def test_one_strange_record_does_not_change_how_others_are_written():
    assert texts_in(pl.Series([1.0, 2.5, None, float("nan")])).to_list()[:3] == ["1", "2.5", None]
    days = pl.Series(["2020-01-01 00:00:00", "2020-01-02 07:00:00"]).str.to_datetime()
    assert texts_in(days).to_list()[0] == texts_in(days[:1]).to_list()[0] == "2020-01-01"
