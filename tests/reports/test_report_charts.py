from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from sfumato.attacks.risk import Risk
from sfumato.reports import table as charts
from sfumato.reports.bars import Row, bars, histogram, joined, size_bins, top
from sfumato.reports.svg import INK
from sfumato.reports.table_facts import ColumnFacts

from . import sample


def texts(svg: str) -> list[str]:
    return [each.text or "" for each in ElementTree.fromstring(svg).iter("text")]


def column(**changes: object) -> ColumnFacts:
    return replace(ColumnFacts(name="c", role="quasi", done="done"), **changes)  # type: ignore[arg-type]


def test_a_drawing_has_only_the_pages_colours_and_fonts() -> None:
    svg = bars([Row(label="a", back=1, front=0.5, figures=("1",))], heads=("n",))
    assert "var(--before)" in svg
    assert "var(--after)" in svg
    assert "font-family" not in svg
    assert not re.search(r"#[0-9a-f]{3}|class=|id=|http", svg)


def test_labels_that_look_like_markers_or_markup_stay_as_they_are() -> None:
    svg = bars([Row(label=f'"{INK}"', figures=("1",)), Row(label="<b>&", figures=("2",))], heads=("n",))
    assert texts(svg) == ["n", f'"{INK}"', "1", "<b>&", "2"]


def test_a_drawing_is_as_high_as_its_rows_and_never_wider() -> None:
    short = ElementTree.fromstring(bars([Row(label="a", figures=("1",))], heads=("n",)))
    many = [Row(label="x" * 200, figures=("1" * 5, "2")) for _ in range(9)]
    long = ElementTree.fromstring(bars(many, heads=("a", "b")))
    assert short.get("width") == long.get("width")
    plain = ElementTree.fromstring(bars([Row(label="b", figures=("1",))] * 9, heads=("n",)))
    assert float(plain.get("height", 0)) - float(short.get("height", 0)) == 8 * 22
    assert float(long.get("height", 0)) > float(plain.get("height", 0))


def test_a_long_label_is_broken_and_not_cut() -> None:
    name = "Self-employed, not incorporated, in a business of the household"
    found = texts(bars([Row(label=name, figures=("1",))], heads=("n",)))
    assert "…" not in "".join(found)
    assert name.replace(" ", "") in "".join(found).replace(" ", "")


def test_sizes_below_the_limit_are_shown_even_if_there_are_none() -> None:
    found = charts.class_sizes(((7, 2), (30, 1)), 5)
    assert found is not None
    assert [text for text in texts(found.svg) if "\u2013" in text or "limit" in text][:3] == [
        "1\u20134",
        "limit 5",
        "5\u20139",
    ]
    assert "var(--alarm)" in found.svg
    assert found.words == "Groups by size. 5\u20139 rows: 2 groups; 20\u201349 rows: 1 group."


@pytest.mark.parametrize("limit", [None, 1, 3, 5, 7, 1000])
@pytest.mark.parametrize(
    "sizes", [((1, 1),), ((1, 3), (2, 2), (5, 1), (6, 1), (999, 4)), ((30162, 1),), ((4, 1), (10**9, 2))]
)
def test_size_bins_lose_no_class_and_no_row(sizes: tuple[tuple[int, int], ...], limit: int | None) -> None:
    found = size_bins(sizes, limit)
    assert sum(each.classes for each in found) == sum(many for _, many in sizes)
    assert sum(each.rows for each in found) == sum(size * many for size, many in sizes)
    assert limit is None or limit in {each.low for each in found}


def test_no_classes_no_picture() -> None:
    assert charts.class_sizes((), 5) is None


def test_risks_stand_side_by_side() -> None:
    before = Risk(prosecutor=1.0, journalist=0.5, marketer=0.4, unique=0.2, at_risk=0.9, population_known=True)
    found = charts.risks(before, replace(before, prosecutor=0.2, marketer=0.004))
    assert "prosecutor 100\u00a0% before, 20\u00a0% after" in found.words
    assert {"100\u00a0%", "0.4\u00a0%", "before", "after"} <= set(texts(found.svg))


def test_losses_are_sorted_and_only_known_ones() -> None:
    found = charts.losses([column(name="a", loss=0.1), column(name="b", loss=0.9), column(name="c")])
    assert found is not None
    assert found.words == "Information lost per column. b 90\u00a0%; a 10\u00a0%."
    assert charts.losses([column()]) is None


def test_suppression_above_the_limit_alarms() -> None:
    over, under = charts.suppression(0.3, 0.1), charts.suppression(0.01, 0.1)
    assert over is not None
    assert under is not None
    assert "var(--alarm)" in over.svg
    assert "var(--alarm)" not in under.svg
    assert charts.suppression(0.0, 0.0) is None


def test_the_same_labels_share_their_rows() -> None:
    (found,) = charts.distributions(column(before=(("a", 3), ("b", 1)), after=(("a", 2), ("*", 2))), inside=False)
    assert found.words == "c: a 3 before, 2 after; b 1 before, 0 after; * 0 before, 2 after."


def test_other_labels_stand_one_above_the_other() -> None:
    ages = tuple((str(age), 1) for age in range(20, 80))
    shown = charts.distributions(column(before=ages, after=(("[20, 80)", 60),), same_labels=False), inside=True)
    assert [each.caption for each in shown] == ["before, in steps of 5", "after"]
    assert texts(shown[0].svg) == ["20", "80"]


def test_a_column_without_figures_has_no_picture() -> None:
    assert charts.distributions(column(), inside=True) == []


def test_long_lists_keep_the_most_frequent_in_order() -> None:
    parts = [(f"v{i}", i, i) for i in range(40)]
    found = top(parts)
    assert [name for name, *_ in found] == [*(f"v{i}" for i in range(28, 40)), "28 others"]
    assert sum(before for _, before, _ in found) == sum(range(40))


def test_a_histogram_counts_every_row() -> None:
    parts = [(str(value), value) for value in range(100)] + [("?", 7)]
    found = histogram(parts)
    assert found is not None
    assert len(found.counts) <= 24
    assert sum(found.counts) == sum(range(100))
    assert found.apart == 7


@pytest.mark.parametrize(
    "parts", [(), (("a", 1),) * 30, tuple((str(i), 1) for i in range(5)), (("nan", 1), ("inf", 2))]
)
def test_words_and_short_lists_are_no_histogram(parts: tuple[tuple[str, int], ...]) -> None:
    assert histogram(parts) is None


def test_huge_and_tiny_numbers_make_a_histogram() -> None:
    for scale in (1e-300, 1e-6, 1e12, 1e300):
        found = histogram([(str(i * scale), 1) for i in range(-10, 30)])
        assert found is not None
        assert sum(found.counts) == 40
        assert len(found.counts) <= 25


def test_joined_keeps_the_order_given() -> None:
    assert joined([("b", 1), ("a", 2)], [("a", 3), ("c", 4)]) == [("b", 1, 0), ("a", 2, 3), ("c", 0, 4)]


def test_pictures_of_hostile_facts_are_drawn() -> None:
    for each in sample.hostile().columns:
        for picture in charts.distributions(each, inside=True):
            ElementTree.fromstring(picture.svg)
