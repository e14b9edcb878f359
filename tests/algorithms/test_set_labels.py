"""Labels over several values: ranges of ordered types, short lists of others, and what they are charged for."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.algorithms.labels import MAX_VALUES
from sfumato.core.errors import HierarchyError

BOXES: dict[str, dict[str, Any]] = {
    "k-optimize": {"seconds": 0.5},
    "mondrian": {"output": "boxes"},
    "mondrian ordered": {"name": "mondrian", "output": "boxes", "order": "ordered"},
    "hilbert": {"output": "boxes"},
    "bottom-up": {"partial": True},
}
"""The algorithms that can show the values of a group."""


def release(values: list[str], algorithm: str, hierarchy: dict[str, Any] | None = None, **column: Any) -> sf.Release:
    plan = {
        "columns": {
            "x": {"role": "quasi", "hierarchy": hierarchy or {"kind": "flat"}, **column},
            "sex": {"role": "quasi", "hierarchy": {"kind": "flat"}},
        },
        "privacy": {"k_anonymity": 3},
        "algorithm": {"name": algorithm, "seed": 1, **BOXES[algorithm]},
        "attack": {"run": False},
    }
    frame = pl.DataFrame({"x": values, "sex": ["fm"[n % 2] for n in range(len(values))]})
    return sf.release(sf.Plan.parse(plan), frame)


DAYS = [(date(1951, 1, 1) + timedelta(days=37 * n)).isoformat() for n in range(60)]


@pytest.mark.parametrize("algorithm", BOXES)
@pytest.mark.parametrize("hierarchy", [{"kind": "flat"}, {"kind": "dates"}], ids=["flat", "calendar"])
def test_dates_are_never_listed(algorithm: str, hierarchy: dict[str, Any]):
    made = release(DAYS, algorithm, hierarchy, type="date")
    assert not any(label.startswith("{") for label in made.frame["x"].unique())


@pytest.mark.parametrize("algorithm", ["k-optimize", "mondrian", "hilbert"])
def test_a_range_of_dates_is_charged_for_every_day(algorithm: str):
    """The calendar counts days: 60 dates from 1951 to 1956, every 37th day."""
    made = release(DAYS, algorithm, {"kind": "dates"}, type="date")
    lost = 0.0
    span = (date.fromisoformat(DAYS[-1]) - date.fromisoformat(DAYS[0])).days
    for label, sex in made.frame.select("x", "sex").iter_rows():
        if label == "*":
            days = span
        elif label.startswith("["):
            low, high = (date.fromisoformat(day) for day in label[1:-1].split(" - "))
            days = (high - low).days
        else:
            days = 0
        lost += (days / span + (sex == "*")) / 2 / len(DAYS)
    assert made.utility["loss"] == pytest.approx(lost)
    assert lost > 0.01


@pytest.mark.parametrize("algorithm", BOXES)
def test_codes_are_listed_in_small_numbers_only(algorithm: str):
    made = release([f"{n:05}" for n in range(100, 9100, 90)], algorithm, {"kind": "mask"}, type="text")
    labels = made.frame["x"].unique().to_list()
    assert all(len(label.split(", ")) <= MAX_VALUES for label in labels)


@pytest.mark.parametrize("algorithm", BOXES)
def test_no_search_returns_a_label_that_cannot_be_written(algorithm: str, tmp_path):
    """Eight values of 200 characters: a list of five would be longer than a manifest holds."""
    made = release([chr(97 + n % 8) * 200 for n in range(24)], algorithm, type="text")
    made.write(tmp_path / "r")
    assert sf.verify(tmp_path / "r").holds


def test_values_that_no_release_can_show_are_refused_before_the_search():
    with pytest.raises(HierarchyError, match="a value has 1,200 characters"):
        release(["a" * 1200, "b"] * 6, "k-optimize", type="text")
