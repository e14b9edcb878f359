"""Joint releases equal the release of one table, row for row: horizontally and vertically."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.errors import Infeasible
from sfumato.parties import oblivious_transfer, set_intersection
from sfumato.parties.conversation import Seat, Talk, to_all
from sfumato.parties.releases import vertical
from sfumato.parties.secure_maximum import Greatest
from tests.golden.test_g02_g03 import G3, LKC
from tests.parties.ready import dealt_receiving, dealt_sending
from tests.parties.releases_asked import (
    COLUMNS,
    G5,
    MODELS,
    QUASI,
    asking,
    central,
    frame_of,
    jointly,
    patients,
    rows_of,
    wholes,
)
from tests.weights import examples


@pytest.fixture
def dealer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Base transfers from a dealer: they are tested elsewhere, and take long."""
    for module in (set_intersection, oblivious_transfer):
        monkeypatch.setattr(module, "send_base", dealt_sending)
        monkeypatch.setattr(module, "receive_base", dealt_receiving)
    monkeypatch.setattr(vertical, "joint_maximum_of_values", open_maximum)
    monkeypatch.setattr(vertical, "ready_to_share", open_sharing)


@dataclass(frozen=True)
class Open:
    seat: Seat


def open_sharing(seat: Seat) -> Talk[Open]:
    yield from ()
    return Open(seat)


def open_maximum(ready: Open, numbers: list[int], sizes: list[int], *, bits: int) -> Talk[Greatest]:
    """Instead of the secure maximum, which is tested elsewhere: everybody tells its number."""
    came = yield to_all(ready.seat, "open", numbers[0].to_bytes(bits // 8, "big"))
    every = [numbers[0] if n == ready.seat.me else int.from_bytes(came[n], "big") for n in range(ready.seat.count)]
    return Greatest(index=every.index(max(every)))


def dealt(whole: pl.DataFrame, owner: list[int], parties: int) -> list[pl.DataFrame]:
    """Each party has some of the rows, and at least one."""
    mine = np.array([*range(parties), *owner])[: whole.height]
    return [whole.filter(pl.Series(mine == number)) for number in range(parties)]


def test_g5_three_parties_obtain_what_one_table_gives():
    """Tables 5.2 and 5.4: with valid splits the ages of the thesis; Janitor and Mover pass too, as in one table."""
    asked = {**G5, "algorithm": {"splits": "valid"}}
    found = jointly("release", asked, patients())
    whole = frame_of(list(map(tuple, [[str(cell) for cell in row] for row in G3])), patients()[0].columns)
    for one in found:
        assert rows_of(one.release) == rows_of(central("release", asked, whole))
    steps = [(one.column, one.coarse, round(one.score, 4)) for one in found[0].release.trail.steps]
    assert steps[:2] == [("job", "*", 0.6395), ("age", "*", 0.2427)]
    finer = {"Janitor": "Non-Technical", "Mover": "Non-Technical"}
    shown = found[0].release.rows.with_columns(pl.col("job").replace(finer)).select("job", "sex", "age")
    assert sorted(shown.rows()) == sorted(
        4 * [("Non-Technical", "M", "[30-60)")]
        + [("Professional", "M", "[30-60)")]
        + 2 * [("Professional", "M", "[1-30)")]
        + 2 * [("Professional", "F", "[30-60)")]
        + 2 * [("Technical", "F", "[60-99]")]
    )
    assert not found[0].release.audit.refuted


NAIVE = """ANY ANY [30-60) Transgender; ANY ANY [30-60) Plastic; ANY ANY [30-60) Urology
Professional ANY [1-60) Vascular; Non-Technical M [30-60) Transgender; Non-Technical M [30-60) Plastic; \
Professional ANY [1-60) Vascular
Professional M [1-60) Plastic; Professional M [1-60) Urology; Technical F [60-99) Vascular; \
Technical F [60-99) Plastic"""


def test_table_5_3_every_part_meets_the_requirement_alone_and_tells_less():
    """The naive way; what three parties find together (table 5.4) has more classes."""
    names = ["job", "sex", "age", "surgery"]
    parts = [frame_of([cells.split() for cells in line.split(";")], names) for line in NAIVE.splitlines()]
    for part in (*parts, pl.concat(parts)):
        assert LKC.check(sf.classes(part, quasi=names[:3], counted=["surgery"])).holds
    found = jointly("release", {**G5, "algorithm": {"splits": "valid"}}, patients())[0].release
    assert pl.concat(parts).select(names[:3]).n_unique() < found.rows.select(names[:3]).n_unique()


G6 = [
    "1 N Writer Male 30", "2 N Dancer Male 25", "3 Y Writer Male 35", "4 N Dancer Female 37", "5 Y Engineer Female 65",
    "6 Y Engineer Female 35", "7 Y Engineer Male 30", "8 N Dancer Female 44", "9 Y Lawyer Male 44",
    "10 Y Lawyer Female 44",
]  # fmt: skip
G6_ASKED: dict[str, Any] = {
    "identifier": "id",
    "shared": ["class"],
    "holds": {"a": ["job"], "b": ["sex", "salary"]},
    "columns": {
        "class": {"role": "target", "values": ["N", "Y"]},
        "job": {
            "role": "quasi",
            "hierarchy": {"tree": {"*": [{"Professional": ["Engineer", "Lawyer"]}, {"Artist": ["Dancer", "Writer"]}]}},
        },
        "sex": {"role": "quasi", "hierarchy": {"tree": {"*": ["Male", "Female"]}}},
        "salary": {"role": "quasi", "hierarchy": {"kind": "grown", "low": 1, "high": 99}},
    },
    "privacy": {"k_anonymity": 2},
}


def g6() -> list[pl.DataFrame]:
    whole = frame_of([line.split() for line in G6], ["id", "class", "job", "sex", "salary"])
    return [whole.select("id", "class", "job"), whole.select("id", "class", "sex", "salary").reverse()]


def test_g6_two_parties_with_different_columns():
    whole = g6()[0].join(g6()[1], on=["id", "class"])
    found = jointly("vertical-release", G6_ASKED, g6())
    made = central("vertical-release", G6_ASKED, whole, 2)
    assert rows_of(found[0].release) == rows_of(found[1].release) == rows_of(made)
    assert steps_of(found[0].release) == steps_of(found[1].release) == steps_of(made)
    assert found[0].document == found[1].document


@examples(40)
@given(
    whole=wholes(),
    asked=asking(),
    owner=st.lists(st.integers(0, 5), min_size=30, max_size=30),
    parties=st.integers(3, 6),
)
def test_rows_of_many_are_released_as_if_they_were_one_table(whole, asked, owner, parties):
    tables = dealt(whole, [number % parties for number in owner], parties)
    same_as_central("release", asked, tables, whole)


def steps_of(made: Any) -> list[tuple[Any, ...]]:
    """The way there; what the metric says may differ in the last digit, where it is added up in another order."""
    steps = made.trail.steps
    return [(one.column, one.coarse, one.fine, one.score, one.anonymity, round(one.loss, 9)) for one in steps]


def same_as_central(protocol: str, asked: dict[str, Any], tables: list[pl.DataFrame], whole: pl.DataFrame) -> None:
    try:
        true = central(protocol, asked, whole, len(tables))
    except Infeasible:
        with pytest.raises(Infeasible):
            jointly(protocol, asked, tables)
        return
    found = jointly(protocol, asked, tables)
    assert len({str(one.document) for one in found}) == 1
    for one in found:
        assert rows_of(one.release) == rows_of(true)
        assert steps_of(one.release) == steps_of(true)
        assert one.release.claims == true.claims


SIX = {**COLUMNS, "c": {"role": "quasi", "hierarchy": {"tree": {"*": ["x", "y"]}}}}


@pytest.mark.usefixtures("dealer")
@examples(20)
@given(
    whole=wholes(),
    asked=asking(),
    parties=st.integers(2, 6),
    owners=st.lists(st.integers(0, 5), min_size=6, max_size=6),
    shared=st.booleans(),
)
def test_columns_of_many_are_released_as_if_they_were_one_table(whole, asked, parties, owners, shared):
    """Everybody has people whom the others lack, in an order of its own."""
    whole = whole.with_columns(pl.col("a").str.head(1).alias("c"))
    owners = [number % parties for number in owners]
    owners[:parties] = range(parties)
    holds: dict[str, list[str]] = {name: [] for name in "abcdef"[:parties]}
    names = ("a", "b", "c", "s", "t", "n") if parties > 3 else ("a", "b", "n", "s", "t", "c")
    for name, number in zip(names, owners, strict=True):
        if not (shared and name == "t" and len([n for n in owners if n == number]) > 1):
            holds["abcdef"[number]].append(name)
    both = [name for name in SIX if not any(name in one for one in holds.values())]
    asked = {**asked, "columns": SIX, "identifier": "id", "holds": holds, "shared": both}
    tables = []
    for number, mine in enumerate(holds.values()):
        named = whole.select(pl.Series("id", [f"p{n}" for n in range(whole.height)]), *mine, *both)
        other = named.head(2).with_columns(pl.Series("id", [f"q{number}", f"r{number}"]))
        tables.append(pl.concat([other, named]).sample(fraction=1, shuffle=True, seed=number))
    same_as_central("vertical-release", asked, tables, whole)


WORDS = {"tree": {"*": ["0", "1", {"more": ["2"]}]}}
FOR_TWO = {
    **COLUMNS,
    "b": {"role": "quasi", "type": "text", "hierarchy": WORDS},
    "n": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [2, 4], "low": 0, "high": 12}},
}


@pytest.mark.usefixtures("dealer")
@examples(30)
@given(whole=wholes(), privacy=st.sampled_from(MODELS), owner=st.lists(st.integers(0, 1), min_size=30, max_size=30))
def test_two_parties_find_the_same_without_opening_counts_of_refused_labels(whole, privacy, owner):
    whole = whole.with_columns(pl.col("n").cast(pl.Float64).cast(pl.Int64).cast(pl.String))
    asked = {"columns": FOR_TWO, "privacy": privacy, "algorithm": {"score": "discernibility"}, "attack": {"run": False}}
    same_as_central("release", asked, dealt(whole, owner, 2), whole)


@pytest.mark.usefixtures("dealer")
@examples(6)
@given(whole=wholes(), asked=asking(), owner=st.lists(st.integers(0, 1), min_size=30, max_size=30))
def test_two_parties_grow_intervals_and_choose_by_gain_in_the_dark(whole, asked, owner):
    """Edges may lie at other numbers than on one table, between the same two values: the groups are the same."""
    try:
        true = central("release", asked, whole, 2)
    except Infeasible:
        with pytest.raises(Infeasible):
            jointly("release", asked, dealt(whole, owner, 2))
        return
    found = jointly("release", asked, dealt(whole, owner, 2))
    assert found[0].document == found[1].document
    assert groups_of(found[0].release) == groups_of(true)
    made, there = (one.trail.steps for one in (found[0].release, true))
    assert [(one.column, one.anonymity) for one in made] == [(one.column, one.anonymity) for one in there]
    assert [one.score for one in made] == pytest.approx([one.score for one in there], abs=1e-9)


def groups_of(made: Any) -> Counter[tuple[Any, ...]]:
    """The released groups with all that they hold, whatever their intervals are called."""
    groups = made.rows.group_by(QUASI).agg(pl.struct("s", "t").alias("rows"))
    return Counter((a, b, frozenset(Counter(map(str, rows)).items())) for a, b, _, rows in groups.rows())


def test_a_gain_of_nothing_is_the_same_on_both_sides_of_zero():
    """Rounding makes gains of -0.0 and a little less; they tie with 0.0, and the first column comes first."""

    def number(place: int, score: float) -> int:
        return vertical.Best(place=place, value=0, split=None, score=score).number  # type: ignore[arg-type]

    assert number(0, 0.0) == number(0, -0.0) == number(0, -3e-16) == number(0, 1e-14)
    assert number(0, 0.0) > number(1, -0.0) > 0
    assert number(5, 1e-9) > number(0, 0.0)


def test_the_requirements_of_the_tests_are_met_and_refused_at_all():
    """Random tables would prove nothing if all were out of reach."""
    whole = frame_of(
        [(a, b, n, s, t) for a, b, t in (("x1", "0", "no"), ("y2", "1", "yes")) for n in "37" for s in "fgh"] * 2,
        "abnst",
    )
    for privacy in MODELS:
        made = central("release", {"columns": COLUMNS, "privacy": privacy, "attack": {"run": False}}, whole)
        assert set(made.rows.columns) == {*QUASI, "s", "t"}
        assert made.trail.steps


@pytest.mark.usefixtures("dealer")
@pytest.mark.parametrize("parties", [2, 3])
@examples(3)
@given(whole=wholes(least=12), data=st.data())
def test_several_sensitive_columns_are_watched_together(parties: int, whole: pl.DataFrame, data: Any):
    """Each of two sensitive columns has a bound of its own, and a value of one has a bound by one column alone."""
    second = data.draw(st.lists(st.sampled_from(["m", "n"]), min_size=whole.height, max_size=whole.height))
    whole = whole.with_columns(pl.Series("r", second))
    asked = {
        "columns": {**FOR_TWO, "r": {"role": "sensitive", "values": ["m", "n"]}},
        "privacy": {
            "lkc": [
                {"l": 2, "k": 2, "c": 0.8, "column": "s"},
                {"l": 1, "k": 2, "c": 0.9, "column": "r", "values": ["m"]},
            ],
            "confidence": [{"quasi": ["a"], "column": "r", "value": "n", "limit": 0.9}],
        },
        "algorithm": {"score": "discernibility"},
        "attack": {"run": False},
    }
    whole = whole.with_columns(pl.col("n").cast(pl.Float64).cast(pl.Int64).cast(pl.String))
    same_as_central("release", asked, dealt(whole, [n % parties for n in range(whole.height)], parties), whole)
