"""Verifications in sentences."""

from __future__ import annotations

from pathlib import Path

from sfumato.bundles.provenance import Check
from sfumato.bundles.summary import OTHERWISE, sentences, subject_of


def check(what: str, *, holds: bool = True) -> Check:
    return Check(what=what, holds=holds, detail="something")


def test_promises_come_first_and_subjects_are_counted():
    found = sentences([check("bytes of the data file"), check("seal of the manifest"), check("claim k-anonymity")])
    assert found == [
        "Promised: k-anonymity. It holds: something.",
        f"{subject_of('bytes of the data file')} (2 checks).",
    ]


def test_a_subject_with_a_failure_is_not_said_to_hold():
    found = sentences([check("bytes of the data file"), check("seal of the manifest", holds=False), check("loss")])
    assert found == [f"{OTHERWISE} (1 check).", "FAILS: seal of the manifest: something."]
    assert sentences([check("claim k-anonymity", holds=False)]) == ["FAILS: claim k-anonymity: something."]


def test_every_check_is_told_or_counted(run, tmp_path: Path):
    run("demo", "-o", tmp_path / "t", "--json")
    told = run("verify", tmp_path / "t/release").out
    listed = run("verify", tmp_path / "t/release", "--json").json["checks"]
    counted = sum(
        int(line.rpartition("(")[2].split()[0]) for line in told.splitlines() if line.endswith(("s).", "k)."))
    )
    assert counted + told.count("Promised: ") == len(listed)
    assert "bytes of the data file" in run("verify", tmp_path / "t/release", "--all").out
