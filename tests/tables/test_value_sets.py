"""Labels of sets can be read back, whatever the values are."""

from __future__ import annotations

import polars as pl
from hypothesis import example, given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.tables.labels import read_set, written_set


@given(st.lists(st.text(min_size=1), min_size=1, max_size=5))
@example(["a, b", "c"])
@example(['say "x"', "{y}", "z\\"])
@example(["a,b", ",", ", "])
@example(["trailing,", " blank"])
def test_a_set_is_read_back(values: list[str]) -> None:
    assert read_set(written_set(values)) == values


def test_a_release_with_commas_in_its_values_is_verified(tmp_path) -> None:
    """The size of a listed label is the number of its values, also where a value looks like two."""
    jobs = ["nurse, night", "cook", 'clerk "A"', "smith"] * 6
    frame = pl.DataFrame({"job": jobs, "age": [20 + n % 7 for n in range(24)]})
    columns = {
        "job": {"role": "quasi", "hierarchy": {"tree": {"all": sorted(set(jobs))}}},
        "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [10], "low": 0, "high": 100}},
    }
    algorithm = {"name": "mondrian", "output": "boxes"}
    plan = sf.Plan.parse({"columns": columns, "privacy": {"k_anonymity": 4}, "algorithm": algorithm})
    assert sf.release(plan, frame).write(tmp_path / "out").holds
