"""What a release says about everybody tells who of a group has which value; where columns say nothing, it does not."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attacks.candidates import Shown
from sfumato.attacks.finding import Outcome
from sfumato.attacks.foreground import Foreground, balanced, given_total, mined
from sfumato.attacks.learners import Entries
from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance
from sfumato.pipeline.attack import limit_of
from tests.attacks import kit
from tests.attacks.test_definetti import COLUMNS, bucketized, made
from tests.weights import examples


@examples(80)
@given(chances=st.lists(st.floats(0.01, 0.99), min_size=1, max_size=6), data=st.data())
def test_worlds_are_weighed_as_by_trying_all(chances: list[float], data: st.DataObject):
    """Every choice of who has the value, weighted by the product of chances."""
    total = data.draw(st.integers(0, len(chances)))
    weights = np.zeros(len(chances))
    everything = 0.0
    for chosen in combinations(range(len(chances)), total):
        has = np.isin(np.arange(len(chances)), chosen)
        weight = np.where(has, chances, 1 - np.array(chances)).prod()
        weights[has] += weight
        everything += weight
    assert given_total(np.array([chances]), total)[0] == pytest.approx(weights / everything)


def test_large_groups_come_to_the_same_by_balance():
    chances = np.random.default_rng(1).uniform(0.01, 0.99, 80)
    exact = given_total(chances[None], 30)[0]
    found = balanced(chances, np.zeros(80, np.int64), np.array([30.0]))
    assert found == pytest.approx(exact, abs=0.01)
    assert found.sum() == pytest.approx(30)


def test_the_example_of_the_docs_by_hand():
    """docs/attacks/minimality.md: one group of Americans and one of Japanese tell; the mixed pair is weighed by it."""
    counts = np.array([[400, 600], [10, 990], [1, 1]])
    unit = np.repeat([0, 1, 2], [1000, 1000, 2])
    japanese = np.array([[0] * 1000 + [1] * 1000 + [0, 1]])
    found = Shown(counts=counts, values=("heart", "other"), unit=unit)
    learned = mined(found, japanese, unit, (2,))
    assert learned.chances[:, 0] == pytest.approx([0.4, 0.01], abs=0.02)
    pairs = Entries.of(found, unit)
    weight = learned.assign(pairs, japanese)
    american, other = learned.chances[:, 0]
    expected = american * (1 - other) / (american * (1 - other) + other * (1 - american))
    assert weight[(pairs.row == 2000) & (pairs.value == 0)] == pytest.approx([expected])
    assert expected > 0.95


def test_least_squares_find_what_averages_blur():
    """Every group is mixed; the share of a column's value in a group tells what the groups' shares blur."""
    draw = np.random.default_rng(2)
    unit = np.repeat(np.arange(2000), 4)
    smokes = draw.integers(2, size=8000)
    ill = draw.random(8000) < np.where(smokes == 1, 0.7, 0.1)
    counts = np.stack([np.bincount(unit, ill), np.bincount(unit, ~ill)], axis=1).astype(np.int64)
    learned = mined(Shown(counts=counts, values=("ill", "well"), unit=unit), smokes[None], unit, (2,))
    assert learned.chances[:, 0] == pytest.approx([0.1, 0.7], abs=0.03)
    mute = mined(Shown(counts=counts, values=("ill", "well"), unit=unit), draw.integers(2, size=(1, 8000)), unit, (2,))
    assert learned.telling > 10 * abs(mute.telling)


def test_two_columns_are_read_together_where_one_alone_is_mute():
    """Ill are those for whom exactly one of two columns is 1: neither tells alone."""
    draw = np.random.default_rng(3)
    features = draw.integers(2, size=(3, 9000))
    ill = features[0] != features[1]
    unit = np.repeat(np.arange(3000), 3)
    counts = np.stack([np.bincount(unit, ill), np.bincount(unit, ~ill)], axis=1).astype(np.int64)
    learned = mined(Shown(counts=counts, values=("ill", "well"), unit=unit), features, unit, (2, 2, 2))
    assert learned.columns == (0, 1)
    assert learned.chances[:, 0] == pytest.approx([0, 1, 1, 0], abs=0.05)


def test_a_diverse_release_is_refuted():
    subject = bucketized(made(3000, 1, together=True), "ill", 3, COLUMNS)
    limit = limit_of(Foreground(), subject, "ill")
    assert limit is not None
    assert limit.value == pytest.approx(1 / 3)
    found = Foreground().run(subject, Chance(seed=1), limit)
    assert found.outcome is Outcome.REFUTED
    assert found.rate.value > 0.7


def test_independent_columns_tell_nothing():
    """Twelve honest releases at the very bound: 1 in 2,000 of them would be refuted by chance."""
    for seed in range(12):
        subject = bucketized(made(600, seed, together=False), "ill", 3, COLUMNS, seed)
        found = Foreground().run(subject, Chance(seed=seed), limit_of(Foreground(), subject, "ill"))
        assert found.outcome is Outcome.INCONCLUSIVE


def test_bets_on_one_value_only():
    """(alpha, k)-anonymity of one value: bets are made on it alone, and people without a bet are no trials."""
    subject = bucketized(made(3000, 1, together=True), "ill", 3, COLUMNS)
    claim = ("alpha-k-anonymity", {"alpha": 0.4, "k": 2, "column": "ill", "values": ("0",)})
    subject = replace(subject, claims=(claim,))
    forms = dict(Foreground().variants(subject))
    assert [*forms] == ["", " for '0'"]
    assert limit_of(forms[""], subject, "ill") is None
    limit = limit_of(forms[" for '0'"], subject, "ill")
    found = forms[" for '0'"].run(subject, Chance(seed=1), limit)
    assert found.limit is not None
    assert found.limit.value == 0.4
    assert found.rate.trials < 1000
    assert found.outcome is Outcome.REFUTED
    never = replace(forms[" for '0'"], values=("9",)).run(subject, Chance(seed=1), limit)
    assert (never.rate.failed, never.outcome) == (never.rate.trials, Outcome.NOT_TRIED)


def test_generalized_tables_are_weighed_with_a_register():
    people = made(3000, 3, together=True)
    group = np.random.default_rng(2).permutation(3000) // 6
    people = people.with_columns(place=pl.Series(group).cast(pl.String))
    release = people.with_columns(pl.lit("*").alias(name) for name in COLUMNS)
    subject = kit.released_subject(release, people, ("place", *COLUMNS), ("ill",))
    found = Foreground().run(subject, Chance(seed=1))
    assert found.outcome is Outcome.REFUTED
    assert found.rate.value > found.figures["by_group"] + 0.1
    some = Foreground(rows=600).run(subject, Chance(seed=1))
    assert some.rate.value > some.figures["by_group"], "large tables are learned from in part"


def test_the_kit():
    people = made(1500, 1, together=True)
    subject = bucketized(people, "ill", 3, COLUMNS)
    attack = Foreground()
    kit.works_on_the_raw_table(attack, subject)
    kit.learns_nothing_without_the_release(attack, subject)
    kit.repeats_under_a_seed(attack, subject)
    kit.refuses(Foreground, trials=0, rows=0)
    strangers = people.with_columns(pl.lit("9").alias(name) for name in COLUMNS)
    kit.failed_trials_are_no_resistance(attack.run(replace(subject, people=strangers), Chance(seed=1)))
    controlled = attack.run(replace(subject, control=made(500, 9, together=True)), Chance(seed=1))
    assert controlled.control is not None
    assert controlled.control.trials == 500
    assert "no sensitive" in attack.fits(replace(subject, sensitive=()))
    with pytest.raises(ParameterError, match="no rows"):
        attack.run(replace(subject, release=subject.release[:0]), Chance(seed=1))


def test_columns_of_names_are_not_read():
    """A column with a value for everybody says nothing about anybody; nothing but the groups is left."""
    unit = np.repeat(np.arange(600), 2)
    counts = np.tile([1, 1], (600, 1))
    found = Shown(counts=counts, values=("ill", "well"), unit=unit)
    learned = mined(found, np.arange(1200)[None], unit, (1200,))
    assert learned.columns == ()
    assert learned.assign(Entries.of(found, unit), np.arange(1200)[None]) == pytest.approx(np.full(2400, 0.5))
