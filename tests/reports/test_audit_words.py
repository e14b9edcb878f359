"""What the report says about attacks: every number, no praise."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import pytest

from sfumato.attacks.finding import Rate
from sfumato.counts.near_unique import NearUnique
from sfumato.reports.attacks import pictured, verdicts, who, works_in
from sfumato.reports.sentences import verdict
from sfumato.reports.table import render
from sfumato.tables.schema import Role
from tests.reports import sample


def test_every_finding_has_one_verdict_in_the_order_of_threats():
    found = verdicts(sample.findings())
    assert [one.attack for one in found] == ["linkage", "lkc-adversary", "homogeneity", "minimality"]
    said = {one.attack: one.verdict.replace("\u00a0", " ") for one in found}
    assert "within the claim k-anonymity (k = 5), which allows 20 %" in said["linkage"]
    assert "nothing was promised about that" in said["homogeneity"]
    assert said["lkc-adversary"].startswith("No better than without the release")
    assert "refutes the claim simple-l-diversity" in said["minimality"]
    assert [one.broken for one in found] == [False, False, False, True]


def test_the_sentence_tells_knowledge_rate_interval_and_baseline():
    told = who(sample.findings()[1]).replace("\u00a0", " ")
    assert told.startswith(
        "Somebody who knows the quasi-identifiers of a person can tell her occupation in 31 % of 1,000"
    )
    assert "14 % by guessing" in told
    assert "16.7 % on people who are not in the data" in told
    assert "In 3 trials nothing could be tried; of the other 997, 31.1 % worked." in told


def test_the_page_shows_attacks_and_never_calls_a_release_good_for_them():
    page = render(sample.rich())
    assert "Attacks that were made" in page
    assert "Not made, or not shown here: membership: there is no control file." in page
    none = render(replace(sample.rich(), findings=(), skipped_attacks={}))
    assert "No attack was made on this release." in none


def test_a_picture_has_a_row_for_every_attack():
    drawn = pictured(sample.findings())
    assert drawn is not None
    for one in drawn:
        assert one.svg.count("<circle") == 4
        assert "minimality" in one.svg
    assert pictured(()) is None


def test_lines_of_a_picture_never_overlap():
    """Whatever attacks are called, and in both sizes: lines at the same height would lie over each other."""
    long = [replace(one, attack=f"{one.attack} " + "with a name of many words " * 4) for one in sample.findings()]
    for one in pictured(long) or ():
        places = re.findall(r'<text x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)" font-size="([\d.]+)"', one.svg)
        names = [(float(y), float(size)) for x, y, anchor, size in places if anchor != "middle"]
        assert len(names) > 12
        assert all(below - y >= size for (y, size), (below, _) in pairwise(names))


@pytest.mark.parametrize("rate", [Rate(hits=0, trials=0), Rate(hits=0, trials=1000, failed=1000)])
def test_what_could_not_be_tried_is_never_a_figure(rate: Rate):
    """Neither a rate nor an interval nor a gain: words, on the page, in the picture and in a table."""
    empty = replace(sample.findings()[0], rate=rate, note="no statement fits exactly one released row")
    told = verdicts((empty,))[0]
    assert (empty.outcome, told.chip, works_in(rate)) == ("not tried", "not tried", "not tried")
    assert "%" not in told.who + told.verdict
    assert "says nothing about the release" in told.verdict
    drawn = pictured((empty,))
    assert drawn is not None
    for one in drawn:
        assert "<circle" not in one.svg
        assert "not tried" in one.svg
        assert "linkage: not tried against" in one.words
    page = render(replace(sample.rich(), findings=(empty,)))
    assert "No statement fits exactly one released row" in page


def test_no_promise_is_said_to_hold_without_the_column_that_singles_people_out():
    flagged = NearUnique(column="income", role=Role.KEEP, rows=4342, of=4517, k=5)
    quiet, loud = sample.rich(inside=False), replace(sample.rich(inside=False), near_unique=(flagged,))
    assert "still" not in verdict(quiet)
    assert verdict(loud).endswith("hold on the released rows, and still income nearly singles people out.")
    assert verdict(loud) in render(loud)
    other = replace(flagged, column="savings")
    assert "income and savings nearly single people out" in verdict(replace(loud, near_unique=(flagged, other)))
