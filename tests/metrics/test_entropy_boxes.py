"""Entropy of labels that overlap: boxes, sets and values of single groups, against the definition."""

from __future__ import annotations

from math import log2

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from tests.weights import examples

CITIES = {"north": ["a", "b"], "south": ["c", "d"]}
BELOW = {"north": "ab", "south": "cd", "*": "abcd"}


def covers(label: str, value: str, column: str) -> bool:
    """Whether a label may stand for a value."""
    if label in ("*", value):
        return True
    if column == "city":
        return value in BELOW.get(label, label.strip("{}").split(", "))
    ends = label.strip("[]").split(" - ")
    return len(ends) == 2 and float(ends[0]) <= float(value) <= float(ends[1])


def literal(before: pl.DataFrame, after: pl.DataFrame) -> float:
    """Bits lost in every cell, as a share of the bits lost if everything were *; rows stand in the same order."""
    lost, everything = 0.0, 0.0
    for column in ("age", "city"):
        values = before[column].cast(pl.String).to_list()
        for value, label in zip(values, after[column].cast(pl.String), strict=True):
            same = values.count(value)
            lost += log2(sum(covers(label, other, column) for other in values) / same)
            everything += log2(len(values) / same)
    return lost / everything if everything else 0.0


@examples(40)
@given(
    rows=st.lists(st.tuples(st.integers(20, 26), st.sampled_from("abcd")), min_size=4, max_size=24),
    output=st.sampled_from(["boxes", "hierarchy"]),
)
def test_overlapping_labels_lose_what_they_cover(rows, output):
    frame = pl.DataFrame(rows, schema=("age", "city"), orient="row")
    plan = sf.Plan.parse(
        {
            "columns": {
                "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [50], "low": 0, "high": 100}},
                "city": {"role": "quasi", "hierarchy": {"tree": CITIES}},
            },
            "privacy": {"k_anonymity": 2},
            "utility": {"metric": "entropy"},
            "algorithm": {"name": "mondrian", "output": output, "seed": 1},
            "attack": {"run": False},
        }
    )
    made = sf.release(plan, frame)
    found = made.utility["entropy"]
    assert 0 <= found <= 1
    if output == "boxes":  # intervals of the hierarchy have half-open ends, which the literal reading does not know
        shown = made.outcome.recoding(made.prepared.problem)
        cells = made.prepared.problem.cells
        sizes = cells.sizes.tolist()
        names = [
            [labels[k] for k, n in zip(keys, sizes, strict=True) for _ in range(n)]
            for labels, keys in zip(shown.labels, shown.keys.tolist(), strict=True)
        ]
        leaves = [
            [own[k] for k, n in zip(keys, sizes, strict=True) for _ in range(n)]
            for own, keys in zip(cells.labels, cells.keys.tolist(), strict=True)
        ]
        columns = cells.quasi
        after, before = (pl.DataFrame(dict(zip(columns, one, strict=True))) for one in (names, leaves))
        assert found == pytest.approx(literal(before, after), abs=1e-9)


EVERY = ("mondrian", "local", "hilbert", "k-optimize", "top-down", "bottom-up", "optimal", "greedy")


@examples(8)
@given(
    rows=st.lists(st.tuples(st.integers(20, 26), st.sampled_from("abcd"), st.booleans()), min_size=6, max_size=24),
    suppressed=st.sampled_from([0.0, 0.3]),
)
@pytest.mark.parametrize("name", EVERY)
def test_every_algorithm_keeps_entropy_within_its_range(name, rows, suppressed):
    frame = pl.DataFrame(rows, schema=("age", "city", "kind"), orient="row").with_columns(
        pl.col("kind").cast(pl.String)
    )
    limit = {} if name in ("hilbert", "mondrian", "top-down") else {"max_suppressed": suppressed}
    plan = sf.Plan.parse(
        {
            "columns": {
                "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [5, 50], "low": 0, "high": 100}},
                "city": {"role": "quasi", "hierarchy": {"tree": CITIES}},
                "kind": {"role": "target"},
            },
            "privacy": {"k_anonymity": 2},
            "algorithm": {"name": name, "seed": 1, **limit},
            "attack": {"run": False},
        }
    )
    assert 0 <= sf.release(plan, frame).utility["entropy"] <= 1


@examples(20)
@given(ages=st.lists(st.integers(20, 40), min_size=4, max_size=24))
def test_means_keep_entropy_within_its_range(ages):
    plan = sf.Plan.parse(
        {
            "columns": {"age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [50], "low": 0}}},
            "privacy": {"k_anonymity": 2},
            "algorithm": {"name": "microaggregation", "seed": 1},
            "attack": {"run": False},
        }
    )
    assert 0 <= sf.release(plan, pl.DataFrame({"age": ages})).utility["entropy"] <= 1
