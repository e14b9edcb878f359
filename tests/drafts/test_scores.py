"""Drafts are scored against right answers, and each is really released: on real tables, and on five that are made."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.core.errors import DataError, PlanError
from sfumato.pipeline.profile.draft import draft
from sfumato.pipeline.profile.profile import Profile, profile
from tests.drafts.made_tables import MADE, Right
from tests.drafts.right_answers import REAL, UNDECIDED
from tests.shared_data import shared

LEAST = 0.95
"""The least share of columns whose role and type are both right, in every single table."""


def score(found: Profile, right: Right) -> tuple[float, list[str]]:
    """The share of columns with the right role and type, and what is wrong."""
    assert [one.name for one in found.columns] == sorted(right, key=[c.name for c in found.columns].index)
    wrong = [
        f"{one.name}: {one.suggestion.role} {one.kind}"
        for one in found.columns
        if str(one.suggestion.role) not in right[one.name][0].split("|")
        or (str(one.suggestion.role) != "drop" and one.kind not in right[one.name][1].split("|"))
    ]
    return 1 - len(wrong) / len(right), wrong


def released(found: Profile, folder: Path, path: Path, reading: dict[str, object]) -> sf.Release:
    """What the draft becomes without an edit, written and verified."""
    (folder / "plan.toml").write_text(draft(found, path=str(path), reading=reading))
    made = sf.release(sf.Plan.load(folder / "plan.toml", ["attack.run=false"]))
    assert made.write(folder / "out").holds
    return made


def nothing_rare_is_published(found: Profile) -> None:
    assert not [one.name for one in found.columns if one.near_unique is not None]
    named = [one for one in found.columns if str(one.suggestion.role) == "target"]
    assert not [one.name for one in named if one.name.lower() in ("income", "salary", "salaire", "stipendio")]


@pytest.mark.parametrize("name", [name for name in REAL if name not in UNDECIDED])
def test_the_draft_of_a_real_table_is_right_and_releases(name: str, tmp_path: Path) -> None:
    where, reading, right = REAL[name]
    path = shared(*where.split("/"))
    if path.suffix == ".data":
        path = Path(shutil.copy(path, tmp_path / f"{path.stem}.csv"))
    found = profile(path, reading=reading)
    reached, wrong = score(found, right)
    assert reached >= LEAST, wrong
    nothing_rare_is_published(found)
    made = released(found, tmp_path, path, reading)
    assert made.frame.height >= 0.9 * found.rows  # type: ignore[attr-defined]


def test_testdata_keeps_most_of_its_columns() -> None:
    """Codes of few values are categories: only identifiers, weights and the rarest numbers are left out."""
    found = profile(shared("sdcmicro", "testdata.csv"))
    kept = [one.name for one in found.columns if str(one.suggestion.role) == "quasi"]
    assert len(kept) == 10
    assert {"urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age", "hhcivil"} <= set(kept)


@pytest.mark.parametrize("name", UNDECIDED)
def test_a_draft_says_what_only_a_person_can_decide(name: str, tmp_path: Path) -> None:
    where, reading, right = REAL[name]
    path = shared(*where.split("/"))
    found = profile(path, reading=reading)
    reached, wrong = score(found, right)
    assert reached >= 0.8, wrong
    (tmp_path / "plan.toml").write_text(draft(found, path=str(path)))
    assert "# No column has the role quasi: decide what others may know" in (tmp_path / "plan.toml").read_text()
    with pytest.raises(PlanError, match="needs a column with role 'quasi'"):
        sf.Plan.load(tmp_path / "plan.toml")


def test_baskets_are_refused_with_what_would_do_and_then_released(tmp_path: Path) -> None:
    path = shared("sets", "groceries.csv")
    with pytest.raises(DataError, match=r"write them into one column, split by \|, under a header such as items"):
        profile(path)
    lines = path.read_text().splitlines()[:600]
    (tmp_path / "sets.csv").write_text("items\n" + "\n".join(line.replace(",", "|") for line in lines) + "\n")
    found = profile(tmp_path / "sets.csv")
    assert [(one.kind, str(one.suggestion.role)) for one in found.columns] == [("set", "quasi")]
    released(found, tmp_path, tmp_path / "sets.csv", {})


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_draft_of_a_made_table_is_right_and_releases(name: str, suffix: str, tmp_path: Path) -> None:
    frame, right = MADE[name]()
    path = tmp_path / f"in.{suffix}"
    frame.write_csv(path) if suffix == "csv" else frame.write_parquet(path)
    found = profile(path)
    reached, wrong = score(found, right)
    assert reached == 1, wrong
    nothing_rare_is_published(found)
    released(found, tmp_path, path, {})


@pytest.mark.parametrize("name", MADE)
def test_a_frame_is_profiled_like_its_file(name: str) -> None:
    frame, right = MADE[name]()
    reached, wrong = score(profile(frame.to_pandas()), right)
    assert reached == 1, wrong
