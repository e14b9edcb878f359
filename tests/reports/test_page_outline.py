"""The report as text and JSON: the same content as the page, of every kind."""

from __future__ import annotations

import json
import re

from sfumato.reports.outline import WIDTH, Outline
from sfumato.reports.table import render
from tests.reports import sample


def words_of(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z0-9]{3,}", text))


def test_the_text_has_every_word_of_the_page():
    page = render(sample.rich())
    body = re.sub(r"<(style|title|svg|nav)\b.*?</\1>", " ", page, flags=re.DOTALL)
    body = re.sub(r'<p class="key" aria-hidden="true">.*?</p>', " ", body, flags=re.DOTALL)
    seen = words_of(re.sub(r"&[a-z#0-9]+;", " ", re.sub(r"<[^>]*>", " ", body)))
    outline = Outline.of(page)
    assert not seen - words_of(outline.text())
    assert not seen - words_of(json.dumps(outline.to_json(), ensure_ascii=False))


def test_pictures_are_told_in_words():
    page = render(sample.rich())
    told = [one.text for one in Outline.of(page).blocks if one.form == "picture"]
    assert sorted(told) == sorted(set(told)), "a picture in two sizes is told once"
    assert len(told) == page.count('role="img"') - page.count('<div class="if-narrow">')
    assert all(told)


def test_lines_fit_a_terminal():
    lines = Outline.of(render(sample.rich())).text().splitlines()
    assert all(len(line) <= WIDTH or " " not in line.strip() for line in lines)


def test_heads_make_sections():
    found = Outline.of(render(sample.rich())).to_json()
    titles = [one["title"] for one in found["sections"]]
    assert "Risk of being found again" in titles
    assert found["language"] == "en"


def test_hostile_names_stay_words():
    outline = Outline.of("<p>a &lt;script&gt;alert(1)&lt;/script&gt;</p><p>b<br>c</p>")
    assert [one.text for one in outline.blocks] == ["a <script>alert(1)</script>", "b c"]
