"""People behind rows, against counting them literally."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.counts.classes import Classes
from sfumato.counts.local_table import cells
from sfumato.counts.wildcards import matched
from sfumato.models.composition import PerPerson
from sfumato.models.confidence import ConfidenceBounding, Template
from sfumato.models.k_anonymity import AlphaKAnonymity, KAnonymity
from sfumato.models.l_diversity import DistinctLDiversity, SimpleLDiversity
from sfumato.models.lkc import LKCPrivacy
from sfumato.models.model import judge, one_class
from sfumato.tables.table import Table
from tests.weights import examples

Row = tuple[str, str, str, str | None]
ROWS = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.sampled_from("pqr"), st.sampled_from("1234567")),
    min_size=1,
    max_size=18,
)


def classes_of(rows: list[Row], missing: tuple[str, ...] = ()) -> Classes:
    table = Table(frame=pl.DataFrame(rows, schema=("u", "v", "s", "who"), orient="row"), missing=missing)
    quasi = [table.column(name, "text") for name in ("u", "v")]
    return cells(quasi, [table.column("s", "text")], unit=table.column("who", "text")).classes


def groups(rows: list[Row], columns: tuple[int, ...]) -> dict[tuple[str, ...], list[Row]]:
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(str(row[c]) for c in columns), []).append(row)
    return found


def people(rows: list[Row]) -> int:
    return len({row[3] for row in rows})


def having(rows: list[Row], value: str) -> int:
    return len({row[3] for row in rows if row[2] == value})


@examples(80)
@given(rows=ROWS)
def test_people_of_classes_and_of_coarser_ones(rows: list[Row]):
    found = classes_of(rows).by_people()
    for place in range(found.count):
        mine = groups(rows, (0, 1))[tuple(found.label(place).values())]
        assert found.sizes[place] == people(mine)
        for code, value in enumerate(found.tally("s").values):
            assert found.tally("s").dense()[place, code] == having(mine, value)
    for columns in ([], ["u"], ["v"]):
        narrow, _ = found.project(columns)
        kept = tuple("uv".index(name) for name in columns)
        for place in range(narrow.count):
            mine = groups(rows, kept)[tuple(narrow.label(place).values())]
            assert narrow.sizes[place] == people(mine)
            assert narrow.tally("s").dense()[place].tolist() == [having(mine, v) for v in narrow.tally("s").values]
    assert one_class(found).sizes.tolist() == [people(rows)]


@examples(40)
@given(rows=ROWS, data=st.data())
def test_people_who_lose_rows(rows: list[Row], data: Any):
    found = classes_of(rows)
    marked = np.array(data.draw(st.lists(st.booleans(), min_size=found.count, max_size=found.count)))
    hidden = {tuple(found.label(place).values()) for place in np.flatnonzero(marked)}
    assert found.weight(marked) == people([row for row in rows if row[:2] in hidden])
    left = [row for row in rows if row[:2] not in hidden]
    if left:
        assert found.take(~marked).by_people().sizes.tolist() == [
            people(mine) for _, mine in sorted(groups(left, (0, 1)).items())
        ]


@examples(60)
@given(rows=ROWS, l=st.integers(1, 2), k=st.integers(1, 4), c=st.sampled_from([0.3, 0.5, 0.7]))
def test_lkc_counts_people_under_every_knowledge(rows: list[Row], l: int, k: int, c: float):
    """Every length of knowledge counts: the longest alone would miss people with rows in several parts."""
    model = LKCPrivacy(l=l, k=k, c=c, column="s", values=("p",))
    holds = all(
        people(mine) >= k and having(mine, "p") / people(mine) <= c + 1e-9
        for size in range(1, l + 1)
        for columns in combinations((0, 1), size)
        for mine in groups(rows, columns).values()
    )
    assert judge(model, classes_of(rows), "value").holds == holds


@examples(60)
@given(rows=ROWS)
def test_models_judge_people(rows: list[Row]):
    found = classes_of(rows)
    parts = groups(rows, (0, 1)).values()
    shares = [having(mine, value) / people(mine) for mine in parts for value in "pqr"]
    assert judge(KAnonymity(k=2), found, "value").reached == min(map(people, parts))
    assert judge(SimpleLDiversity(l=1.5, column="s"), found, "value").reached == pytest.approx(max(shares))
    assert judge(AlphaKAnonymity(alpha=0.6, k=2, column="s"), found, "value").holds == (
        max(shares) <= 0.6 + 1e-12 and min(map(people, parts)) >= 2
    )
    template = Template(quasi=("u",), column="s", value="q", limit=0.5)
    by_u = [having(mine, "q") / people(mine) for mine in groups(rows, (0,)).values()]
    assert judge(ConfidenceBounding(templates=(template,)), found, "value").reached == pytest.approx(max(by_u))


HOLES = st.lists(
    st.tuples(st.sampled_from("ab?"), st.sampled_from("xy?"), st.sampled_from("pq?"), st.sampled_from("12345")),
    min_size=1,
    max_size=12,
)


@examples(60)
@given(rows=HOLES)
def test_people_who_match_where_values_are_unknown(rows: list[Row]):
    found = classes_of(rows, ("?",)).by_people()
    wide = matched(found)
    for place in range(found.count):
        label = tuple(found.label(place).values())
        mine = [row for row in rows if all(a == b or "?" in (a, b) for a, b in zip(label, row[:2], strict=True))]
        assert wide.sizes[place] == people(mine)


@examples(60)
@given(rows=HOLES)
def test_missing_sensitive_values_are_tried_as_each_value(rows: list[Row]):
    """Whoever has a missing value and the tried one counts once."""
    model = SimpleLDiversity(l=1.5, column="s")
    known = sorted({row[2] for row in rows} - {"?"})
    worst = 0.0
    for value in known or ["?"]:
        tried = [(u, v, value if s == "?" else s, who) for u, v, s, who in rows]
        worst = max(worst, *(having(m, w) / people(m) for m in groups(tried, (0, 1)).values() for w in [*known, "?"]))
    table = classes_of(rows, ("?",))
    one = table.wild is not None
    assert one
    classes = Classes(
        quasi=table.quasi, keys=table.keys, labels=table.labels, sizes=table.sizes, tallies=table.tallies,
        people=table.people,
    )  # fmt: skip
    assert judge(model, classes, "wildcard").reached == pytest.approx(worst)


MODELS = (
    KAnonymity(k=2),
    DistinctLDiversity(l=2, column="s"),
    SimpleLDiversity(l=1.5, column="s"),
    AlphaKAnonymity(alpha=0.6, k=2, column="s"),
)


@examples(120)
@given(rows=ROWS, model=st.sampled_from(MODELS))
def test_what_a_search_may_rely_on(rows: list[Row], model: Any):
    """Joining classes breaks nothing that is said to be kept by it."""
    found = classes_of(rows)
    assert found.people is not None
    several = any(found.people.has_several(name) for name in model.columns)
    per = PerPerson(model=model, apart=found.people.apart, several=several)
    if per.kept_by_merging and judge(per, found, "value").holds:  # type: ignore[arg-type]
        for columns in (["u"], ["v"], []):
            assert judge(per, found.project(columns)[0], "value").holds  # type: ignore[arg-type]


def test_half_and_half_can_make_two_thirds():
    """Why shares of people are not kept by merging: the second person has rows in both classes."""
    rows: list[Row] = [("a", "x", "p", "1"), ("a", "x", "q", "2"), ("a", "y", "q", "2"), ("a", "y", "p", "3")]
    found, model = classes_of(rows), SimpleLDiversity(l=2, column="s")
    assert judge(model, found, "value").holds
    assert not judge(model, found.project(["u"])[0], "value").holds
    assert not PerPerson(model=model, apart=False).kept_by_merging
    assert PerPerson(model=model, apart=True).kept_by_merging
    assert PerPerson(model=KAnonymity(k=2), apart=False, several=False).kept_by_merging
    assert not PerPerson(model=DistinctLDiversity(l=2, column="s"), apart=False, several=True).kept_by_merging
