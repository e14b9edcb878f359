"""Graded grouping and mapping tables (document 002, errata 10 and 11) are pseudonyms, and this is how they fall."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato.attacks.finding import Outcome
from sfumato.attacks.pseudonyms import Frequencies, KnownPlaintext, interpolated
from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance
from sfumato.tables.graded_grouping import GradedGrouping
from tests.attacks import kit

SEED = Chance(seed=1)


LIMITS, VALUES = tuple(range(15, 91, 15)), tuple(range(1, 6))


def graded(numbers: np.ndarray, limits: tuple[int, ...], values: tuple[int, ...]) -> np.ndarray:
    codes = GradedGrouping(limits=limits, values=values).codes(numbers.astype(int).tolist())
    return np.array(codes, np.float64)


def ages(rows: int = 3000) -> np.ndarray:
    return np.clip(sf.datasets.census(rows, seed=1)["age"].to_numpy().astype(float), 15, 90)


def test_two_known_people_break_equal_categories():
    """With equal widths the whole column lies on one line: two pairs are enough for everybody."""
    found = KnownPlaintext(known=2).against(graded(ages(), LIMITS, VALUES), ages(), Chance(seed=1))
    assert (found.rate.value, found.outcome) == (1.0, Outcome.REFUTED)
    assert found.figures["largest_error"] < 0.1, "codes have three digits"
    assert found.naive.value < 0.2


def test_uneven_categories_fall_with_a_few_more():
    """Categories of uneven widths with values that leave gaps: the more is known, the more is recovered."""
    limits, values = (15, 18, 25, 31, 44, 60, 90), (1, 2, 5, 7, 8, 12)
    rates = []
    for known in (3, 10, 40):
        found = KnownPlaintext(known=known).against(graded(ages(), limits, values), ages(), Chance(seed=3))
        rates.append(found.rate.value)
        assert found.outcome is Outcome.REFUTED
    assert rates == sorted(rates)
    assert rates[-1] > 0.9


def test_pseudonyms_without_order_tell_nothing():
    true = ages()
    drawn = np.random.default_rng(1).permutation(len(true)).astype(float)
    assert KnownPlaintext(known=10).against(drawn, true, Chance(seed=1)).outcome is Outcome.INCONCLUSIVE


def test_lines_by_hand():
    """2.0 is 30 and 4.667 is 70: 25 is read from 1.667, a little beyond the known ones."""
    assert interpolated(np.array([2.0, 4 + 2 / 3]), np.array([30.0, 70.0]), np.array([5 / 3, 3.0])) == pytest.approx(
        [25, 45]
    )
    assert interpolated(np.array([2.0, 2.0]), np.array([30.0, 30.0]), np.array([9.0])).tolist() == [30.0]


def mapped(values: list[str], seed: int) -> list[str]:
    """A mapping table: every value has a random alias."""
    names = sorted(set(values))
    alias = np.random.default_rng(seed).permutation(len(names))
    table = {name: f"Illness_{at}" for name, at in zip(names, alias.tolist(), strict=True)}
    return [table[value] for value in values]


def public(seed: int, column: str, rows: int = 5000) -> dict[str, float]:
    """What a statistics office published about other people."""
    return dict(sf.datasets.census(rows, seed=seed)[column].cast(str).value_counts(normalize=True).iter_rows())


@pytest.mark.parametrize("column", ["education", "marital-status", "occupation"])
def test_mapping_tables_fall_to_public_frequencies(column: str):
    values = sf.datasets.census(3000, seed=1)[column].to_list()
    found = Frequencies().against(mapped(values, 2), values, public(9, column), Chance(seed=1))
    assert found.outcome is Outcome.REFUTED
    assert found.rate.value > found.naive.value + 0.2
    more = Frequencies(known=20).against(mapped(values, 2), values, public(9, column), Chance(seed=1))
    assert more.rate.value > 0.85


def test_equal_frequencies_and_aliases_for_rows_tell_nothing():
    values = [f"v{at % 50}" for at in range(3000)]
    even = {f"v{at}": 1 / 50 for at in range(50)}
    assert Frequencies().against(mapped(values, 1), values, even, Chance(seed=1)).outcome is Outcome.INCONCLUSIVE
    alone = Frequencies().against([str(at) for at in range(3000)], values, even, Chance(seed=1))
    assert alone.outcome is Outcome.INCONCLUSIVE
    assert alone.rate.value == pytest.approx(1 / 3000), "3000 aliases share 50 values by lot: 1 in 60, then 1 in 50"
    few = Frequencies().against(
        mapped(sf.datasets.census(500, seed=1)["education"].to_list(), 1), ["?"] * 500, {"HS-grad": 1}, SEED
    )
    kit.failed_trials_are_no_resistance(few)


def test_repeated_and_refused():
    values = sf.datasets.census(300, seed=1)["race"].to_list()
    shares, aliases = public(2, "race"), mapped(values, 1)
    first, second = (Frequencies(known=2).against(aliases, values, shares, Chance(seed=5)).to_json() for _ in range(2))
    assert first == second
    kit.refuses(Frequencies, known=-1, trials=0)
    kit.refuses(KnownPlaintext, known=1, tolerance=0, trials=0)
    for given_aliases, statistic in ((aliases[1:], shares), (aliases, {})):
        with pytest.raises(ParameterError, match="aliases"):
            Frequencies().against(given_aliases, values, statistic, Chance(seed=1))
    with pytest.raises(ParameterError, match="pseudonyms"):
        KnownPlaintext(known=5).against([1.0] * 5, [1.0] * 5, Chance(seed=1))
