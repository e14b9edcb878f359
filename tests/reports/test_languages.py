"""Reports in other languages: every text has its translation, and nothing on a page was forgotten."""

from __future__ import annotations

import re
from collections.abc import Iterator
from gettext import NullTranslations
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from jinja2 import nodes

import sfumato as sf
from sfumato.bundles.manifest.document import load
from sfumato.bundles.verify import tables_of
from sfumato.core.run_context import Work
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.methods import method_stated
from sfumato.pipeline.release import public_page
from sfumato.pipeline.verification import report_of
from sfumato.reports import language
from sfumato.reports.language import (
    apart,
    count,
    figured,
    messages,
    number,
    odds,
    patterns,
    retold,
    share,
    speaking,
    translated,
)
from sfumato.reports.pages import environment
from sfumato.reports.plots import tick
from tests.golden.releases.comparing import BUNDLES
from tests.parties.test_mining_protocols import people as joint_people
from tests.parties.test_mining_protocols import run
from tests.pipeline.test_joint_bundles import session, write_joint
from tests.reports.about_plans import census, plan_about
from tests.reports.said_texts import SOURCES, said_texts

OTHERS = [name for name in language.LANGUAGES if name != "en"]
PLACES = re.compile(r"{\w+}")
MARKS = re.compile(r"</?\w+>|&\w+;")


@pytest.mark.parametrize("name", OTHERS)
def test_every_text_is_there_and_nothing_else(name: str):
    found = set(messages(name))
    assert sorted(said_texts() - found) == []
    assert sorted(found - said_texts()) == []


def _sections(name: str) -> Iterator[tuple[str, str]]:
    yield from messages(name).items()
    yield from messages(name, "finished").items()
    yield from messages(name, "attack").items()


@pytest.mark.parametrize("name", OTHERS)
def test_the_compiled_catalog_is_that_of_the_texts(name: str):
    folder = language.LOCALE / name / "LC_MESSAGES"
    with (folder / "sfumato.po").open("rb") as file:
        texts = read_po(file, locale=name)
    assert not [message.id for message in texts if message.id and (not message.string or message.fuzzy)]
    compiled = BytesIO()
    write_mo(compiled, texts)
    assert compiled.getvalue() == (folder / "sfumato.mo").read_bytes(), "run `make catalogs`"


@pytest.mark.parametrize("name", OTHERS)
def test_places_and_marks_are_the_same_on_both_sides(name: str):
    for english, other in _sections(name):
        assert set(PLACES.findall(english)) == set(PLACES.findall(other)), english
        assert sorted(MARKS.findall(english)) == sorted(MARKS.findall(other)), english
        assert english.startswith(" ") == other.startswith(" "), english
        assert english.endswith(" ") == other.endswith(" "), english


@pytest.mark.parametrize("name", OTHERS)
def test_a_finished_text_is_one_that_the_sources_tell(name: str):
    """Each piece between places stands in a string of the sources, so a text that none of them writes is noticed."""
    written = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.py"))
    joined = re.sub(r"\"\s*\n\s*f?\"", "", written).replace("_", " ")
    pieces = {one for english in messages(name, "finished") for one in PLACES.split(english)}
    assert sorted(one for one in pieces if one.strip(" ()',.;:-0123456789") not in joined) == sorted(PUT_TOGETHER)


def test_only_texts_of_templates_are_trusted():
    """What comes with the facts would bring its own marks of HTML."""
    made = environment()
    assert made.loader is not None
    for name in made.list_templates(extensions=["j2"]):
        for call in made.parse(made.loader.get_source(made, name)[0]).find_all(nodes.Call):
            if isinstance(call.node, nodes.Name) and call.node.name == "_":
                assert isinstance(call.args[0], nodes.Const | nodes.CondExpr), name
                assert not list(call.args[0].find_all(nodes.Getattr)) or isinstance(call.args[0], nodes.CondExpr)


def test_figures_have_the_marks_of_their_language():
    with speaking("de"):
        shown = (count(30162), share(0.034), share(0.0001), odds(0.2), odds(0.3), number(123.5), number(-0.25))
        assert [one.replace("\u00a0", " ") for one in shown] == [
            "30.162", "3,4 %", "< 0,1 %", "1 von 5", "1 von 3,3", "123,5", "\u22120,25",
        ]  # fmt: skip
        assert apart(0.2000001, 0.2) == "0,2000001"
        assert tick(0.025, "share").replace("\u00a0", " ") == "2,5 %"
        assert figured("1,000.5") == "1.000,5"
    assert (count(30162), number(123.5)) == ("30,162", "123.5")


def test_finished_texts_are_retold_with_their_values():
    with speaking("de"):
        assert retold("name their income") == "income dieser Person zu nennen"
        assert retold("claim k-anonymity (k = 5)") == "die Zusage k-Anonymität (k = 5)"
        assert retold("no record has 'pills'") == "kein Datensatz enthält 'pills'"
        assert retold("what nobody foresaw") == "what nobody foresaw"
        assert retold("name their time") == "time dieser Person zu nennen"  # a column's name is no text
    assert retold("name their income") == "name their income"


def test_a_language_ends_where_it_began():
    with speaking("de"):
        assert translated("yes") == "ja"
    assert translated("yes") == "yes"


class _Bracketed(NullTranslations):
    """A language in which every text is itself in brackets."""

    def gettext(self, message: str) -> str:
        return f"⟦{message}⟧" if any(map(str.isalpha, message)) else message


class _Words(HTMLParser):
    """What of a page is read or heard."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._silent = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent = self._silent or (tag if tag in ("style", "code") else "")
        self.found += [value or "" for key, value in attrs if key in ("aria-label", "data-head")]
        self.found.append("\n" if tag in ("p", "td", "th", "dt", "dd", "li", "text", "h1", "h2", "h3", "h4") else "")

    def handle_endtag(self, tag: str) -> None:
        self._silent = "" if tag == self._silent else self._silent

    def handle_data(self, data: str) -> None:
        self.found.append("" if self._silent else data)


def unsaid(page: str) -> set[str]:
    """The words of a page that stand outside of every text."""
    reader = _Words()
    reader.feed(page)
    text, before = "".join(reader.found), ""
    while text != before:
        before, text = text, re.sub(r"⟦[^⟦⟧]*[⟧…]", " ", text)
    return set(re.findall(r"[^\W\d_]{2,}", text))


def _names(value: Any) -> Iterator[str]:
    """All words of a manifest: names, values and parameters, which stay as they are."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from (str(key), *_names(one))
    elif isinstance(value, list):
        for one in value:
            yield from _names(one)
    else:
        yield str(value)


PUT_TOGETHER = (
    " can be proven for; a population is counted with the whole table, which a full-domain search keeps.",
    " judges the whole table, which a full-domain search keeps.",
    " quasi-identifiers of a person (random ones)",
    " quasi-identifiers of a person (worst ones)",
    ", measured together with ",
    "1 item of a person",
    ": against them epsilon = ",
    "a person's quasi-identifiers but ",
    "epsilon of one choice",
    "for every label that was tried, also those that were refused: how many rows all parties have together in every "
    "group with a label below it, and how many of these have each watched value of ",
    "for supports, any n - 2 of n parties that put together what they saw",
    "for unions, no two parties: neighbours in the ring that work together can follow an item to its owner",
    "how frequent the values are, and ",
    "how many rows all parties have together, by every declared value of each quasi-identifier",
    "how many rows of every value of ",
    "more parties that work together, who know their own noise: the bundle says which epsilon is left against how many",
    "readers of the release, against whom epsilon = ",
    "say something about quasi-identifiers that is true of exactly one person",
    "say something that is true of exactly one person",
    "say who has which ",
    "see a hidden one who mines it with both thresholds lowered by ",
    "see a hidden one who reads unknown items as had",
)
"""Pieces that the sources put together from smaller ones."""
TOLD = ("attacks_not_made", "marks", "session")
"""Parts of a manifest that tell whole sentences."""
KNOWN = {"sfumato", "ln", "in", "or"}
"""Names, and the notation of the edges of trees: age in [0-20) or [40-60)."""


@pytest.fixture
def bracketed(monkeypatch: pytest.MonkeyPatch) -> None:
    bracketed_patterns = {
        context: tuple((pattern, f"⟦{other}⟧") for pattern, other in patterns("de", context))
        for context in ("finished", "attack")
    }
    monkeypatch.setattr(language, "catalog", lambda _: _Bracketed())
    monkeypatch.setattr(language, "patterns", lambda _, context: bracketed_patterns[context])


def _public(folder: Path, speech: str) -> str:
    manifest = load(folder / "manifest.json")
    plan = manifest.get("plan", {})
    manifest["plan"] = {**plan, "about": {**plan.get("about", {}), "language": speech}}
    return public_page(method_stated(manifest), manifest, tables_of(folder, manifest), Work())


def _data_words(folder: Path) -> set[str]:
    manifest = load(folder / "manifest.json")
    kept = {key: one for key, one in manifest.items() if key not in TOLD}
    kept["attacks"] = [one["limit"] for one in manifest.get("attacks", ())]
    kept["recoding"] = {key: one for key, one in manifest.get("recoding", {}).items() if key not in ("why", "steps")}
    tables = [one.frame for one in tables_of(folder, manifest).values()]
    cells = [str(cell) for frame in tables for column in frame.columns for cell in frame[column].unique()]
    return set(re.findall(r"[^\W\d_]{2,}", " ".join([*_names(kept), *cells])))


@pytest.mark.parametrize("folder", sorted(BUNDLES.iterdir()), ids=lambda path: path.name)
@pytest.mark.usefixtures("bracketed")
def test_no_word_of_a_page_was_forgotten(folder: Path):
    assert sorted(unsaid(_public(folder, "de")) - _data_words(folder) - KNOWN) == []


@pytest.mark.parametrize("name", ["counts", "rules", "tree"])
@pytest.mark.usefixtures("bracketed")
def test_no_word_of_a_joint_result_was_forgotten(name: str, tmp_path: Path):
    whole = joint_people(300, 1)
    made = run(name, [whole[:100], whole[100:200], whole[200:]])[0]
    stated = session(name)
    write_joint(tmp_path / "out", made, stated, force=False)
    names = (tmp_path / "out" / "data.json").read_text(encoding="utf-8") + str(stated["parameters"]) + name
    known = set(re.findall(r"[^\W\d_]{2,}", names))
    assert sorted(unsaid(_public(tmp_path / "out", "de")) - known - KNOWN) == []


def test_a_german_report_verifies(tmp_path: Path):
    assert sf.release(plan_about(language="de", purpose="Lehre"), census()).write(tmp_path / "out").holds
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert '<html lang="de">' in page
    assert "Was die Zusagen bedeuten" in page
    assert sf.verify(tmp_path / "out").holds
    assert "What the promises mean" in report_of(tmp_path / "out", language="en")


def test_the_language_of_the_reader_changes_no_figure(tmp_path: Path):
    """The same digits in the same order, but for those that name the language."""
    assert sf.release(plan_about(), census()).write(tmp_path / "out").holds
    english, german = (report_of(tmp_path / "out", language=one, form="text") for one in ("en", "de"))
    assert sorted(re.findall(r"\d+", english)) == sorted(re.findall(r"\d+", german))


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.usefixtures("bracketed")
def test_no_word_of_a_stewards_page_was_forgotten(inside: bool):
    people = census()
    made = sf.release(plan_about(language="de"), people)
    cells = {str(cell) for column in people.columns for cell in people[column].unique()}
    attacks = [*(one.attack for one in made.audit.findings), *made.audit.skipped]
    names = [*cells, *people.columns, *attacks, *catalog().metrics, *catalog().algorithms]
    known = set(re.findall(r"[^\W\d_]{2,}", " ".join(names)))
    assert sorted(unsaid(made.report(inside=inside)) - known - KNOWN) == []
