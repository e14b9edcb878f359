"""Members are told from others where the release was made from their rows, and not where it was made from the kind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.attacks import membership
from sfumato.attacks.finding import Outcome
from sfumato.attacks.membership import Membership, auc
from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance
from tests.attacks import kit


def test_the_raw_table_gives_its_members_away():
    found = kit.passes(Membership(), kit.census_subject(1500))
    assert found.figures["auc"] > 0.9
    assert found.rate.value > 0.85
    assert found.naive.value == 0.5


def test_rows_of_other_people_give_nobody_away():
    """Synthetic rows that were drawn from the same kind of people, without looking at anybody."""
    people = sf.datasets.census(1500, seed=1)
    subject = kit.released_subject(
        sf.datasets.census(1500, seed=77), people, kit.QUASI, ("income",), control=sf.datasets.census(1500, seed=1001)
    )
    found = Membership().run(subject, Chance(seed=1))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.figures["auc"] == pytest.approx(0.5, abs=0.06)


def test_synthetic_rows_that_copy_people_give_them_away():
    """Every row is a member's with one cell changed: no row is real, and yet all are."""
    people = sf.datasets.census(1500, seed=1)
    draw = np.random.default_rng(1)
    order = draw.permutation(1500)
    copied = people.with_columns(pl.Series("age", people["age"].to_numpy()[order]))
    control = sf.datasets.census(1500, seed=1001)
    subject = kit.released_subject(copied, people, kit.QUASI, ("income",), control=control)
    found = Membership().run(subject, Chance(seed=1))
    assert found.outcome is Outcome.REFUTED
    whole = Membership(whole_record=True).run(subject, Chance(seed=1))
    assert whole.figures["auc"] > 0.7


def test_noisy_counts_hide_members():
    """A table of noisy counts over three columns, written as rows: epsilon 1/2."""
    names = ("education", "marital-status", "sex")
    people, control = (sf.datasets.census(3000, seed=seed).select(*names, "income") for seed in (1, 1001))
    domain = [sorted(people[name].unique()) for name in names]
    cells = pl.DataFrame({"education": domain[0]}).join(pl.DataFrame({"marital-status": domain[1]}), how="cross")
    cells = cells.join(pl.DataFrame({"sex": domain[2]}), how="cross")
    true = cells.join(people.group_by(names).len(), on=names, how="left", maintain_order="left")["len"].fill_null(0)
    draw = np.random.default_rng(3)
    noise = draw.geometric(1 - np.exp(-0.5), true.len()) - draw.geometric(1 - np.exp(-0.5), true.len())
    counts = np.maximum(true.to_numpy().astype(np.int64) + noise, 0)
    release = cells[np.repeat(np.arange(cells.height), counts)].with_columns(income=pl.lit(">50K"))
    subject = kit.released_subject(release, people, names, ("income",), control=control)
    found = Membership().run(subject, Chance(seed=1))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.figures["auc"] == pytest.approx(0.5, abs=0.06)


def test_distances_by_hand():
    """Released: ages 20 and 40, sexes f and m. A member of 20 f is at 0; 30 f is beside by half of the range."""
    people = pl.DataFrame({"age": ["20", "40"], "sex": ["f", "m"]})
    control = pl.DataFrame({"age": ["30", "40"], "sex": ["f", "f"]})
    subject = kit.raw_subject(people, ("age", "sex"), control=control)
    found = Membership(trials=4).run(subject, Chance(seed=1))
    assert found.figures["distance_of_members"] == 0
    assert found.figures["distance_of_others"] == pytest.approx(((1 + 0.5) / 2 / 2 + 1 / 2) / 2)
    assert auc(np.array([1.0]), np.array([])) == 0.5


@pytest.mark.parametrize("many", [1, 5000])
def test_the_smallest_sum_is_the_smallest_sum(many: int, monkeypatch: pytest.MonkeyPatch):
    """With and without leaving out what is far halfway: the sums of all rows, one by one, to the last bit."""
    monkeypatch.setattr(membership, "_MANY", many)
    monkeypatch.setattr(membership, "_BLOCK", 30)
    draw = np.random.default_rng(4)
    for columns in (1, 2, 5):
        apart = [draw.random(30).astype(np.float32) for _ in range(columns)]
        kept = draw.integers(0, 30, (columns, 400))
        sums = [np.float32(0)] * 400
        for each, released in zip(apart, kept, strict=True):
            sums = [np.float32(one + each[code]) for one, code in zip(sums, released, strict=True)]
        assert membership._least(apart, kept) == min(sums)


def test_the_kit():
    subject = kit.census_subject(300)
    kit.refuses(Membership, trials=2, rows=0)
    assert "no control" in Membership().fits(replace(subject, control=None))
    assert "published apart" in Membership(whole_record=True).fits(replace(subject, groups=pl.DataFrame()))
    with pytest.raises(ParameterError, match="no control"):
        Membership().run(replace(subject, control=None), Chance(seed=1))
    some = Membership(rows=50).run(subject, Chance(seed=1))
    assert some.figures["distance_of_members"] > 0
    few = Membership(trials=8).run(subject, Chance(seed=1))
    assert few.outcome is Outcome.INCONCLUSIVE
