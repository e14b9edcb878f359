"""Same answers, same questions: DiffGen on neighbouring tables, every question against its stated sensitivity."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.algorithms.diffgen import DiffGen
from sfumato.algorithms.diffgen import specialization as searching
from sfumato.algorithms.diffgen.noisy_specializer import published
from sfumato.algorithms.diffgen.partitions import Emptiness, Occupied, sifted
from sfumato.algorithms.private_table import Mechanisms, NoisyTable, PrivateTable
from sfumato.core.run_context import Work
from sfumato.tables.taxonomy import taxonomy
from tests.algorithms.diffgen_tables import CODE, CODES, JOB, JOBS, of_numbers, of_sets, of_tree, table_of
from tests.algorithms.replays import Asked, faults, recording, replaying
from tests.weights import examples

TOWN = tuple("abcdefghijk")
TOWNS = taxonomy([(one,) for one in TOWN], {}, total=11.0, height=1)
ROW = st.tuples(
    st.sampled_from(JOB),
    st.integers(0, 9),
    st.lists(st.sampled_from(CODE), unique=True, max_size=3),
    st.sampled_from(TOWN),
    st.integers(0, 2),
)
KINDS = ("job", "age", "codes", "town")


def table(rows: list[Any], which: tuple[str, ...]) -> PrivateTable:
    jobs, ages, codes, towns, kinds = zip(*rows, strict=True) if rows else ((),) * 5
    made = {
        "job": of_tree("job", JOBS, JOB, jobs),
        "age": of_numbers("age", 0, 9, 1, ages),
        "codes": of_sets("codes", CODES, CODE, codes),
        "town": of_tree("town", TOWNS, TOWN, towns),
    }
    return table_of([made[name] for name in which], ("x", "y", "z"), kinds, "class")


def keeping(found: list[Asked], answers: list[Asked] | None) -> Any:
    """A test of emptiness that is one question: all child partitions by name, and those that pass."""

    def sieve(occupied: Occupied, counts: Any, asked: Emptiness, mechanisms: Mechanisms) -> Occupied:
        names = list(zip(occupied.parent.tolist(), occupied.mask.tolist(), strict=True))
        public = (asked.parents, asked.first, asked.last, asked.least)
        if answers is None:
            answer = sifted(occupied, counts, asked, Mechanisms())
        else:
            before = answers[len(found)]
            assert before.kind == "sieve"
            answer = before.answer
        private = dict(zip(names, counts.tolist(), strict=True))
        found.append(Asked(kind="sieve", cost=asked.cost, public=public, private=private, answer=answer))
        return answer

    return sieve


def replayed(asked: DiffGen, fewer: PrivateTable, more: PrivateTable) -> tuple[list[str], NoisyTable, NoisyTable]:
    """What differs where the second table gets the answers of the first; and both releases."""
    first: list[Asked] = []
    second: list[Asked] = []
    a = published(asked, fewer, Work(), recording(first, Mechanisms()), keeping(first, None))
    b = published(asked, more, Work(), replaying(second, first), keeping(second, first))
    return faults(first, second), a, b


@examples(60)
@given(
    st.lists(ROW, max_size=25),
    ROW,
    st.lists(st.sampled_from(KINDS), min_size=1, max_size=3, unique=True),
    st.sampled_from(["gini", "max", "gain"]),
    st.integers(1, 6) | st.just("auto"),
    st.sampled_from([{"epsilon": 4}, {"epsilon": 400}, {"rho": 2}, {"rho": "2/3"}]),
    st.sampled_from([0, Fraction(1, 4)]),
)
def test_the_same_answers_bring_the_same_questions(rows, one, which, how, h, budget, inner):
    asked = DiffGen(**budget, specializations=h, score=how, inner=inner)
    many = rows * 3 if h == "auto" else rows
    found, a, b = replayed(asked, table(many, tuple(which)), table([*many, one], tuple(which)))
    assert found == []
    assert a.labels == b.labels
    assert a.keys.tolist() == b.keys.tolist()
    assert a.counts.tolist() == b.counts.tolist(), "the counts are the answers, mended without looking"
    assert (a.steps, a.event, dict(a.effort)) == (b.steps, b.event, dict(b.effort))


ROWS = [(JOB[n % 4], n % 10, (CODE[n % 4],), TOWN[n % 11], n % 3) for n in range(20)]
ONE = ("Writer", 9, ("22",), "k", 0)


def differing(*which: str, **given_: Any) -> list[str]:
    pair = table(ROWS, which or ("job", "age", "codes")), table([*ROWS, ONE], which or ("job", "age", "codes"))
    return replayed(DiffGen(epsilon=40, **given_), *pair)[0]


def test_a_sensitivity_that_is_too_small_is_found(monkeypatch):
    monkeypatch.setattr(searching.Score, "on", _understated(searching.Score.on))
    assert any("scores move too far" in fault for fault in differing(specializations=3))


def _understated(on: Any) -> Any:
    return lambda self, values: replace(on(self, values), sensitivity=0.01)


def test_scores_that_are_wrongly_called_monotonic_are_found(monkeypatch):
    on = searching.Score.on

    def turned(self: Any, values: Any) -> Any:
        return replace(on(self, values * np.resize([1, -1], len(values))), sensitivity=9.0)

    monkeypatch.setattr(searching.Score, "on", turned)
    assert any("both directions" in fault for fault in differing(specializations=3))


def test_a_record_that_is_counted_twice_is_found(monkeypatch):
    from sfumato.algorithms.diffgen import noisy_specializer

    count = noisy_specializer.inner_counts
    monkeypatch.setattr(noisy_specializer, "inner_counts", lambda *given_: 2 * count(*given_))
    assert any("more than one record" in fault for fault in differing(specializations=3, inner="1/2"))


def test_prices_that_read_the_records_are_found(monkeypatch):
    def private_price(self: Any, at: Any) -> float:
        return float(self.parts.counts.sum()) * (9 if at.value else 1)

    monkeypatch.setattr(searching.Search, "price", private_price)
    assert any("move" in fault for fault in differing(specializations=3))


@pytest.mark.parametrize("how", ["gini", "max"])
def test_candidates_that_depend_on_the_records_are_found(monkeypatch, how):
    whole = searching.Search.candidates

    def some(self: Any) -> Any:
        return whole(self)[: 1 + int(self.parts.counts.sum()) % 2 + 1]

    monkeypatch.setattr(searching.Search, "candidates", some)
    assert differing("job", "age", specializations=3, score=how)
