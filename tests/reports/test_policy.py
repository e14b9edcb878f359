"""The policy of every page, and texts that must not reach a page or a drawing as they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sfumato.reports
from sfumato.reports.bars import Row, bars
from sfumato.reports.language import seen
from sfumato.reports.pages import card
from sfumato.reports.svg import words
from tests.reports.payloads import PAYLOADS

TEMPLATES = Path(sfumato.reports.__file__).parent / "templates"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
PAGES = [path for path in sorted(TEMPLATES.glob("*.html.j2")) if "{% extends" in path.read_text()]


def test_every_page_begins_with_the_policy() -> None:
    """All pages extend one template, the only one with a head; nothing comes before its policy."""
    assert '<head>\n{% include "head.html.j2" %}\n' in (TEMPLATES / "base.html.j2").read_text()
    assert [path.name for path in TEMPLATES.glob("*.j2") if "<head>" in path.read_text()] == ["base.html.j2"]
    begins = ('{% extends "base.html.j2" %}\n', '{% extends "unclaimed.html.j2" %}\n')
    assert all(path.read_text().startswith(begins) for path in PAGES)


def test_the_policy_lets_nothing_in_but_the_pages_own_style() -> None:
    head = (TEMPLATES / "head.html.j2").read_text()
    assert f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">' in head
    assert '<meta name="referrer" content="no-referrer">' in head
    assert len(PAGES) == 14


def test_no_template_turns_escaping_off() -> None:
    """Only drawings are put in as they are, and those escape their own words."""
    for path in TEMPLATES.glob("*.j2"):
        text = path.read_text()
        assert not re.search(r"\|\s*safe\b|autoescape|Markup", text), path.name
        assert set(re.findall(r"\{\{([^}]*)\|\s*drawn", text)) <= {
            " one.svg ", " picture.svg ", " symbols[loop.index0] ", " symbols[point.series] ", " symbol ",
        }, path.name  # fmt: skip


@pytest.mark.parametrize("text", PAYLOADS, ids=range(len(PAYLOADS)))
def test_drawings_and_cards_escape_their_words(text: str) -> None:
    """Also heads and figures, which no release takes from its rows; a NUL there would end the process."""
    rows = [Row(label=text, back=0.5, front=0.2, figures=(text, text))]
    for drawn in (bars(rows, heads=(text, text)), words(text, 0, 0)):
        assert set(re.findall(r"<\s*/?\s*([a-zA-Z!]+)", drawn)) <= {"svg", "g", "rect", "text", "path", "line"}
        assert "\0" not in drawn
        assert not re.search(r"<[^>]*\son[a-z]+\s*=", drawn)
    shown = card(text, [(text, True, 1.0)], [(text, text, text)], [text])
    assert set(re.findall(r"<\s*/?\s*([a-zA-Z!]+)", shown)) <= {"div", "p", "b", "table", "tr", "th", "td"}


def test_what_nobody_sees_becomes_a_blank() -> None:
    """A mark that turns the direction would let 100 read as 001."""
    assert seen("a\0b\u202e001\u2066\ufeff\uffff") == "a b 001   "
    assert seen("caf\u00e9 \u65e5\u672c\n\t\u00a0") == "caf\u00e9 \u65e5\u672c\n\t\u00a0"
