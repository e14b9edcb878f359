"""The deFinetti attack beats 1/l where columns go together, and is no better than reading groups where they do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.attacks.candidates import Shown
from sfumato.attacks.definetti import DeFinetti, assign, learn
from sfumato.attacks.finding import Outcome
from sfumato.attacks.learners import Entries
from sfumato.attacks.subject import Coverage, Subject
from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance
from tests.attacks import kit

COLUMNS = tuple("abcdef")
CENSUS = ("age", "workclass", "education", "marital-status", "relationship", "sex", "hours-per-week", "income")


def made(rows: int, seed: int, *, together: bool) -> pl.DataFrame:
    """Six columns and an illness, which goes with them or does not."""
    draw = np.random.default_rng(seed)
    ill = draw.integers(6, size=rows)
    columns = {}
    for name in COLUMNS:
        other = draw.integers(6, size=rows)
        columns[name] = np.where(draw.random(rows) < 0.5, ill, other) if together else other
    return kit.texts(pl.DataFrame({**columns, "ill": ill}))


def bucketized(people: pl.DataFrame, column: str, l: int, quasi: Sequence[str], seed: int = 1) -> Subject:
    """Published by the Anatomy of this library."""
    flat = {"role": "quasi", "hierarchy": {"kind": "flat"}}
    plan = {
        "columns": {**dict.fromkeys(quasi, flat), column: {"role": "sensitive"}},
        "privacy": {"l_diversity": {"kind": "simple", "l": l}},
        "algorithm": {"name": "anatomy", "seed": seed},
        "attack": {"run": False},
    }
    release = sf.release(sf.Plan.parse(plan), people.select([*quasi, column]))
    assert release.sensitive is not None
    return kit.released_subject(
        release.rows,
        people,
        quasi,
        (column,),
        claims=tuple((claim.model, claim.parameters) for claim in release.claims),
        groups=release.sensitive,
        group="group",
    )


def test_columns_that_go_together_are_learned_across_groups():
    subject = bucketized(made(3000, 1, together=True), "ill", 3, COLUMNS)
    found = DeFinetti().run(subject, Chance(seed=1), kit.limit_of(subject, "ill", 6))
    assert found.outcome is Outcome.REFUTED
    assert found.limit is not None
    assert found.limit.value == pytest.approx(1 / 3)
    assert found.rate.value > 0.7
    assert found.figures["by_group"] < 0.36


def test_independent_columns_tell_nothing():
    subject = bucketized(made(3000, 1, together=False), "ill", 3, COLUMNS)
    for limit in (None, kit.limit_of(subject, "ill", 6)):
        found = DeFinetti().run(subject, Chance(seed=1), limit)
        assert found.outcome is Outcome.INCONCLUSIVE
        assert found.rate.value == pytest.approx(found.figures["by_group"], abs=0.05)


@pytest.mark.parametrize("l", [2, 3])
def test_the_census_by_anatomy(l: int):
    table = sf.datasets.census(4000, seed=1).select([*CENSUS, "occupation"])
    others = kit.texts(sf.datasets.census(2000, seed=9).select(table.columns))
    subject = replace(bucketized(table, "occupation", l, CENSUS), control=others)
    found = DeFinetti().run(subject, Chance(seed=1), kit.limit_of(subject, "occupation", 14))
    assert found.outcome is Outcome.REFUTED
    assert found.control is not None
    assert found.rate.low > max(1 / l, found.control.high), "more than statistics about everybody would tell"


def test_generalized_tables_are_learned_from_with_a_register():
    """Classes of people whose columns were hidden altogether: groups of six, drawn at random."""
    people = made(3000, 3, together=True)
    group = np.random.default_rng(2).permutation(3000) // 6
    people = people.with_columns(place=pl.Series(group).cast(pl.String))
    release = people.with_columns(pl.lit("*").alias(name) for name in COLUMNS)
    subject = kit.released_subject(release, people, ("place", *COLUMNS), ("ill",))
    found = DeFinetti(smoothing=0.5).run(subject, Chance(seed=1))
    assert found.outcome is Outcome.REFUTED
    assert found.rate.value > found.figures["by_group"] + 0.2


def hand() -> tuple[Shown, np.ndarray, np.ndarray]:
    """docs/attacks/minimality.md: a smoker and another with cancer and flu; two others with flu and a fracture."""
    counts = np.array([[1, 1, 0], [0, 1, 1]])
    unit = np.array([0, 0, 1, 1])
    return Shown(counts=counts, values=("cancer", "flu", "fracture"), unit=unit), np.array([[1, 0, 0, 0]]), unit


def test_the_example_of_the_docs_by_hand():
    """P(smoker | cancer) = 1/2 and P(smoker | flu) = 1/4: odds of 3 for the pair, their root for one row."""
    found, smokes, unit = hand()
    learned = learn(found, smokes, unit, (2,), rounds=0, smoothing=1e-9)
    assert np.exp(learned.tables[0])[:2, 1] == pytest.approx([1 / 2, 1 / 4])
    pairs = Entries.of(found, unit)
    weight = assign(learned, pairs, smokes)
    cancer = weight[(pairs.row == 0) & (pairs.value == 0)]
    assert cancer == pytest.approx([3**0.5 / (1 + 3**0.5)], abs=1e-3)
    later = learn(found, smokes, unit, (2,), rounds=20, smoothing=1e-9)
    assert assign(later, pairs, smokes)[(pairs.row == 0) & (pairs.value == 0)] == pytest.approx([1], abs=0.01)


def test_assignments_keep_to_the_groups():
    draw = np.random.default_rng(1)
    counts = draw.integers(0, 4, (20, 5))
    unit = np.repeat(np.arange(20), counts.sum(axis=1))
    found = Shown(counts=counts, values=tuple("vwxyz"), unit=unit)
    features = draw.integers(0, 3, (2, len(unit)))
    pairs = Entries.of(found, unit)
    weight = assign(learn(found, features, unit, (3, 3), rounds=3, smoothing=1.0), pairs, features)
    table = np.zeros((20, 5))
    np.add.at(table, (unit[pairs.row], pairs.value), weight)
    assert table == pytest.approx(counts, abs=0.05)
    assert np.bincount(pairs.row, weight) == pytest.approx(np.ones(len(unit)))


def test_the_kit():
    people = made(1500, 1, together=True)
    subject = bucketized(people, "ill", 3, COLUMNS)
    attack = DeFinetti(rounds=10)
    kit.works_on_the_raw_table(attack, subject)
    kit.learns_nothing_without_the_release(attack, subject)
    kit.repeats_under_a_seed(attack, subject)
    kit.refuses(DeFinetti, trials=0, rounds=-1, rows=0, smoothing=0)
    strangers = people.with_columns(pl.lit("9").alias(name) for name in COLUMNS)
    lost = DeFinetti().run(replace(subject, people=strangers), Chance(seed=1))
    kit.failed_trials_are_no_resistance(lost)
    assert (lost.rate.failed, lost.outcome) == (lost.rate.trials, Outcome.NOT_TRIED)
    assert "no sensitive" in attack.fits(replace(subject, sensitive=()))
    with pytest.raises(ParameterError, match="no rows"):
        attack.run(replace(subject, release=subject.release[:0]), Chance(seed=1))
    with pytest.raises(ParameterError, match="published apart"):
        DeFinetti(column="a").run(subject, Chance(seed=1))


def test_many_numbers_are_read_in_bins_and_learning_can_be_limited():
    draw = np.random.default_rng(1)
    ill = draw.integers(4, size=2000)
    pay = (ill * 1000 + draw.integers(1000, size=2000)).astype(str)
    subject = bucketized(pl.DataFrame({"pay": pay, "ill": ill.astype(str)}), "ill", 2, ["pay"])
    subject = replace(subject, numeric=frozenset({"pay"}))
    assert DeFinetti().run(subject, Chance(seed=1)).rate.value > 0.9
    assert DeFinetti(rows=300).run(subject, Chance(seed=1)).rate.value > 0.8
    assert isinstance(subject.coverage["pay"], Coverage)
