from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from sfumato.reports.table import SECTIONS, limit_on_size, render, summary
from sfumato.reports.table_facts import ColumnFacts

from . import sample

ROOT = Path(__file__).parents[2]
VOID = {"meta", "br", "rect", "path", "line"}


class Reader(HTMLParser):
    """What a page consists of, as a browser sees it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).replace("\u00a0", " ").split())


@pytest.fixture(scope="module", params=sample.EVERY)
def every(request: pytest.FixtureRequest) -> str:
    return render(sample.EVERY[request.param]())


@pytest.fixture(scope="module")
def rich() -> str:
    return render(sample.rich())


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
    assert {name for name, _ in SECTIONS} <= set(ids)
    pointed = [attrs[key] or "" for _, attrs in found.tags for key in ("href", "aria-labelledby") if key in attrs]
    assert {each.removeprefix("#") for each in pointed} <= set(ids)


def test_headings_descend_by_one_step(every: str) -> None:
    levels = [int(tag[1]) for tag, _ in Reader(every).tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_every_drawing_has_words_or_is_hidden(every: str) -> None:
    for tag, attrs in Reader(every).tags:
        if attrs.get("role") == "img":
            assert attrs["aria-label"]
        assert not (tag == "th" and "scope" not in attrs)


def test_the_same_facts_give_the_same_bytes(rich: str) -> None:
    assert render(sample.rich()) == rich


def test_the_same_bytes_come_from_another_process(rich: str) -> None:
    code = "from tests.reports import sample; from sfumato.reports.table import render; import sys; "
    code += "render(sample.lone()); sys.stdout.buffer.write(render(sample.rich()).encode())"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, cwd=ROOT)
    assert made.stdout.decode() == rich


def test_no_page_says_more_than_is_known(every: str) -> None:
    words = Reader(every).text.lower()
    assert not re.search(r"\bsafe|(?<![\w-])anonym", words)


def test_every_claim_column_and_metric_appears(rich: str) -> None:
    facts, words = sample.rich(), Reader(rich).text
    for one in facts.claims:
        assert one.title in words
        assert one.meaning in words
        assert one.limits in words
    for column in facts.columns:
        assert column.name in words
        assert column.done in words
    for metric in facts.utility:
        assert metric.name in words
        assert metric.meaning in words
    for mark in facts.marks:
        assert mark in words
    assert {name.replace("_", " ") for name in facts.effort} <= set(words.split())


def test_the_verdict_is_in_words_and_figures(rich: str) -> None:
    words = Reader(rich).text
    assert "Promised: every group has at least 5 rows. Reached: 7." in words
    assert "All 3 promises hold on the released rows." in words
    assert "30,162" in words
    assert "121 rows of 30,162 (0.4 %) were removed; the plan allows up to 2 %." in words
    assert "1 in 7" in words
    assert words.count("✓ holds") == 3
    assert "★ chosen" in words
    assert "1 to ∞" in words


def test_a_failure_is_said_without_colour() -> None:
    words = Reader(render(sample.failing())).text
    assert "2 of 3 promises do not hold." in words
    assert words.count("✗ fails") == 2
    assert "Reached: 3; 12 groups fail." in words
    assert "Reached: 0.2000001" in words
    assert "future privacy with f = 9, which asks for at least 9. Reached: ∞." in words
    assert "That is more than the plan allows." in words
    assert "Best so far" in words


def test_only_an_inside_report_has_the_banner_and_raw_values() -> None:
    raw = ColumnFacts(
        name="zip", role="quasi", done="x", before=(("10115-raw", 9),), after=(("1*", 9),), same_labels=False
    )
    inside = render(replace(sample.rich(), columns=(raw,)))
    public = render(replace(sample.rich(inside=False), columns=(raw,)))
    assert "INSIDE REPORT: contains figures of the original table. Do not publish." in inside
    assert "10115-raw" in inside
    assert "INSIDE" not in public
    assert "10115-raw" not in public
    assert "1*" in public


def test_user_data_stays_text() -> None:
    page = render(sample.hostile())
    assert "<script" not in page
    assert "\x00" not in page
    assert "\x1b" not in page
    assert page.count("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;") > 10
    assert "x" * 61 not in page
    assert 'fill="#040404"' in Reader(page).text


def test_empty_tables_are_said_to_be_so() -> None:
    words = Reader(render(sample.empty())).text
    assert "This release makes no promise." in words
    assert "The release has no groups to show." in words
    assert "The table has no columns." in words
    assert "No metric can be computed from the released rows" in words


def test_many_columns_are_all_there() -> None:
    words = Reader(render(sample.wide(40))).text
    assert all(f" {i} " in words for i in range(40))


def test_the_limit_on_sizes_comes_from_models_of_sizes() -> None:
    assert limit_on_size(sample.rich()) == 5
    assert limit_on_size(sample.hostile()) is None


@pytest.mark.parametrize("name", sample.EVERY)
def test_a_summary_is_a_few_plain_lines(name: str) -> None:
    lines = summary(sample.EVERY[name]()).split("\n")
    assert 7 <= len(lines) <= 20
    assert all(line.isprintable() and line == line.rstrip() for line in lines)
    assert "\u00a0" not in "".join(lines)


def test_a_summary_has_the_verdict() -> None:
    said = summary(sample.failing())
    assert "2 of 3 promises do not hold." in said
    assert "[FAILS] 5-anonymity" in said
    assert "Promised: every group has at least 5 rows. Reached: 3; 12 groups fail." in said


def test_importing_the_report_is_cheap() -> None:
    code = "import sys, sfumato.reports.table, sfumato.reports.table; "
    code += "sys.exit(bool({'jinja2'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
