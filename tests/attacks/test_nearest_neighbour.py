"""Membership by the nearest synthetic row: sure on copies, blind on rows of others, and stronger for smaller groups."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.attacks.membership import NearestNeighbour
from sfumato.attacks.subject import Coverage, Subject
from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from tests.shared_data import shared


def people(rows: int, seed: int) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    size = draw.normal(170, 10, rows)
    return pl.DataFrame(
        {
            "size": size.round(3),
            "weight": (size - 100 + draw.normal(0, 8, rows)).round(3),
            "town": draw.choice(list("abcd"), rows),
        }
    ).cast(pl.String)


def subject(release: pl.DataFrame, members: pl.DataFrame, control: pl.DataFrame | None, **more: bool) -> Subject:
    values = {name: tuple(pl.concat([release[name], members[name]]).unique().sort()) for name in release.columns}
    return Subject(
        release=release,
        quasi=tuple(release.columns),
        sensitive=(),
        coverage={name: Coverage.plain(held) for name, held in values.items()},
        people=members,
        control=control,
        numeric=frozenset(("size", "weight")),
        synthetic=more.get("synthetic", True),
    )


def test_copies_are_told_and_rows_of_others_are_not():
    """False-alarm rate: an AUC of 300 against 300 strangers is beyond 0.5 by 0.12 in fewer than 1 of 100,000 cases."""
    members, others, third = people(300, 1), people(300, 2), people(300, 3)
    sure = NearestNeighbour().run(subject(members, members, others), Chance(seed=1))
    assert sure.figures["auc"] > 0.99
    assert sure.rate.hits == sure.rate.trials
    blind = NearestNeighbour().run(subject(third, members, others), Chance(seed=1))
    assert abs(blind.figures["auc"] - 0.5) < 0.12


def test_the_same_distances_as_a_literal_search():
    """The nearest row by hand: numbers in deviations of the release, a different word counts one."""
    members, others, release = people(12, 1), people(12, 2), people(9, 3)
    found = NearestNeighbour().run(subject(release, members, others), Chance(seed=1))
    spread = {name: float(release[name].cast(pl.Float64).std(ddof=0)) for name in ("size", "weight")}

    def near(person: tuple[str, str, str]) -> float:
        return min(
            sum(((float(person[i]) - float(row[i])) / spread[name]) ** 2 for i, name in enumerate(("size", "weight")))
            + (person[2] != row[2])
            for row in release.iter_rows()
        )

    inside, outside = ([near(one) for one in frame.iter_rows()] for frame in (members, others))
    wins = sum((a < b) + (a == b) / 2 for a in inside for b in outside) / len(inside) / len(outside)
    assert found.figures["auc"] == pytest.approx(wins, abs=1e-9)


def test_what_it_cannot_be_made_on():
    members = people(20, 1)
    attack = NearestNeighbour()
    assert "no control file" in attack.fits(subject(members, members, None))
    assert "no synthetic" in attack.fits(subject(members, members, members, synthetic=False))
    with pytest.raises(ParameterError, match="cannot be attacked"):
        attack.run(subject(members, members, None), Chance(seed=1))


def test_small_groups_of_a_real_table_give_members_away(tmp_path):
    """The figures of the page on condensation: 0.80 at k = 3, 0.59 at k = 10; and the warning in both places."""
    frame = pl.read_csv(shared("sdcmicro", "CASCrefmicrodata.csv"))
    found = {}
    for k in (3, 10):
        plan = {
            "columns": {name: {"role": "quasi"} for name in frame.columns if frame[name].dtype.is_numeric()},
            "privacy": {"indistinguishable_groups": k},
            "algorithm": {"name": "condense", "seed": 1},
            "attack": {"trials": 2000},
        }
        heard: list[str] = []
        made = sf.release(sf.Plan.parse(plan), frame, work=Work(notice=heard.append))
        found[k] = next(one for one in made.audit.findings if one.attack == "nearest-neighbour").figures["auc"]
        small = [one for one in (*made.marks, *heard) if "records are small" in one]
        assert len(small) == (2 if k == 3 else 0)
        made.write(tmp_path / str(k))
    assert found[3] == pytest.approx(0.80, abs=0.01)
    assert found[10] == pytest.approx(0.59, abs=0.01)
