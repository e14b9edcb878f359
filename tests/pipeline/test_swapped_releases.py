"""Swapped rows from the plan to the bundle: nothing is claimed, that is said, values are kept, risk is measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.algorithms.value_swapping import Swapping, Swaps
from sfumato.attacks.neighbours import NearestRecord
from sfumato.bundles.checks.unclaimed import NOT_ANONYMOUS
from sfumato.cli.main import main
from sfumato.core.randomness import Chance
from sfumato.pipeline.attack import attack as audit
from sfumato.pipeline.verification import verify_again
from sfumato.testing.attacks import raw_subject, released_subject
from tests.bundles.forging import failing, forge, manifest_of
from tests.weights import examples

COLUMNS = {
    "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [10, 40], "low": 0, "high": 120}},
    "sex": {"role": "quasi"},
    "education": {"role": "quasi"},
    "occupation": {"role": "sensitive"},
    "income": {"role": "target"},
}


def people(rows: int = 400) -> pl.DataFrame:
    return sf.datasets.census(rows, seed=5)


def plan(**options: Any) -> sf.Plan:
    more = {key: options.pop(key) for key in ("input", "privacy", "attack", "columns_plan") if key in options}
    columns = more.pop("columns_plan", COLUMNS)
    return sf.Plan.parse({"columns": columns, "algorithm": {"name": "swapping", "rate": 0.4, **options}, **more})


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    made = sf.release(plan(within={"sex": 0, "age": 1}), people())
    assert made.write(tmp_path / "out").holds
    return tmp_path / "out"


def test_the_bundle_claims_nothing_and_says_so(bundle: Path):
    content = manifest_of(bundle)
    assert (content["kind"], content["claims"]) == ("swapped", [])
    assert content["marks"][0] == NOT_ANONYMOUS
    assert content["recoding"]["columns"] == ["age", "education"]
    page = " ".join((bundle / "report.html").read_text().split())
    assert "Exchanged values, nothing is claimed" in page
    assert "these rows are not anonymous" in page
    assert page.count("anonymous") == page.count("not anonymous"), "never called anonymous"
    assert "People whom nearest-record finds" in page
    found = {one["attack"]: one for one in content["attacks"]}["nearest-record"]
    assert 0 < found["target"]["rate"] < 1
    assert found["limit"] is None
    assert 0 < found["figures"]["told_right"] <= 1
    checked = sf.verify(bundle)
    assert checked.holds
    assert not checked.claimed
    assert checked.to_json()["claimed"] is False


def test_the_terminal_does_not_say_that_claims_hold(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("sys.argv", ["sfumato", "verify", str(bundle)])
    with pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code
    told = capsys.readouterr().out
    assert "nothing is claimed, and what is stated holds" in told
    assert "every claim holds" not in told


def test_values_stay_in_their_column_and_in_their_group(bundle: Path):
    rows = pl.read_csv(bundle / "data.csv")
    before = people()
    for name in COLUMNS:
        assert sorted(map(str, rows[name])) == sorted(map(str, before[name]))
    decade = (pl.col("age") // 10).alias("decade")
    for name in ("age", "education"):
        one, other = (
            frame.select("sex", decade, name).with_columns(pl.all().cast(pl.String)) for frame in (before, rows)
        )
        if name == "education":  # the decade of a row is kept, so its education comes from the same decade
            one, other = one.select("decade", name), other.select("decade", name)
        assert one.sort(pl.all()).equals(other.sort(pl.all()))
    assert (
        rows.select("sex", "occupation", "income")
        .sort(pl.all())
        .equals(before.select("sex", "occupation", "income").sort(pl.all()))
    )


def test_the_steward_sees_how_much_changed():
    made = sf.release(plan(), people())
    assert set(made.utility) == {"changed age", "changed sex", "changed education"}
    assert all(0 < share <= 0.4 for share in made.utility.values())
    told = made.kind.summary(made)
    assert any("people are found" in line for line in told.after)
    assert any("not anonymous" in line for line in told.after)
    with pytest.raises(sf.PlanError, match="no inside report"):
        made.report(inside=True)


def test_more_exchange_means_that_fewer_are_found():
    """One seed, three rates; the rates of a census of 400 lie far apart."""
    rates = [
        next(iter(sf.release(plan(rate=rate, seed=1), people()).audit.findings)).rate.value for rate in (0.1, 0.5, 1.0)
    ]
    assert rates[0] > rates[1] + 0.1 > rates[2] + 0.2


def test_sensitive_values_can_be_swapped_instead():
    made = sf.release(plan(columns=["occupation"], within={"sex": 0}), people())
    (found,) = made.audit.findings
    assert found.rate.value > 0.5, "quasi-identifiers are as they were: the row is found"
    assert found.figures["told_right"] < 0.9, "and its occupation may be somebody else's"
    assert set(made.utility) == {"changed occupation"}


# What is wrong is caught


def test_a_bundle_that_claims_a_model_is_refused(bundle: Path):
    claim = {
        "model": "k-anonymity", "parameters": {"k": 2}, "holds": True, "reached": 2.0, "sense": "at least",
        "limit": 2.0, "reading": "strict", "readings": {"value": 2.0, "wildcard": 2.0}, "classes_failing": 0,
        "note": "",
    }  # fmt: skip
    forge(bundle, lambda content: content["claims"].append(claim))
    assert failing(bundle)[0] == "form of the manifest"


@pytest.mark.parametrize(
    ("change", "caught"),
    [
        (lambda m: m["marks"].remove(NOT_ANONYMOUS), "warnings"),
        (lambda m: m["plan"]["privacy"].update(k_anonymity=5), "models that the plan asks for"),
        (lambda m: m["recoding"].update(rate=0.9), "share of rows that exchange values"),
        (lambda m: m["recoding"].update(columns=["age"]), "columns that are exchanged"),
        (lambda m: m["recoding"].update(within={}), "columns in which partners agree"),
        (lambda m: m["attacks"].clear(), "attacks that were asked for"),
        (lambda m: m["attacks"][0]["target"].update(rate=0.0), "attacks"),
    ],
)
def test_a_forged_manifest_is_caught(bundle: Path, change: Any, caught: str):
    forge(bundle, change)
    assert any(caught in what for what in failing(bundle))


def test_the_steward_catches_rows_that_were_invented(bundle: Path):
    """From the bytes alone nobody can tell; beside the original every column must have its values."""
    again = verify_again(bundle, plan=plan(within={"sex": 0, "age": 1}), original=people())
    assert again.holds, [one for one in again.checks if not one.holds]
    rows = pl.read_csv(bundle / "data.csv", infer_schema=False)
    rows = rows.with_columns(age=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("119")).otherwise("age"))
    rows.write_csv(bundle / "data.csv")
    forge(bundle)
    again = verify_again(bundle, plan=plan(within={"sex": 0, "age": 1}), original=people())
    assert "values of age" in [one.what for one in again.checks if not one.holds]


@pytest.mark.parametrize("across", [False, True])
def test_an_algorithm_that_does_not_swap_is_refused(across: bool, monkeypatch: pytest.MonkeyPatch):
    """One gives everybody the same value; the other exchanges values between groups that are not similar."""

    def bad(self: Swapping, problem: Any, work: Any) -> Swaps:
        rows = len(problem.similar)
        taken = np.roll(np.arange(rows), 1) if across else np.zeros(rows, np.int64)
        return Swaps(sources={"age": taken}, effort={})

    monkeypatch.setattr(Swapping, "__call__", bad)
    with pytest.raises(sf.ClaimRefuted, match="values of age in every group" if across else "values of age"):
        sf.release(plan(within={"sex": 0}), people())


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"privacy": {"k_anonymity": 5}}, "swapping meets no privacy model"),
        ({"rate": 2}, "algorithm.rate"),
        ({"columns": ["name"]}, "algorithm.columns: 'name' is not published"),
        ({"within": {"name": 0}}, "algorithm.within: 'name' is not published"),
        ({"within": {"age": 9}}, "levels 0 to"),
        ({"within": {"sex": 1}}, "columns.sex.hierarchy is missing"),
        ({"max_suppressed": 0.1}, "leaves no row out"),
        ({"input": {"unit": "age"}}, "does not support a unit"),
        ({"attack": {"attacks": ["linkage"]}}, "attack.attacks"),
        ({"attack": {"max_risk": 0.01}}, "max_risk"),
    ],
)
def test_what_swapping_cannot_do_is_refused(asked: dict[str, Any], told: str):
    with pytest.raises((sf.PlanError, sf.ClaimRefuted), match=told):
        sf.release(plan(**asked), people())


def test_a_bundle_is_not_attacked_and_records_are_not_recoded(bundle: Path):
    with pytest.raises(sf.BundleError, match="whose row is whose"):
        audit(bundle, people())
    with pytest.raises(sf.SfumatoError):
        sf.apply(bundle, people())


# The attack


@examples(80)
@given(data=st.data())
def test_the_nearest_row_by_its_definition(data):
    """Every person against every row: sums of differences, numbers by their range, words by being the same."""
    row = st.tuples(st.integers(0, 6), st.sampled_from("xyz"), st.sampled_from("pq"))
    before = data.draw(st.lists(row, min_size=1, max_size=12))
    after = data.draw(st.lists(row, min_size=len(before), max_size=len(before)))
    frames = [pl.DataFrame(rows, schema=["n", "w", "s"], orient="row") for rows in (before, after)]
    subject = released_subject(
        frames[1], frames[0], ("n", "w"), ("s",), numeric=frozenset({"n"}), own=np.arange(len(before))
    )
    numbers = [n for rows in (before, after) for n, _, _ in rows]
    wide = (max(numbers) - min(numbers)) or 1
    hits, right = 0.0, 0.0
    for place, (n, w, s) in enumerate(before):
        apart = [round(abs(n - m) / wide + (w != v), 9) for m, v, _ in after]
        near = [other for other, one in enumerate(apart) if one == min(apart)]
        hits += (place in near) / len(near)
        right += sum(after[other][2] == s for other in near) / len(near)
    found = NearestRecord().run(subject, Chance(seed=1))
    assert found.rate.hits == pytest.approx(hits)
    assert found.figures["told_right"] == pytest.approx(right / len(before))
    assert found.naive.value == pytest.approx(1 / len(before))


def test_it_says_why_it_cannot_be_made():
    subject = raw_subject(people(30), ("age",), ("occupation",))
    assert "whose row is whose" in NearestRecord().fits(subject)
