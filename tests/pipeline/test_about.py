"""[about] and the first paragraph of reports, `sfumato report`, and that all of it comes from the bundle's bytes."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app
from sfumato.core.errors import ClaimRefuted, PlanError
from sfumato.pipeline.verification import report_of
from tests.reports.about_plans import census, plan_about

ABOUT = {
    "data_set": "Stays <2025>",
    "version": 2,
    "purpose": "Teaching & research",
    "recipient": "Institute",
    "legal_basis": "Art. 9 (2) (j) GDPR",
    "responsible": "Dr. Ada Muster",
    "contact": "data@example.org",
}


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("about") / "out"
    assert sf.release(plan_about(**ABOUT), census()).write(folder).holds
    return folder


def test_the_page_says_what_the_data_set_is(bundle):
    page = (bundle / "report.html").read_text()
    assert "Stays &lt;2025&gt;" in page
    assert "Teaching &amp; research" in page
    for head in ("Data set", "Version", "Purpose", "Recipient", "Legal basis", "Responsible", "Contact"):
        assert f"<dt>{head}</dt>" in page
    assert json.loads((bundle / "manifest.json").read_text())["plan"]["about"]["version"] == "2"


def test_the_first_paragraph_has_its_four_parts(bundle):
    text = report_of(bundle, form="text")
    for head in ("What was done.", "What holds.", "What remains possible.", "What to do next."):
        assert head in text
    assert "Every combination of quasi-identifiers is shared by at least 5 rows." in text
    assert "Made coarser" in text


def test_without_about_the_report_asks_who_answers_for_it():
    page = sf.release(plan_about(), census()).report(form="text")
    assert "who answers for the release" in " ".join(page.split())
    assert "Data set:" not in page


def test_a_changed_word_is_noticed(bundle, tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in bundle.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    page = copy / "report.html"
    page.write_text(page.read_text().replace("Dr. Ada Muster", "Dr. Eve Muster"))
    assert not sf.verify(copy).holds
    with pytest.raises(ClaimRefuted, match="no report is made"):
        report_of(copy)


def test_the_command_shows_text_json_and_pages(bundle, tmp_path):
    run = CliRunner().invoke
    text = run(app, ["report", str(bundle)])
    assert text.exit_code == 0
    assert "In short" in text.stdout
    told = json.loads(run(app, ["report", str(bundle), "--json"]).stdout)
    assert "In short" in [one["title"] for one in told["sections"]]
    page = tmp_path / "page.html"
    assert run(app, ["report", str(bundle), "-o", str(page)]).exit_code == 0
    assert page.read_text() == (bundle / "report.html").read_text()


@pytest.mark.parametrize(
    ("about", "told"),
    [
        ({"purpos": "x"}, "about.purpos"),
        ({"purpose": 3}, "about.purpose"),
        ({"purpose": " "}, "about.purpose"),
        ({"purpose": "x" * 3000}, "3,000 characters"),
        ({"language": "fr"}, "about.language"),
    ],
)
def test_refusals(about, told):
    with pytest.raises(PlanError, match=told):
        plan_about(**about)
