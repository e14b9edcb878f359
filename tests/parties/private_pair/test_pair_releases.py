"""Releases of two parties: equal at both, equal to one party's with the same randomness, paid for to the last part."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.algorithms.diffgen import DiffGen
from sfumato.algorithms.private_table import NoisyTable, PrivateTable
from sfumato.core.errors import DataError, ParameterError, SessionError
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.dp.accounting import epsilon_of
from sfumato.parties.diffgen import two_parties
from sfumato.parties.diffgen.pair import SHARED, WHOLE, CountNoise, get_ready
from sfumato.parties.diffgen.two_parties import run_horizontal_pair, run_vertical_pair, told_choice
from sfumato.parties.simulation import in_threads, together
from tests.algorithms.diffgen_tables import G7, JOB, JOBS, of_numbers, of_tree, private, table_of
from tests.parties.private_pair.plainly import held
from tests.parties.private_pair.seeded import alone, dealt, horizontally, vertically

assert dealt
pytestmark = pytest.mark.usefixtures("dealt")


def people(count: int, seed: int, classes: int = 2) -> PrivateTable:
    """Rows of two jobs and an age of few cells, whose class goes with the first job."""
    dice = Chance(seed=seed).generator()
    jobs, others, ages = (dice.integers(0, n, count) for n in (4, 4, 9))
    kinds = np.where(dice.random(count) < 0.8, jobs % classes, dice.integers(0, classes, count))
    columns = [
        of_tree("job", JOBS, JOB, [JOB[one] for one in jobs]),
        of_numbers("age", 0, 8, 1, ages.tolist()),
        of_tree("other", JOBS, JOB, [JOB[one] for one in others]),
    ]
    return table_of(columns, "NYZ"[:classes], kinds.tolist(), "class")


def parted(count: int, seed: int, classes: int = 2) -> tuple[PrivateTable, list[PrivateTable]]:
    """A table, and its rows at two parties."""
    whole = people(count, seed, classes)
    rows, cut = whole.counts, count // 3

    def part(some: slice) -> PrivateTable:
        columns = tuple(replace(one, codes=one.codes[some]) for one in rows.columns)
        return replace(whole, counts=type(rows)(columns=columns, counted={"class": rows.counted["class"][some]}))

    return whole, [part(slice(cut)), part(slice(cut, None))]


def same(one: NoisyTable, other: NoisyTable) -> None:
    assert one.labels == other.labels
    assert one.keys.tolist() == other.keys.tolist()
    assert one.counts.tolist() == other.counts.tolist()
    assert (one.steps, one.event, dict(one.effort)) == (other.steps, other.event, dict(other.effort))
    for mine, theirs in zip(one.errors, other.errors, strict=True):
        assert mine.deviation.tolist() == theirs.deviation.tolist()


OPTIONS: tuple[dict[str, Any], ...] = (
    {"epsilon": 1, "specializations": 3},
    {"epsilon": 2, "specializations": 2, "consistent": False},
    {"epsilon": 4, "specializations": 3, "inner": "1/3"},
)


@pytest.mark.parametrize("options", OPTIONS[1:])
def test_horizontal_releases_equal_the_single_party_one(options: dict[str, Any]):
    """With the same random bits in every choice and the same noise in every count."""
    asked, (whole, parts) = DiffGen(score="max", **options), parted(40, 3)
    made = horizontally(asked, parts)
    same(made[0], made[1])
    same(made[0], alone(asked, whole, together=lambda what: True))
    assert epsilon_of(made[0].event) == asked.epsilon


def test_three_classes_and_an_automatic_number_of_specializations():
    asked, (whole, parts) = DiffGen(score="max", epsilon=60), parted(60, 4, 3)
    made = horizontally(asked, parts)
    same(made[0], made[1])
    same(made[0], alone(asked, whole, together=lambda what: True))
    assert len(made[0].steps) > 1


@pytest.mark.parametrize(("options", "owners"), list(zip(OPTIONS, [(0, 1, 1), (1, 1, 0), (1, 0, 0)], strict=True)))
def test_vertical_releases_equal_the_single_party_one(options: dict[str, Any], owners: tuple[int, ...]):
    asked, whole = DiffGen(score="max", **options), people(40, 5)
    made = vertically(asked, whole, owners)
    same(made[0], made[1])
    same(made[0], alone(asked, whole, together=lambda what: what == "which value"))
    assert epsilon_of(made[0].event) == asked.epsilon


def test_a_party_may_have_all_candidates():
    """Then it chooses alone, and tells."""
    asked, whole = DiffGen(score="max", epsilon=1, specializations=2), people(30, 6)
    made = vertically(asked, whole, (1, 1, 1))
    same(made[0], made[1])
    same(made[0], alone(asked, whole, together=lambda what: False))


NONE = CountNoise(name="none", draw=lambda shape, epsilon, parties: np.zeros(shape, np.int64), whole=True)


def release(run: Any, asked: DiffGen, sides: Any, noise: CountNoise = WHOLE) -> list[NoisyTable]:
    return in_threads([lambda talk, own=own: run(talk, asked, own, Work(), noise=noise) for own in sides])


def test_counts_without_noise_are_those_of_the_whole_table():
    asked, (whole, parts) = DiffGen(score="max", epsilon=1, specializations=1, consistent=False), parted(50, 7)
    owners = (0, 0, 1)
    for run, sides in (
        (run_horizontal_pair, parts),
        (run_vertical_pair, [held(whole, owners, me) for me in (0, 1)]),
    ):
        for made in release(run, asked, sides, NONE):
            assert made.counts.sum(axis=0).tolist() == np.bincount(whole.counts.counted["class"]).tolist()


@pytest.mark.parametrize("noise", [WHOLE, SHARED])
def test_real_noise_gives_both_the_same_release(noise: CountNoise):
    asked, (whole, parts) = DiffGen(score="max", epsilon=2, specializations=1), parted(50, 8)
    for run, sides in (
        (run_horizontal_pair, parts),
        (run_vertical_pair, [held(whole, (0, 1, 0), me) for me in (0, 1)]),
    ):
        made = release(run, asked, sides, noise)
        same(made[0], made[1])
        assert made[0].effort.get("noises in a count", 1) == noise.noises(2)


def test_shared_noise_promises_less_against_the_other_party():
    half = Fraction(1, 2)
    assert WHOLE.against_party(half) == half
    assert half < SHARED.against_party(half) < 3 * half
    assert (WHOLE.noises(2), SHARED.noises(2)) == (2, 1)


def test_too_many_groups_are_no_candidates(monkeypatch: pytest.MonkeyPatch):
    """What a vertical release may become is public: it does not depend on how many people there are."""
    monkeypatch.setattr(two_parties, "MOST_GROUPS", 3)
    asked, whole = DiffGen(score="max", epsilon=1, specializations=5), people(20, 9)
    assert release(run_vertical_pair, asked, [held(whole, (0, 1, 1), me) for me in (0, 1)])[0].counts.shape[0] <= 3


# Refusals.


def refused(asked: DiffGen, table: PrivateTable, error: type[Exception] = ParameterError) -> str:
    with pytest.raises(error) as found:
        release(run_horizontal_pair, asked, [table, table])
    return str(found.value)


def test_what_circuits_cannot_do_is_refused():
    table = people(5, 1)
    assert 'must be "max"' in refused(DiffGen(epsilon=1), table)
    assert "not a rho" in refused(DiffGen(rho=1, score="max"), table)
    assert "'codes' has sets" in refused(DiffGen(epsilon=1, score="max"), private(G7))
    assert "at least 1e-05" in refused(DiffGen(epsilon="1/10000", score="max", specializations=9), table)


def test_three_parties_are_refused():
    with pytest.raises(ParameterError, match="two parties are needed, not 3"):
        in_threads([get_ready] * 3)


def test_columns_that_do_not_fit_are_refused():
    whole, asked = people(6, 2), DiffGen(epsilon=1, score="max")
    mine = held(whole, (0, 1, 1), 0)
    with pytest.raises(ParameterError, match="'age' is the other party's"):
        release(run_vertical_pair, asked, [replace(mine, codes={**mine.codes, 1: mine.codes[0]}), mine])
    with pytest.raises(ParameterError, match="'job' is missing"):
        release(run_vertical_pair, asked, [replace(mine, codes={}), held(whole, (0, 1, 1), 1)])
    with pytest.raises(ParameterError, match="owners must say"):
        held(whole, (0, 1), 0)
    with pytest.raises(DataError, match="'job' has 5 values of 6"):
        replace(mine, codes={0: mine.codes[0][:5]})


def test_other_classes_end_the_session():
    whole, other = people(6, 2), people(6, 3)
    sides = [held(whole, (0, 1, 1), 0), held(other, (0, 1, 1), 1)]
    with pytest.raises(SessionError, match="not have the same values of 'class'"):
        release(run_vertical_pair, DiffGen(epsilon=1, score="max"), sides)


def test_a_choice_that_is_none_ends_the_session():
    with pytest.raises(SessionError, match="number 7 of 3"):
        together([told_choice(1, 7, 3), told_choice(0, None, 3)])
