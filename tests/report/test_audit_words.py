"""What the report says about attacks: every number, no praise."""

from __future__ import annotations

from dataclasses import replace

from sfumato.attacks.frame.trials import Rate
from sfumato.report.base.findings import pictured, verdicts, who
from sfumato.report.table.table_page import render
from tests.report import sample


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
    assert "In 3 trials nothing could be tried." in told


def test_the_page_shows_attacks_and_never_calls_a_release_good_for_them():
    page = render(sample.rich())
    assert "Attacks that were made" in page
    assert "Not made: membership: there is no control file." in page
    none = render(replace(sample.rich(), findings=(), skipped_attacks={}))
    assert "No attack was made on this release." in none


def test_a_picture_has_a_row_for_every_attack():
    drawn = pictured(sample.findings())
    assert drawn is not None
    assert drawn.svg.count("<circle") == 4
    assert "minimality" in drawn.svg
    assert pictured(()) is None


def test_no_trials_are_no_success():
    empty = replace(sample.findings()[0], rate=Rate(hits=0, trials=0))
    assert empty.outcome == "inconclusive"
