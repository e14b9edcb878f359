"""Every experiment runs on a handful of rows, and its page has everything that it measured."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from sfumato.core.errors import Interrupted, ParameterError
from sfumato.core.run_context import Work
from sfumato.papers import bottom_up
from sfumato.papers.documents import DOCUMENTS, Document, Exhibit, State, as_json, chosen, measured
from sfumato.reports.papers import render

RUNS = [(one, each) for one in DOCUMENTS for each in one.exhibits if each.state is State.RUNS]


@pytest.mark.slow
@pytest.mark.parametrize(("one", "each"), RUNS, ids=[f"{one.key}, {each.name}" for one, each in RUNS])
def test_an_experiment_says_something_and_is_drawn(small: None, one: Document, each: Exhibit):
    facts = measured(one, [each], full=False, work=Work())
    (shown,) = facts.shown
    assert shown.name == each.name
    assert shown.beside
    assert shown.data
    page = render(facts)
    for line in shown.beside:
        assert line.ours
        assert line.theirs
    assert page.count("<svg") == len(shown.panels)
    assert len(re.findall("<summary>", page)) == len(shown.grids)
    for grid in shown.grids:
        assert {len(row) for row in grid.rows} == {len(grid.heads)}
    assert "nan" not in re.sub("finance|infeasible|governance", "", page.split("</style>")[1].split("<svg")[0])
    assert "panels" not in as_json(facts)["shown"][0]


def test_exhibits_are_chosen_by_name():
    thesis = DOCUMENTS[3]
    assert [one.name for one in chosen(thesis, ["figure 3.5"])] == ["figure 3.5"]
    assert len(chosen(thesis, [])) == sum(one.state is State.RUNS for one in thesis.exhibits)


def test_a_page_with_nothing_to_draw_is_a_page(small: None):
    facts = measured(DOCUMENTS[1], chosen(DOCUMENTS[1], ["table 1"]), full=False, work=Work())
    assert "<svg" not in render(replace(facts, shown=[]))


def test_an_experiment_that_is_refused_does_not_cost_the_others(monkeypatch: pytest.MonkeyPatch, small: None):
    def refused(*, full: bool, work: Work) -> None:
        raise ParameterError("too many to count")

    def stopped(*, full: bool, work: Work) -> None:
        raise Interrupted("stopped")

    monkeypatch.setattr(bottom_up, "errors", refused)
    paper = DOCUMENTS[1]
    facts = measured(paper, chosen(paper, ["figure 3", "table 1"]), full=False, work=Work())
    assert "too many to count" in render(facts)
    assert facts.shown[1].beside
    monkeypatch.setattr(bottom_up, "errors", stopped)
    with pytest.raises(Interrupted):
        measured(paper, chosen(paper, ["figure 3"]), full=False, work=Work())
