"""``sfumato reproduce`` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfumato.papers.documents import DOCUMENTS
from tests.papers.conftest import small  # noqa: F401  (a fixture)


def test_the_list_names_everything(run):
    ran = run("reproduce", "--list", "--json")
    assert ran.code == 0
    assert {key: set(each) for key, each in ran.json.items()} == {
        one.key: {each.name for each in one.exhibits} for one in DOCUMENTS
    }
    ran = run("reproduce", "models", "--list")
    assert ran.code == 0
    assert "figure 16" in ran.out
    assert "figure 6.5" not in ran.out


@pytest.mark.usefixtures("small")
def test_a_page_and_a_table(run, tmp_path: Path):
    page = tmp_path / "page.html"
    ran = run("reproduce", "bottom-up", "--only", "table 1", "-o", page)
    assert ran.code == 0, ran.err
    assert "14 leaves, 3 levels" in ran.out
    assert "14 leaves, 3 levels" in page.read_text()
    ran = run("reproduce", "bottom-up", "--only", "table 1", "-o", page)
    assert ran.code == 2
    assert "exists" in ran.err
    ran = run("reproduce", "bottom-up", "--only", "table 1", "-o", page, "--force", "--json")
    assert ran.json["shown"][0]["beside"][0]["theirs"] == "14 leaves, 3 levels"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("thesys",), "no document is called 'thesys'; did you mean 'thesis'?"),
        ((), "name a document"),
        (("thesis", "--only", "figure 3.55"), "there is no 'figure 3.55'; did you mean 'figure 3.5'?"),
        (("thesis", "--only", "table 7.1"), "table 7.1 does not run (tested: tests/parties"),
        (("thesis", "--only", "figure 3.1"), "figure 3.1 does not run (drawing)"),
        (("textbook",), "nothing of it runs yet"),
    ],
)
def test_refusals(run, words, message):
    ran = run("reproduce", *words)
    assert ran.code == 2
    assert message in ran.err
