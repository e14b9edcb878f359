"""Releases of dates as people write them, and of dates that a key moved: claims, refusals, apply, attack, verify."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import sfumato as sf
from examples.shifted_dates import BOTH, CUT, FIRST, LAST, PLAIN, WEEKS
from examples.shifted_dates import released as moved_release
from examples.shifted_dates import visits as example_visits
from sfumato.attacks.subject import Shifts, measured
from sfumato.bundles.pseudonyms import DateShift
from sfumato.cli.main import app
from sfumato.core.errors import DataError, PlanError
from sfumato.pipeline.frontier.points import tree_of
from sfumato.pipeline.stream_batches import checked
from tests.bundles.forging import failing, forge
from tests.streaming.streams import COLUMNS
from tests.streaming.streams import plan as stream_plan
from tests.weights import examples

SECRET = b"0123456789abcdef0123456789abcdef"
SHIFT = {"key_file": "secret.key", "days": 365, "by": "pid"}


def visits(people: int = 60, each: int = 3) -> pl.DataFrame:
    """Visits of people: a birth date with points, an American date with a time, and a typed date-time."""
    draw = Random(1)
    rows = []
    for person in range(people):
        born = date(1940, 1, 1) + timedelta(days=draw.randrange(20_000))
        for _ in range(each):
            seen = datetime(2020, 1, 1, 8, 30) + timedelta(days=draw.randrange(400))
            american = f"{seen.month}/{seen.day}/{seen.year % 100} 8:30"
            rows.append((f"p{person}", born.strftime("%d.%m.%Y"), draw.choice("mf"), american, seen))
    return pl.DataFrame(rows, schema=["pid", "born", "sex", "seen", "left"], orient="row")


def plan(folder: Path, **more: Any) -> sf.Plan:
    (folder / "secret.key").write_bytes(SECRET)
    columns: dict[str, Any] = {
        "pid": {"role": "identifier"},
        "born": {"role": "quasi", "type": "date", "format": "dmy", "hierarchy": {"kind": "dates"}},
        "sex": {"role": "quasi", "hierarchy": {"kind": "flat"}},
        "seen": {"role": "keep", "type": "date", "format": "mdy", "shift": SHIFT},
        "left": {"role": "keep", "type": "date", "shift": SHIFT},
    }
    tree = {"columns": columns | more, "privacy": {"k_anonymity": 5}, "algorithm": {"max_suppressed": 0.05}}
    return sf.Plan.parse({**tree, "attack": {"run": False}}, folder=folder)


def test_labels_are_those_of_dates_and_intervals_stay(tmp_path: Path) -> None:
    made = sf.release(plan(tmp_path), visits())
    rows = made.frame
    assert set(rows["born"].str.len_chars()) <= {4, 5, 7}
    assert (rows["seen"] == rows["left"].cast(pl.String)).all(), "both columns of a person moved alike"
    truth = visits()["left"].dt.date()
    assert not rows["left"].is_in(truth.implode()).all()
    checked = made.write(tmp_path / "out")
    assert checked.holds
    stated = json.loads((tmp_path / "out" / "manifest.json").read_text())["plan"]["columns"]
    assert stated["born"]["format"] == "dmy"
    assert stated["seen"] == {"role": "keep", "type": "date", "format": "mdy", "shift": {"days": 365}}
    for file in (tmp_path / "out").iterdir():
        assert SECRET not in file.read_bytes()
        assert b"secret.key" not in file.read_bytes()
    page = (tmp_path / "out" / "report.html").read_text()
    assert "were moved by a keyed number of days for each person" in page
    assert "moved by up to 365 days" in page


def test_the_same_dates_come_from_a_file_and_from_a_frame(tmp_path: Path) -> None:
    frame = visits()
    whole = sf.release(plan(tmp_path), frame).frame
    frame.with_columns(left=pl.col("left").dt.strftime("%Y-%m-%d %H:%M")).write_csv(tmp_path / "in.csv")
    asked = plan(tmp_path, left={"role": "keep", "type": "date", "format": "ymd", "shift": SHIFT})
    tree = {**tree_of(asked), "input": {"path": "in.csv"}}
    again = sf.release(sf.Plan.parse(tree, folder=tmp_path)).frame
    assert sorted(whole["born"]) == sorted(again["born"])
    assert sorted(whole["seen"]) == sorted(again["left"])


def test_new_records_are_read_in_the_same_form(tmp_path: Path) -> None:
    made = sf.release(plan(tmp_path), visits())
    new = visits().head(6)
    assert made.transform(new).rows.columns == ["born", "sex", "seen", "left"]
    made.write(tmp_path / "out")
    applied = sf.apply(tmp_path / "out", new).rows
    assert applied.columns == ["born", "sex"], "without the key no date is moved, and none is shown as it is"
    assert applied["born"].to_list() == made.transform(new).rows["born"].to_list()


def test_attacks_know_what_the_bundle_writes(tmp_path: Path) -> None:
    asked = plan(tmp_path)
    sf.release(asked, visits()).write(tmp_path / "out")
    with pytest.raises(PlanError, match="were moved by a keyed number of days, and the bundle does not have the key"):
        sf.attack(tmp_path / "out", visits())
    assert sf.attack(tmp_path / "out", visits(), plan=asked, attacks=("linkage",), seed=1).findings
    dropped = {"seen": {"role": "drop"}, "left": {"role": "drop"}}
    written = plan(tmp_path, **dropped)
    typed = plan(tmp_path, born={"role": "quasi", "type": "date", "hierarchy": {"kind": "dates"}}, **dropped)
    days = visits().with_columns(born=pl.col("born").str.to_date("%d.%m.%Y"))
    sf.release(written, visits()).write(tmp_path / "plain")
    ways = ((visits(), written), (days, typed))
    rates = [sf.attack(tmp_path / "plain", f, plan=p, attacks=("linkage",), seed=1).findings[0].rate for f, p in ways]
    assert rates[0] == rates[1]


@pytest.mark.parametrize(
    ("column", "told"),
    [
        ({"role": "keep", "format": "dmy"}, r"columns.seen.format is about dates; add type = \"date\""),
        ({"role": "keep", "type": "date", "pivot": 1950}, "columns.seen.pivot goes with format"),
        ({"role": "keep", "type": "date", "format": "dd"}, "columns.seen.format must be one of"),
        ({"role": "keep", "type": "date", "format": "dmy", "pivot": 0}, "pivot must be a year"),
        ({"role": "quasi", "type": "date", "hierarchy": {"kind": "dates"}, "shift": SHIFT}, "does not publish days"),
        ({"role": "keep", "type": "date", "shift": {"days": 9}}, "columns.seen.shift.key_file"),
        ({"role": "keep", "type": "date", "shift": {**SHIFT, "days": 0}}, "whole number from 1 to 36,525"),
        ({"role": "keep", "type": "date", "shift": {**SHIFT, "days": 30}}, "differs from columns.seen.shift"),
        ({"role": "keep", "type": "date", "shift": {"key_file": "k", "days": 9}}, "shift.by is missing"),
        ({"role": "keep", "type": "date", "shift": {**SHIFT, "salt": 1}}, "unknown key"),
    ],
)
def test_plans_that_cannot_be_are_refused(tmp_path: Path, column: dict[str, Any], told: str) -> None:
    with pytest.raises(PlanError, match=told):
        plan(tmp_path, seen=column)


def test_a_key_and_a_person_are_needed(tmp_path: Path) -> None:
    asked = plan(tmp_path)
    (tmp_path / "secret.key").write_bytes(b"short")
    with pytest.raises(PlanError, match=r"columns.seen.shift.key_file: the key in .* has 5 bytes"):
        sf.release(asked, visits())
    (tmp_path / "secret.key").unlink()
    with pytest.raises(PlanError, match="cannot be read"):
        sf.release(asked, visits())
    strange = {"role": "keep", "type": "date", "shift": {**SHIFT, "by": "nobody"}}
    with pytest.raises(DataError, match=r"columns.left.shift.by: .*'nobody'"):
        sf.release(plan(tmp_path, seen={"role": "drop"}, left=strange), visits())


def test_a_key_inside_the_bundle_is_refused(tmp_path: Path) -> None:
    made = sf.release(plan(tmp_path), visits())
    with pytest.raises(PlanError, match=r"columns.seen.shift.key_file: the key must not lie inside the bundle"):
        made.write(tmp_path, force=True)


def test_engines_and_streams_ask_for_plain_dates(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    frame = visits()
    with pytest.raises(PlanError, match=r"columns.born.format: rows that stay in an engine must hold dates"):
        sf.release(plan(tmp_path), duckdb.sql("from frame"))
    assert frame.height
    seen = {"seen": {"role": "keep", "type": "date", "format": "dmy"}}
    with pytest.raises(PlanError, match=r"columns.seen.format: a stream must hold dates written YYYY-MM-DD"):
        checked(stream_plan(columns={**COLUMNS, **seen}))


def test_date_times_of_a_frame_are_profiled_and_released_in_a_notebook() -> None:
    frame = visits()
    assert {one.name: one.kind for one in sf.profile(frame).columns}["left"] == "date"
    made = sf.release(frame, quasi=["sex", "left"], models=[sf.models.KAnonymity(k=5)], max_suppressed=0.05)
    assert set(made.frame["left"].str.len_chars()) <= {1, 4, 5, 7}


def test_the_steward_checks_that_dates_were_moved_by_the_key(tmp_path: Path) -> None:
    asked = plan(tmp_path)
    sf.release(asked, visits()).write(tmp_path / "out")
    assert sf.verify_again(tmp_path / "out", plan=asked, original=visits()).holds
    (tmp_path / "secret.key").write_bytes(SECRET[::-1])
    assert not sf.verify_again(tmp_path / "out", plan=asked, original=visits()).holds


def test_moved_dates_that_are_no_dates_are_caught(tmp_path: Path) -> None:
    sf.release(plan(tmp_path), visits()).write(tmp_path / "out")
    data = tmp_path / "out" / "data.csv"
    rows = pl.read_csv(data, infer_schema=False)
    rows.with_columns(seen=pl.lit("Ann")).write_csv(data)
    forge(tmp_path / "out")
    assert "types of the columns" in failing(tmp_path / "out")


def test_a_frame_with_a_time_zone_is_profiled_by_days() -> None:
    frame = visits().with_columns(pl.col("left").dt.replace_time_zone("Europe/Berlin"))
    found = {one.name: one for one in sf.profile(frame).columns}["left"]
    assert (found.kind, str(found.suggestion.role)) == ("date", "quasi")
    made = sf.release(frame, quasi=["sex", "left"], models=[sf.models.KAnonymity(k=5)], max_suppressed=0.05)
    assert made.frame.height > 100


# Which shifts remain


def moved_visits(shift: dict[str, Any], folder: Path, **more: Any) -> Any:
    return moved_release(shift, folder, **more)


def literally(shifts: Shifts) -> list[int]:
    """Every shift tried on every date of every person."""
    step, found = (7 if shifts.weeks else 1), []
    for person in range(shifts.people):
        days = [int(day) for day, who in zip(shifts.day, shifts.person, strict=True) if who == person]
        most = shifts.days // step * step
        fits = 0
        for moved in range(-most, most + 1, step):
            true = [date.fromordinal(day - moved) for day in days]
            inside = all(shifts.first <= day.toordinal() <= shifts.last for day in true)
            fits += inside and all(shifts.weekdays[day.weekday()] for day in true)
        found.append(fits)
    return found


@examples(80)
@given(data=st.data())
def test_shifts_that_remain_against_trying_every_one(data: Any) -> None:
    first = data.draw(st.integers(730_000, 730_010))
    people = data.draw(st.integers(1, 4))
    pairs = data.draw(st.lists(st.tuples(st.integers(0, people - 1), st.integers(first - 30, first + 90)), max_size=8))
    shifts = Shifts(
        people=people,
        person=np.array([who for who, _ in pairs], np.int64),
        day=np.array([day for _, day in pairs], np.int64),
        days=data.draw(st.integers(1, 40)),
        weeks=data.draw(st.booleans()),
        first=first,
        last=first + data.draw(st.integers(10, 60)),
        weekdays=np.array(data.draw(st.lists(st.booleans(), min_size=7, max_size=7))),
    )
    assert shifts.possible().tolist() == literally(shifts)


def test_the_true_shift_always_remains_and_the_steward_is_warned(tmp_path: Path) -> None:
    found = measured(moved_visits(PLAIN, tmp_path).shifts)
    assert found["shifts"] == 731
    assert 1 <= found["fewest_shifts"] < 20
    (warning,) = moved_visits(PLAIN, tmp_path).warnings
    assert "of 731 possible shifts" in warning


@pytest.mark.parametrize("name", ["both", "period"])
def test_a_declared_period_reveals_no_shift(tmp_path: Path, name: str) -> None:
    """Whole weeks keep weekdays, and days near the ends are left out: all shifts remain. Weekdays alone still tell."""
    release = moved_visits({"both": BOTH, "period": CUT}[name], tmp_path)
    found = measured(release.shifts)
    if name == "both":
        assert found["fewest_shifts"] == found["shifts"] == 105
        assert release.warnings == []
    every = replace(release.shifts, weekdays=np.ones(7, np.bool_))
    assert (every.possible() == every.every).all(), "the period by itself rules out nothing"
    days = [date.fromisoformat(day) for day in release.frame["seen"].cast(pl.String) if day]
    assert min(days) >= FIRST + timedelta(days=release.shifts.days)
    assert max(days) <= LAST - timedelta(days=release.shifts.days)
    release.write(tmp_path / "out")
    assert sf.verify(tmp_path / "out").holds
    assert sf.verify_again(tmp_path / "out", plan=release.plan, original=example_visits()).holds
    stated = json.loads((tmp_path / "out" / "manifest.json").read_text())["plan"]["columns"]["seen"]["shift"]
    assert stated["period"] == [FIRST.isoformat(), LAST.isoformat()]
    assert "days near the ends of the period are left out" in (tmp_path / "out" / "report.html").read_text()


def test_whole_weeks_keep_weekdays_and_intervals(tmp_path: Path) -> None:
    shift = DateShift(key=SECRET, days=364, by="pid", weeks=True)
    offsets = {shift.offset(f"p{n}") for n in range(4000)}
    assert offsets == set(range(-364, 365, 7))
    days = [date.fromisoformat(day).weekday() for day in moved_visits(WEEKS, tmp_path).frame["seen"].cast(pl.String)]
    assert max(days) < 5


def test_the_attack_is_made_on_moved_dates_and_stays_inside(tmp_path: Path) -> None:
    """Its figures depend on true dates: the bundle says that it was made, the internal report shows them."""
    release = moved_visits(PLAIN, tmp_path, attack={"trials": 300})
    (found,) = [one for one in release.audit.findings if one.attack == "date-shift"]
    assert found.figures["shifts"] == 731
    assert found.rate.value > found.naive.value
    release.write(tmp_path / "out", inside=tmp_path / "inside.html")
    stated = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert "date-shift" in stated["attacks_not_made"]
    assert all(one["attack"] != "date-shift" for one in stated["attacks"])
    public = (tmp_path / "out" / "report.html").read_text()
    assert "median_shifts" not in public
    assert "possible shifts" not in public
    again = sf.attack(tmp_path / "out", example_visits(), plan=release.plan, seed=1)
    assert any(one.attack == "date-shift" for one in again.findings)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"period": ["2014-01-01"]}, "must be the first and last day"),
        ({"period": ["2014-01-01", "2014-12-31"]}, "no date would be left"),
        ({"period": ["2015-01-01", "2014-12-31"]}, "must begin before it ends"),
        ({"weeks": "yes"}, "true or false"),
        ({"weeks": True, "days": 6}, "at least 7"),
        ({"period": ["2014-06-01", "2019-12-31"]}, "is outside shift.period"),
    ],
)
def test_bad_periods(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    with pytest.raises(sf.SfumatoError, match=words):
        moved_visits({**PLAIN, **change}, tmp_path)


def test_the_guide_shows_the_figures_of_the_example(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "guide" / "dates.md").read_text()
    for shift in (PLAIN, WEEKS, CUT, BOTH):
        release = moved_visits(shift, tmp_path)
        found = measured(release.shifts)
        kept = 1 - release.frame["seen"].null_count() / release.frame.height
        line = f"| {found['shifts']:.0f} | {found['median_shifts']:.0f} | {found['fewest_shifts']:.0f} | {kept:.1%} |"
        assert line in guide, line


def test_the_warning_comes_before_the_bundle(tmp_path: Path) -> None:
    release = moved_visits(PLAIN, tmp_path)
    example_visits().write_csv(tmp_path / "visits.csv")
    tree = {**tree_of(release.plan), "input": {"path": "visits.csv", "unit": "patient"}}
    lines = [
        '[input]\npath = "visits.csv"\nunit = "patient"',
        '[columns.patient]\nrole = "identifier"',
        '[columns.sex]\nrole = "quasi"\nhierarchy = { kind = "flat" }',
        '[columns.seen]\nrole = "keep"\ntype = "date"\nshift = { key_file = "secret.key", days = 365 }',
        "[privacy]\nk_anonymity = 5",
        "[attack]\nrun = false",
    ]
    assert set(tree["columns"]) == {"patient", "sex", "seen"}
    (tmp_path / "plan.toml").write_text("\n".join(lines))
    result = CliRunner().invoke(app, ["release", str(tmp_path / "plan.toml"), "-o", str(tmp_path / "out"), "--json"])
    assert result.exit_code == 0, result.output
    assert "of 731 possible shifts" in result.stderr
    assert len(json.loads(result.stdout)["warnings"]) == 1
