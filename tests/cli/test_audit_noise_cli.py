"""``sfumato audit-noise`` as a user meets it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sfumato.pipeline import noise_audit
from sfumato.pipeline.noise_audit import audit_everything
from sfumato.pipeline.noise_cases import mechanism_cases
from sfumato.pipeline.plan.plan import Plan

PLAN = """
[columns.age]
role = "quasi"
hierarchy = { kind = "grown", low = 0, high = 100, grid = 25 }
[privacy]
epsilon = 2
[algorithm]
name = "diffgen"
specializations = 1
"""


def test_one_algorithm(run):
    told = run("audit-noise", "--algorithm", "diffgen", "--runs", "16", "--json")
    assert (told.code, told.json["refuted"], len(told.json["audits"])) == (0, 0, 16)
    one = told.json["audits"][0]
    assert (one["what"], one["declared"], one["runs"]) == ("diffgen, one count more: labels", 1.0, 16)
    shown = run("audit-noise", "--algorithm", "diffgen", "--runs", "60", "--epsilon", "2")
    assert "0 of 16 promises are refuted" in shown.out
    assert all(word in shown.out for word in ("would find", "not refuted", "times"))


def test_a_plan_names_algorithm_and_promise(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Its table is never read: it does not exist."""
    monkeypatch.setattr(noise_audit, "mechanism_cases", lambda epsilon: mechanism_cases(epsilon)[:1])
    (tmp_path / "plan.toml").write_text('[input]\npath = "none.csv"\n' + PLAN)
    told = run("audit-noise", tmp_path / "plan.toml", "--runs", "30", "--json").json["audits"]
    assert {one["declared"] for one in told} == {2.0}
    assert {one["what"].split(",")[0] for one in told} == {"counts", "diffgen"}
    both = run("audit-noise", tmp_path / "plan.toml", "--epsilon", "1")
    assert (both.code, "leave --algorithm and --epsilon out" in both.err) == (2, True)


def test_what_is_refuted_ends_with_1(run, monkeypatch: pytest.MonkeyPatch):
    def broken(epsilon: object) -> list[noise_audit.NoiseCase]:
        return [replace(mechanism_cases(1)[0], draw=lambda side, runs: np.full(runs, side))]

    monkeypatch.setattr(noise_audit, "mechanism_cases", broken)
    monkeypatch.setattr(noise_audit, "audit_release", lambda *given, **more: iter(()))
    done = run("audit-noise")
    assert (done.code, "REFUTED" in done.out, "1 of 1 promises are refuted" in done.out) == (1, True, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--algorithm", "mondrian"), "is not differentially private"),
        (("--epsilon", "0"), "epsilon must be above 0"),
        (("--factor", "1"), "factor"),
        (("--runs", "3"), "runs"),
        (("none.toml",), "none.toml"),
    ],
)
def test_refusals(run, arguments: tuple[str, ...], said: str):
    done = run("audit-noise", *arguments)
    assert (done.code, said in done.err) == (2, True), done.err


def test_what_a_person_promises_with_several_rows_is_audited_for_one():
    plan = Plan.parse(
        {
            "input": {"unit": "id", "rows_per_unit": 2},
            "columns": {"id": {"role": "identifier"}, "job": {"role": "quasi", "values": ["a", "b"]}},
            "privacy": {"epsilon": 2},
            "algorithm": {"name": "marginals"},
        }
    )
    found = list(audit_everything(plan, patience=noise_audit.Patience(runs=10)))
    assert {one.audit.declared for one in found if one.what.startswith("marginals")} == {1.0}


def test_mechanisms_of_two_parties_are_audited_from_both_views(run):
    told = run("audit-noise", "--together", "--runs", "40", "--json").json["audits"]
    assert {one["what"].rpartition(", seen by ")[2] for one in told} >= {"an outsider", "a party"}
    assert not any(one["refuted"] for one in told)
    both = run("audit-noise", "--together", "--algorithm", "diffgen")
    assert (both.code, "--together" in both.err) == (2, True)
