from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from sfumato.reports.items.facts import (
    GridCounts,
    ItemColumnFacts,
    ItemFacts,
    ItemUtilityFacts,
    SequenceFacts,
    StepFacts,
)
from sfumato.reports.items.page import MEANING, claimed, errors, fates, item_bars, promised, reached, render, sections
from sfumato.reports.items.places import Shades, binned, filled, gone, mapped, missing, on_axes, place_pictures
from sfumato.reports.items.sequences import merged, shown_sequences

from . import items_sample as sample
from .test_page import Reader

ROOT = Path(__file__).parents[2]
EVERY = [(name, inside) for name in sample.EVERY for inside in (False, True)]


@pytest.fixture(scope="module", params=EVERY, ids=str)
def every(request: pytest.FixtureRequest) -> str:
    name, inside = request.param
    return render(sample.EVERY[name](inside=inside))


def texts(svg: str) -> list[str]:
    return [each.text or "" for each in ElementTree.fromstring(svg).iter("text")]


def small(*rows: tuple[int, ...]) -> GridCounts:
    return GridCounts(
        places=tuple("abcdefgh"[: len(rows)]), times=tuple(str(n) for n in range(len(rows[0]))), counts=tuple(rows)
    )


def test_a_page_loads_nothing_and_runs_nothing(every: str) -> None:
    assert not re.search(r"https?:|<script|<link|<iframe|@import|url\(|\ssrc=|javascript:|\son[a-z]+=", every)
    for tag, attrs in Reader(every).tags:
        assert tag not in {"script", "link", "img", "iframe", "object", "embed", "form", "base"}
        assert (attrs.get("href") or "#").startswith("#")


def test_a_page_is_well_formed(every: str) -> None:
    found = Reader(every)
    assert every.startswith("<!DOCTYPE html>")
    assert found.open == []
    ids = [attrs["id"] for _, attrs in found.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    pointed = [attrs[key] or "" for _, attrs in found.tags for key in ("href", "aria-labelledby") if key in attrs]
    assert {each.removeprefix("#") for each in pointed} <= set(ids)
    levels = [int(tag[1]) for tag, _ in found.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_every_drawing_has_words_and_the_pages_colours(every: str) -> None:
    for tag, attrs in Reader(every).tags:
        if attrs.get("role") == "img":
            assert attrs["aria-label"]
        assert not (tag == "th" and "scope" not in attrs)
    for svg in re.findall(r"<svg.*?</svg>", every, re.S):
        ElementTree.fromstring(svg)
        assert not re.search(r'(?:fill|stroke)="#|NaN|="-?inf|="nan', svg)


@pytest.mark.parametrize("name", sample.EVERY)
@pytest.mark.parametrize("inside", [False, True])
def test_every_section_is_there(name: str, inside: bool) -> None:
    facts = sample.EVERY[name](inside=inside)
    page = Reader(render(facts))
    ids = {attrs.get("id") for _, attrs in page.tags}
    named = {anchor for anchor, _ in sections(facts)}
    assert named <= ids
    assert {"promises", "columns", "sequences", "loss", "search", "glossary"} <= named
    assert ("places" in named) == any(one.kind == "trajectory" for one in facts.columns)
    assert ("items" in named) == any(one.kind != "trajectory" for one in facts.columns)


def test_only_an_inside_report_has_the_banner_and_the_steps() -> None:
    inside, public = (Reader(render(sample.city(inside=each))).text for each in (True, False))
    assert "INSIDE REPORT: contains figures of the original records. Do not publish." in inside
    assert "The first 50 of 57 steps" in inside
    assert "only49@1" in inside
    assert "only50@2" not in inside
    assert "INSIDE" not in public
    assert "only0@0" not in public
    assert "what vanished" in inside
    assert "what vanished" not in public


def only_before() -> ItemFacts:
    """Facts in which everything that only the original has is named so."""
    before = GridCounts(places=("ONLYa", "b"), times=("ONLY1", "2"), counts=((3, 4), (5, 6)))
    after = GridCounts(places=("ONLYa", "b", "[a-b]"), times=("ONLY1", "2"), counts=((0, 0), (0, 6), (0, 2)))
    items = (("kept", 5, 5), ("ONLYgone", 4, None), ("ONLYzero", 2, 0))
    lost = SequenceFacts(labels=("ONLYs@1", "b@2"), before=3, spots=(("ONLYs", "ONLY0"), ("b", "2")))
    coarser = replace(lost, after=7, shown=("[a-b]@2",), shown_spots=(("[a-b]", "2"),))
    basket = ItemColumnFacts(
        name="basket", kind="set", items_before=3, items_after=1, entries_before=11, entries_after=5, frequent=items
    )
    return replace(
        sample.city(inside=False),
        columns=(sample.column("path", before, after, vanished=before), basket),
        sequences=(lost, replace(lost, labels=("ONLYset", "kept"), spots=(), after=0), coarser),
        steps=(StepFacts(action="generalize", label="ONLYstep", to="ONLYto"),),
    )


def test_a_public_page_names_nothing_that_is_only_in_the_original() -> None:
    facts = only_before()
    public, inside = render(facts), render(replace(facts, inside=True))
    assert "ONLY" not in public
    assert {"[a-b]", "kept", "b", "[a-b]@2"} <= {line.strip() for line in Reader(public).words}
    for name in ("ONLYa", "ONLY1", "ONLYgone", "ONLYzero", "ONLYs@1", "ONLYset", "ONLYstep", "ONLYto"):
        assert name in inside


def test_a_public_page_does_not_depend_on_what_is_only_for_the_inside() -> None:
    facts = sample.metro(inside=False)
    bare = replace(
        facts,
        columns=tuple(replace(one, before=None, vanished=None) for one in facts.columns),
        sequences=tuple(replace(one, before=None) for one in facts.sequences if one.after),
        steps=(),
    )
    assert render(bare) == render(facts)


def test_claims_are_said_with_what_they_do_not_protect_against() -> None:
    words = Reader(render(sample.baskets())).text
    assert "k^m-anonymity with k = 5, m = 2" in words
    assert "Promised: whoever knows up to 2 items of a record finds at least 5 records. Reached: 5 records." in words
    assert "Reached: a largest confidence of 0.62; 3 sets fail." in words
    assert "1 of 2 promises does not hold." in words
    assert "An adversary who knows more than 2 items" in words
    city = Reader(render(sample.city())).text
    assert "a largest share of 0.4512; the smallest group of a known set has 37 records." in city


@pytest.mark.parametrize("model", MEANING)
def test_every_model_has_words_even_without_its_parameters(model: str) -> None:
    one = sample.claim(model, 1, 1)
    assert one.meaning
    assert one.limits
    assert "{" not in one.title + one.meaning + one.limits + promised(one)
    assert sample.claim("rho-uncertainty", 1, 1, rho=1.0).meaning.startswith("Whoever knows any items")


def test_an_unknown_model_keeps_its_name() -> None:
    one = claimed(replace(sample.claim("km-anonymity", 5, 5, k=5, m=2).claim, model="new"))
    assert (one.title, one.meaning) == ("new", "")
    assert promised(one) == "new, which asks for at least 5"
    assert reached(one.claim) == "5"


def test_nothing_left_is_said_to_be_so() -> None:
    words = Reader(render(sample.nothing())).text
    assert "The release shows no readings of this column." in words
    assert "The release shows no items of this column." in words
    assert "The release has no frequent sets to show." in words
    bare = Reader(render(sample.bare())).text
    assert "This release makes no promise." in bare
    assert "The records have no columns." in bare
    assert "What was lost is measured against the original" in bare


def test_no_page_says_more_than_is_known(every: str) -> None:
    assert not re.search(r"\bsafe|(?<![\w-])anonym", Reader(every).text.lower())


def test_user_data_stays_text() -> None:
    page = render(sample.hostile())
    assert "\x00" not in page
    assert "\x1b" not in page
    assert "x" * 61 not in page


def test_the_same_bytes_come_from_another_process() -> None:
    code = "from tests.reports import items_sample as s; from sfumato.reports.items.page import render; import sys; "
    code += "render(s.baskets()); sys.stdout.buffer.write(render(s.city()).encode())"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, cwd=ROOT)
    assert made.stdout.decode() == render(sample.city())


def test_long_axes_are_binned_without_losing_readings() -> None:
    places, times = tuple(f"p{i}" for i in range(150)), tuple(str(j) for j in range(61))
    whole = sample.grid(places, times, lambda i, j: i * j % 7 + 1)
    found, tall, wide = binned(whole)
    assert (tall, wide, len(found.places), len(found.times)) == (3, 2, 50, 31)
    assert sum(map(sum, found.counts)) == sum(map(sum, whole.counts))
    drawn = place_pictures(sample.column("c", whole, whole), inside=False)
    assert drawn is not None
    assert drawn.joined == "To fit, 3 neighbouring places share a row and 2 neighbouring times share a column."


def test_lines_without_readings_are_dropped_and_grids_are_aligned() -> None:
    grid = filled(small((0, 0, 2), (0, 0, 0), (1, 0, 0)))
    assert grid == GridCounts(places=("a", "c"), times=("0", "2"), counts=((0, 2), (1, 0)))
    axes = small((5, 5, 5), (5, 5, 5), (5, 5, 5))
    assert on_axes(grid, axes) == replace(axes, counts=((0, 0, 2), (0, 0, 0), (1, 0, 0)))
    assert on_axes(axes, grid) is None
    assert missing(axes, grid).counts == ((5, 5, 3), (5, 5, 5), (4, 5, 5))


def test_shades_ascend_and_reach_every_number() -> None:
    grid = small((0, 1, 2, 3), (5, 8, 13, 21), (34, 55, 89, 5000))
    shades = Shades.of(grid)
    found = [shades.shade(value) for row in grid.counts for value in row]
    assert found == sorted(found)
    assert (found[0], found[1], found[-1]) == (-1, 1, len(shades.limits))
    assert Shades.of(small((0, 0))).limits == (1,)


def test_vanished_shares_are_rounded_up_and_empty_cells_have_none() -> None:
    assert gone(small((0, 10, 10, 10, 10)), small((0, 0, 1, 3, 10))) == ((-1, 0, 1, 2, 5),)


def test_squares_are_a_map_with_the_lowest_row_below() -> None:
    grid = GridCounts(places=("r00c01", "r02c00", "west"), times=("1", "2"), counts=((1, 2), (3, 4), (9, 9)))
    found = mapped(grid)
    assert found == GridCounts(places=("r2", "r1", "r0"), times=("c0", "c1"), counts=((7, 0), (0, 0), (0, 3)))
    assert mapped(small((1,), (2,))) is None
    drawn = place_pictures(sample.column("c", grid, grid), inside=False)
    assert drawn is not None
    assert len(drawn.maps) == 1
    assert drawn.off_map == 18
    assert mapped(GridCounts(places=("r0c0", "r900c900"), times=("1",), counts=((1,), (1,)))) is None


def test_coarser_sequences_are_told_once_and_as_the_release_has_them() -> None:
    one = SequenceFacts(labels=("a@1", "b@2"), before=9, after=20, shown=("ab@1", "ab@2"), spots=(("a", "1"),))
    facts = replace(sample.bare(), sequences=(one, replace(one, labels=("b@1", "a@2"), before=11)))
    (public,) = shown_sequences(facts)
    assert (public.labels, public.before, public.after) == (("ab@1", "ab@2"), None, 20)
    inside = shown_sequences(replace(facts, inside=True))
    assert [each.labels for each in inside] == [("a@1", "b@2"), ("b@1", "a@2")]
    assert inside[0].became == "shown coarser as ab@1 \u2192 ab@2"


def test_orders_merge_where_names_follow_each_other() -> None:
    assert merged(["a", "b", "c"], ["x", "b", "y"], []) == ["x", "a", "b", "y", "c"]
    assert merged([], ["b", "a", "b"]) == ["b", "a"]


def test_bars_of_items_show_the_release_only_unless_inside() -> None:
    column = ItemColumnFacts(
        name="c",
        kind="set",
        items_before=3,
        items_after=1,
        entries_before=9,
        entries_after=3,
        frequent=(("milk", 5, 3), ("gone", 4, None), ("zero", 2, 0)),
    )
    public, inside = item_bars(column, inside=False), item_bars(column, inside=True)
    assert public is not None
    assert inside is not None
    assert public.words == "c, records per item: milk 3."
    assert texts(public.svg) == ["records", "milk", "3"]
    assert texts(inside.svg).count("none") == 2
    assert item_bars(replace(column, frequent=()), inside=True) is None


def test_fates_and_errors_are_drawn_where_there_are_any() -> None:
    found = ItemUtilityFacts(support=2, frequent=10, lost_share=0.2, coarser_share=0.1)
    drawn = fates(found)
    assert drawn is not None
    assert (
        drawn.words.replace("\u00a0", " ")
        == "What became of 10 frequent sets. kept 70 %; shown coarser 10 %; lost 20 %."
    )
    assert fates(replace(found, frequent=0)) is None
    assert errors(found) is None
    assert errors(replace(found, by_size=((1, 0.0, 0.0),))) is not None


def test_importing_the_report_is_cheap() -> None:
    heavy = "{'jinja2'}"
    code = f"import sys, sfumato.reports.items.page; sys.exit(bool({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
