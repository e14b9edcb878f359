"""Attacks on answers and counts: exact answers fall, budgets and fresh noise stop what they should stop."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.attacks.finding import Outcome
from sfumato.attacks.noisy_answers import Averaging, Counted, Differencing, EmptyCells
from sfumato.core.errors import DataError, ParameterError, UnknownColumn
from sfumato.core.randomness import Chance
from sfumato.dp.ledger import Ledger
from sfumato.queries import Session
from tests.attacks import kit

KNOWN = ("age", "education", "marital-status", "hours-per-week", "race")


def people(rows: int = 600) -> pl.DataFrame:
    return kit.texts(sf.datasets.census(rows, seed=1).select(*KNOWN, "relationship"))


def session(table: pl.DataFrame, folder: Path, budget: object) -> Session:
    ledger = Ledger.create(folder / "ledger.db", total=budget)
    ledger.grant("eve", budget)
    return Session(table, ledger=ledger, analyst="eve")


def noisy(epsilon: float, seed: int) -> Callable[[int], int]:
    """A count with two-sided geometric noise, drawn anew for every answer."""
    draw = np.random.default_rng(seed)
    return lambda count: count + int(draw.geometric(1 - np.exp(-epsilon)) - draw.geometric(1 - np.exp(-epsilon)))


def test_questions_are_counted_and_written_as_sql():
    table = pl.DataFrame({"age": ["37", "37", "20"], "ill": ["HIV", "flu", "HIV"]})
    asked = Counted(equal={"ill": "HIV"}, but_not={"age": "37"})
    assert asked.counted(table) == 1
    assert Counted().counted(table) == 3
    assert Counted().sql() == ""
    assert Counted(but_not={"age": "37", "ill": "flu"}).counted(table) == 2
    assert Counted(equal={"it's": 'a "b"'}).sql() == '"it\'s" = \'a "b"\''


def test_exact_answers_tell_everything():
    table = people()
    found = Differencing().run(lambda asked: asked.counted(table), table, "relationship", Chance(seed=1))
    assert found.outcome is Outcome.REFUTED
    assert found.rate.hits == found.rate.trials - found.rate.failed, "whoever is alone is found"
    assert found.rate.value > 0.8
    assert found.naive.value < 0.5


def test_a_rule_against_small_counts_does_not_help():
    """Counts below 10 are refused. Both counts are about many people, and differ by one."""
    table = people()

    def answer(asked: Counted) -> int:
        count = asked.counted(table)
        if count < 10:
            raise DataError("too few")
        return count

    assert Differencing().run(answer, table, "relationship", Chance(seed=1)).rate.value > 0.8


def test_noise_of_the_size_of_a_person_stops_it():
    table, noise = people(), noisy(0.1, seed=3)
    found = Differencing().run(lambda asked: noise(asked.counted(table)), table, "relationship", Chance(seed=1))
    assert found.outcome is Outcome.INCONCLUSIVE


def test_a_session_with_a_ledger_stops_differencing(tmp_path: Path):
    table = people(100)
    asked_of = session(table, tmp_path, 1)

    def answer(asked: Counted) -> float:
        return asked_of.count(epsilon="1/20", where=asked.sql()).value

    found = Differencing(trials=30).run(answer, table, "relationship", Chance(seed=1))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.rate.failed >= 27, "20 answers are enough for a person or two"
    kit.failed_trials_are_no_resistance(found)


def test_differencing_is_repeated_and_refuses_nonsense():
    table = people(100)
    exact = lambda asked: asked.counted(table)  # noqa: E731
    first, second = (Differencing().run(exact, table, "relationship", Chance(seed=4)).to_json() for _ in range(2))
    assert first == second
    alike = pl.concat([table, table])
    twice = Differencing().run(lambda asked: asked.counted(alike), alike, "relationship", Chance(seed=1))
    assert twice.rate.failed == twice.rate.trials, "nobody is alone"
    assert twice.outcome is Outcome.NOT_TRIED
    kit.refuses(Differencing, trials=0)
    with pytest.raises(UnknownColumn):
        Differencing().run(exact, table, "ill", Chance(seed=1))
    with pytest.raises(ParameterError, match="more columns"):
        Differencing().run(exact, table.select("race"), "race", Chance(seed=1))


def test_averaging_takes_noise_off():
    """Epsilon 1/2: a single answer is exact one time in four, the mean of 400 always."""
    noise = noisy(0.5, seed=1)
    found = Averaging().run(lambda: noise(57), 57)
    assert found.outcome is Outcome.REFUTED
    assert found.rate.value > 0.95
    assert found.naive.value < 0.45
    assert 5 < found.figures["answers_needed"] < 200
    assert found.figures["deviation_of_an_answer"] == pytest.approx(2.8, abs=0.2)


def test_the_same_noise_for_the_same_question_is_not_averaged_away():
    noise = noisy(0.5, seed=1)
    memory = [noise(57) for _ in range(100)]
    turn = iter(np.repeat(memory, 400).tolist())
    assert Averaging().run(lambda: next(turn), 57).outcome is Outcome.INCONCLUSIVE


def test_a_session_with_a_ledger_stops_averaging(tmp_path: Path):
    table = people(100)
    asked_of = session(table, tmp_path, 1)
    found = Averaging(trials=25).run(lambda: asked_of.count(epsilon="1/20").value, 100)
    assert (found.rate.failed, found.rate.hits, found.figures["answers"]) == (25, 0, 20)
    assert found.outcome is Outcome.NOT_TRIED
    kit.failed_trials_are_no_resistance(found)
    kit.refuses(Averaging, trials=0, repetitions=1)


def counts(cells: int, share: float, seed: int) -> np.ndarray:
    """A table in which few cells have somebody, mostly one."""
    draw = np.random.default_rng(seed)
    return np.where(draw.random(cells) < share, draw.geometric(0.7, cells), 0)


def test_most_positive_cells_of_a_noisy_table_are_empty():
    """20,000 cells, 2 in 100 with somebody, epsilon 1: a third of the empty ones is positive."""
    true, draw = counts(20_000, 0.02, 1), np.random.default_rng(2)
    noise = draw.geometric(1 - np.exp(-1), 20_000) - draw.geometric(1 - np.exp(-1), 20_000)
    found = EmptyCells(trials=10_000).run(true + noise, true, Chance(seed=1), epsilon=1)
    assert found.limit is not None
    assert found.rate.value < found.limit.value
    assert found.outcome is not Outcome.REFUTED
    assert found.figures["empty"] == pytest.approx(0.98, abs=0.01)
    assert found.figures["positive_but_empty"] > 0.9
    assert found.figures["people_where_nobody_is"] > 5 * found.figures["people"]
    tail = np.exp(-1) / (1 + np.exp(-1))
    assert found.figures["positive"] == pytest.approx(20_000 * 0.98 * tail + 300, rel=0.05)
    assert "believable_from" not in found.figures, "no count is large enough"


def test_empty_cells_without_noise_give_everybody_away():
    true, draw = counts(20_000, 0.02, 1), np.random.default_rng(2)
    noise = draw.geometric(1 - np.exp(-1), 20_000) - draw.geometric(1 - np.exp(-1), 20_000)
    published = np.where(true > 0, true + noise, 0)
    found = EmptyCells().run(published, true, Chance(seed=1), epsilon=1)
    assert (found.rate.value, found.outcome) == (1.0, Outcome.REFUTED)
    assert found.figures["positive_but_empty"] == 0
    assert found.figures["believable_from"] == 1


def test_a_table_that_shows_nothing_and_nonsense():
    true = counts(5000, 0.05, 1)
    noise = np.random.default_rng(3).integers(-1, 2, 5000)
    assert EmptyCells().run(noise, true, Chance(seed=1)).outcome is Outcome.INCONCLUSIVE
    dropped = EmptyCells(above=10).run(noise, true, Chance(seed=1))
    assert (dropped.rate.trials, dropped.outcome) == (0, Outcome.NOT_TRIED)
    assert EmptyCells().run([], [], Chance(seed=1)).figures["positive"] == 0
    kit.refuses(EmptyCells, trials=0)
    for published, truth, more in (([1], [1, 2], {}), ([1], [-1], {}), ([1], [1], {"epsilon": 0})):
        with pytest.raises(ParameterError):
            EmptyCells().run(published, truth, Chance(seed=1), **more)
