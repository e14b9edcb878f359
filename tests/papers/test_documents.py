"""Every table and figure of the documents is named, and what is said about it is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sfumato.papers.documents import DOCUMENTS, Document, State, document
from tests.shared_data import shared

ROOT = Path(__file__).parents[2]
NUMBERED = re.compile(r"\b(Figure|Table|Fig\.|TABLE|FIGURE)s? (\d+(?:\.\d+)?)")


@pytest.mark.parametrize("number", range(len(DOCUMENTS)), ids=[one.key for one in DOCUMENTS])
def test_every_table_and_figure_of_a_document_is_named(number: int):
    found = sorted((shared().parent / "seeds").glob(f"{number:03}_*.txt"))
    if not found:
        pytest.skip("the documents do not lie beside the data")
    kinds = {"fig": "figure", "tab": "table"}
    told = {f"{kinds[kind[:3].lower()]} {which}" for kind, which in NUMBERED.findall(found[0].read_text())}
    chapters = {one.name.split()[1].split(".")[0] for one in DOCUMENTS[number].exhibits}
    known = {name for name in told if name.split()[1].split(".")[0] in chapters or "." not in name}
    assert known == {one.name for one in DOCUMENTS[number].exhibits}


@pytest.mark.parametrize("one", DOCUMENTS, ids=[one.key for one in DOCUMENTS])
def test_what_is_said_about_an_exhibit_is_there(one: Document):
    assert len({each.name for each in one.exhibits}) == len(one.exhibits)
    for each in one.exhibits:
        if each.state is State.RUNS:
            assert callable(each.experiment()), each.name
        elif each.state is State.TESTED:
            assert (ROOT / each.where).is_file(), each.name
        else:
            assert bool(each.where) == (each.state is State.OPEN), each.name


def test_a_document_by_number_and_by_name():
    assert document("003") is document("thesis")
